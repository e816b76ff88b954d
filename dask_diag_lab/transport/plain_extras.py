"""Extra tables that the engine's own calls give: bandwidth from heartbeats, and work stealing.

Must not call anybody itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from dask_diag_lab.collector.extra_stealing import rows_of
from dask_diag_lab.collector.strings import key_text
from dask_diag_lab.records import EXTRAS, ExtraChange
from dask_diag_lab.transport import wire

STEALING: Final = "stealing"
COLUMNS: Final = {extra.name: [column.name for column in extra.columns] for extra in EXTRAS}

Pair = tuple[str, ...]  # a type, or the two ends of a transfer


class _Averages:
    """Moving averages as the scheduler makes them (``Scheduler.heartbeat_worker``)."""

    def __init__(self, table: str) -> None:
        self._table = table
        self._rates: dict[Pair, float] = {}
        self._sent: dict[Pair, float] | None = None

    def add(self, name: Pair, total: float, count: int, share: float) -> None:
        """Take over ``count`` transfers with this sum of rates; ``share`` is that of a worker."""
        if count > 0:
            kept = (1 - share) ** count if name in self._rates else 0.0
            self._rates[name] = kept * self._rates.get(name, 0.0) + (1 - kept) * total / count

    def keep(self, addresses: Collection[str]) -> None:
        """Forget pairs with a worker that is gone."""
        self._rates = {pair: r for pair, r in self._rates.items() if set(pair) <= set(addresses)}

    def change(self) -> ExtraChange | None:
        """Return the table, None where it is as it was."""
        if self._rates == self._sent:
            return None
        self._sent = dict(self._rates)
        return _change(self._table, [(*name, rate) for name, rate in self._rates.items()])


class PlainExtras:
    """What these calls tell over time.

    A heartbeat is only seen when it is the last one at the time of a call, so these averages are
    over a sample of the transfers.
    """

    def __init__(self) -> None:
        self._types = _Averages("bandwidth-types")
        self._workers = _Averages("bandwidth-workers")
        self._heartbeats: dict[str, float] = {}
        self._last: Any = None  # the newest message of the topic that was taken over
        self._is_known = False

    def see_workers(self, workers: Mapping[str, Any]) -> None:  # identities of workers
        """Take over the bandwidths that new heartbeats brought."""
        share = 1 / max(len(workers), 1)
        for address, identity in workers.items():
            facts = wire.mapping(identity, "identity.workers")
            seen = wire.number(facts.get("last_seen", 0.0), "identity.last_seen")
            if self._heartbeats.get(address) == seen:
                continue
            self._heartbeats[address] = seen
            metrics = wire.mapping(facts.get("metrics", {}), "identity.metrics")
            told = wire.mapping(metrics.get("bandwidth", {}), "identity.metrics.bandwidth")
            for peer, total, count in _sums(told.get("workers", {})):
                self._workers.add((peer, address), total, count, share)
            for name, total, count in _sums(told.get("types", {})):
                self._types.add((name,), total, count, share)
        self._heartbeats = {a: seen for a, seen in self._heartbeats.items() if a in workers}
        self._workers.keep(workers.keys())

    def changes(self, wanted: Collection[str]) -> dict[str, ExtraChange]:
        """Return the wanted ones of the bandwidth tables that changed."""
        tables = {"bandwidth-types": self._types, "bandwidth-workers": self._workers}
        found = {name: table.change() for name, table in tables.items() if name in wanted}
        return {name: change for name, change in found.items() if change is not None}

    def stolen(self, events: Any) -> ExtraChange | None:  # what a peer sent
        """Return the new ones among all messages of the topic that the scheduler still has.

        Raises
        ------
        wire.WireError
            They are not what the engine of this version gives.
        """
        rows: list[tuple[Any, ...]] = []
        known = [*wire.items(events, STEALING)]
        n_new = next((n for n, event in enumerate(reversed(known)) if event == self._last), None)
        for event in known if n_new is None else known[len(known) - n_new :]:
            at, message = wire.items(event, STEALING, 2)
            try:
                rows += rows_of(wire.number(at, STEALING), message)
            except (TypeError, ValueError) as error:
                raise wire.fail(STEALING, "a move of a task", message) from error
        self._last = known[-1] if known else self._last
        if not rows and self._is_known:
            return None
        self._is_known = True
        return _change(STEALING, rows)


def _sums(told: Any) -> Iterable[tuple[str, float, int]]:
    """Return name, sum of rates and number of transfers."""
    for name, pair in wire.mapping(told, "identity.metrics.bandwidth").items():
        total, count = wire.items(pair, "identity.metrics.bandwidth", 2)
        yield (
            key_text(name),
            wire.number(total, "identity.metrics.bandwidth"),
            wire.whole(count, "identity.metrics.bandwidth"),
        )


def _change(table: str, rows: list[tuple[Any, ...]]) -> ExtraChange:
    names = COLUMNS[table]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    return ExtraChange(dict(zip(names, columns, strict=True)))
