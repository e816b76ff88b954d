"""The colours of a picture too coarse for single tasks are in proportion to the time."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from dask_diag_lab.store import History
from dask_diag_lab.store.arrays import Floats, Ints
from tests.kernel.store.batches import T0, BatchMaker

MIXES = [
    # Share of the tasks and seconds of each: the long ones are not those that take most time.
    ((0.1, 0.02), (0.9, 0.005)),
    ((0.6, 0.001), (0.25, 0.0017), (0.1, 0.004), (0.05, 0.003)),
    tuple((0.1, 0.001 + i * 2e-4) for i in range(10)),
]


@cache
def session_of(mix: tuple[tuple[float, float], ...], blocks_of: int) -> History:
    """Return a history of two threads that run a mix without pauses, its functions in bursts."""
    random, maker = np.random.default_rng(5), BatchMaker()
    for thread in (1, 2):
        now = 0.0
        for _ in range(3000):
            function = random.choice(len(mix), p=[share for share, _ in mix])
            for seconds in mix[function][1] * random.uniform(0.5, 1.5, random.integers(1, 6)):
                prefix = f"f{function}"
                maker.action(now, now + seconds, thread=thread, key="same", prefix=prefix)
                now += seconds
    history = History(max_actions=blocks_of * 16)
    history.apply(maker.batch())
    return history


def shares(prefix: Ints, seconds: Floats) -> Floats:
    """Return how much of some time each function has."""
    by_prefix = np.bincount(prefix, weights=seconds, minlength=16)
    return np.asarray(by_prefix / by_prefix.sum())


@pytest.mark.parametrize("mix", MIXES)
@pytest.mark.parametrize("blocks_of", [1500, 100_000])
def test_merged_rects_have_colours_in_proportion(
    mix: tuple[tuple[float, float], ...], blocks_of: int
) -> None:
    history = session_of(mix, blocks_of)
    _, rows = history.actions.since(0)
    t1 = history.actions.last_stop
    expected = shares(rows["prefix"], rows["stop"] - rows["start"])
    for width_px, max_rects in ((500, 7000), (2000, 500), (2000, 1000)):
        answer = history.actions.query(T0, t1, None, width_px, max_rects).answer()
        assert answer.resolution_s > 0
        assert np.abs(shares(answer.prefix, answer.busy_s) - expected).max() < 0.03


def test_a_bucket_that_is_complete_keeps_its_colour_while_the_picture_moves() -> None:
    history = session_of(MIXES[0], 100_000)
    before: dict[float, int] = {}
    for begin in np.linspace(T0, T0 + 10, 21):
        answer = history.actions.query(begin, begin + 40, None, 500, 7000).answer()
        inside = answer.start > begin + answer.resolution_s
        now = dict(zip(answer.start[inside].tolist(), answer.prefix[inside].tolist(), strict=True))
        assert all(before.get(start, prefix) == prefix for start, prefix in now.items())
        before = now
