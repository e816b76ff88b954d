"""Transfers and bandwidths: rows, directions, rates, what is asked and what is said."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.document import Document
from bokeh.models import CompositeTicker

from dask_diag_lab.records import ExtraChange
from dask_diag_lab.store import Store
from dask_diag_lab.store.inquiries import Inquiry
from dask_diag_lab.store.workings import Working
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.look import LIGHT
from dask_diag_lab.views.palette import data_colors
from dask_diag_lab.views.time_axis import ticks_that_fit
from dask_diag_lab.views.workers.bandwidth_bars import BandwidthTypes
from dask_diag_lab.views.workers.bandwidth_workers import BandwidthWorkers
from dask_diag_lab.views.workers.transfer_lanes import LIVE_S
from dask_diag_lab.views.workers.transfers import Transfers
from tests.kernel.views.situations import MIB, Page, batch, store_of, worker

ADDRESS = [str(worker(i)["address"]) for i in range(100)]


def transfer(to: int, of: int, at: float, took: float = 0.5, **given: Any) -> dict[str, Any]:
    """Return an entry of the log of worker ``to``, ``at`` seconds after 1000."""
    row = {"worker": ADDRESS[to], "peer": ADDRESS[of], "direction": "in", "start": 1000.0 + at}
    row |= {"stop": 1000.0 + at + took, "nbytes": 10 * MIB, "compressed": None, "rate": 2e7}
    return row | {"keys": 1, "key": "x-1"} | given


def asked(*rows: dict[str, Any], n: int = 3, **more: Any) -> tuple[Store, list[Inquiry]]:
    """Return a store whose questions are answered with ``rows`` at once, and the questions."""
    store, found = store_of(workers=[worker(i) for i in range(n)]), []

    def answer(inquiry: Inquiry) -> None:
        found.append(inquiry)
        store.answer(inquiry, {"rows": list(rows), "missing": {}, **more})

    store.inquiries.on_ask = answer
    return store, found


def opened(view: Transfers) -> Transfers:
    document = Document()
    document.add_root(view.build())
    return view


def test_received_is_above_and_sent_below_the_middle_of_a_row() -> None:
    rows = [transfer(1, 0, 1.0), transfer(0, 1, 1.0, direction="out")]
    view = opened(Transfers(asked(*rows)[0]))
    data, colors = view.lanes.rects.model.data, data_colors(LIGHT)
    assert sorted(zip(data["color"], np.round(data["y"]), strict=True)) == sorted(
        [(colors.incoming, 1.0), (colors.outgoing, 0.0)]
    )
    above = data["y"][list(data["color"]).index(colors.incoming)]
    assert above < round(above)


def test_width_is_the_duration_and_slow_ones_are_pale() -> None:
    rows = [transfer(1, 0, 0.0, took=2.0, rate=1e6), transfer(1, 0, 5.0, rate=1e9)]
    data = opened(Transfers(asked(*rows)[0])).lanes.rects.model.data
    assert data["right"][0] - data["left"][0] == 2.0
    assert data["alpha"][0] < data["alpha"][1]


def test_rows_of_one_worker_are_its_peers() -> None:
    store, questions = asked(transfer(0, 1, 0.0), transfer(0, 2, 1.0))
    view = opened(Transfers(store, arguments={"worker": ADDRESS[0]}))
    assert list(view.lanes.figure.yaxis[0].major_label_overrides.values()) == [
        "worker 1",
        "worker 2",
    ]
    assert view.lanes.rects.model.data["head"][0].startswith("worker 0 ")
    started = fmt.clock(float(view.lanes.zero))
    assert view.lanes.rects.model.data["when"][0].endswith(f" · started {started}")
    assert questions[0].arguments == {"worker": ADDRESS[0]}


def test_ticks_are_those_that_fit_into_the_window_that_is_drawn() -> None:
    rows = [transfer(0, 1, 0.0)]
    store, width = store_of(workers=[worker(0), worker(1)]), 420
    store.inquiries.on_ask = lambda question: store.answer(question, {"rows": rows, "missing": {}})
    view = Transfers(store)
    page = Page(view, width, 420)
    rows = [*rows, transfer(0, 1, 9000.0)]
    store.apply(batch(time=1003.0, workers=[worker(0), worker(1)]))
    page.sent()
    place = (9000.5 - LIVE_S, 9000.5)
    assert view.lanes.place == place
    assert ticks_that_fit(0, LIVE_S, width) != ticks_that_fit(*place, width)
    ticker = view.lanes.figure.xaxis[0].ticker
    assert isinstance(ticker, CompositeTicker)
    assert ticker.desired_num_ticks == ticks_that_fit(*place, width)


def test_choice_of_another_worker_asks_for_it() -> None:
    store, questions = asked(transfer(0, 1, 0.0))
    view = opened(Transfers(store))
    view._select.value = ADDRESS[1]
    view.update()
    assert [q.arguments["worker"] for q in questions] == ["", ADDRESS[1]]


def test_answer_is_not_asked_for_again_before_it_is_old() -> None:
    store, questions = asked(transfer(0, 1, 0.0))
    view = opened(Transfers(store))
    store.apply(batch(time=1001.0, workers=[worker(0, cpu=3.0)]))
    view.update()
    assert len(questions) == 1
    store.apply(batch(time=1003.0, workers=[worker(0, cpu=4.0)]))
    view.update()
    assert len(questions) == 2


def test_many_workers_are_asked_again_more_seldom_and_that_is_said() -> None:
    store, questions = asked(transfer(0, 1, 0.0), n=500)
    view = opened(Transfers(store))
    assert "renewed every 10 s at this cluster size" in view.notice.note
    for seconds, n_asked in ((9.0, 1), (11.0, 2)):
        store.apply(batch(time=1000.0 + seconds, workers=[worker(0, cpu=seconds)]))
        view.update()
        assert len(questions) == n_asked


def test_the_list_calls_a_numbered_worker_so() -> None:
    view = opened(Transfers(asked(transfer(0, 1, 0.0), n=2)[0]))
    words = [("", "All"), (ADDRESS[0], "worker 0"), (ADDRESS[1], "worker 1")]
    assert view._select.options == words


def test_table_tells_size_wire_and_rate() -> None:
    rows = [transfer(0, 1, 0.0), transfer(0, 1, 3.0, direction="out", compressed=MIB)]
    table = Transfers(asked(*rows)[0]).table()
    assert table.columns["direction"] == ["sent", "received"]
    assert table.columns["ratio"] == [0.1, None]
    assert table.columns["rate"] == [2e7, 2e7]
    assert table.units["rate"] == "B/s"


def test_hosts_that_differ_in_the_middle_differ_in_the_table() -> None:
    names = [f"rack-a-node{n:03d}.of-the-lab.example.org" for n in range(3)]
    store, _ = asked(transfer(0, 1, 0.0), transfer(1, 2, 1.0))
    rows = [worker(n, name=name) for n, name in enumerate(names)]
    store.apply(batch(workers=rows))
    view = opened(Transfers(store))
    assert list(view.rows.source.data["worker"]) == ["001", "000"]
    assert list(view.rows.source.data["peer"]) == ["002", "001"]
    store.apply(batch(workers=rows[:2], removed_workers=[ADDRESS[2]]))
    view.update()
    assert list(view.rows.source.data["peer"]) == ["002 (left)", "001"]


def test_long_logs_are_read_and_drawn_beside_the_loop() -> None:
    store, _ = asked(*[transfer(n % 3, (n + 1) % 3, float(n)) for n in range(100)])
    begun: list[Working[Any]] = []
    store.workings.on_start = begun.append
    view = opened(Transfers(store))
    for _ in ("the log is read", "the picture is made"):
        view.update()
        assert len(view.lanes.rects.model.data["left"]) == 0
        assert view.notice.empty.startswith("Waiting")
        (working,) = begun
        begun.clear()
        working.do()
        store.worked_out(working)
    view.update()
    assert len(view.lanes.rects.model.data["left"]) == 100
    assert begun == []
    assert view.notice.empty == ""


def test_failure_is_said_and_the_last_picture_kept() -> None:
    store, _ = asked(transfer(0, 1, 0.0))
    view = opened(Transfers(store))
    inquiry = store.inquiries.ask("transfers", worker="")
    store.fail(inquiry, "The worker did not answer.")
    view.update()
    assert "The worker did not answer." in view.notice.note
    assert len(view.lanes.rects.model.data["left"]) == 1


def test_no_transfers_and_no_answer_are_told_apart() -> None:
    store, _ = asked()
    assert opened(Transfers(store)).notice.empty.startswith("No transfers yet")
    store.inquiries.on_ask = lambda _: None
    waiting = opened(Transfers(store, arguments={"worker": ADDRESS[1]}))
    assert waiting.notice.empty.startswith("Waiting")


def test_workers_that_did_not_answer_are_counted() -> None:
    store, _ = asked(transfer(0, 1, 0.0), missing={ADDRESS[2]: "timeout"}, totals={"in": 9})
    assert opened(Transfers(store)).notice.note == (
        "8 older ones in the logs not sent; 1 worker did not answer"
    )


def pairs(n: int) -> dict[str, ExtraChange]:
    """Return bandwidths of each worker to the next one."""
    columns: dict[str, list[Any]] = {
        "source": ADDRESS[:n],
        "destination": [*ADDRESS[1:n], ADDRESS[0]],
        "rate": [1e6 * (i + 1) for i in range(n)],
    }
    return {"bandwidth-workers": ExtraChange(columns)}


def test_pairs_are_a_map_with_exact_rates() -> None:
    view = BandwidthWorkers(store_of(workers=[worker(i) for i in range(4)], extras=pairs(4)))
    view.build()
    data = view.map.squares.model.data
    assert list(zip(data["y"], data["x"], strict=True)) == [(0, 1), (1, 2), (2, 3), (3, 0)]
    assert data["pair"][3] == "worker 3 → worker 0"
    assert data["rate"][3].startswith("4.00 MB/s (4")
    assert view.map.figure.visible


def test_too_many_workers_for_a_map_become_bars_and_that_is_said() -> None:
    rows = [worker(i) for i in range(60)]
    store = store_of(workers=rows, extras=pairs(60))
    view = BandwidthWorkers(store)
    view.build()
    assert (view.map.figure.visible, view.pairs.figure.visible) == (False, True)
    assert "more than 40 workers" in view.notice.note
    assert "lowest rate first" in view.notice.note
    assert view.pairs.bars.model.data["edge0"][0] == 1e6
    store.apply(batch(extras=pairs(35)))
    view.update()
    assert not view.map.figure.visible
    store.apply(batch(extras=pairs(20)))
    view.update()
    assert view.map.figure.visible


def test_square_of_a_worker_that_left_says_so() -> None:
    store = store_of(workers=[worker(0), worker(1)])
    left = [worker(1)["address"]]
    store.apply(batch(workers=[worker(0)], removed_workers=left, extras=pairs(2)))
    view = BandwidthWorkers(store)
    view.build()
    assert "(left)" in view.map.squares.model.data["pair"][0]


def test_bandwidth_of_types_waits_then_explains_then_draws() -> None:
    store = store_of(workers=[worker(0)])
    view = BandwidthTypes(store)
    page = Page(view)
    assert view.notice.empty.startswith("Waiting")
    store.apply(batch(extras={"bandwidth-types": ExtraChange({"type": [], "rate": []})}))
    page.sent()
    assert view.notice.empty.startswith("No transfers above 1 MB")
    change = ExtraChange({"type": ["<b>a</b>", "b"], "rate": [5e7, 1e8]})
    store.apply(batch(extras={"bandwidth-types": change}))
    page.sent()
    assert list(view.bars.model.data["edge0"]) == [5e7, 1e8]
    assert page.title == "Bandwidth by type: 50.0 MB/s to 100 MB/s · 2 types"
