"""A run is of its block: what the threads' time went to, by category and prefix."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, wait

import dask_diag_lab
from dask_diag_lab.capture import block
from tests.kernel.session.small_clusters import PARTLY_CLOSED

pytestmark = [pytest.mark.usefixtures("runtime_dir"), *PARTLY_CLOSED]


def nap(seconds: float) -> None:
    time.sleep(seconds)


def wait_for(flag: Path) -> None:
    while not flag.exists():
        time.sleep(0.05)


def fail(seconds: float) -> None:
    time.sleep(seconds)
    raise ValueError("no")


def test_a_run_is_of_its_block_and_its_budget_is_all_of_it(client: Client) -> None:
    wait(client.map(nap, [0.3] * 3, pure=False))
    with dask_diag_lab.run("a run") as its:
        assert str(its) == "a run: not over yet"
        wait(client.map(nap, [0.4] * 4, pure=False))
        wait(client.submit(fail, 0.2, pure=False))
        time.sleep(0.5)
    wait(client.map(nap, [0.3] * 3, pure=False))
    n_threads = sum(client.nthreads().values())
    assert (its.n_tasks, its.n_failed) == (4, 1)
    assert its.offered_s == pytest.approx(n_threads * (its.stop - its.start), rel=1e-3)
    assert sum(its.budget.values()) == pytest.approx(its.offered_s, rel=1e-3)
    # Workers may tell what tasks did with their thread later than the block waits for it.
    in_tasks = ("computing", "waiting-in-tasks")
    assert sum(its.budget.get(name, 0.0) for name in in_tasks) >= 4 * 0.4 - 0.1
    assert {prefix for name in in_tasks for prefix in its.prefixes.get(name, ())} == {"nap"}
    assert its.budget["failed"] >= 0.2 - 0.05
    # By the clock of a busy worker its last task may end later than the scheduler was told.
    assert its.budget["client"] >= n_threads * 0.5 / 2
    text = str(its)
    assert text.startswith("a run: ")
    assert "4 tasks, 1 failed · " in text
    assert "Client" in text
    assert "nap " in its._repr_html_()


def test_a_run_says_why_it_was_slow_and_what_more_threads_would_bring(client: Client) -> None:
    with dask_diag_lab.run("gaps") as its:
        with pytest.raises(RuntimeError, match="not over yet"):
            its.critical_path()
        wait(client.map(nap, [0.2] * 4, pure=False))
        time.sleep(2)
    [found] = [one for one in its.findings if one.cause == "client"]
    assert 1 < found.saved_s < its.stop - its.start
    assert found.evidence.window == (its.start, its.stop)
    for text in (str(its), its._repr_html_()):
        assert found.text in text
        assert found.advice in text
    assert 0 < its.critical_path().chain_s < its.stop - its.start
    assert its.what_if(threads=4).measured_s == pytest.approx(its.stop - its.start)


def test_a_run_whose_tasks_go_on_is_read_anew_when_it_is_asked(
    client: Client, tmp_path: Path
) -> None:
    flag = tmp_path / "flag"
    with dask_diag_lab.run("submits") as its:
        waits = client.submit(wait_for, flag, pure=False)
    assert (its.state, its.n_tasks) == ("running", 0)
    flag.touch()
    wait(waits)
    deadline = time.monotonic() + 20
    while "1 task " not in str(its) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert (its.state, its.n_tasks) == ("done", 1)


def test_a_run_whose_cluster_ends_keeps_what_is_known_by_then(client: Client) -> None:
    its = dask_diag_lab.run("cut", client)

    def close_in_the_block() -> None:
        with its:
            client.submit(nap, 0.1).result()
            assert client.cluster is not None
            client.cluster.close()

    with pytest.raises(RuntimeError, match="end of the run is missing"):
        close_in_the_block()
    assert its.offered_s > 0
    assert str(its).startswith("cut: ")


def test_runs_are_found_by_themselves_and_know_each_other_apart(client: Client) -> None:
    assert dask_diag_lab.runs(client) == []
    in_background = client.map(nap, [0.3] * 8, pure=False)
    while len(client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))) < 8:
        time.sleep(0.01)
    with dask_diag_lab.run("beside") as its:
        wait(client.map(nap, [0.1] * 4, pure=False, priority=1))
    wait(in_background)
    found = dask_diag_lab.runs(client)
    assert isinstance(found, list)
    first, second = found
    assert (first.name, first.state, first.n_tasks) == ("nap", "done", 8)
    assert repr(first) == "<Run 1: nap>"
    assert (second.name, second.number, second.n_tasks) == ("beside", its.number, 4)
    for one in (first, second, its):
        assert sum(one.budget.values()) == pytest.approx(one.offered_s, rel=1e-3)
        assert one.budget["other-runs"] > 0


def test_blocks_inside_each_other_have_what_they_submitted(client: Client) -> None:
    with dask_diag_lab.run("outer") as outer:
        wait(client.map(nap, [0.1] * 2, pure=False))
        with dask_diag_lab.run("inner") as inner:
            wait(client.map(nap, [0.2] * 4, pure=False))
        wait(client.map(nap, [0.1], pure=False))
    assert [(one.number, one.n_tasks) for one in (outer, inner)] == [(1, 3), (2, 4)]
    assert outer.start < inner.start < inner.stop < outer.stop
    assert outer.budget["other-runs"] > 0
    assert "other-runs" not in inner.budget
    with dask_diag_lab.run("only around") as outer, dask_diag_lab.run("inside") as inner:
        wait(client.map(nap, [0.1] * 4, pure=False))
    assert [(one.number, one.n_tasks) for one in (outer, inner)] == [(0, 4), (3, 4)]


def test_a_block_inside_another_one_does_not_wait_for_reports_in_the_time_of_that(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block, "FRESH_S", 10.0)
    with dask_diag_lab.run("outer") as outer:
        for _ in range(5):
            with dask_diag_lab.run("inner") as inner:
                wait(client.map(nap, [0.1] * 2, pure=False))
    assert outer.duration < 5 * block.FRESH_S
    assert "Waiting in tasks" in str(inner)  # is read anew


def test_a_check_passes_or_raises_with_the_figures(client: Client) -> None:
    with dask_diag_lab.run("checked") as its:
        wait(client.map(nap, [0.2] * 2, pure=False))
        time.sleep(1.5)
    its.check("idle<99%", "duration<60s", "client >= 0.1 s", "failed<=0s")
    its.check("Waiting in tasks<99%", "Waiting for data < 99 %")  # as they are printed
    assert its.duration == its.stop - its.start
    with pytest.raises(AssertionError, match=r"checked: idle is .* s, \d+ %, not <1%; duration is"):
        its.check("idle<1%", "duration<0.1s")
    with pytest.raises(AssertionError, match=r"nothing|idle|code|wait"):
        its.check("no findings")
    its.check("no findings above 1000%")
    for wrong in ("idle", "colour<3%", "duration<5%", "no findings at all"):
        with pytest.raises(ValueError, match="is no check: write"):
            its.check(wrong)
    with pytest.raises(RuntimeError, match="not over yet"):
        dask_diag_lab.run("never").check("idle<1%")


def test_names_are_escaped_in_html(client: Client) -> None:
    with dask_diag_lab.run("<b>") as its:
        client.submit(nap, 0.01).result()
    assert "&lt;b&gt;" in its._repr_html_()
    assert "<b>" not in its._repr_html_()


def test_a_block_without_a_name_is_called_by_what_it_did(client: Client) -> None:
    with dask_diag_lab.run() as idle:
        pass
    assert idle.name.startswith("Run of ")
    with dask_diag_lab.run() as its:
        client.submit(nap, 0.01).result()
    assert its.name == "nap"


@pytest.mark.parametrize("turn", range(3))
def test_what_tasks_waited_is_known_when_their_block_is_left(client: Client, turn: int) -> None:
    def rest(seconds: float) -> None:  # of a prefix that nobody has measured yet
        time.sleep(seconds)

    rest.__name__ = rest.__qualname__ = f"rest{turn}"
    with dask_diag_lab.run("resting") as its:
        wait(client.map(rest, [0.5, 0.6], pure=False))
    assert its.budget["waiting-in-tasks"] > 4 * its.budget.get("computing", 0.0)


def test_a_run_was_made_with_the_workers_that_were_there_at_once(client: Client) -> None:
    with dask_diag_lab.run("one") as one:
        client.submit(nap, 0.01).result()
    cluster: Any = client.cluster
    cluster.scale(3)
    client.wait_for_workers(3)
    with dask_diag_lab.run("two") as two:
        client.submit(nap, 0.02).result()
    found = dask_diag_lab.runs(client)
    assert isinstance(found, list)
    assert [its.settings["workers"] for its in (one, two, *found)] == ["2", "3", "2", "3"]
