"""The newest of what is worked out one after the other, off the loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from dask_diag_lab.store.workings import Working, Workings

T = TypeVar("T")


class Latest(Generic[T]):
    """One thing that is made anew whenever what it depends on has changed, one at a time.

    Wishes that come while one is being made do not pile up: the last one is made next.
    """

    def __init__(self, workings: Workings) -> None:
        self._workings = workings
        self._wished: tuple[object, object] | None = None
        self._under_way: Working[T] | None = None
        self._done: tuple[object, Working[T]] | None = None
        self._n_taken = 0

    @property
    def version(self) -> int:
        """Moves when one has been made."""
        return self._n_taken + (self._under_way is not None and self._under_way.is_done)

    def of(self, subject: object, version: object, make: Callable[[], T]) -> T | None:
        """Return the newest that there is of a subject; begin to make it where it is old.

        Parameters
        ----------
        subject
            What it is of: of another one nothing is returned.
        version
            What an equal one of need not be made of the same subject again.
        make : callable
            Makes it, in another thread. What it raises is raised here, once it is known.
        """
        self._take()
        if self._under_way is None and self._wished != (subject, version):
            self._wished = (subject, version)
            self._under_way = self._workings.start(make)
            self._take()
        return self.known(subject)

    def known(self, subject: object) -> T | None:
        """Return the newest that there is of a subject, and make none."""
        if self._done is None or self._done[0] != subject:
            return None
        return self._done[1].result()

    def _take(self) -> None:
        if self._wished is not None and self._under_way is not None and self._under_way.is_done:
            self._done = self._wished[0], self._under_way
            self._under_way = None
            self._n_taken += 1
