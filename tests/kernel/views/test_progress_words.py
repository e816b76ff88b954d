"""Progress: how much of a prefix is done, in ever fewer words and never too early."""

from __future__ import annotations

import numpy as np
import pytest

from dask_diag_lab.views.tasks.progress import Progress
from dask_diag_lab.views.tasks.progress_words import done_of_all
from tests.kernel.views.situations import Page, prefix, store_of


def states_of(**numbers: int) -> np.ndarray:
    return np.array(prefix("inc", **numbers)["states"], dtype=np.int64)


def test_what_is_done_of_a_prefix_gets_shorter() -> None:
    assert done_of_all(states_of(memory=5, waiting=5)) == ("5 / 10", "50 %")


def test_failed_tasks_are_told_before_they_give_way_to_a_bare_share() -> None:
    said = done_of_all(states_of(memory=5, erred=2, waiting=3))
    assert said == ("2 erred · 5 / 10", "2 erred · 50 %", "⚠ 50 %", "50 %")


@pytest.mark.parametrize(
    ("done", "share"), [(9_970, "99 %"), (9_999, "99 %"), (10_000, "100 %"), (1, "<0.1 %")]
)
def test_a_prefix_is_done_when_all_of_it_is(done: int, share: str) -> None:
    assert done_of_all(states_of(memory=done, waiting=10_000 - done))[-1] == share


def test_a_narrow_title_is_not_done_before_all_is() -> None:
    page = Page(Progress(store_of(prefixes=[prefix("a", memory=9_999, waiting=1)])), 300, 200)
    assert "99 % done" in page.title


@pytest.mark.parametrize("width", [420, 240, 200, 160])
def test_a_narrow_bar_says_that_tasks_failed(width: int) -> None:
    row = prefix("a-name-of-some-length", memory=8_970, erred=1_000, waiting=30)
    view = Progress(store_of(prefixes=[row]))
    Page(view, width, 200)
    (value,) = view.cells.model.data["value"]
    assert "erred" in value or "⚠" in value
