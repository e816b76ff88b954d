"""Task streams as a page has them: in a document, read and moved as a browser does."""

from __future__ import annotations

from typing import Any

from bokeh.document import Document
from bokeh.events import DoubleTap, Tap

from dask_diag_lab.views.stream.figure import StreamFigure
from dask_diag_lab.views.stream.task_stream import TaskStream
from dask_diag_lab.views.time_axis import Timeline
from tests.kernel.views.conftest import Feed


def built(feed: Feed, **arguments: str) -> tuple[TaskStream, StreamFigure]:
    """Return a built stream in a document, as a page has it."""
    view = TaskStream(feed.live, arguments=arguments)
    Document().add_root(view.build())
    assert view.figure is not None
    return view, view.figure


def move(timeline: Timeline, **ends: float) -> None:
    """Change the x or y range as a browser's patch does."""
    model = timeline.y_range if "top" in ends else timeline.time.model
    names = {"top": "end", "bottom": "start"}
    document = model.document
    assert document is not None
    events = [
        {"kind": "ModelChanged", "model": {"id": model.id}, "attr": names.get(n, n), "new": value}
        for n, value in ends.items()
    ]
    patch: Any = {"events": events}  # as parsed from JSON
    document.apply_json_patch(patch)


def tap(view: TaskStream, x: float, row: float, event: type[Tap | DoubleTap] = Tap) -> Any:
    """Tap as a browser does, ``x`` in seconds of the run; return what that opened, or None."""
    assert view.figure is not None
    figure = view.figure.figure
    assert figure.document is not None
    view.plot_link = None
    figure.document.callbacks.trigger_event(event(model=figure, x=x, y=row))
    plot_link: Any = view.plot_link  # set by that event
    return None if plot_link is None else (plot_link.plot, dict(plot_link.arguments))


def data(source: Any) -> dict[str, list[Any]]:  # a Source; columns differ in type
    return {name: list(column) for name, column in source.model.data.items()}


def labels(view: TaskStream) -> list[str]:
    """Return the names in the legend."""
    return [item.label for item in view.caption.legend]


def many(feed: Feed, n: int, took: float = 9e-4) -> None:
    """Have a task end every millisecond."""
    for index in range(n):
        feed.maker.action(index * 1e-3, index * 1e-3 + took, key=f"inc-{index}")
    feed.send(n * 1e-3)
