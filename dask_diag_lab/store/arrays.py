"""Array types of the store, an array that grows, and a small cache of what was used last."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Objects = npt.NDArray[np.object_]
Columns = dict[str, npt.NDArray[Any]]  # dtypes differ from column to column
Row = Mapping[str, Any]  # of a live table, as the collector sent it: values differ in type
Scalar = TypeVar("Scalar", bound=np.generic)
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class GrowingArray(Generic[Scalar]):
    """A one-dimensional array that can be appended to in amortised constant time.

    Parameters
    ----------
    dtype : type
        NumPy scalar type of the elements.
    fill : float
        Value of the elements that `extend_to` adds.
    """

    __slots__ = ("_array", "_fill", "_size")

    def __init__(self, dtype: type[Scalar], fill: float = 0) -> None:
        self._array: npt.NDArray[Scalar] = np.full(16, fill, dtype=dtype)
        self._fill = fill
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def values(self) -> npt.NDArray[Scalar]:
        """The elements: a view that the next growth may leave behind."""
        return self._array[: self._size]

    def extend_to(self, size: int) -> None:
        """Make it at least ``size`` elements long, new ones having the fill value."""
        if size > len(self._array):
            grown = np.full(max(size, 2 * len(self._array)), self._fill, dtype=self._array.dtype)
            grown[: self._size] = self._array[: self._size]
            self._array = grown
        self._size = max(self._size, size)

    def extend(self, values: npt.ArrayLike) -> None:
        """Append all of ``values``."""
        added = np.asarray(values, dtype=self._array.dtype)
        begin = self._size
        self.extend_to(begin + len(added))
        self._array[begin : self._size] = added

    def replace(self, values: npt.NDArray[Scalar]) -> None:
        """Forget the elements and hold a copy of ``values`` instead."""
        self._array = np.array(values, dtype=self._array.dtype)
        self._size = len(values)


def narrow(values: npt.NDArray[np.unsignedinteger]) -> npt.NDArray[np.unsignedinteger]:
    """Return non-negative integers in the smallest unsigned type that holds them all."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


def frozen(values: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """Mark an array that several readers share as read-only and return it."""
    values.flags.writeable = False
    return values


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
