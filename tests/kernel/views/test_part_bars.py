"""Named bars made of parts: what stands beside them, and what becomes of those without room."""

from __future__ import annotations

import pytest

from dask_diag_lab.views.bar_figure import NUMBER
from dask_diag_lab.views.look import DARK, LIGHT
from dask_diag_lab.views.scheduler.part_bars import Bar, Part, PartBars


def part_bars(width_px: int, workers: dict[str, str]) -> PartBars:
    """Return bars with names, and the addresses of those that are of workers."""
    bars = PartBars(LIGHT, NUMBER)
    bars.figure.set_from_json("outer_width", width_px)  # as a browser reports them
    bars.figure.set_from_json("outer_height", 300)
    shown = [Bar(name, [Part(1.0, "red")], worker=address) for name, address in workers.items()]
    bars.draw("Title", shown)
    return bars


def names_beside(bars: PartBars) -> list[str]:
    return [str(label) for label in bars.figure.yaxis[0].major_label_overrides.values()]


def test_words_that_are_no_workers_keep_their_ends_beside_short_names() -> None:
    words = {"Scheduler": "", "Mean of 12 workers": "", "pool-worker-7": "a", "pool-worker-10": "b"}
    bars = part_bars(200, words)
    assert names_beside(bars) == ["Scheduler", "Mean o…rs", "7", "10"]
    assert bars.figure.yaxis[0].axis_label is None
    assert names_beside(part_bars(860, words)) == list(words)


def test_beside_other_bars_numbered_workers_say_what_they_are_or_the_axis_does() -> None:
    words = {"Scheduler": "", "worker 7": "a", "worker 1234": "b"}
    wide, narrow = part_bars(860, words), part_bars(200, words)
    assert names_beside(wide) == list(words)
    assert wide.figure.yaxis[0].axis_label is None
    assert names_beside(narrow)[1:] == ["7", "1234"]
    assert narrow.figure.yaxis[0].axis_label == "worker"


def test_bars_that_do_not_fit_are_one_with_their_sum() -> None:
    bars = PartBars(DARK, NUMBER, said=lambda total: f"{total:.0f} moves")
    made = [Bar(f"name {i}", [Part(1.0, "#123456")], "1 moves") for i in range(500)]
    bars.draw("many", made, more=(10, 30.0))
    assert bars.hidden == 510 - (len(names_beside(bars)) - 1)
    assert sum(bars.parts.model.data["right"]) == pytest.approx(530)
    said = f"{530 - (510 - bars.hidden)} moves"
    assert bars.values.model.data["value"][-2:] == ["1 moves", said]
    assert bars.parts.model.data["hover1"][-1] == said


def test_bars_that_cannot_be_added_up_are_left_out_and_counted() -> None:
    bars = PartBars(DARK, NUMBER)
    bars.draw("many", [Bar(f"name {i}", [Part(1.0, "#123456")]) for i in range(500)])
    assert bars.hidden == 500 - len(names_beside(bars))
    assert set(bars.parts.model.data["right"]) == {1.0}
