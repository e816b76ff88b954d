"""The profile: what it shows and asks, and what a reader does with it."""

from __future__ import annotations

import numpy as np
import pytest

from dask_diag_lab.store import LiveSession
from dask_diag_lab.store.runs import Piece
from dask_diag_lab.views.look import LIGHT, data_colors
from dask_diag_lab.views.profile.profile import ProfileOfEventLoops
from dask_diag_lab.views.profile.sampling import REFRESH_S
from tests.kernel.store.batches import T0, BatchMaker
from tests.kernel.views.profiles import (
    ProfilePage,
    Situation,
    answer,
    drag,
    node,
)

WORKER = "tcp://10.0.0.1:4000"


@pytest.fixture
def situation() -> Situation:
    return Situation()


def test_frames_have_their_samples_place_and_caller(situation: Situation) -> None:
    page = situation.page()
    inc, svd = page.frame("inc"), page.frame("svd")
    assert (inc["total"], inc["own"], svd["total"]) == (80, 10, 50)
    assert page.names[svd["parent"]] == "inc"
    assert (inc["place"], inc["line"]) == ("home/me/inc.py:3", "inc()")
    assert svd["place"] == "numpy/linalg/_linalg.py:3"


def test_the_headline_has_the_time_and_the_note_how_it_was_measured(situation: Situation) -> None:
    caption = situation.page().view.caption
    assert caption.headline == "All tasks: 1.00 s of threads' time in 100 samples"
    assert caption.note.startswith("10 ms per sample over 2.00 s")


def test_a_period_can_be_asked_for_and_files_have_what_the_reader_chose(
    situation: Situation,
) -> None:
    page = situation.page(start="1001", prefix="load")
    assert situation.cluster.of("profile")[-1].arguments["start"] == 1001
    page.view.set_control("subject", "inc")
    drag(page, 1000, 1001)
    chosen = page.view.table_arguments
    assert (chosen["prefix"], float(chosen["start"]), float(chosen["stop"])) == ("inc", 2000, 2001)


def test_a_zoom_is_in_the_headline_and_outlives_a_new_answer_until_it_is_reset(
    situation: Situation,
) -> None:
    page = situation.page()
    page.zoom("inc")
    assert page.view.caption.headline == "inc: 80 % of all tasks"
    tree = node("root", 300, node("load", 200), node("inc", 100))
    situation.cluster.profiles[""] = answer(tree)
    page.view.live.queries.ask_again(page.view.sampling.query)
    situation.cluster.reply()
    page.view.update()
    assert page.names[page.row("focus")] == "inc"
    assert "reset" in page.controls
    page.view.set_control("reset", "")
    assert page.view.chart.focus == -1
    assert "reset" not in page.controls


def test_a_search_marks_frames(situation: Situation) -> None:
    page = situation.page()
    page.view.set_control("search", "SVD")
    page.view.update()
    assert [page.frame(name)["match"] for name in ("svd", "inc")] == [1, 0]


def test_the_table_has_the_functions(situation: Situation) -> None:
    page = situation.page()
    assert list(page.view.table().columns["function"]) == ["svd", "load", "helper", "inc"]


def test_prefix_and_worker_of_the_arguments_are_asked_for(situation: Situation) -> None:
    page = situation.page(prefix="inc", worker=WORKER)
    asked = situation.cluster.of("profile")[-1].arguments
    assert (asked["prefix"], asked["worker"]) == ("inc", WORKER)
    assert page.controls["subject"].value == "inc"
    assert page.controls["worker"].label == "worker 1 ✕"
    page.view.set_control("worker", "")
    assert situation.cluster.of("profile")[-1].arguments["worker"] == ""
    assert "worker" not in page.controls


def test_a_profile_opened_from_a_block_leads_to_the_page_of_its_task(situation: Situation) -> None:
    page = situation.page(prefix="inc", from_task="inc-7")
    assert page.controls["task"].label == "Task page of inc-7"
    page.view.set_control("task", "")
    assert page.view.plot_link is not None
    assert page.view.plot_link.arguments == {"key": "inc-7"}
    page.view.set_control("subject", "load")
    assert "task" not in page.controls


def test_a_drag_over_the_timeline_chooses_a_period_and_clear_forgets_it(
    situation: Situation,
) -> None:
    page = situation.page()
    drag(page, 0.5, 1.5)
    asked = situation.cluster.of("profile")[-1].arguments
    assert (asked["start"], asked["stop"]) == (1000.5, 1001.5)
    assert page.view.timeline.period.visible
    assert "period" in page.controls
    page.view.command("clear")
    assert not page.view.timeline.period.visible


def test_the_timeline_shows_the_samples_of_all_tasks_or_of_a_prefix(situation: Situation) -> None:
    page = situation.page()
    assert list(page.view.timeline.source.model.data["top"]) == [10, 10]
    page.view.set_control("subject", "load")
    assert list(page.view.timeline.source.model.data["top"]) == [2, 2]


def test_it_is_asked_again_while_tasks_end_and_not_after(situation: Situation) -> None:
    maker = BatchMaker()
    maker.time = 1000.0
    situation.live.apply(maker.action(999 - T0, 1002 - T0).batch())
    page = situation.page()
    n_asked = [len(situation.cluster.asked)]
    for passed_s in (REFRESH_S - 0.1, 0.2, 2 * REFRESH_S, 10 * REFRESH_S):
        situation.now += passed_s
        page.view.update()
        situation.cluster.reply()
        n_asked.append(len(situation.cluster.asked))
    assert np.diff(n_asked).tolist() == [0, 2, 2, 0]


@pytest.mark.parametrize(
    ("arguments", "source", "worker"),
    [
        ({}, "worker-loops", ""),
        ({"source": "scheduler-loop", "worker": WORKER}, "scheduler-loop", ""),
        ({"worker": WORKER}, "worker-loops", WORKER),
    ],
)
def test_event_loops_of_workers_or_of_the_scheduler(
    situation: Situation, arguments: dict[str, str], source: str, worker: str
) -> None:
    page = ProfilePage(ProfileOfEventLoops(situation.live, LIGHT, arguments))
    asked = situation.cluster.of("profile")[-1].arguments
    assert (asked["source"], asked["worker"]) == (source, worker)
    situation.cluster.reply()
    page.view.update()
    assert "about once a second" in page.view.caption.note


def with_runs(live: LiveSession) -> None:
    """Have two cells compute, from 1000 to 1001 and from 1002 to 1003."""
    maker = BatchMaker()
    live.history.runs.clients.add("mine")
    for at in (0.0, 2.0):
        piece = Piece(f"{at:g}", "load()", "cell", 1, 1000 + at, 1001 + at)
        live.history.runs.note_code(piece)
    graphs = [(1, 1000 - T0, "mine", 1), (2, 1002 - T0, "mine", 1)]
    live.history.runs.submitted(maker.batch(graphs=graphs).tables["graphs"].columns, 0)


def test_a_run_is_its_stretch_of_time_until_all_is_shown_again(situation: Situation) -> None:
    with_runs(situation.live)
    page = situation.page(run="2")
    assert situation.cluster.of("profile")[-1].arguments["start"] == 1002
    page.view.show({})
    assert situation.cluster.of("profile")[-1].arguments["start"] == 0


def test_colours_say_what_takes_more_or_less_than_in_another_run(situation: Situation) -> None:
    with_runs(situation.live)
    page = situation.page(run="2", before="1")
    later, earlier = situation.cluster.of("profile")
    assert [one.arguments["start"] for one in (later, earlier)] == [1002, 1000]
    situation.live.answer(later, answer(node("root", 90, node("inc", 80), node("load", 10))))
    situation.live.answer(earlier, answer(node("root", 50, node("inc", 20), node("load", 30))))
    page.view.update()
    page.view.update()
    colors = data_colors(LIGHT)
    assert page.frame("inc")["color"] == colors.transfer
    assert page.frame("inc")["line"].endswith("+600 ms than before")
    assert page.frame("load")["line"].endswith("−200 ms than before")
    assert page.view.caption.note.startswith("red took longer, blue shorter, than in [1] load()")


def test_colours_compare_with_a_run_of_another_recording(situation: Situation) -> None:
    with_runs(situation.live)
    earlier = LiveSession()
    with_runs(earlier)
    run = next(iter(earlier.history.runs))
    all_tasks = {"source": "tasks", "prefix": "", "worker": ""}
    query = earlier.queries.ask("profile", **all_tasks, start=run.start, stop=0.0)  # it goes on
    earlier.queries.answered(query, answer(node("root", 20, node("inc", 20))), 1001)
    asked = []

    def read_other(dashboard_id: str, number: int) -> tuple[str, LiveSession]:
        asked.append((dashboard_id, number))
        return "old.daskrun", earlier

    situation.live.read_other = read_other
    page = situation.page(run="2", before="1", before_of="abc")
    (later,) = situation.cluster.of("profile")
    situation.live.answer(later, answer(node("root", 90, node("inc", 80))))
    page.view.update()
    page.view.update()
    assert page.frame("inc")["line"].endswith("+600 ms than before")
    assert "blue shorter, than in [1] load() · old.daskrun" in page.view.caption.note
    page.view.show({"run": "2", "before": "2", "before_of": "abc"})
    page.view.update()
    page.view.update()
    assert "old.daskrun has no profile to compare" in page.view.caption.note
    assert asked == [("abc", 1), ("abc", 2)]
