"""Transfers and bandwidths: rows, directions, rates, what is asked and what is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bokeh.document import Document

from dask_diag_lab.store import LiveSession
from dask_diag_lab.store.queries import Query
from dask_diag_lab.views import format as fmt
from dask_diag_lab.views.look import LIGHT, data_colors
from dask_diag_lab.views.stream.transfers import Transfers
from tests.kernel.views.drawn import Elsewhere
from tests.kernel.views.situations import MIB, batch, session_of, worker
from tests.kernel.views.task_streams import move

ADDRESS = [str(worker(i)["address"]) for i in range(100)]


def transfer(to: int, of: int, at: float, took: float = 0.5, **given: Any) -> dict[str, Any]:
    """Return an entry of the log of worker ``to``, ``at`` seconds after 1000."""
    row = {"worker": ADDRESS[to], "peer": ADDRESS[of], "direction": "in", "start": 1000.0 + at}
    row |= {"stop": 1000.0 + at + took, "nbytes": 10 * MIB, "compressed": None, "rate": 2e7}
    return row | {"keys": 1, "key": "x-1"} | given


def asked(*rows: dict[str, Any], n: int = 3, **more: Any) -> tuple[LiveSession, list[Query]]:
    """Return a session whose questions are answered with ``rows`` at once, and the questions."""
    live, found = session_of(workers=[worker(i) for i in range(n)]), []

    def answer(query: Query) -> None:
        found.append(query)
        live.answer(query, {"rows": list(rows), "missing": {}, **more})

    live.queries.on_ask = answer
    return live, found


def opened(view: Transfers) -> Transfers:
    document = Document()
    document.add_root(view.build())
    return view


def test_received_is_above_and_sent_below_the_middle_of_a_row() -> None:
    rows = [transfer(1, 0, 1.0), transfer(0, 1, 1.0, direction="out")]
    view = opened(Transfers(asked(*rows)[0]))
    data, colors = view.rects.model.data, data_colors(LIGHT)
    assert sorted(zip(data["color"], np.round(data["y"]), strict=True)) == sorted(
        [(colors.incoming, 1.0), (colors.outgoing, 0.0)]
    )
    above = data["y"][list(data["color"]).index(colors.incoming)]
    assert above < round(above)


def test_width_is_the_duration_and_slow_ones_are_pale() -> None:
    rows = [transfer(1, 0, 0.0, took=2.0, rate=1e6), transfer(1, 0, 5.0, rate=1e9)]
    data = opened(Transfers(asked(*rows)[0])).rects.model.data
    assert data["width"][0] == 2.0
    assert data["alpha"][0] < data["alpha"][1]


def test_rows_of_one_worker_are_its_peers() -> None:
    live, questions = asked(transfer(0, 1, 0.0, keys=3), transfer(0, 2, 1.0))
    view = opened(Transfers(live, arguments={"worker": ADDRESS[0]}))
    assert view.timeline.workers.model.data["label"] == ["worker 1", "worker 2"]
    assert view.rects.model.data["head"][0].startswith("worker 0 ")
    started = fmt.clock(float(view.timeline.zero))
    assert view.rects.model.data["when"][0].endswith(f" · started {started}")
    assert view.rects.model.data["largest"] == ["3 keys, the largest x-1", "x-1"]
    assert questions[0].arguments == {"worker": ADDRESS[0]}


def test_all_or_the_last_minute_is_followed_until_the_reader_moves() -> None:
    rows = [transfer(0, 1, 0.0)]
    live = session_of(workers=[worker(0), worker(1)])
    live.queries.on_ask = lambda question: live.answer(question, {"rows": rows, "missing": {}})
    view = opened(Transfers(live))
    start, end = view.timeline.times
    assert start == 0.0
    assert 0.5 < end < 1.0  # the one transfer takes half a second
    for at, times, behind_s in ((9000.0, (8940.5, 9000.5), 0.0), (9100.0, (1.0, 2.0), 9098.5)):
        rows.append(transfer(0, 1, at))
        live.apply(batch(time=1000.0 + at, workers=[worker(0), worker(1)]))
        view.update()
        assert view.timeline.times == pytest.approx(times)
        assert view.caption.behind_s == pytest.approx(behind_s)
        move(view.timeline, start=1.0, end=2.0)
    view.command("live")
    assert view.timeline.times == pytest.approx((9040.5, 9100.5))
    view.command("fit")
    start, end = view.timeline.times
    middle, width = (np.array(view.rects.model.data[name]) for name in ("x", "width"))
    assert start < min(middle - width / 2)
    assert end > max(middle + width / 2)


def test_choice_of_another_worker_asks_for_it() -> None:
    live, questions = asked(transfer(0, 1, 0.0), n=2)
    view = opened(Transfers(live))
    (choice,) = view.caption.controls
    assert choice.options == [("", "All"), (ADDRESS[0], "worker 0"), (ADDRESS[1], "worker 1")]
    view.set_control("worker", ADDRESS[1])
    assert [q.arguments["worker"] for q in questions] == ["", ADDRESS[1]]
    assert view.caption.controls[0].value == view.table_arguments["worker"] == ADDRESS[1]


def test_long_logs_are_read_off_the_loop() -> None:
    live, _ = asked(*[transfer(n % 3, (n + 1) % 3, float(n)) for n in range(100)])
    elsewhere = Elsewhere(live)
    view = opened(Transfers(live))
    assert view.caption.empty.startswith("Waiting")
    assert len(elsewhere.open) == 1
    elsewhere.finish()
    view.update()
    assert len(view.rects.model.data["x"]) == 100
    assert elsewhere.open == []
    assert view.caption.empty == ""
    assert view.caption.headline == "0.977 GiB received · 0 B sent · 100 in the logs"


def test_a_failure_is_noted_and_the_last_picture_kept() -> None:
    live, _ = asked(transfer(0, 1, 0.0))
    view = opened(Transfers(live))
    query = live.queries.ask("transfers", worker="")
    live.fail(query, "The worker did not answer.")
    view.update()
    assert "The worker did not answer." in view.caption.note
    assert len(view.rects.model.data["x"]) == 1
