"""The few answers that were used last; knows nothing of what they answer."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Values by question, those used last, for any number of threads.

    What is kept is replaced as a whole and never changed: of two threads that remember something
    at the same time one may be forgotten, which costs no more than to work it out again.

    Parameters
    ----------
    most : int
        Values kept at most.
    """

    __slots__ = ("_kept", "_most")

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[K, V] = {}

    def get(self, question: K) -> V | None:
        """Return the value of a question, which is now the one used last; None if unknown."""
        value = self._kept.get(question)
        if value is not None:
            self.keep(question, value)
        return value

    def keep(self, question: K, value: V) -> None:
        """Remember a value, in place of what was known of the question."""
        kept = {known: old for known, old in self._kept.items() if known != question}
        kept[question] = value
        while len(kept) > self._most:
            del kept[next(iter(kept))]
        self._kept = kept

    def values(self) -> Iterable[V]:
        """Return all that is kept, the one used last at the end."""
        return self._kept.values()
