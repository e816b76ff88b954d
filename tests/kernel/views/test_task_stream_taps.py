"""What a tap on a task stream opens, and that it moves nothing."""

from __future__ import annotations

import pytest
from bokeh.document import Document
from bokeh.events import DoubleTap, Tap

from dask_diag_lab.records import Kind, Outcome
from dask_diag_lab.views.scripted import PlainRenderer
from dask_diag_lab.views.stream.task_stream import TaskStream
from tests.kernel.views.conftest import Feed


def built(feed: Feed) -> TaskStream:
    view = TaskStream(feed.store)
    Document().add_root(view.build())
    return view


def tap(view: TaskStream, x: float, row: float, event: type[Tap | DoubleTap] = Tap) -> None:
    """Tap as a browser does; ``x`` in seconds of the run."""
    assert view.picture is not None
    figure = view.picture.figure
    assert figure.document is not None
    figure.document.callbacks.trigger_event(event(model=figure, x=x, y=row))


def opened(view: TaskStream) -> tuple[str, dict[str, str]] | None:
    return None if view.opening is None else (view.opening.plot, dict(view.opening.arguments))


@pytest.mark.parametrize(
    "what",
    [
        {},
        {"kind": Kind.TRANSFER, "source": "tcp://w1:1"},
        {"kind": Kind.DISK_READ},
        {"outcome": Outcome.ERRED},
        {"outcome": Outcome.KILLED},
    ],
    ids=["computed", "transfer", "disk", "failed", "killed"],
)
def test_every_kind_of_block_opens_the_profile_of_its_prefix(
    feed: Feed, what: dict[str, object]
) -> None:
    feed.maker.action(0, 10, prefix="inc", **what)  # type: ignore[arg-type]  # any column
    feed.send(10)
    view = built(feed)
    tap(view, 5.0, 0.35)
    assert opened(view) == ("profile", {"prefix": "inc", "from_task": "inc-0"})


def test_a_running_task_opens_its_profile_and_then_its_page(feed: Feed) -> None:
    feed.maker.action(0, 1)
    feed.send(4, running=[("slow-1", "tcp://w0:1", "slow", 2.0)])
    view = built(feed)
    tap(view, 3.0, 0.0)
    assert opened(view) == ("profile", {"prefix": "slow", "from_task": "slow-1"})
    tap(view, 3.5, 0.0)
    assert opened(view) == ("task", {"key": "slow-1"})


def test_the_second_tap_opens_the_task(feed: Feed) -> None:
    feed.maker.action(0, 10, key="('x', 1)")
    feed.send(10)
    view = built(feed)
    tap(view, 5.0, 0.0)
    tap(view, 6.0, 0.0)
    assert opened(view) == ("task", {"key": "('x', 1)"})


def test_a_double_tap_opens_the_task(feed: Feed) -> None:
    feed.maker.action(0, 10, key="inc-7")
    feed.send(10)
    view = built(feed)
    tap(view, 5.0, 0.0, DoubleTap)
    assert opened(view) == ("task", {"key": "inc-7"})


def test_a_transfer_above_a_task_is_what_is_hit_in_the_lower_half(feed: Feed) -> None:
    feed.maker.action(0, 10, prefix="long")
    feed.maker.action(4, 6, prefix="sum", kind=Kind.TRANSFER, source="tcp://w1:1")
    feed.send(10)
    view = built(feed)
    tap(view, 5.0, 0.3)
    assert opened(view) == ("profile", {"prefix": "sum", "from_task": "sum-1"})
    tap(view, 5.0, -0.3)
    assert opened(view) == ("profile", {"prefix": "long", "from_task": "long-0"})


def test_a_merged_block_opens_its_longest_prefix(feed: Feed) -> None:
    for index in range(9000):
        name = "long" if index % 100 == 50 else "short"
        feed.maker.action(index, index + (0.9 if name == "long" else 0.1), prefix=name)
    feed.send(9000)
    view = built(feed)
    assert view.picture is not None
    assert max(view.picture.work.model.data["count"]) > 1
    view.window.hold(view.window.zero, view.window.zero + 9000)
    view.update()
    data = view.picture.work.model.data
    merged = [i for i, n in enumerate(data["count"]) if n > 1]
    name_of = dict(zip(*(view.picture.texts.model.data[c] for c in ("id", "text")), strict=True))
    index = merged[len(merged) // 2]
    tap(view, float(data["left"][index] + data["right"][index]) / 2, 0.0)
    prefix, task = name_of[data["prefix"][index]], feed.store.actions.key(data["task"][index])
    assert opened(view) == ("profile", {"prefix": prefix, "from_task": task})


def test_a_tap_outlines_the_block_and_one_on_nothing_takes_that_back(feed: Feed) -> None:
    feed.maker.action(0, 10)
    feed.send(10)
    view = built(feed)
    assert view.picture is not None
    chosen = view.picture.marks.chosen.model
    tap(view, 5.0, 0.0)
    assert (chosen.data["left"], chosen.data["right"]) == (
        pytest.approx([0.0], abs=0.1),
        pytest.approx([10.0], abs=0.1),
    )
    assert (chosen.data["top"], chosen.data["bottom"]) == (
        pytest.approx([-0.4], abs=0.1),
        pytest.approx([0.4], abs=0.1),
    )
    view.opening = None
    tap(view, 5.0, 3.0)
    assert chosen.data["left"] == []
    assert opened(view) is None


def test_the_outline_of_a_narrow_block_leaves_its_colour_to_be_seen(feed: Feed) -> None:
    feed.maker.action(0, 1e-6, prefix="tiny").action(0.5, 101, thread=2)
    feed.send(101)
    view = built(feed)
    assert view.picture is not None
    tap(view, 0.0, 0.0)
    chosen, pixel_s = view.picture.marks.chosen.model.data, view.window.width / 800
    lines = view.picture.figure.renderers[-2:]
    widest = max(line.glyph.line_width for line in lines if isinstance(line, PlainRenderer))
    assert (0 - chosen["left"][0]) / pixel_s >= widest / 2
    assert (chosen["right"][0] - 1e-6) / pixel_s >= widest / 2
    assert chosen["top"][0] < -0.4


def test_a_tap_moves_nothing(feed: Feed) -> None:
    feed.maker.action(0, 10)
    feed.send(10)
    view = built(feed)
    assert view.picture is not None
    before = (view.picture.times, view.picture.rows)
    tap(view, 5.0, 0.0)
    view.update()
    assert (view.picture.times, view.picture.rows) == before
    assert view.window.is_following


def test_a_tap_on_a_workers_name_opens_its_page(feed: Feed) -> None:
    feed.maker.action(0, 10)
    feed.send(10)
    view = built(feed)
    tap(view, -5.0, 2.6)
    assert opened(view) == ("worker", {"worker": "tcp://w1:1"})


def test_a_thin_block_is_hit_by_a_pointer_beside_it(feed: Feed) -> None:
    feed.maker.action(0, 1e-6, prefix="tiny").action(0.5, 101, thread=2)
    feed.send(101)
    view = built(feed)
    tap(view, 0.2, 0.0)
    assert opened(view) == ("profile", {"prefix": "tiny", "from_task": "tiny-0"})


def test_a_tapped_tasks_key_is_sent_though_keys_are_not(feed: Feed) -> None:
    for index in range(3000):
        feed.maker.action(index, index + 0.9, key=f"inc-{index}")
    feed.send(3000)
    view = built(feed)
    assert view.picture is not None
    view.command("fit")
    keys = view.picture.keys.model
    assert len(keys.data["key"]) == 0
    tap(view, 1000.4, 0.0)
    assert list(keys.data["key"]) == ["inc-1000"]
