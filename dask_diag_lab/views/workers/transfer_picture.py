"""What is drawn of transfers, worked out beside the loop: of 1000 workers there are 40 000.

Pure; knows neither Bokeh models nor the store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.figure import ColumnData
from dask_diag_lab.views.worker_names import (
    COLUMN_CHARACTERS,
    NamedWorkers,
    name_in_words,
    short_names,
)
from dask_diag_lab.views.workers.transfer_log import TransferLog
from dask_diag_lab.views.workers.transfer_rows import cells

Ints = npt.NDArray[np.int64]

MAX_DRAWN: Final = 3000
"""Newest transfers that are drawn."""
MAX_ROWS: Final = 1000
"""Newest transfers in the table on the screen."""


@dataclass(frozen=True, slots=True)
class TransferWish:
    """What is to be drawn of a log.

    Attributes
    ----------
    worker : str
        Address of the worker whose log it is; '' for all.
    named : NamedWorkers
    most : int
        Rows that there is room for.
    label_characters : int
        How long the name of a row may be.
    """

    worker: str
    named: NamedWorkers
    most: int
    label_characters: int


@dataclass(frozen=True, slots=True, eq=False)
class TransferPicture:
    """What is drawn of a log.

    Attributes
    ----------
    log : TransferLog
    drawn : ndarray of int64
        The transfers that are drawn, oldest first.
    rows : ndarray of int64
        The row of each of these.
    labels : sequence of str
        Of the rows, from the top.
    n_hidden : int
        Rows for which there is no room.
    words : mapping of str to list of str
        Lines of the hover, one of each transfer that is drawn.
    cells : mapping of str to array or list
        Columns of the table, newest first.
    received_bytes, sent_bytes : float
    """

    log: TransferLog
    drawn: Ints
    rows: Ints
    labels: Sequence[str]
    n_hidden: int
    words: Mapping[str, list[str]]
    cells: Mapping[str, ColumnData]
    received_bytes: float
    sent_bytes: float


def picture_of(log: TransferLog, wish: TransferWish) -> TransferPicture:
    """Return what is drawn of a log: the newest transfers of the busiest workers."""
    used, n_hidden = _rows(log, wish)
    row_of = {address: row for row, address in enumerate(used)}
    rows = np.array([row_of.get(at, -1) for at in _whose(log, wish)], dtype=np.int64)
    drawn = np.flatnonzero(rows >= 0)[-MAX_DRAWN:]
    names = {a: name_in_words(n) for a, n in wish.named.names({*log.worker, *log.peer}).items()}
    short = wish.named.short(names, COLUMN_CHARACTERS)
    return TransferPicture(
        log=log,
        drawn=drawn,
        rows=rows[drawn],
        labels=short_names([names[address] for address in used], wish.label_characters),
        n_hidden=n_hidden,
        words=_hover_columns(log, drawn, names),
        cells=cells(log, short.__getitem__, slice(-MAX_ROWS, None)),
        received_bytes=float(log.nbytes[log.is_incoming].sum()),
        sent_bytes=float(log.nbytes[~log.is_incoming].sum()),
    )


def _whose(log: TransferLog, wish: TransferWish) -> list[str]:
    """Return whose row each transfer has: that of the peer of one worker, or of the worker."""
    return log.peer if wish.worker else log.worker


def _rows(log: TransferLog, wish: TransferWish) -> tuple[list[str], int]:
    """Return the addresses that have a row, from the top, and how many have none.

    The busiest have one where there are too many.
    """
    whose = _whose(log, wish)
    known = [address for address in wish.named.there if address != wish.worker]
    order = {address: row for row, address in enumerate(dict.fromkeys([*known, *whose]))}
    used = sorted(set(whose), key=order.__getitem__)
    n_hidden = max(len(used) - wish.most, 0)
    if n_hidden:
        moved = dict.fromkeys(used, 0.0)
        for address, nbytes in zip(whose, log.nbytes.tolist(), strict=True):
            moved[address] += nbytes
        kept = set(sorted(used, key=lambda address: -moved[address])[: wish.most])
        used = [address for address in used if address in kept]
    return used, n_hidden


def _hover_columns(log: TransferLog, drawn: Ints, names: Mapping[str, str]) -> dict[str, list[str]]:
    makers: dict[str, Callable[[int], str]] = {
        "head": lambda row: _headline(log, row, names),
        "size": lambda row: f"{fmt.binary(float(log.nbytes[row]))}{wire_words(log, row)}",
        "when": lambda row: _when(log, row),
        "keys": lambda row: keys_words(log, row),
    }
    return {name: list(map(make, drawn.tolist())) for name, make in makers.items()}


def _headline(log: TransferLog, row: int, names: Mapping[str, str]) -> str:
    worker, peer = names[log.worker[row]], names[log.peer[row]]
    return f"{worker} received from {peer}" if log.is_incoming[row] else f"{worker} sent to {peer}"


def _when(log: TransferLog, row: int) -> str:
    took = float(log.stop[row] - log.start[row])
    rate = fmt.si(float(log.rate[row]), "B/s")
    return f"in {fmt.duration(took)} = {rate} · started {fmt.clock(float(log.start[row]))}"


def wire_words(log: TransferLog, row: int) -> str:
    """Return how much of a transfer was on the wire; '' where that is not known."""
    wire, nbytes = float(log.compressed[row]), float(log.nbytes[row])
    if not np.isfinite(wire) or nbytes <= 0:
        return ""
    return f", {fmt.binary(wire)} on the wire ({fmt.percent(wire / nbytes)})"


def keys_words(log: TransferLog, row: int) -> str:
    """Return the keys of a transfer, shortened."""
    number, key = float(log.keys[row]), fmt.elide(log.key[row], 80)
    return f"{fmt.plural(int(number), 'key')}, the largest {key}" if number > 1 else key
