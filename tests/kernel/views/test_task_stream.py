"""The task stream: rows in, blocks, captions and openings out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bokeh.events import DoubleTap

from benchmarks.simulator import BEGIN, Simulation
from dask_diag_lab.jobs import Job
from dask_diag_lab.schema import Change, Kind, Outcome
from dask_diag_lab.store import LiveSession
from dask_diag_lab.store.runs import Piece
from dask_diag_lab.views.format import clock as time_of_day
from dask_diag_lab.views.stream.frame import ERRED_CODE, KILLED_CODE, TRANSFER_CODE, Detail
from dask_diag_lab.views.stream.task_stream import TaskStream
from tests.kernel.store.batches import T0, BatchMaker, graph_change, group_row, worker_row
from tests.kernel.views.asked_pages import Answering
from tests.kernel.views.conftest import Clock, Feed
from tests.kernel.views.drawn import SentBytes
from tests.kernel.views.task_streams import built, data, labels, many, move, tap

# Blocks.


def test_a_task_is_a_block_in_its_threads_row_from_the_start_of_the_run(feed: Feed) -> None:
    key = "('<b>x</b>', \"quote'\", b'\\xff/..')" + "k" * 400
    feed.maker.action(5, 5.5, worker="tcp://w1:1", thread=9, prefix="<inc>", key=key, nbytes=100)
    feed.send(6)
    view, figure = built(feed)
    block = data(figure.blocks)
    ends = (block["left"], block["right"], block["y"], block["nbytes"])
    assert ends == ([0.0], [0.5], [2], [100.0])
    assert data(figure.keys)["key"] == [key]
    assert "<inc>" in data(figure.names)["text"]
    assert view.caption.empty == ""
    assert view.caption.note == "shares of the thread time offered in view, pauses too"
    assert labels(view) == ["<inc>"]


def test_kinds_differ_in_height_and_colour(feed: Feed) -> None:
    feed.maker.action(0, 1, prefix="a").action(0.2, 0.4, kind=Kind.TRANSFER, source="tcp://w1:1")
    feed.maker.action(2, 3, prefix="b").action(0, 1, outcome=Outcome.ERRED, thread=2)
    feed.maker.action(0, 2, outcome=Outcome.KILLED, thread=2)
    feed.send(3)
    view, figure = built(feed)
    block = data(figure.blocks)
    drawn = sorted(zip(block["code"], np.round(block["height"], 2), block["y"], strict=True))
    assert drawn == [
        (0, pytest.approx(0.8), 0),
        (2, pytest.approx(0.8), 0),
        (TRANSFER_CODE, pytest.approx(0.4), pytest.approx(0.2)),
        (ERRED_CODE, pytest.approx(0.8), 1),
        (KILLED_CODE, pytest.approx(0.8), 1),
    ]
    assert labels(view) == ["failed", "worker died", "a", "b", "transfer"]
    assert "tcp://w1:1" in data(figure.names)["text"]


def test_the_first_task_is_drawn_at_its_time_and_not_since_the_epoch(feed: Feed) -> None:
    feed.send(1)
    view, figure = built(feed)
    view.update()  # what there is of nothing was gathered
    under_way: list[Job[Any]] = []
    feed.live.jobs.on_start = under_way.append  # as in a thread, which takes a moment
    feed.send(4, running=[("slow-1", "tcp://w0:1", "slow", 2.0)])
    view.update()
    assert max(map(abs, figure.times)) < 60
    assert "Nothing ran" not in view.caption.empty
    for job in under_way:
        job.do()
        feed.live.job_done(job)
    view.update()
    assert data(figure.running)["key"] == ["slow-1"]


def test_running_tasks_grow_with_time_and_carry_their_key(feed: Feed) -> None:
    feed.maker.action(0, 1)
    feed.send(4, running=[("slow-1", "tcp://w0:1", "slow", 2.0)])
    view, figure = built(feed)
    assert data(figure.running)["key"] == ["slow-1"]
    assert figure.texts.now == 4.0
    feed.now += 3
    feed.maker.action(6, 7)
    feed.send(8, running=[("slow-1", "tcp://w0:1", "slow", 2.0)])
    view.update()
    assert figure.texts.now == 8.0
    assert view.window.end >= T0 + 8


def test_many_actions_are_merged_as_high_as_they_are_busy_and_noted(feed: Feed) -> None:
    many(feed, 12_000, took=5e-4)
    feed.maker.action(5.2, 5.2001, key="bad", outcome=Outcome.ERRED)
    feed.send(12)
    view, figure = built(feed)
    block = figure.blocks.model.data
    is_failed = np.array(block["code"]) == ERRED_CODE
    assert len(is_failed) <= Detail().max_blocks
    assert int(np.sum(block["count"])) == 12_001
    assert np.array(block["height"])[~is_failed][1:-1] == pytest.approx(0.45, abs=0.05)
    assert list(np.array(block["count"])[is_failed]) == [1]
    assert "12\u202f001 actions, those closer than" in view.caption.note


def test_only_the_rows_in_sight_and_a_page_beside_them_are_asked_for(clock: Clock) -> None:
    feed = Feed().workers(*(f"tcp://w{i}:1" for i in range(500)))
    for i in range(500):
        feed.maker.action(0, 1, worker=f"tcp://w{i}:1")
    feed.send(1)
    view, figure = built(feed)
    assert figure.y_range.bounds == (-0.5, 999.5)
    assert view.caption.headline.endswith("256 of 1000 threads")
    move(figure, bottom=499.5, top=399.5)
    clock.now += 1
    view.update()
    feed.workers("tcp://w500:1")  # below the others, whose place is the browser's business
    feed.send(1)
    view.update()
    assert figure.rows == (399.5, 499.5)
    assert view.window.is_following
    assert view.caption.headline.endswith("384 of 1002 threads")
    assert min(data(figure.blocks)["y"]) >= 256


def test_a_dead_workers_rows_end_with_a_mark_and_go_with_its_last_task() -> None:
    feed = Feed().workers("tcp://w0:1", "tcp://w1:1", "tcp://w2:1")
    for name in ("w0", "w1", "w2"):
        feed.maker.action(0, 1, worker=f"tcp://{name}:1", key=name)
    feed.send(2, removed_workers=["tcp://w1:1"])
    view, figure = built(feed)
    gone = data(figure.gone)
    assert (gone["left"], gone["top"], gone["bottom"]) == ([2.0], [1.5], [3.5])
    assert data(figure.workers)["is_gone"] == [0, 1, 0]
    feed.maker.action(100, 101, worker="tcp://w2:1", key="late")
    feed.send(101)
    view.update()
    assert data(figure.workers)["label"] == ["w0:1", "w2:1"]
    assert data(figure.blocks)["y"] == [2]
    view.window.hold(T0, T0 + 102)
    view.update()
    assert sorted(data(figure.blocks)["y"]) == [0, 2, 4, 4]


# What is sent.


def test_a_dense_run_and_a_large_history_stay_within_their_bytes() -> None:
    simulation, now = Simulation(n_workers=16, n_threads=4, n_tasks=60_000), [1e6]
    begin_s, seconds = 40, 12
    stops = np.maximum.accumulate(simulation.actions["stop"])
    live, row = LiveSession(clock=lambda: now[0]), int(np.searchsorted(stops, BEGIN + begin_s))
    live.apply(simulation.batch(0, row))
    assert row > 15_000
    view = TaskStream(live)
    view.build()
    assert view.figure is not None
    sent = SentBytes(view.figure.blocks.model)
    for quarter_s in range(4 * seconds):  # some 600 tasks a second
        now[0] += 0.25
        until = int(np.searchsorted(stops, BEGIN + begin_s + quarter_s / 4))
        live.apply(simulation.batch(row, until))
        row = until
        view.update()
    assert 0 < sent.total / seconds < 60_000
    view = TaskStream(live)
    view.build()
    assert view.figure is not None
    assert sum(map(len, data(view.figure.blocks).values())) < 600_000 / 4


# Headline, notes, empty states.


def test_shares_of_all_threads_add_up_and_time_counts_once(feed: Feed) -> None:
    feed.maker.action(0, 10).action(0, 10, thread=2).action(0, 5, worker="tcp://w1:1")
    feed.maker.action(2, 6, kind=Kind.TRANSFER)
    feed.maker.action(5, 10, worker="tcp://w1:1", kind=Kind.TRANSFER)
    feed.send(10)
    view, _ = built(feed)
    parts = view.caption.headline.split(" · ")
    assert parts == ["63 % in tasks", "12 % transfer", "25 % otherwise idle", "4 threads"]


def test_rows_of_threads_that_tasks_left_are_no_threads(feed: Feed) -> None:
    for thread in range(1, 5):  # two of them wait for the other two
        feed.maker.action(0, 10, thread=thread)
    feed.maker.action(0, 10, worker="tcp://w1:1")
    feed.send(10)
    view, _ = built(feed)
    assert view.caption.headline.split(" · ") == ["75 % in tasks", "25 % idle", "4 threads"]


def test_what_is_lost_comes_first_in_the_note(feed: Feed) -> None:
    many(feed, 9_000)
    feed.send(10, actions_dropped=7)
    feed.maker = BatchMaker(epoch="2")  # another collector of the same scheduler
    feed.send(
        81, began=T0 + 80, workers=[worker_row("tcp://w0:1")], left_out={"names": 3, "lost_runs": 2}
    )
    note = built(feed)[0].caption.note
    assert note.startswith(
        f"nothing was recorded from {time_of_day(T0 + 10)} to {time_of_day(T0 + 80)}"
    )
    assert "3 tasks shown as (other): too many different names" in note
    assert "2 runs may be missing: workers died before they could tell" in note
    assert note.index("may be missing") < note.index("merged into")


def test_an_empty_picture_says_why(feed: Feed) -> None:
    assert "no workers" in built(Feed())[0].caption.empty
    view, _ = built(feed)
    assert "No task has finished yet" in view.caption.empty
    feed.maker.action(0, 1)
    feed.send(1)
    view.window.hold(T0 + 500, T0 + 600)
    view.update()
    assert view.caption.empty.startswith("Nothing ran in this stretch of time")


def test_a_legend_has_what_takes_most_time_and_counts_the_rest(feed: Feed) -> None:
    for i in range(30):
        feed.maker.action(i, i + 0.9 - i / 100, prefix=f"prefix-{i}")
    feed.maker.action(30, 31, kind=Kind.TRANSFER)
    feed.send(31)
    names = [f"prefix-{i}" for i in range(19)]
    assert labels(built(feed)[0]) == ["transfer", *names, "+ 11 more"]


COLUMNS = ("context", "label", "activity", "unit", "value")
METRICS = (
    ("gather-dep", "", "network", "seconds", 60.0),
    ("gather-dep", "", "deserialize", "seconds", 40.0),
    ("gather-dep", "", "network", "bytes", 1e9),
    ("execute", "sum", "deserialize", "seconds", 2.0),
)


def test_the_estimate_of_serialization_is_drawn_and_noted(feed: Feed) -> None:
    feed.maker.action(0, 1, prefix="sum", kind=Kind.TRANSFER, source="tcp://w1:1")
    feed.maker.action(1, 2, prefix="inc")
    feed.send(2)
    columns = {name: [row[i] for row in METRICS] for i, name in enumerate(COLUMNS)}
    feed.live.history.extras["activities"].apply(Change(columns), 0.0)
    view, figure = built(feed)
    assert figure.block_glyph.tail_share == pytest.approx(0.4)
    note = "estimated from the workers' totals: 40 % of transfer time is (de)serialization"
    assert note in view.caption.note
    assert figure.texts.transfer_note == note
    assert "(de)serialize" in labels(view)


def test_dead_workers_and_restarts_are_marked_and_other_events_are_not(feed: Feed) -> None:
    feed.maker.action(0, 10)
    killed = {"worker": "tcp://w1:1", "cause": "no heartbeat", "lost_tasks": 2}
    events: list[tuple[float, str, dict[str, Any]]] = [
        (T0 + 2, "worker-killed", killed),
        (T0 + 3, "worker-added", {"worker": "tcp://w3:1"}),
        (T0 + 4, "restart", {}),
    ]
    feed.send(10, events=events)
    marks = data(built(feed)[1].events)
    assert marks["at"] == pytest.approx([4, 2])
    assert marks["title"] == ["cluster restarted", "worker died: tcp://w1:1"]
    assert marks["text"][1] == "no heartbeat"


def test_the_hole_of_a_paused_worker_has_a_pattern_a_legend_and_an_explanation(feed: Feed) -> None:
    feed.maker.action(0, 10)
    feed.send(10, events=[(T0 + 4, "worker-paused", {"worker": "tcp://w1:1"})])
    view, figure = built(feed)
    assert "worker paused" in labels(view)
    assert figure.pause.hatch_pattern is not None
    paused = data(figure.paused)
    assert paused["left"] + paused["right"] == pytest.approx([4, 10])
    assert (paused["top"], paused["bottom"]) == ([1.5], [3.5])
    assert "began no task" in paused["text"][0]
    assert paused["clock"] == [f"{time_of_day(T0 + 4)} to now"]
    feed.send(20, events=[(T0 + 15, "worker-resumed", {"worker": "tcp://w1:1"})])
    view.update()
    assert data(figure.paused)["right"] == pytest.approx([15])
    view.window.hold(T0 + 16, T0 + 20)
    view.update()
    assert "worker paused" not in labels(view)


# Clicks.


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [
        (Kind.COMPUTE, Outcome.OK),
        (Kind.COMPUTE, Outcome.ERRED),
        (Kind.TRANSFER, Outcome.OK),
        (Kind.DISK_READ, Outcome.KILLED),
    ],
)
def test_every_kind_of_block_opens_the_profile_of_its_prefix_and_then_the_task(
    feed: Feed, kind: Kind, outcome: Outcome
) -> None:
    feed.maker.action(0, 10, prefix="inc", kind=kind, outcome=outcome)
    feed.send(10)
    view, figure = built(feed)
    before = figure.times, figure.rows
    assert tap(view, 5.0, 0.35) == ("profile", {"prefix": "inc", "from_task": "inc-0"})
    assert tap(view, 6.0, 0.35) == ("task", {"key": "inc-0"})
    assert tap(view, 5.0, 3.0) is None
    assert tap(view, 5.0, 0.35, DoubleTap) == ("task", {"key": "inc-0"})
    view.update()
    assert (figure.times, figure.rows) == before
    assert view.window.is_following


def test_a_running_task_a_transfer_above_a_task_and_a_worker_are_hit(feed: Feed) -> None:
    feed.maker.action(0, 10, prefix="long")
    feed.maker.action(4, 6, prefix="sum", kind=Kind.TRANSFER, source="tcp://w1:1")
    feed.send(12, running=[("slow-1", "tcp://w0:1", "slow", 10.5)])
    view, _ = built(feed)
    assert tap(view, 5.0, 0.3)[1]["prefix"] == "sum"
    assert tap(view, 5.0, -0.3)[1]["prefix"] == "long"
    assert tap(view, 11.5, 0.0) == ("profile", {"prefix": "slow", "from_task": "slow-1"})
    assert tap(view, 11.6, 0.0) == ("task", {"key": "slow-1"})
    assert tap(view, -5.0, 2.6) == ("worker", {"worker": "tcp://w1:1"})


def test_a_straggler_is_outlined_and_a_click_asks_for_its_call_stack(feed: Feed) -> None:
    for at in range(3):
        feed.maker.action(at, at + 1, prefix="part")
    running = [("part-9", "tcp://w0:1", "part", 3.0), ("new-1", "tcp://w1:1", "new", 3.0)]
    feed.send(5.5, running=running)
    view, figure = built(feed)
    assert data(figure.late)["left"] == []  # 2.5 times its median
    feed.send(7, running=running)
    view.update()
    assert (data(figure.late)["left"], data(figure.late)["right"]) == ([3.0], [7.0])
    assert "straggler" in labels(view)
    assert tap(view, 6.0, 0.0) == ("task", {"key": "part-9", "show": "call-stack"})


def test_what_made_the_last_run_slow_stands_behind_the_shares(feed: Feed) -> None:
    feed.maker.action(0, 1, worker="tcp://w0:1", prefix="inc")
    feed.maker.action(8, 9, worker="tcp://w0:1", prefix="inc")
    feed.live.history.runs.clients.add("mine")
    feed.live.history.runs.note_code(Piece("1", "slow()", "cell", 1, T0, T0 + 9))
    feed.send(12, graphs=[(1, 0.0, "mine", 2)])
    view, _ = built(feed)
    assert "4 threads · nothing was submitted: up to" in view.caption.headline


def test_of_two_runs_that_are_compared_each_is_alone_in_its_stream(feed: Feed) -> None:
    feed.live.history.runs.clients.add("mine")
    for number, (start, stop) in enumerate([(0, 2), (4, 9)], 1):
        feed.maker.action(start, stop, worker="tcp://w0:1", graph=number)
        piece = Piece(str(number), f"f{number}()", "cell", number, T0 + start, T0 + stop)
        feed.live.history.runs.note_code(piece)
    feed.send(12, graphs=[(1, 0.0, "mine", 1), (2, 4.0, "mine", 1)])
    view, figure = built(feed, run="1", stop=f"{T0 + 5:.3f}")
    blocks = data(figure.blocks)
    assert (blocks["left"], blocks["right"]) == ([0.0], [2.0])
    assert list(figure.times) == [0, pytest.approx(5)]
    assert view.caption.headline.startswith("[1] f1() · ")
    assert view.table().columns["stop"] == [T0 + 2]


def test_a_chosen_task_shows_where_its_data_came_from_and_went(feed: Feed) -> None:
    feed.maker.action(0, 1, prefix="load", key="load-1")
    feed.maker.action(2, 3, prefix="sum", key="sum-1", worker="tcp://w1:1")
    feed.maker.action(4, 5, prefix="save", key="save-1")
    feed.maker.action(5.2, 5.8, prefix="load", key="load-1")  # once more, for another one
    feed.send(6)
    kin = {"dependencies": [{"key": "load-1"}], "dependents": [{"key": "save-1"}]}
    counts = {"counts": {"dependencies": 1, "dependents": 5}}
    cluster = Answering(feed.live, {"task": lambda _: kin | counts})
    view, figure = built(feed)
    tap(view, 2.5, 2.0)
    view.update()
    assert cluster.answer() == 1
    view.update()
    outlined = data(figure.linked)
    assert (outlined["left"], outlined["right"], outlined["y"]) == ([0, 4], [1, 5], [0, 0])
    ways = data(figure.ways)
    assert (ways["x0"], ways["x1"]) == ([1, 3], [2, 4])
    assert "2 of 6 dependencies and dependents outlined" in view.caption.note
    tap(view, 5.9, 2.0)
    view.update()
    assert data(figure.linked)["left"] == []
    feed.live.choose("sum-1")  # as a click in the Task Graph does
    view.update()
    assert data(figure.linked)["left"] == [0, 4, 2]


def test_what_the_scheduler_has_forgotten_is_outlined_all_the_same(feed: Feed) -> None:
    feed.maker.action(0, 1, prefix="load", key="load-1")
    feed.maker.action(2, 3, prefix="sum", key="sum-1", worker="tcp://w1:1")
    feed.maker.action(4, 5, prefix="save", key="save-1")
    needs = {"load-1": [], "sum-1": ["load-1"], "save-1": ["sum-1"]}
    feed.send(6, graph=graph_change([(key, key[:-2], of) for key, of in needs.items()]))
    feed.send(7, graph=graph_change(removed=list(needs), total=0))
    cluster = Answering(feed.live, {"task": lambda _: None})
    view, figure = built(feed)
    tap(view, 2.5, 2.0)
    view.update()
    cluster.answer()
    view.update()
    assert data(figure.linked)["left"] == [0, 4]
    feed.live.choose("unknown")
    view.update()
    cluster.answer()
    view.update()
    assert "nobody knows any more what the chosen task needed" in view.caption.note


def test_the_critical_path_of_a_stretch_is_drawn_over_its_blocks(feed: Feed) -> None:
    feed.maker.action(0, 4, prefix="load", ready=0.0, assigned=0.0, report_delay=0.01)
    feed.maker.action(0, 1, thread=2, prefix="other", ready=0.0, assigned=0.0, report_delay=0.01)
    feed.maker.action(4.1, 9, worker="tcp://w1:1", prefix="sum", ready=0.09, assigned=0.08)
    groups = [group_row("load-1", "load"), group_row("sum-1", "sum", ["load-1"])]
    feed.send(12, groups=[*groups, group_row("other-1", "other")])
    view, figure = built(feed, start=str(T0), stop=str(T0 + 10))
    assert data(figure.linked)["left"] == []
    view.set_control("show", "critical-path")
    view.update()
    assert data(figure.linked)["left"] == pytest.approx([0, 4.1])
    assert data(figure.linked)["right"] == pytest.approx([4, 9])
    assert data(figure.ways)["y1"] == [2]
    assert "Critical path 10.0 of 10.0 s, 0.999 s of it without tasks" in view.caption.note


def test_moments_of_a_category_of_the_budget_are_outlined(feed: Feed) -> None:
    feed.maker.action(0, 4, ready=0.0, assigned=0.0, report_delay=0.0)
    feed.maker.action(0, 1, thread=2, outcome=Outcome.ERRED, ready=0.0, report_delay=0.0)
    feed.maker.action(6, 10, ready=1.0, assigned=0.0, report_delay=0.0)
    feed.send(12)
    period = {"start": str(T0), "stop": str(T0 + 10)}
    view, figure = built(feed, **period, show="failed")
    outlined = figure.linked
    assert (data(outlined)["left"], data(outlined)["right"]) == ([0], [1])
    for category, start, stop in (("client", 4, 5), ("scheduler", 5, 6)):
        view.set_control("show", category)
        view.update()
        assert data(outlined)["y"] == [0, 1, 2, 3]  # no thread had a task
        assert (set(data(outlined)["left"]), set(data(outlined)["right"])) == ({start}, {stop})
    assert "Scheduler: 4 outlined" in view.caption.note
    view.live.choose("inc-1")  # what a finding opens is outlined also after that
    view.show({**period, "show": "failed"})
    view.update()
    assert data(outlined)["left"] == [0]


def test_without_workers_there_is_nothing_to_outline() -> None:
    _, figure = built(Feed().send(1), start=str(T0), stop=str(T0 + 10), show="client")
    assert data(figure.linked)["left"] == []


def test_a_click_outlines_a_block_also_a_thin_one_beside_the_pointer(feed: Feed) -> None:
    feed.maker.action(0, 1e-6, prefix="tiny").action(0.5, 101, thread=2)
    feed.send(101)
    view, figure = built(feed)
    assert tap(view, 0.2, 0.0)[1]["prefix"] == "tiny"
    chosen = data(figure.chosen)
    assert (chosen["left"], chosen["right"]) == ([0.0], [pytest.approx(1e-6, rel=0.1)])
    tap(view, 50.0, 3.0)
    assert data(figure.chosen)["left"] == []
