"""Progress counts exactly the tasks behind some futures, failures included, and then leaves."""

from __future__ import annotations

import asyncio
import re
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from dask.utils_test import inc
from distributed import Client, Event, LocalCluster, get_worker, wait
from distributed.spans import span

import dask_diag_lab
from dask_diag_lab.notebook.progress_bars import GroupCount
from tests.kernel.serving import wait_until
from tests.kernel.session.small_clusters import small_cluster

pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with small_cluster(n_workers=2) as made:
        yield made


def our_threads() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name == "dask-diag-lab-progress"]


@pytest.fixture
def client(cluster: LocalCluster) -> Iterator[Client]:
    with Client(cluster) as made:
        yield made
    wait_until(lambda: not our_threads(), "a thread is left")


def double(x: int) -> int:
    return 2 * x


def fail(x: int) -> int:
    raise ValueError(f"not {x}")


def held(x: Any, name: str) -> Any:  # whatever comes
    Event(name).wait(120)
    return x


def last_to_its_end(x: int) -> int:
    """Wait until the scheduler cannot be told any more."""
    stream = get_worker().batched_stream
    while not stream.closed():
        time.sleep(0.01)
    return x


def bars(*futures: Any, **options: Any) -> Any:  # ProgressWidget; ipywidgets has no types
    return dask_diag_lab.progress(*futures, notebook=True, interval="20ms", **options)


def ended(widget: Any) -> dict[str, GroupCount]:
    """Wait for the last report and return its groups by label."""
    wait_until(lambda: widget.report.is_last, f"it goes on: {widget!r}")
    wait_until(lambda: not our_threads(), "it is not drawn to the end")
    return {group.label: group for group in widget.report.groups}


def test_exactly_the_tasks_behind_the_futures_are_counted(client: Client) -> None:
    other = client.map(inc, range(50), pure=False)
    first = client.map(held, range(10), name="exactly", pure=False)
    total = client.submit(sum, client.map(double, first, pure=False))
    widget = bars([[total]])
    wait_until(lambda: widget.report.is_counted, "never counted")
    Event("exactly").set()
    assert {label: (g.done, g.total) for label, g in ended(widget).items()} == {
        "held": (10, 10),
        "double": (10, 10),
        "sum": (1, 1),
    }
    del other


def test_failures_are_counted_named_and_do_not_hide_the_rest(client: Client) -> None:
    bad = client.map(fail, range(3), pure=False)
    after = [client.submit(inc, future, pure=False) for future in bad]
    good = client.submit(held, 1, "later", pure=False)
    widget = bars(after, good)
    wait_until(lambda: widget.report.all.failed == 3, "failures are not counted")
    assert not widget.report.is_last
    Event("later").set()
    groups = ended(widget)
    assert (groups["fail"].failed, groups["inc"].skipped, groups["held"].done) == (3, 3, 1)
    assert "ValueError" in widget.elapsed_time.value
    assert "3 failed" in widget.elapsed_time.value
    styles = {name: bar.bar_style for name, bar in widget.bars.items()}
    assert styles == {"fail": "danger", "inc": "warning", "held": "success"}


def test_what_is_needed_and_was_done_before_counts_unless_told_otherwise(client: Client) -> None:
    first = client.map(inc, range(5), pure=False)
    wait(first)
    last = client.submit(held, first, "before", pure=False)
    all_of_it, rest = bars(first[0], last), bars(last, first[0], complete=False)
    wait_until(lambda: all_of_it.report.is_counted and rest.report.is_counted, "not counted")
    assert all_of_it.report.all.total == 6
    assert rest.report.all.total == 2  # as in `distributed`: the futures themselves always count
    Event("before").set()
    ended(all_of_it)
    ended(rest)


def test_released_results_stay_done(client: Client) -> None:
    first = client.map(inc, range(8), pure=False)
    wait(first)
    total = client.submit(held, client.submit(sum, first, pure=False), "released", pure=False)
    widget = bars(total)
    wait_until(lambda: widget.report.is_counted, "never counted")
    del first
    Event("released").set()
    groups = ended(widget)
    assert (groups["inc"].done, groups["inc"].total) == (8, 8)


def test_groups_may_be_spans_or_made_by_a_function(client: Client) -> None:
    with span("load"):
        a = client.map(inc, range(3), pure=False)
    with span("work"):
        b = client.map(double, range(4), pure=False)
    assert {k: g.done for k, g in ended(bars(a, b, group_by="spans")).items()} == {
        "load": 3,
        "work": 4,
    }
    by_length = ended(bars(a, b, group_by=lambda key: len(str(key))))
    assert sum(group.total for group in by_length.values()) == 7
    assert set(by_length) == {str(len(str(future.key))) for future in a + b}
    (one,) = ended(bars(a, b, multi=False)).values()
    assert one.done == 7


def test_a_grouping_function_that_fails_says_so(client: Client) -> None:
    future = client.submit(inc, 1, pure=False)
    widget = bars(future, group_by=lambda key: 1 // 0)
    ended(widget)
    assert "ZeroDivisionError" in widget.elapsed_time.value


@pytest.mark.parametrize("wrong", ["nope", 3, None])
def test_other_groupings_are_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="`group_by` should be 'prefix', 'spans' or a callable"):
        dask_diag_lab.progress(group_by=wrong)


def test_no_tasks_are_finished_at_once() -> None:
    widget = bars([])
    ended(widget)
    assert "no tasks" in widget.elapsed_time.value


def test_closing_the_bars_ends_the_counting(client: Client) -> None:
    future = client.submit(held, 1, "closing", pure=False)
    widget = bars(future)
    wait_until(lambda: widget.report.is_counted, "never counted")
    widget.close()
    wait_until(lambda: not our_threads(), "it goes on")
    Event("closing").set()


def test_a_closed_client_ends_it(cluster: LocalCluster, client: Client) -> None:
    with Client(cluster, set_as_default=False) as second:
        future = second.submit(held, 1, "second", pure=False)
        widget = bars(future)
        wait_until(lambda: widget.report.is_counted, "never counted")
    ended(widget)
    assert "client was closed" in widget.elapsed_time.value
    client.run(lambda: None)
    Event("second", client=client).set()


def test_a_lost_scheduler_ends_it() -> None:
    cluster = small_cluster()
    with Client(cluster.scheduler_address, set_as_default=False) as client:
        future = client.submit(last_to_its_end, 1)
        widget = bars(future)
        wait_until(lambda: widget.report.is_counted, "never counted")
        cluster.close()
        ended(widget)
    said = widget.elapsed_time.value
    assert "cannot be reached" in said or "client was closed" in said


def test_the_time_left_is_told_once_something_is_done(client: Client) -> None:
    futures = [client.submit(held, i, f"left-{i}", pure=False) for i in range(2)]
    widget = bars(futures)
    wait_until(lambda: widget.report.is_counted, "never counted")
    assert widget.report.left_s is None
    Event("left-0").set()
    wait_until(lambda: widget.report.left_s is not None, "never estimated")
    assert " left<" in widget.elapsed_time.value
    Event("left-1").set()
    ended(widget)
    assert " left<" not in widget.elapsed_time.value


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return what was written one over the other."""
    return [line.strip() for line in capsys.readouterr().out.split("\r")]


def test_a_log_file_gets_few_lines_and_no_escapes(
    client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    futures = client.map(inc, range(5), pure=False)
    dask_diag_lab.progress(futures, notebook=False, interval=0.01)
    written = capsys.readouterr().out
    assert re.fullmatch(r"\[#{40}] \| 100% Completed \| \d+\.\d s\n", written)


def test_a_failure_is_one_bar_and_its_reason_in_a_log_file(
    client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    waits = client.submit(held, 1, "log", pure=False)
    fails = client.submit(fail, 1, pure=False)
    dask_diag_lab.progress(fails, waits, notebook=False, interval=0.001)
    Event("log").set()
    bar, said = capsys.readouterr().out.splitlines()
    assert "| 0% Completed |" in bar
    assert "ValueError('not 1')" in said


@pytest.mark.parametrize("n_tasks", [0, 5])
def test_a_console_is_held_until_the_end(
    client: Client,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    n_tasks: int,
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    futures = client.map(inc, range(n_tasks), pure=False)
    for _ in range(2):  # the second time, all is done
        options: Any = {"interval": 0.02, "width": 10, "loop": client.loop}  # of several types
        assert dask_diag_lab.progress([futures], notebook=False, **options) is None
        assert all(future.done() for future in futures)
        *_, last, erased = lines(capsys)
        assert re.fullmatch(r"\[#{10}] \| 100% Completed \| \d+\.\d s *\x1b\[2K", last)
        assert erased == ""


def test_a_console_goes_on_with_the_first_failure(
    client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    waits = client.submit(held, 1, "console", pure=False)
    fails = client.submit(fail, 1, pure=False)
    dask_diag_lab.progress(fails, waits, notebook=False)
    assert not waits.done()
    Event("console").set()
    bar, _, said = lines(capsys)[-1].partition("\n")
    assert "| 0% Completed |" in bar
    assert "ValueError('not 1')" in said


def test_an_asynchronous_client_awaits_the_end(
    cluster: LocalCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    async def compute() -> None:
        async with Client(cluster.scheduler_address, asynchronous=True) as client:
            futures = client.map(inc, range(5), pure=False)
            await dask_diag_lab.progress(futures, notebook=False)
            assert all(future.done() for future in futures)
            widget = bars(futures)
            await widget.listen()
            assert widget.status == "finished"
            await dask_diag_lab.progress([], notebook=False)

    asyncio.run(compute())
    assert "100% Completed" in capsys.readouterr().out


def test_futures_that_nobody_keeps_are_said(client: Client) -> None:
    widget = bars(client.map(held, range(3), name="unkept", pure=False))
    ended(widget)
    assert "nobody keeps them" in widget.elapsed_time.value
    Event("unkept").set()


def test_tasks_of_long_keys_are_counted_as_they_end(client: Client) -> None:
    futures = [client.submit(held, i, f"long-{i}", key=f"held-{'x' * 600}{i}") for i in range(2)]
    widget = bars(futures)
    wait_until(lambda: widget.report.is_counted, "never counted")
    Event("long-0").set()
    wait_until(lambda: widget.report.all.done == 1, "not before the end")
    Event("long-1").set()
    ended(widget)
