"""Array types of the history, and an array that grows."""

from __future__ import annotations

from collections.abc import Mapping
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


class GrowingArray(Generic[Scalar]):
    """A one-dimensional array that can be appended to in amortised constant time.

    Parameters
    ----------
    dtype : type
        NumPy scalar type of the elements.
    fill : float
        Value of the elements that `extend_to` adds.
    size : int
        Elements that there are at first, with that value.
    """

    __slots__ = ("_array", "_fill", "_size")

    def __init__(self, dtype: type[Scalar], fill: float = 0, size: int = 0) -> None:
        self._array: npt.NDArray[Scalar] = np.full(16, fill, dtype=dtype)
        self._fill = fill
        self._size = 0
        self.extend_to(size)

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
            grown[: self._size] = self.values
            self._array = grown
        self._size = max(self._size, size)

    def extend(self, values: npt.ArrayLike) -> None:
        """Append all of ``values``."""
        added = np.asarray(values, dtype=self._array.dtype)
        begin = self._size
        self.extend_to(begin + len(added))
        self._array[begin : self._size] = added


def narrow(values: npt.NDArray[np.integer]) -> npt.NDArray[np.integer]:
    """Return integers in the smallest type that holds them all."""
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    return values.astype(np.min_scalar_type(high if low >= 0 else min(low, -high - 1)))


def frozen(values: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """Mark an array that several readers share as read-only and return it."""
    values.flags.writeable = False
    return values


def joined(parts: list[Columns]) -> Columns:
    """Return the rows of one or more parts, one after the other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
