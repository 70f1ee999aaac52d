"""What the tests know of each sample campaign, in a module of its own; ``SAMPLES`` has them all."""

from __future__ import annotations

from tests.core.sample_play import Sample
from tests.core.samples import beginners_please, carried_forward, lantern_road, stand_by

SAMPLES: tuple[Sample, ...] = (
    beginners_please.SAMPLE,
    carried_forward.SAMPLE,
    lantern_road.SAMPLE,
    stand_by.SAMPLE,
)
