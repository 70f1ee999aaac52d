"""Regular expressions of JavaScript, as other programs write them between slashes, to those of *regex*, and back.

The flags ``i``, ``m``, ``s`` become a group's; ``g``, ``u``, ``v``, ``d`` say nothing about whether something is found.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(r"\\u\{([0-9a-fA-F]{1,6})\}|\\k<(\w+)>|\\.|\[\^?\]|.", re.DOTALL)
_GROUP = re.compile(r"\(\?([ms]*)(-i)?:(.*)\)$", re.DOTALL)
_IDLE = frozenset("guvd")


def from_javascript(pattern: str, flags: str) -> str:
    """The expression; letters match in any case unless the card says otherwise, so ``i`` is what is usual.

    Raises ``ValueError`` for a flag that changes what is found and has no like here.
    """
    if odd := set(flags) - _IDLE - set("ims"):
        raise ValueError(f"the flag {''.join(sorted(odd))} has no like here")
    told = "".join(_token(match) for match in _TOKEN.finditer(pattern))
    inner = "".join(flag for flag in "ms" if flag in flags)
    exact = "" if "i" in flags else "-i"
    return f"(?{inner}{exact}:{told})" if inner or exact else told


def _token(match: re.Match[str]) -> str:
    if match[1] is not None:
        code = int(match[1], 16)
        if code > 0x10FFFF:
            raise ValueError("it names a letter that does not exist")
        return f"\\U{code:08X}"
    if match[2] is not None:
        return f"(?P={match[2]})"
    return {"[^]": r"[\s\S]", "[]": "(?!)"}.get(match[0], match[0])


def to_javascript(pattern: str) -> str:
    """``/…/`` with its flags, out of an expression of a card."""
    group = _GROUP.match(pattern)
    inner, exact, told = group.groups() if group is not None else ("", None, pattern)
    told = re.sub(r"\(\?P=(\w+)\)", r"\\k<\1>", told)
    told = re.sub(r"\\U([0-9a-fA-F]{8})", lambda match: f"\\u{{{int(match[1], 16):X}}}", told)
    return f"/{told}/{'' if exact else 'i'}{inner}{'u' if chr(92) + 'u{' in told else ''}"
