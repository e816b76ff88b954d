"""What is found in a window: the cause, what it costs, and nothing where all is well."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from dask_diag_lab.analysis import estimates
from dask_diag_lab.analysis.case import Case, case_of
from dask_diag_lab.analysis.estimates import critical_path, what_if
from dask_diag_lab.analysis.findings import Finding, findings_of, verdict
from dask_diag_lab.schema import Kind, Outcome
from dask_diag_lab.store import History
from dask_diag_lab.store.runs import Piece
from dask_diag_lab.store.sums import Window
from dask_diag_lab.views import format as fmt
from tests.kernel.store.batches import T0, BatchMaker, group_row, prefix_row, worker_row
from tests.kernel.views.situations import change

WORKERS = [f"tcp://w{at}:1" for at in range(4)]
Make = Callable[[BatchMaker], Mapping[str, Any]]  # what it returns is for the batch


def ran(
    maker: BatchMaker, start: float, stop: float, worker: int = 0, wait: float = 0.0, **more: Any
) -> None:
    """Record a task that could run from its start on, or so long before."""
    moments = {"ready": wait, "assigned": 0.0, "report_delay": 0.0}
    maker.action(start, stop, worker=WORKERS[worker], **{**moments, **more})


def case_with(make: Make, stop: float = 10.0, run: int | None = None) -> Case:
    """Return the case of 10 s of four workers of one thread, by default of the run in it."""
    history, maker = History(), BatchMaker()
    history.apply(maker.batch(workers=[worker_row(one, nthreads=1) for one in WORKERS]))
    more = make(maker)
    maker.time = T0 + stop
    groups = [group_row(name, name) for name in ("inc", "link", "p0", "p1")]
    history.apply(maker.batch(**{"groups": groups, **more}))
    run = len(history.runs) if run is None else run
    return case_of(history, Window(T0, T0 + stop), T0 + stop, run)()


def found(case: Case) -> dict[str, Finding]:
    return {one.cause: one for one in findings_of(case, fmt.write)}


def busy(maker: BatchMaker, until: int = 10, **more: Any) -> Mapping[str, Any]:
    """All threads compute, second by second; some threads and seconds may have other prefixes."""
    for worker in range(4):
        for second in range(until):
            ran(maker, second, second + 1, worker, wait=float(second), **more)
    return {}


def stragglers(maker: BatchMaker) -> Mapping[str, Any]:
    """The last of the line begins when the other threads have ended."""
    busy(maker, 2)
    ran(maker, 2.05, 10, wait=2.05)
    return {}


def short(maker: BatchMaker, graph: int = 0) -> Mapping[str, Any]:
    for at in range(400):
        start = at // 4 / 10
        ran(maker, start + 0.08, start + 0.1, at % 4, assigned=0.08, wait=0.08, graph=graph)
    return {}


def slow_worker(maker: BatchMaker) -> Mapping[str, Any]:
    for worker in range(4):
        for at in range(20 if worker == 3 else 40):
            took = 0.5 if worker == 3 else 0.25
            ran(maker, at * took, (at + 1) * took, worker, prefix=f"p{at % 2}", wait=at * took)
    return {}


def chain(maker: BatchMaker) -> Mapping[str, Any]:
    for second in range(10):
        ran(maker, second, second + 1, prefix="link")
    return {}


def few(maker: BatchMaker) -> Mapping[str, Any]:
    ran(maker, 0, 10)
    ran(maker, 0, 10, 1)
    return {}


def fetching(maker: BatchMaker) -> Mapping[str, Any]:
    for at in range(20):
        start, worker = at // 4 * 2, at % 4
        key = f"sum-{at}"
        ran(maker, start + 1, start + 2, worker, key=key, assigned=1.0, wait=1.0)
        maker.action(start, start + 1, worker=WORKERS[worker], key=key, kind=Kind.TRANSFER)
    return {}


def crowded(maker: BatchMaker) -> Mapping[str, Any]:
    for at in range(10):
        ran(maker, at, at + 1, assigned=float(at), wait=float(at))
    return {}


def failing(maker: BatchMaker) -> Mapping[str, Any]:
    busy(maker, 8)
    for worker in range(4):
        ran(maker, 8, 10, worker, outcome=Outcome.RETRIED)
    return {}


def dying(maker: BatchMaker) -> Mapping[str, Any]:
    busy(maker, 8)
    ran(maker, 2, 8, outcome=Outcome.KILLED, key="again")
    ran(maker, 8, 10, key="inc-3")
    detail = {"worker": WORKERS[0], "cause": "killed", "lost_tasks": 1}
    return {"events": [(T0 + 8, "worker-killed", detail)]}


def repeated(maker: BatchMaker) -> Mapping[str, Any]:
    for second in range(10):
        for worker in range(4):
            ran(maker, second, second + 1, worker, key=f"k-{second % 5}-{worker}", wait=9.0)
    return {}


def silent_client(maker: BatchMaker) -> Mapping[str, Any]:
    busy(maker, 5)
    return {"graphs": [(1, 0.0, "mine", 20)]}


def paused(maker: BatchMaker) -> Mapping[str, Any]:
    busy(maker, 5)
    ran(maker, 9, 10, wait=9.0)
    who = [{"worker": one} for one in WORKERS]
    return {
        "events": [
            *((T0 + 5, "worker-paused", one) for one in who),
            *((T0 + 9, "worker-resumed", one) for one in who),
        ]
    }


def on_disk(maker: BatchMaker, until: int = 8) -> Mapping[str, Any]:
    busy(maker, until)
    for start in (8, 9):
        for worker in WORKERS:
            maker.action(start, start + 1, worker=worker, kind=Kind.DISK_WRITE, thread=9)
    return {}


def two_chains(maker: BatchMaker) -> Mapping[str, Any]:
    for second in range(10):
        for worker in range(2):
            ran(maker, second, second + 1, worker, prefix="link", graph=1)
    return {"graphs": [(1, 0.0, "mine", 20)]}


def late_straggler(maker: BatchMaker) -> Mapping[str, Any]:
    """One of 21 takes 97 % of the run, and the other threads end one after the other."""
    for worker, stop in enumerate((0.1, 0.2, 0.3)):
        for at in range(7 - worker):
            ran(maker, at * stop / 7, (at + 1) * stop / 7, worker, graph=1)
    ran(maker, 0.05, 10, 3, wait=0.05, graph=1)
    return {"graphs": [(1, 0.0, "mine", 19)]}


def briefly_paused(maker: BatchMaker) -> Mapping[str, Any]:
    who = [{"worker": one} for one in WORKERS]
    pauses = [(T0 + 7, "worker-paused", one) for one in who]
    resumed = [(T0 + 8, "worker-resumed", one) for one in who]
    busy(maker, 7)
    return {**on_disk(maker, 0), "events": pauses + resumed}


def crowded_and_on_disk(maker: BatchMaker) -> Mapping[str, Any]:
    for at in range(7):
        maker.action(at, at + 1, worker=WORKERS[3], kind=Kind.DISK_WRITE, thread=9)
    return crowded(maker)


def waiting(maker: BatchMaker) -> Mapping[str, Any]:
    metrics = [("execute", "inc", "thread-noncpu", "seconds", 40.0)]
    return {**busy(maker), "extras": change("activities", metrics)}


def nowhere(maker: BatchMaker) -> Mapping[str, Any]:
    return {**busy(maker), "prefixes": [prefix_row("gpu", no_worker=3)]}


def stragglers_of_a_graph(maker: BatchMaker) -> Mapping[str, Any]:
    """As above; the client submits more of the same when all have ended."""
    busy(maker, 2, graph=1)
    ran(maker, 2, 6, wait=2.0, graph=1)
    for worker in range(4):
        for second in range(6, 10):
            ran(maker, second, second + 1, worker, wait=second - 6.0, graph=2)
    return {}


def stragglers_with_a_sum(maker: BatchMaker) -> Mapping[str, Any]:
    busy(maker, 2)
    ran(maker, 2, 9, wait=2.0)
    ran(maker, 9, 10, prefix="link")
    return {"groups": [group_row("inc", "inc"), group_row("link", "link", ["inc"])]}


def one_by_one(maker: BatchMaker) -> Mapping[str, Any]:
    for at in range(50):
        ran(maker, at / 5, at / 5 + 0.1)
    return {"graphs": [(1, 0.0, "mine", 50)]}


def nobody_there(maker: BatchMaker) -> Mapping[str, Any]:
    return {**busy(maker), "removed_workers": WORKERS, "prefixes": [prefix_row("inc", queued=3)]}


def carrying(maker: BatchMaker) -> Mapping[str, Any]:
    for worker in range(4):
        for second in range(0, 10, 2):
            moments = {"ready": 1.0, "assigned": 1.0}
            ran(maker, second + 1, second + 2, worker, graph=1, **moments)
    return {"graphs": [(1, 0.0, "mine", 20, 1e8)]}


def one_at_a_time(maker: BatchMaker) -> Mapping[str, Any]:
    """The client waits for each result before it submits the next task; one takes longer."""
    begins = np.array([*np.arange(0.0, 7), 9.5])
    for at, (start, stop) in enumerate(zip(begins, [*begins[1:], 10.0], strict=True), 1):
        ran(maker, start, stop, at % 4, graph=at)
    return {"graphs": [(at, float(start), "mine", 1) for at, start in enumerate(begins, 1)]}


@pytest.mark.parametrize(
    ("cause", "make", "saved_s"),
    [
        ("skew", stragglers, 7 * 3 / 4),  # one second is the median
        ("skew", stragglers_of_a_graph, 3 * 3 / 4),
        ("skew", stragglers_with_a_sum, 6 * 3 / 4),
        ("large-graph", carrying, 5.0),
        ("tiny-tasks", short, 8.0 * 0.8),
        ("slow-worker", slow_worker, 10 * 0.5 / 4),
        ("critical-path", chain, 7.5),
        ("critical-path", two_chains, 5.0),
        ("skew", late_straggler, 9.7 * 3 / 4),
        ("few-tasks", few, 5.0),
        ("few-tasks", one_at_a_time, 7.5),
        ("transfer", fetching, 5.0),
        ("unbalanced", crowded, (3 * 7 + 2 + 1) / 4),
        ("failed-attempts", failing, 2.0),
        ("lost-work", dying, (6 + 2) / 4),
        ("computed-again", repeated, 5.0),
        ("client", silent_client, 5.0),
        ("client", one_by_one, 5.0),
        ("paused", paused, 4.0),
        ("spill", on_disk, 2.0),
        ("spill", briefly_paused, 3.0),
        ("waiting-io", waiting, 5.0),
        ("no-worker", nowhere, np.nan),
        ("no-worker", nobody_there, np.nan),
    ],
)
def test_a_cause_is_found_with_what_it_costs(cause: str, make: Make, saved_s: float) -> None:
    its = found(case_with(make))
    assert cause in its
    assert its[cause].saved_s == pytest.approx(saved_s, nan_ok=True, rel=0.1)
    assert "{" not in its[cause].text + its[cause].advice
    assert next(iter(its)) == cause


def test_tasks_that_carry_only_themselves_are_too_short() -> None:
    def small(maker: BatchMaker) -> Mapping[str, Any]:
        short(maker, graph=1)
        return {"graphs": [(1, 0.0, "mine", 400, 5e4)]}

    assert list(found(case_with(small))) == ["tiny-tasks"]


def test_what_waits_for_a_worker_that_may_run_it_is_not_the_client() -> None:
    def stuck(maker: BatchMaker) -> Mapping[str, Any]:
        ran(maker, 0, 1)
        gpu = prefix_row("gpu", no_worker=3)
        return {"prefixes": [gpu], "graphs": [(1, 0.0, "mine", 4)]}

    budget = case_with(stuck).budget
    assert budget.seconds["scheduler"] == pytest.approx(3 * 9)
    assert budget.seconds["computing"] == pytest.approx(1)
    assert "client" not in budget.seconds


def test_what_workers_have_not_begun_is_not_the_client() -> None:
    def given(rows: list[dict[str, Any]]) -> Case:
        def make(maker: BatchMaker) -> Mapping[str, Any]:
            ran(maker, 0, 1)
            return {"workers": rows, "graphs": [(1, 0.0, "mine", 9)]}

        return case_with(make)

    one_each = [worker_row(w, nthreads=1, processing=2, incoming_bytes=1) for w in WORKERS]
    assert given(one_each).budget.seconds == pytest.approx(
        {"computing": 1, "dependencies": 3, "transfer": 4 * 9}
    )
    assert "transfer" not in found(given(one_each))  # whose it was is known when it has ended
    crowd = [worker_row(w, nthreads=1, processing=8 * (w == WORKERS[0])) for w in WORKERS]
    assert given(crowd).budget.seconds == pytest.approx(
        {"computing": 1, "dependencies": 3, "starting": 9, "unbalanced": 3 * 9}
    )


def late_workers(
    *events: tuple[float, str, Mapping[str, Any]], after: float = 6.0
) -> Callable[[float], Case]:
    """Workers come late, for two seconds; return what makes the case from a moment on."""
    history, maker, stop = History(), BatchMaker(), T0 + after + 2
    maker.time = T0 + after
    queued = [prefix_row("inc", queued=8)]
    graphs = [(1, 0.0, "mine", 8)]
    history.apply(maker.batch(graphs=graphs, prefixes=queued, events=events))
    rows = [worker_row(one, nthreads=1) for one in WORKERS]
    names = [{"worker": one, "name": one, "nthreads": 1} for one in WORKERS]
    for at in range(8):
        start = after + at // 4
        ran(maker, start, start + 1, at % 4, wait=start, graph=1)
    maker.time = stop
    done: dict[str, Any] = {"prefixes": [prefix_row("inc", memory=8)]}
    done["groups"] = [group_row("inc", "inc")]
    came = [(T0 + after, "worker-added", name) for name in names]
    history.apply(maker.batch(workers=rows, events=came, **done))
    return lambda start: case_of(history, Window(start, stop), stop, int(start == T0))()


def test_a_time_without_workers_is_said_also_when_they_have_come() -> None:
    case = late_workers()(T0)
    first = next(iter(found(case).values()))
    assert (first.cause, first.text) == (
        "no-worker",
        "no worker was there for 6.0 s, to run 8 tasks",
    )
    assert not critical_path(case).steps
    before = late_workers()(T0 - 60)  # nobody waited then
    assert before.without_workers_s == pytest.approx(6)


def test_a_short_time_without_workers_is_no_lack_of_them_where_one_died() -> None:
    died = (T0, "worker-killed", {"worker": "tcp://w9:1"})
    assert "no-worker" in found(late_workers(died)(T0))
    assert "no-worker" in found(late_workers(after=0.8)(T0))
    assert "no-worker" not in found(late_workers(died, after=0.8)(T0))


def test_while_its_cell_goes_on_a_run_is_not_over() -> None:
    history, maker = History(), BatchMaker()
    history.runs.clients.add("mine")
    history.runs.note_code(Piece("1", "x.compute()", "cell", 1, T0))
    history.apply(maker.batch(workers=[worker_row(WORKERS[0], nthreads=1)]))
    ran(maker, 0, 1, graph=1)
    maker.time = T0 + 10
    history.apply(maker.batch(graphs=[(1, 0.0, "mine", 1)]))
    case = case_of(history, Window(T0), T0 + 10, 1)()
    assert not case.is_over
    assert "client" not in found(case)  # the gap may still be followed by tasks


def test_how_long_tasks_waited_is_of_their_own_run() -> None:
    def beside(maker: BatchMaker) -> Mapping[str, Any]:
        ran(maker, 0, 1, graph=1)
        ran(maker, 8, 9, 1, graph=2)
        graphs = [(1, 0.0, "mine", 4), (2, 8.0, "other", 1)]
        return {"prefixes": [prefix_row("gpu", no_worker=3)], "graphs": graphs}

    assert case_with(beside, run=1).budget.seconds["scheduler"] == pytest.approx(3 * 9)


def test_where_nobody_can_begin_it_says_so_and_of_the_next_block_it_does_not() -> None:
    history, maker = History(), BatchMaker()
    maker.time = T0 + 10
    waiting = [prefix_row("inc", queued=3)]
    history.apply(maker.batch(prefixes=waiting, graphs=[(1, 0.0, "mine", 3)]))
    assert list(found(case_of(history, Window(T0, T0 + 10), T0 + 10, 1)())) == ["no-worker"]
    stuck = {"prefixes": [prefix_row("gpu", no_worker=1)], "graphs": [(1, 0.0, "mine", 20)]}
    assert "no-worker" not in found(case_with(lambda maker: {**busy(maker, 5), **stuck}))


def test_of_a_run_that_others_held_up_it_is_not_said_that_all_is_well() -> None:
    def beside(maker: BatchMaker) -> Mapping[str, Any]:
        busy(maker, 9, graph=2)
        for worker in range(4):
            ran(maker, 9, 10, worker, wait=9.0, graph=1)
        return {"graphs": [(1, 0.0, "mine", 4), (2, 0.0, "other", 36)]}

    says = verdict(case_with(beside, run=1), [], fmt.write)
    assert says == "Other runs had 90 % of the thread time: 10 % computing"


def test_of_a_half_idle_run_it_is_not_said_that_all_is_well() -> None:
    case = case_with(lambda maker: busy(maker, 6), run=0)
    assert not found(case)
    assert verdict(case, [], fmt.write).startswith("No single cause stands out: 60 % computing")


def test_a_run_that_was_cancelled_blames_no_code() -> None:
    case = case_with(lambda maker: {**silent_client(maker), "graphs": [(1, 0.0, "mine", 21)]})
    assert "client" not in found(case)


def test_more_threads_do_not_shorten_the_longest_task() -> None:
    def waiting_beside_a_long_one(maker: BatchMaker) -> Mapping[str, Any]:
        ran(maker, 0, 10)
        for second in range(10):
            for worker in (1, 2, 3):
                ran(maker, second, second + 1, worker, wait=float(second))
        metrics = [("execute", "inc", "thread-noncpu", "seconds", 40.0)]
        return {"extras": change("activities", metrics)}

    assert "waiting-io" not in found(case_with(waiting_beside_a_long_one))


def test_what_a_worker_took_along_shortly_before_is_not_said_to_be_kept_by_nobody() -> None:
    def repeated_after_a_loss(maker: BatchMaker) -> Mapping[str, Any]:
        events = [(T0 - 5, "worker-killed", {"worker": "tcp://gone:1"})]
        return {**repeated(maker), "events": events}

    assert "computed-again" not in found(case_with(repeated_after_a_loss))


def test_workers_of_one_process_are_held_against_the_limit_of_all_of_it() -> None:
    history, maker = History(), BatchMaker()
    alike = {"nthreads": 1, "process": "host/7", "memory_limit": 1 << 30}
    history.apply(maker.batch(workers=[worker_row(one, **alike) for one in WORKERS]))
    assert case_of(history, Window(T0, T0 + 1), T0 + 1)().memory_limit == 4 << 30


def test_workers_that_left_before_are_not_among_half_of_the_workers() -> None:
    history, maker = History(), BatchMaker()
    gone = [f"tcp://gone{at}:1" for at in range(6)]
    maker.time = T0 - 100
    rows = [worker_row(one, nthreads=1) for one in (*gone, *WORKERS)]
    history.apply(maker.batch(workers=rows))
    maker.time = T0 - 50
    history.apply(maker.batch(removed_workers=gone))
    for worker in (1, 2, 3):
        for second in range(6):
            ran(maker, second, second + 1, worker, wait=float(second))
    crowded(maker)
    maker.time = T0 + 10
    history.apply(maker.batch())
    text = found(case_of(history, Window(T0, T0 + 10), T0 + 10)())["unbalanced"].text
    assert "half of the others for 6.00 s" in text


def test_what_follows_from_spilling_is_no_finding_of_its_own() -> None:
    assert set(found(case_with(crowded))) == {"unbalanced"}
    assert set(found(case_with(crowded_and_on_disk))) == {"spill"}


METRICS = [("execute", "inc", "thread-noncpu", "seconds", 20.0)]
MIB = 2**20


@pytest.mark.parametrize(
    ("cause", "columns", "in_text"),
    [
        ("leak", lambda at, _: {"memory": (100 + 40 * at) * MIB, "managed": 0}, "grew by"),
        ("uneven-memory", lambda _, worker: {"managed": (worker == 2) * 500 * MIB}, "500 MiB"),
        ("oversubscription", lambda *_: {"cpu": 400.0}, "400 %"),
        ("gil", lambda *_: {"metrics": {"gil_contention": 0.6}}, "60 %"),
    ],
)
def test_what_workers_tell_in_the_course_of_time_is_a_cause(
    cause: str, columns: Callable[[int, int], dict[str, Any]], in_text: str
) -> None:
    history, maker = History(), BatchMaker()
    for second in range(11):
        maker.time = T0 + second
        rows = [
            worker_row(one, **{"nthreads": 1, "unmanaged_old": 0, "cpu": 90.0} | row)
            for one, row in ((one, columns(second, at)) for at, one in enumerate(WORKERS))
        ]
        for row in rows:
            row["unmanaged_recent"] = row["memory"] - row["managed"]
        for worker in range(4 * (second > 0)):
            ran(maker, second - 1, second, worker, wait=second - 1.0)
        more: dict[str, Any] = {"extras": change("activities", METRICS)} if second == 10 else {}
        history.apply(maker.batch(workers=rows, **more))
    its = found(case_of(history, Window(T0, T0 + 10), T0 + 10)())
    assert in_text in its[cause].text


def test_a_healthy_run_has_none_and_says_so() -> None:
    case = case_with(busy)
    assert found(case) == {}
    said = verdict(case, [], fmt.write)
    assert said == "Nothing to report: 100 % computing; at best 0 s faster"


def test_where_tasks_waited_nobody_says_how_much_faster_it_could_be() -> None:
    said = verdict(case_with(waiting), [], fmt.write)
    assert said.startswith("No single cause stands out: ")
    assert "% waiting in tasks" in said
    assert "faster" not in said


def test_what_costs_less_than_half_a_second_is_not_said() -> None:
    def barely(maker: BatchMaker) -> Mapping[str, Any]:
        busy(maker, 9)
        ran(maker, 9, 9.4, outcome=Outcome.ERRED)
        return {}

    assert found(case_with(barely, 9.4)) == {}


def test_where_much_was_not_recorded_nothing_is_said() -> None:
    case = case_with(chain)
    facts = case.facts._replace(gaps=np.array([[T0, T0 + 5]]))
    lost = Case(**{**vars(case), "facts": facts})
    assert found(lost) == {}
    assert "not recorded" in verdict(lost, [], fmt.write)


def test_while_work_goes_on_only_what_stays_true_is_said() -> None:
    def going_on(maker: BatchMaker) -> Mapping[str, Any]:
        return {**failing(maker), "running": [("late", WORKERS[0], "inc", 9.5)]}

    its = case_with(going_on)
    assert set(found(its)) == {"failed-attempts"}
    assert found(case_with(lambda maker: {**few(maker), **going_on(maker)})) != {}


def test_gaps_between_cells_are_nobodys_fault() -> None:
    assert found(case_with(silent_client, run=0)) == {}


def test_the_critical_path_says_whether_more_workers_help() -> None:
    path = critical_path(case_with(chain))
    assert path.n_chain == 10
    assert path.chain_s == pytest.approx(10)
    assert [step.prefix for step in path.steps] == ["link"] * 10
    assert "more workers will not help" in str(path)
    assert "may help" in str(critical_path(case_with(busy)))


def layers(maker: BatchMaker) -> Mapping[str, Any]:
    """Eight tasks of a second on four threads, and eight more that each wait for one of them."""
    for at in range(8):
        ran(maker, at // 4, at // 4 + 1, at % 4, wait=float(at // 4), prefix="load")
    for at in range(8):
        start = 2 + at // 4
        ran(maker, start, start + 1, at % 4, wait=start - 1.0 - at // 4, prefix="work")
    groups = [group_row("load-1", "load", forgotten=8), group_row("work-1", "work", ["load-1"])]
    return {"groups": groups}


@pytest.mark.parametrize(("threads", "seconds"), [(4, 4.0), (8, 2.0), (10**15, 2.0), (2, 8.0)])
def test_more_threads_are_simulated(threads: int, seconds: float) -> None:
    its = what_if(case_with(layers, 4.0), threads)
    assert its.error == pytest.approx(0, abs=1e-6)
    assert its.seconds == pytest.approx(seconds)


def test_a_task_shorter_than_the_clock_is_off_waited_for_others_all_the_same() -> None:
    def behind(maker: BatchMaker) -> Mapping[str, Any]:
        more = layers(maker)
        ran(maker, 4.001, 4.0011, 1, wait=-0.005, prefix="sum")  # over before it could begin
        return {"groups": [*more["groups"], group_row("sum-1", "sum", ["work-1"])]}

    case = case_with(behind, 4.01)
    assert [step.prefix for step in critical_path(case).steps][-2:] == ["work", "sum"]
    assert what_if(case, 8).seconds == pytest.approx(2, abs=0.02)


def test_a_task_waited_for_others_however_late_a_busy_scheduler_let_it_run() -> None:
    def late(maker: BatchMaker) -> Mapping[str, Any]:
        ran(maker, 0, 1, graph=1, prefix="load")
        ran(maker, 3, 4, graph=1, prefix="sum")
        groups = [group_row("load-1", "load"), group_row("sum-1", "sum", ["load-1"])]
        return {"graphs": [(1, 0.0, "mine", 2)], "groups": groups}

    assert critical_path(case_with(late)).n_chain == 2


def test_of_very_many_tasks_several_are_simulated_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    case = case_with(busy)
    whole = what_if(case, 2)
    monkeypatch.setattr(estimates, "MOST_TASKS", 20)  # of 40
    coarse = what_if(case, 2)
    assert coarse.error < 0.05
    assert coarse.seconds == pytest.approx(whole.seconds, rel=0.05)
    assert coarse.seconds == pytest.approx(20)


def test_a_chain_of_single_submits_is_a_chain() -> None:
    def submitted(maker: BatchMaker) -> Mapping[str, Any]:
        for second in range(10):
            ran(maker, second + 0.01, second + 1, wait=0.01, graph=second + 1, prefix="step")
        graphs = [(second + 1, second / 100, "mine", 1) for second in range(10)]
        return {"graphs": graphs, "groups": [group_row("step", "step", ["step"])]}

    assert critical_path(case_with(submitted)).n_chain == 10


def bursts(maker: BatchMaker) -> Mapping[str, Any]:
    """Eight tasks of a second on four threads; the client goes on after two seconds; the same."""
    for at in range(16):
        start = at // 8 * 4 + at % 8 // 4
        ran(maker, start, start + 1, at % 4, wait=float(at % 8 // 4), graph=at // 8 + 1)
    return {"graphs": [(1, 0.0, "mine", 8), (2, 4.0, "mine", 8)]}


def test_the_client_takes_its_time_with_any_number_of_threads() -> None:
    case = case_with(bursts, 6.0)
    assert what_if(case, 8).seconds == pytest.approx(1 + 2 + 1)
    assert what_if(case, 2).seconds == pytest.approx(4 + 2 + 4)
    path = critical_path(case)
    assert (path.chain_s, path.n_chain) == (1, 1)
    assert str(path).startswith("Critical path 4.00 of 6.00 s, 2.00 s of it without tasks: ")


def test_of_tasks_that_are_too_short_nobody_says_what_more_threads_bring() -> None:
    def brief(maker: BatchMaker) -> Mapping[str, Any]:
        for at in range(400):
            start = at // 4 / 10 + 0.08
            ran(maker, start, start + 0.02, at % 4, assigned=0.08, wait=start)
        return {}

    case = case_with(brief)
    why = "starting tasks took 80 % of the thread time"
    assert str(what_if(case, 8)) == f"No estimate: {why}."
    assert what_if(case, 2).seconds == pytest.approx(20, rel=0.05)
    assert str(critical_path(case)).endswith(f" of 10.0 s: {why}. inc")


def test_more_threads_are_said_to_need_processors() -> None:
    case = case_with(layers, 4.0)
    assert str(what_if(case, 8)).startswith(
        "About 2 s instead of 4 s if there are processors for 8 threads (simulated"
    )
    assert "processors" not in str(what_if(case, 2))


def test_of_what_is_not_known_there_is_no_estimate_and_no_claim() -> None:
    def nested(maker: BatchMaker) -> Mapping[str, Any]:
        busy(maker, 5, graph=1)
        for worker in range(4):
            ran(maker, 5, 6, worker, graph=2)
        return {"graphs": [(1, 0.0, "mine", 20), (2, 5.0, "Client-worker-1", 4)]}

    def waiting_for_another_run(maker: BatchMaker) -> Mapping[str, Any]:
        ran(maker, 5, 10, graph=1)
        return {"graphs": [(1, 0.0, "mine", 1)]}

    def without_groups(maker: BatchMaker) -> Mapping[str, Any]:
        return {**chain(maker), "groups": []}

    for make in (nested, waiting_for_another_run, without_groups):
        case = case_with(make)
        assert str(what_if(case, 8)).startswith("No estimate: ")
        assert str(critical_path(case)).startswith("No critical path: ")
        assert not found(case).keys() & {"few-tasks", "critical-path", "waiting-io"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"threads": 0},
        *({"transfer": -1.0}, {"transfer": np.nan}, {"transfer": np.inf}),
    ],
)
def test_what_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    ((name, value),) = wrong.items()
    with pytest.raises(ValueError, match=f"{name} is {value!r}: it is"):
        what_if(case_with(busy), **wrong)


def test_without_transfers_it_is_shorter() -> None:
    assert what_if(case_with(fetching), transfer=0.0).seconds == pytest.approx(5.0)


def test_a_simulation_that_is_far_off_gives_no_estimate() -> None:
    def overlapping(maker: BatchMaker) -> Mapping[str, Any]:
        for _ in range(12):  # on one thread, as coroutines are
            ran(maker, 0, 10)
        return {}

    its = what_if(case_with(overlapping), 8)
    assert np.isnan(its.seconds)
    assert str(its).startswith("No estimate")
