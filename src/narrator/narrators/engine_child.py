"""The process in which llama.cpp runs (T17). Started by ``embedded``, never imported by it.

One JSON object comes in on standard input, one goes out on standard output: where the engine listens, or why it does
not. After that nothing is said. The process ends itself when its standard input closes, which it does when the parent
ends, however that ends. Whatever the engine would write goes nowhere: the terminal belongs to the story.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from typing import Any

# An origin that no page has: browsers open no connection to this port.
_NO_ORIGIN = "http://127.0.0.1:1"


def main() -> None:
    """Load the model, say where it can be asked, and stay until the parent has gone."""
    answers = _take_output()
    orders = json.loads(_first_line())
    gone = threading.Event()
    threading.Thread(target=_watch_parent, args=(gone,), daemon=True).start()
    try:
        _bound_memory(orders.get("memory"))
        server, said = _load(orders)
    except Exception as error:
        server, said = None, {"error": f"{type(error).__name__}: {error}"}
    with contextlib.suppress(OSError):
        os.write(answers, json.dumps(said).encode() + b"\n")
        os.close(answers)
    if server is not None:
        gone.wait()
    os._exit(0)


def _take_output() -> int:
    """Keep standard output for the one answer; what anybody else writes there or on standard error goes nowhere."""
    answers = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return answers


def _first_line() -> bytes:
    line = bytearray()
    while not line.endswith(b"\n"):
        piece = os.read(0, 65_536)
        if not piece:
            os._exit(0)
        line += piece
    return bytes(line)


def _watch_parent(gone: threading.Event) -> None:
    """Wait for the end of standard input, and end with it: also while the model is loading."""
    with contextlib.suppress(OSError):
        while os.read(0, 4096):
            pass
    gone.set()
    os._exit(0)


def _bound_memory(size: int | None) -> None:
    """See that this process takes no more than so many bytes of address space."""
    if size is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _load(orders: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = orders["model_path"]
    # The lines of prompts share one memory. Where it runs full, llama.cpp forgets the one with the lowest number first.
    params.n_ctx = orders["cells"]
    # A sign of life comes after each of these: a large model on a slow machine reads ten tokens a second.
    params.n_batch = params.n_ubatch = 256
    params.n_parallel, params.kv_unified = orders["lines"], True
    params.cache_idle_slots, params.cache_ram_mib = False, 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = orders["threads"]
    params.api_keys = [orders["secret"]]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.ui = False
    params.offline = True
    params.endpoint_slots = params.endpoint_props = params.endpoint_metrics = False
    params.cors_origins, params.cors_credentials = _NO_ORIGIN, False
    params.verbosity = -1
    params.cache_prompt = True
    params.warmup = False
    server = xllamacpp.Server(params)
    return server, {"address": server.listening_address}


if __name__ == "__main__":
    main()
