"""The answer to the question ``transfers`` as columns, checked and in the order of the end.

Pure; knows neither Bokeh nor the store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TransferLog:
    """Transfers as the workers' own logs tell them, in the order in which they ended.

    A transfer between two workers is in the logs of both: as incoming of one, outgoing of the
    other.

    Attributes
    ----------
    worker, peer : list of str
        Addresses: whose log it is, and who was at the other end.
    is_incoming : ndarray of bool
    start, stop : ndarray of float64
        Seconds since the epoch, scheduler's clock.
    nbytes, compressed, rate : ndarray of float64
        Bytes of the data; on the wire (NaN where not known); bytes a second.
    keys : ndarray of float64
        Number of keys.
    key : list of str
        The largest of them.
    missing : mapping of str to str
        Why a worker did not answer.
    dropped : int
        Transfers that workers remember and that were not sent.
    """

    worker: list[str]
    peer: list[str]
    is_incoming: npt.NDArray[np.bool_]
    start: Floats
    stop: Floats
    nbytes: Floats
    compressed: Floats
    rate: Floats
    keys: Floats
    key: list[str]
    missing: Mapping[str, str]
    dropped: int

    def __len__(self) -> int:
        return len(self.worker)

    @classmethod
    def of(cls, answer: Any) -> TransferLog:  # plain data, or None before the first answer
        """Return the log in an answer; empty before there is one."""
        given = answer if isinstance(answer, Mapping) else {}
        rows: Sequence[Mapping[str, Any]] = sorted(given.get("rows", ()), key=lambda r: r["stop"])
        start, stop = _numbers(rows, "start"), _numbers(rows, "stop")
        nbytes, rate = _numbers(rows, "nbytes"), _numbers(rows, "rate")
        took = stop - start
        known = np.divide(nbytes, took, out=np.full(len(rows), np.nan), where=took > 0)
        totals = sum(given.get("totals", {}).values())
        return cls(
            worker=[str(row["worker"]) for row in rows],
            peer=[str(row["peer"]) for row in rows],
            is_incoming=np.array([row["direction"] == "in" for row in rows], dtype=bool),
            start=start,
            stop=stop,
            nbytes=nbytes,
            compressed=_numbers(rows, "compressed"),
            rate=np.where(rate > 0, rate, known),
            keys=_numbers(rows, "keys"),
            key=[str(row["key"]) for row in rows],
            missing=dict(given.get("missing", {})),
            dropped=max(totals - len(rows), 0),
        )


def _numbers(rows: Sequence[Mapping[str, Any]], name: str) -> Floats:
    return np.array([np.nan if row[name] is None else row[name] for row in rows], dtype=np.float64)
