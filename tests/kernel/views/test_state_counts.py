"""Titles that count tasks by state, in ever less room."""

from __future__ import annotations

import numpy as np
import pytest

from dask_diag_lab.records import STATES
from dask_diag_lab.views.tasks.state_counts import count_title

HEADS = ("Task graph: 442 tasks", "442 tasks")


def counted(**numbers: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array([numbers.get(name, 0) for name in STATES], dtype=np.int64)


@pytest.mark.parametrize(
    ("room", "title"),
    [
        (80, "Task graph: 442 tasks · 58 queued · 4 processing · 290 in memory · 90 erred"),
        (70, "442 tasks · 58 queued · 4 processing · 290 in memory · 90 erred"),
        (55, "442 tasks · 4 processing · 290 in memory · 90 erred"),
        (40, "442 tasks · 4 processing · 90 erred"),
        (32, "Task graph: 442 tasks · 90 erred"),
        (20, "442 tasks · 90 erred"),
        (9, "442 tasks"),
        (3, "442 tasks"),
    ],
)
def test_title_keeps_what_matters_most(room: int, title: str) -> None:
    states = counted(queued=58, processing=4, memory=290, erred=90)
    assert count_title(HEADS, states, room) == title


def test_states_without_a_task_are_not_named() -> None:
    assert count_title(HEADS, counted(erred=442), 80) == f"{HEADS[0]} · 442 erred"


@pytest.mark.parametrize(
    ("room", "title"),
    [
        (99, "442 tasks · 58 queued · 4 processing · 290 in memory · 10 erred · 80 released"),
        (70, "442 tasks · 58 queued · 4 processing · 290 in memory · 10 erred"),
    ],
)
def test_states_add_up_where_there_is_room(room: int, title: str) -> None:
    states = counted(queued=58, processing=4, memory=290, erred=10, released=80)
    assert count_title(HEADS[1:], states, room) == title
