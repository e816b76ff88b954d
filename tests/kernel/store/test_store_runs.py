"""Runs: which graphs and tasks are of one, and when it is over."""

from __future__ import annotations

from typing import Any

import pytest

from dask_diag_lab.schema import Outcome
from dask_diag_lab.store import History, LiveSession
from dask_diag_lab.store.runs import Piece, RunRecord, name_of_code
from tests.kernel.store.batches import T0, BatchMaker, prefix_row

MINE, OTHER = "Client-mine", "Client-other"
BUSY, IDLE = [prefix_row("inc", processing=1)], [prefix_row("inc", memory=1)]


class Told:
    """A history that is told of cells, graphs and actions in seconds after `T0`."""

    def __init__(self) -> None:
        self.history, self.maker = History(), BatchMaker()
        self.history.runs.clients.add(MINE)

    def cell(self, name: str, start: float, stop: float) -> None:
        self.history.runs.note_code(Piece(name, name, "cell", 1, T0 + start, T0 + stop))

    def batch(self, now: float, **given: Any) -> None:
        self.maker.time = T0 + now
        self.history.apply(self.maker.batch(**given))

    @property
    def runs(self) -> list[RunRecord]:
        return list(self.history.runs)

    @property
    def names(self) -> list[str]:
        return [one.name(self.history.strings) for one in self.runs]


@pytest.fixture
def told() -> Told:
    return Told()


def test_graphs_of_a_cell_are_one_run_however_far_apart(told: Told) -> None:
    told.cell("a cell", 0, 100)
    told.cell("the next", 100.2, 101)
    told.batch(1, graphs=[(1, 1, MINE, 2), (2, 99, MINE, 1), (3, 100.5, MINE, 1)])
    assert told.names == ["a cell", "the next"]
    assert [one.n_submitted for one in told.runs] == [3, 1]


def test_a_task_whose_workers_died_too_often_is_a_failure_of_its_run(told: Told) -> None:
    told.cell("a cell", 0, 10)
    for start in range(3):
        told.maker.action(start, start + 1, outcome=Outcome.KILLED, graph=1)
    erred = {"prefix": "inc", "worker": "tcp://w0:1", "count": 1, "until": T0 + 3.0}
    told.batch(4, graphs=[(1, 0, MINE, 1)], events=[(T0 + 3, "task-erred", erred)])
    (run,) = told.runs
    assert (run.n_erred, run.n_attempts) == (1, 2)


def test_tasks_that_are_done_once_more_are_told_apart(told: Told) -> None:
    for start in range(3):
        told.maker.action(start, start + 1, graph=1)
    told.batch(4, graphs=[(1, 0, MINE, 2)])
    assert [(one.n_submitted, one.n_again) for one in told.runs] == [(2, 1)]


def test_a_block_inside_a_cell_has_what_was_sent_in_it(told: Told) -> None:
    told.cell("a cell", 0, 10)
    told.history.runs.note_code(Piece("block", "etl", "cell", 0, T0 + 2, T0 + 4))
    late = (3, 4.3, MINE, 1)  # it was sent before the end, and a busy scheduler took it after
    told.batch(9, graphs=[(1, 1, MINE, 1), (2, 3, MINE, 1), late, (4, 5, MINE, 1)])
    assert [(one.code.name, one.n_submitted) for one in told.runs] == [("a cell", 2), ("etl", 2)]


def test_graphs_of_others_are_runs_by_their_pauses(told: Told) -> None:
    told.cell("a cell", 0, 100)
    told.batch(1, graphs=[(1, 1, OTHER, 1)], prefixes=BUSY)
    told.maker.action(2, 30, graph=1)
    told.batch(31, graphs=[(2, 31, OTHER, 1)], prefixes=BUSY)  # one second after the last ended
    told.maker.action(31, 32, graph=2, prefix="late")
    told.batch(33)
    told.batch(43, graphs=[(3, 43, OTHER, 1)], prefixes=BUSY)  # eleven seconds
    assert told.names == ["inc", "Run 2"]
    assert [one.n_done for one in told.runs] == [2, 0]


def test_what_tasks_submit_is_of_the_run_that_goes_on(told: Told) -> None:
    told.cell("a cell", 0, 10)
    told.batch(1, graphs=[(1, 1, MINE, 1), (2, 2, "Client-worker-1", 5)], prefixes=BUSY)
    assert [one.n_submitted for one in told.runs] == [6]


def test_a_run_is_over_when_its_code_and_its_tasks_are(told: Told) -> None:
    told.cell("a cell", 0, 3)
    told.batch(1, graphs=[(1, 1, MINE, 2)], prefixes=BUSY)
    told.maker.action(1, 2, graph=1)
    told.batch(4, prefixes=BUSY)
    (run,) = told.runs
    assert run.state == "running"
    told.maker.action(2, 5, graph=1)
    told.batch(6, prefixes=IDLE)
    assert (run.state, run.start, run.stop) == ("done", T0 + 1, T0 + 5)


def test_a_run_whose_cluster_is_closed_by_its_cell_is_over() -> None:
    live, maker = LiveSession(), BatchMaker()
    live.history.runs.clients.add(MINE)
    live.note_code(Piece("id", "a cell", start=T0))
    maker.time = T0 + 3
    maker.action(1, 2, graph=1)
    live.apply(maker.batch(graphs=[(1, 1, MINE, 1)]))
    live.set_feed_state("closed", "", T0 + 3)
    assert [(one.state, one.stop) for one in live.history.runs] == [("done", T0 + 3)]


def test_a_run_whose_tasks_are_given_up_is_cancelled_once_nothing_is_left_to_do(told: Told) -> None:
    told.cell("a cell", 0, 3)
    told.batch(1, graphs=[(1, 1, MINE, 2)], prefixes=BUSY)
    told.batch(4, prefixes=IDLE)
    assert [one.state for one in told.runs] == ["cancelled"]


def test_a_run_with_failed_tasks_has_failed_and_tells_attempts_from_them(told: Told) -> None:
    told.cell("a cell", 0, 3)
    told.batch(1, graphs=[(1, 1, MINE, 2)], prefixes=BUSY)
    told.maker.action(1, 2, graph=1, key="x", outcome=Outcome.RETRIED)
    told.maker.action(2, 3, graph=1, key="x", outcome=Outcome.ERRED)
    told.maker.action(2, 3, graph=1, key="y").action(3, 4, graph=1, key="y")
    told.batch(4, prefixes=IDLE)
    (run,) = told.runs
    assert (run.state, run.n_done, run.n_erred, run.n_attempts) == ("failed", 2, 1, 1)
    assert run.n_again == 1


def test_a_new_collector_counts_its_graphs_anew(told: Told) -> None:
    told.batch(1, graphs=[(1, 1, OTHER, 1), (2, 15, "Client-third", 1)])
    told.batch(20)
    told.maker = BatchMaker("epoch-2")
    told.batch(40, graphs=[(1, 40, OTHER, 1)])
    told.maker.action(40, 41, graph=1)
    told.batch(42)
    assert [one.n_done for one in told.runs] == [0, 0, 1]


def test_a_batch_that_comes_twice_is_counted_once(told: Told) -> None:
    graphs = [(1, 1.0, OTHER, 3)]
    told.batch(1, graphs=graphs)
    told.batch(2, graphs=graphs)
    assert [one.n_submitted for one in told.runs] == [3]


def test_a_graph_that_cannot_be_is_refused(told: Told) -> None:
    with pytest.raises(ValueError, match="graph 4000000000 comes after graph 0"):
        told.batch(1, graphs=[(4_000_000_000, 1, OTHER, 1)])


def test_the_time_of_code_is_brought_to_the_schedulers_clock_by_the_quickest_message() -> None:
    live, maker = LiveSession(clock=lambda: 0.0), BatchMaker()
    for delay in (0.3, 0.0, 5.0):  # its clock is 1000 s ahead
        maker.received = T0 - 1000 + delay
        live.apply(maker.batch())
    live.history.runs.clients.add(MINE)
    live.note_code(Piece("id", "a cell", start=T0 - 1000 + 1, stop=T0 - 1000 + 2))
    live.apply(maker.batch(graphs=[(1, 0.9, MINE, 1), (2, 1.9, MINE, 1)]))
    assert [(one.code.name, one.n_submitted) for one in live.history.runs] == [
        ("", 1),
        ("a cell", 1),
    ]


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("import dask\nx = df.sum().compute()  # all\ny", "x = df.sum().compute()  # all"),
        ("# x.compute()\nclient.submit(f)", "client.submit(f)"),
        ("1 + 1", ""),
    ],
)
def test_code_is_named_by_its_first_line_that_computes(code: str, name: str) -> None:
    assert name_of_code(code) == name
