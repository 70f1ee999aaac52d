"""Narrator: interactive fiction told by a language model, over a retained story tree."""

__version__ = "0.1.0"
