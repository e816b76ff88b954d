"""The plots of the scheduler: tables as the collector sends them in, columns and words out."""

from __future__ import annotations

import math
from typing import Any, Final

from dask_diag_lab.store import LiveSession
from dask_diag_lab.views.format import clock
from dask_diag_lab.views.scheduler.moves import Shuffle
from dask_diag_lab.views.scheduler.system import Clients, Counters
from tests.kernel.views.drawn import Drawn
from tests.kernel.views.situations import batch, change, session_of, worker

T0: Final = 1000.0
# --- counters


def counted(live: LiveSession, transitions: float, time: float) -> None:
    """Have a session told of the scheduler's transitions at this time."""
    rows = [("transitions", "count", transitions)]
    live.apply(batch(extras=change("counters", rows), time=time))


def counting() -> tuple[LiveSession, Drawn[Counters]]:
    """Return a session with 100 transitions at `T0`, and their plot."""
    live = LiveSession(clock=lambda: 0.0)
    counted(live, 100, T0)
    return live, Drawn(Counters(live))


def test_counters_have_their_sums() -> None:
    live, shown = counting()
    counted(live, 150, T0 + 5)
    shown.view.update()
    assert shown.view.caption.note == f"1 counter since the scheduler began · as of {clock(T0 + 5)}"
    assert shown.view.table().columns == {
        "name": ["transitions"],
        "value": [150.0],
        "unit": ["count"],
    }


def test_clients_have_another_kind_than_what_else_keeps_results() -> None:
    rows = [("Client-a", True, 3), ("Client-b", True, 0), ("variable-x", False, 1)]
    view = Drawn(Clients(session_of(extras=change("clients", rows)))).view
    expected = "Clients: 2 connected · 4 keys wanted, shared ones counted for each"
    assert view.caption.headline == expected
    assert view.table().columns == {
        "name": ["Client-a", "Client-b", "variable-x"],
        "wanted": [3, 0, 1],
        "kind": ["client", "client", "no client"],
    }


# --- what is moved on purpose

A, B = "tcp://10.0.0.0:4000", "tcp://10.0.0.1:4000"


def shuffle_row(shuffle: str, number: int, sent: float) -> tuple[Any, ...]:
    buffers = (sent, sent / 2, 10.0, 100.0, sent / 4, 0.0, 20.0, math.nan)
    return (shuffle, f"tcp://10.0.0.{number}:4000", *buffers, T0)


def test_the_newest_shuffle_is_shown_busiest_worker_first() -> None:
    rows = [
        shuffle_row("old", 0, 9.0),
        shuffle_row("new", 0, 1024.0),
        shuffle_row("new", 1, 4096.0),
    ]
    live = session_of(workers=[worker(0), worker(1)], extras=change("shuffles", rows))
    shown = Drawn(Shuffle(live))
    assert shown.data["name"] == ["worker 1", "worker 0"]
    expected = "5.00 KiB sent (striped: received), 1.25 KiB written to disk (striped: read)"
    assert shown.view.caption.headline == expected
    assert shown.view.caption.note == "2 shuffles; this one by 2 workers as last reported"
    assert [control.name for control in shown.view.caption.controls] == ["shuffle", "order"]
    shown.view.set_control("shuffle", "old")
    shown.view.update()
    assert shown.data["name"] == ["worker 0"]
    assert shown.view.parts[1].table().columns["comm_limit"] == [100.0]
