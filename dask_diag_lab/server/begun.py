"""What one view has begun to have made in other threads, and has not got yet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dask_diag_lab.store.workings import Working, Workings


class Begun:
    """The work of one view; that of others is none of its business."""

    def __init__(self, workings: Workings) -> None:
        self._workings = workings
        self._open: list[Working[Any]] = []  # results of any type

    @contextmanager
    def noticing(self) -> Iterator[None]:
        """Remember what is begun in this block."""
        with self._workings.noticed() as begun:
            yield
        self._open = [working for working in (*self._open, *begun) if not working.is_done]

    def has(self, working: Working[Any]) -> bool:  # as above
        """Return whether this is one of them."""
        return any(begun is working for begun in self._open)

    @property
    def is_done(self) -> bool:
        """Whether there is nothing to wait for."""
        return all(working.is_done for working in self._open)
