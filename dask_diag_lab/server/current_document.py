"""Leaves Bokeh's current document of this process to the user, whatever a view raises."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bokeh.io import doc as bokeh_doc

if TYPE_CHECKING:
    from bokeh.document import Document


@contextmanager
def kept(document: Document) -> Iterator[None]:
    """Run callbacks of `document`; at the end it is no longer what ``curdoc()`` returns.

    Bokeh before 3.10 makes a document current around each of its callbacks, and does not take that
    back when one raises (``bokeh.io.doc.patch_curdoc``). In a kernel the user's own ``show()``
    would then find a document of ours, or fail once that is gone.
    """
    stack: object = getattr(bokeh_doc, "_PATCHED_CURDOCS", None)
    if not isinstance(stack, list):  # Bokeh >= 3.10 takes it back itself
        yield
        return
    before = len(stack)
    try:
        yield
    finally:
        # Another thread may have made one current meanwhile: only ours is taken away.
        stack[before:] = [ref for ref in stack[before:] if _document(ref()) is not document]


def _document(found: object) -> object:
    """Return the document itself where it stands there for callbacks without its lock."""
    return getattr(found, "_doc", found)
