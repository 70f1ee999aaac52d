"""Numbers as words: the labels of bands, which are all that a model may know of a relation or a skill (W6, T8)."""

from __future__ import annotations

from narrator.core.definition import Field
from narrator.core.proposal import JSON, is_number

SCALE = ("very low", "low", "middling", "high", "very high")
"""The labels of a number that has a least and a most and declares no bands: five equal stretches."""


def label(field: Field, value: JSON) -> str:
    """The label of a number: its band's, else its place between least and most in words; '' where there is none."""
    if not is_number(value):
        return ""
    for band in field.bands:
        if band.low <= value <= band.high:
            return band.label
    if field.bands:
        return min(field.bands, key=lambda band: min(abs(band.low - value), abs(band.high - value))).label
    if field.minimum is None or field.maximum is None or field.maximum <= field.minimum:
        return ""
    share = (value - field.minimum) / (field.maximum - field.minimum)
    return SCALE[min(max(int(share * len(SCALE)), 0), len(SCALE) - 1)]
