"""Task streams as a page has them: in a document, read and moved as a browser does."""

from __future__ import annotations

from typing import Any

from bokeh.document import Document

from dask_diag_lab.views.stream.picture import Picture
from dask_diag_lab.views.stream.task_stream import TaskStream
from tests.kernel.views.conftest import Feed
from tests.kernel.views.situations import served


def built(feed: Feed) -> tuple[TaskStream, Picture]:
    """Return a built stream in a document, as a page has it."""
    view = TaskStream(feed.store)
    Document().add_root(view.build())
    assert view.picture is not None
    return view, view.picture


def opened(feed: Feed) -> TaskStream:
    """Return a stream as the server has it."""
    return served(TaskStream(feed.store))


def move(picture: Picture, **ends: float) -> None:
    """Change the x or y range as a browser's patch does."""
    model = picture.y_range if "top" in ends else picture.x_range
    names = {"top": "end", "bottom": "start"}
    document = model.document
    assert document is not None
    events = [
        {"kind": "ModelChanged", "model": {"id": model.id}, "attr": names.get(n, n), "new": value}
        for n, value in ends.items()
    ]
    patch: Any = {"events": events}  # as parsed from JSON
    document.apply_json_patch(patch)


def data(source: Any) -> dict[str, list[Any]]:  # a Source; columns differ in type
    return {name: list(column) for name, column in source.model.data.items()}


def many(feed: Feed, n: int) -> None:
    for index in range(n):
        begin = index * 1e-3
        feed.maker.action(begin, begin + 9e-4, key=f"inc-{index}")
    feed.send(n * 1e-3)
