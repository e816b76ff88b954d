"""Findings: a row for each thing that made the work slow, and its evidence at a click."""

from __future__ import annotations

import pytest

from dask_diag_lab.schema import Outcome
from dask_diag_lab.store import LiveSession
from dask_diag_lab.store.runs import Piece
from dask_diag_lab.views import data
from dask_diag_lab.views.scheduler.budget import WhereTheTimeGoes
from dask_diag_lab.views.scheduler.findings import Findings
from tests.kernel.store.batches import T0, BatchMaker, prefix_row, worker_row
from tests.kernel.views.drawn import Drawn

PERIOD = {"start": f"{T0:.6f}", "stop": f"{T0 + 10:.6f}"}


def session(failed_s: float, *, runs: bool = False) -> LiveSession:
    """Return one of a thread that computed for 10 s, the last of which failed."""
    live, maker = LiveSession(clock=lambda: 0.0), BatchMaker()
    live.apply(maker.batch(workers=[worker_row("tcp://w0:1", nthreads=1)]))
    maker.action(0, 10 - failed_s, ready=0.0, assigned=0.0)
    if failed_s:
        maker.action(10 - failed_s, 10, outcome=Outcome.RETRIED, prefix="shaky")
    maker.time = T0 + 10
    live.apply(maker.batch(running=[("late", "tcp://w0:1", "inc", 9.9)] if runs else []))
    return live


@pytest.mark.parametrize("arguments", [{}, PERIOD])
def test_a_row_says_what_it_is_what_to_change_and_what_that_saves(
    arguments: dict[str, str],
) -> None:
    shown = Drawn(Findings(session(4.0), arguments=arguments))
    assert shown.view.caption.headline.startswith("Failed attempts, up to 4.00 s: ")
    assert shown.data["title"] == ["Failed attempts, up to 4.00 s"]
    assert shown.data["text"] == ["1 failed attempt took 4.00 s of thread time, most of it shaky"]
    assert "Exceptions" in shown.data["advice"][0]
    table = shown.view.table().columns
    assert table["cause"] == ["failed-attempts"]
    assert table["saved"] == [pytest.approx(4.0)]
    assert table["share"] == [pytest.approx(40.0)]


def test_a_click_opens_what_shows_it_at_its_time() -> None:
    shown = Drawn(Findings(session(4.0)))
    shown.view.open_row("failed-attempts")
    assert shown.view.plot_link is not None
    assert shown.view.plot_link.plot == "exceptions"
    given = shown.view.plot_link.arguments
    assert {name: round(float(moment)) for name, moment in given.items()} == {
        name: round(float(moment)) for name, moment in PERIOD.items()
    }


def test_a_click_keeps_to_the_run() -> None:
    live, maker = LiveSession(clock=lambda: 0.0), BatchMaker()
    live.apply(maker.batch(workers=[worker_row("tcp://w0:1", nthreads=1)]))
    maker.action(0, 10, outcome=Outcome.RETRIED, ready=0.0, assigned=0.0, graph=1)
    maker.time = T0 + 10
    live.apply(maker.batch(graphs=[(1, 0.0, "mine", 1)]))
    for plot, row in ((Findings, "failed-attempts"), (WhereTheTimeGoes, "failed")):
        shown = Drawn(plot(live))
        shown.view.open_row(row)
        assert shown.view.plot_link is not None
        assert shown.view.plot_link.arguments.get("run") == "1"


def test_what_waits_is_shown_though_nothing_else_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "REST", 0.0)
    live, maker = LiveSession(clock=lambda: 0.0), BatchMaker()
    live.apply(maker.batch(workers=[worker_row("tcp://w0:1", nthreads=1)]))
    maker.action(0, 1, ready=0.0, assigned=0.0, graph=1)
    maker.time = T0 + 2
    waiting = [prefix_row("inc", no_worker=3)]
    live.apply(maker.batch(graphs=[(1, 0.0, "mine", 4)], prefixes=waiting))
    shown = [Drawn(plot(live)) for plot in (Findings, WhereTheTimeGoes)]
    states = [one.view.state() for one in shown]
    maker.time = T0 + 60
    live.apply(maker.batch())
    assert all(one.view.state() != state for one, state in zip(shown, states, strict=True))
    findings, budget = (one.view.table().columns for one in shown)
    assert findings["cause"] == ["no-worker"]
    waited = dict(zip(budget["category"], budget["seconds"], strict=True))
    assert waited["scheduler"] == pytest.approx(59, rel=0.1)


def test_before_the_first_task_has_begun_it_says_why() -> None:
    live, maker = LiveSession(clock=lambda: 0.0), BatchMaker()
    maker.time = T0 + 10
    waiting = [prefix_row("inc", queued=3)]
    live.apply(maker.batch(prefixes=waiting, graphs=[(1, 0.0, "mine", 3)]))
    assert Drawn(Findings(live)).view.table().columns["cause"] == ["no-worker"]


def test_it_names_the_cell_and_the_line_that_it_is_of() -> None:
    live, maker = LiveSession(clock=lambda: 0.0), BatchMaker()
    live.history.runs.clients.add("mine")
    live.history.runs.note_code(Piece("1", "total.compute()", "cell", 12, T0, T0 + 10))
    maker.action(0, 2, ready=0.0, assigned=0.0, graph=1)
    maker.time = T0 + 10
    workers = [worker_row("tcp://w0:1", nthreads=1)]
    live.apply(maker.batch(workers=workers, graphs=[(1, 0.0, "mine", 1)]))
    assert Drawn(Findings(live)).view.caption.note == "[12] total.compute()"


def test_without_a_period_it_is_of_the_last_run() -> None:
    live, maker = LiveSession(clock=lambda: 0.0), BatchMaker()
    live.apply(maker.batch(workers=[worker_row("tcp://w0:1", nthreads=1)]))
    live.history.runs.clients.add("mine")
    for number, begin in enumerate((0.0, 5.0), 1):
        piece = Piece(str(number), "x.compute()", "cell", number, T0 + begin, T0 + begin + 5)
        live.history.runs.note_code(piece)
        maker.action(begin, begin + 3 * number - 1, ready=0.0, assigned=0.0, graph=number)
    maker.time = T0 + 10
    live.apply(maker.batch(graphs=[(1, 0.0, "mine", 1), (2, 5.0, "mine", 1)]))
    assert "Nothing to report" in Drawn(Findings(live)).view.caption.empty
    first = Drawn(Findings(live, arguments={"run": "1"}))
    assert first.view.table().columns["cause"] == ["client"]
    maker.time = T0 + 12  # none of its tasks has ended
    graphs, running = [(3, 11.0, "mine", 1)], [("late", "tcp://w0:1", "inc", 11.0)]
    prefixes = [prefix_row("inc", processing=1)]
    live.apply(maker.batch(graphs=graphs, running=running, prefixes=prefixes))
    assert "so far" in Drawn(Findings(live)).view.caption.empty


def test_what_shows_a_finding_is_a_button_too() -> None:
    view = Drawn(Findings(session(4.0))).view
    assert [one.label for one in view.caption.controls] == ["Show me: failed attempts"]
    view.set_control(view.caption.controls[0].name, "")
    assert view.plot_link is not None
    assert view.plot_link.plot == "exceptions"


def test_a_healthy_run_says_so() -> None:
    empty = Drawn(Findings(session(0.0))).view.caption.empty
    assert empty == "Nothing to report: 100 % computing; at best 0 s faster."


def test_while_work_goes_on_it_says_that_more_may_come() -> None:
    assert "Work goes on" in Drawn(Findings(session(4.0, runs=True))).view.caption.note
    assert "so far" in Drawn(Findings(session(0.0, runs=True))).view.caption.empty
