"""Extra tables as the collector sends them, checked and made into `records.ExtraChange`.

Must not talk to anybody.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from dask_diag_lab.records import EXTRAS, STATES, Extra, ExtraChange
from dask_diag_lab.transport import wire

TABLES: Final = {extra.name: extra for extra in EXTRAS}


def extra_changes(value: Any) -> dict[str, ExtraChange]:  # from here on: Any is what a peer sent
    """Return the changed tables by name; tables of other versions are skipped.

    Raises
    ------
    wire.WireError
        Naming the column that is wrong or missing.
    """
    tables = wire.mapping(value, "extras")
    return {name: _change(TABLES[name], table) for name, table in tables.items() if name in TABLES}


def _change(extra: Extra, value: Any) -> ExtraChange:
    field = f"extras.{extra.name}"
    sent, dropped = wire.items(value, field, 2)
    columns: dict[str, Sequence[Any]] = {}
    for column, cells in zip(
        extra.columns, wire.items(sent, field, len(extra.columns)), strict=True
    ):
        name = f"{field}.{column.name}"
        check = CHECKS.get(column.name) or _BY_DTYPE[column.dtype]
        columns[column.name] = [check(cell, name) for cell in wire.items(cells, name)]
    if len({len(cells) for cells in columns.values()}) > 1:
        raise wire.fail(field, "columns of equal length", [len(c) for c in columns.values()])
    return ExtraChange(columns, wire.whole(dropped, f"{field}.dropped"))


def _counts(value: Any, field: str) -> tuple[int, ...]:
    return tuple(wire.whole(count, field) for count in wire.items(value, field, len(STATES)))


CHECKS: Final[Mapping[str, Callable[[Any, str], Any]]] = {
    "workers": wire.texts,
    "groups": wire.texts,
    "states": _counts,
}
"""Columns of tuples; all other object columns are text."""

_BY_DTYPE: Final[Mapping[str, Callable[[Any, str], Any]]] = {
    "O": wire.text,
    "<f8": wire.number,
    "<i8": wire.whole,
}
