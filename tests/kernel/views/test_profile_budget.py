"""A large profile: no update of the plot holds up the others, and nothing is made twice."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from benchmarks.simulated_profiles import DEPTH, NODES, profile_tree
from dask_diag_lab.store.workings import Working
from tests.kernel.views.profiles import ProfilePage, Situation, activity, answer

ANSWERS = 4


class _Large(Situation):
    """A cluster that answers with a new large profile each time, and work that is done apart."""

    def __init__(self) -> None:
        super().__init__()
        self.trees = [profile_tree(seed) for seed in range(ANSWERS)]
        self.started = 0
        self._open: list[Working[Any]] = []  # results of any type
        self.store.workings.on_start = self._start

    def _start(self, working: Working[Any]) -> None:
        self.started += 1
        self._open.append(working)

    def renew(self, page: ProfilePage, number: int) -> None:
        """Have the next answers come."""
        rows = {f"task{i}": [i % 9 + (at + number) % 7 for at in range(1000)] for i in range(100)}
        self.cluster.activity = activity(rows)
        self.cluster.profiles[""] = answer(self.trees[number])
        page.view.sampling.refresh()
        self.cluster.reply()

    def settle(self, page: ProfilePage) -> None:
        """Update until nothing is left to do."""
        while True:
            page.view.update()
            if not self._open:
                return
            done, self._open = self._open, []
            for working in done:
                working.do()
                self.store.worked_out(working)


@pytest.fixture(scope="module")
def large() -> _Large:
    return _Large()


def _page(large: _Large) -> ProfilePage:
    page = large.page(width=900, height=500)
    large.settle(page)
    return page


def test_the_simulated_profile_is_large(large: _Large) -> None:
    counts, depth, level = 0, 0, [large.trees[0]]
    while level:
        counts, depth = counts + len(level), depth + 1
        level = [kid for node in level for kid in node["children"].values()]
    assert counts >= NODES
    assert depth > DEPTH - 5


@pytest.mark.parametrize("is_listed", [False, True], ids=["flames", "table"])
def test_each_new_large_answer_is_drawn(large: _Large, is_listed: bool) -> None:
    page = _page(large)
    page.view._tabulate(is_listed)
    drawn = []
    for number in range(ANSWERS):
        large.renew(page, number)
        large.settle(page)
        assert page.view.flames is not None
        assert page.view.listing is not None
        source = page.view.listing.source if is_listed else page.view.flames.boxes.model
        drawn.append([list(column) for column in source.data.values()])
    assert all(len(columns[0]) >= 400 for columns in drawn)
    assert all(a != b for a, b in pairwise(drawn))


def test_a_picture_of_many_frames_says_what_it_merged(large: _Large) -> None:
    page = _page(large)
    large.renew(page, 0)
    large.settle(page)
    assert "frames below" in page.view.notice.note
    page.view._tabulate(True)
    large.settle(page)
    assert "functions with less time not listed" in page.view.notice.note


def test_moving_the_period_makes_nothing_before_its_answer_is_here(large: _Large) -> None:
    page = _page(large)
    assert page.view.timeline is not None
    bars, before = page.view.timeline.bars.sent_bytes, large.started
    for stop in (1001.0, 1002.0, 1003.0):
        page.view._select(1000.0, stop)
        large.settle(page)
    assert large.started == before
    large.cluster.reply()
    large.settle(page)
    assert large.started == before + 2  # the answer read, and drawn
    assert page.view.timeline.bars.sent_bytes == bars
