"""Keys that nobody would write, but somebody does: one name for each in all plots."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

import pytest
from dask.utils import key_split
from distributed import wait

from dask_diag_lab.store import Store
from dask_diag_lab.views.base import View
from dask_diag_lab.views.registry import get_plot
from dask_diag_lab.views.shown_name import shown_name
from tests.kernel.situations_real.reading import LIMIT_S, Situation, situation

KEYS: tuple[Hashable, ...] = (
    *(1, 2.5, ("x", 1), "a b", "<b>x</b>", "<module.>", " ", "\u200b", "a\nb", "\u202eabc"),
    *("ae05086432ca935f6eba409a8ecd4896", "abcdef12", "()", "$$x$$"),
)
SHOWN = {shown_name(key_split(key)) for key in KEYS}


def work(number: int) -> bytes:
    return bytes(sum(range(50_000)) % 7 + number)


@pytest.fixture(scope="module")
def found() -> Iterator[Situation]:
    with situation(n_workers=1, threads_per_worker=2) as found:
        kept = [found.client.submit(work, n, key=key) for n, key in enumerate(KEYS)]
        wait(kept)
        yield found


def columns(model: Any, *names: str) -> set[str]:  # a Bokeh data source
    return {text for name in names for text in model.data[name]}


def of_progress(view: Any) -> set[str]:  # of the class that is named beside it below
    return columns(view.cells.model, "hover0")


def of_bars(view: Any) -> set[str]:
    return columns(view.bars.model, "hover0")


def of_groups(view: Any) -> set[str]:
    return {text.removeprefix("prefix ") for text in columns(view.groups.boxes.model, "prefix")}


def of_stream(view: Any) -> set[str]:
    return columns(view.picture.texts.model, "text")


@pytest.mark.parametrize(
    ("plot", "names"),
    [
        ("progress", of_progress),
        ("memory-by-key", of_bars),
        ("compute-time-per-key", of_bars),
        ("groups", of_groups),
        ("task-stream", of_stream),
    ],
)
def test_a_prefix_has_one_name_that_can_be_seen_in_every_plot(
    found: Situation, plot: str, names: Callable[[View], set[str]]
) -> None:
    def told(store: Store) -> set[str]:
        view = get_plot(plot).load()(store)
        try:
            view.build()
            view.update()
            return names(view)
        finally:
            view.close()

    found.table(plot)  # it is looked at, so that what only it needs is asked for
    found.seen(
        lambda: found.diagnostics.submit(told, is_fresh=True).result(LIMIT_S),
        lambda shown: shown >= SHOWN if plot == "task-stream" else shown == SHOWN,
    )


def test_no_label_of_the_task_streams_legend_is_empty(found: Situation) -> None:
    def labels(store: Store) -> Sequence[str]:
        view: Any = get_plot("task-stream").load()(store)
        try:
            view.build()
            view.update()
            return list(view.picture.legend.model.data["label"])
        finally:
            view.close()

    found.seen(
        lambda: found.diagnostics.submit(labels, is_fresh=True).result(LIMIT_S),
        lambda told: told and all(label == shown_name(label) for label in told),
    )
