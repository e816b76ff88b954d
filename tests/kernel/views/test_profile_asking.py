"""The profile: what it asks the cluster, when, and what a control changes of it."""

from __future__ import annotations

from typing import Any

import pytest
from bokeh.events import ButtonClick
from bokeh.models.widgets import Button

from dask_diag_lab.views.look import LIGHT
from dask_diag_lab.views.profile.profile import Profile
from dask_diag_lab.views.profile.reading import MAX_PARTS, MAX_REQUESTS
from dask_diag_lab.views.profile.sampling import REFRESH_S, SOON_S
from tests.kernel.views.profiles import (
    ProfilePage,
    Situation,
    activity,
    answer,
    box,
    click,
    drag,
    node,
)


@pytest.fixture
def situation() -> Situation:
    return Situation()


def test_prefix_and_worker_of_the_arguments_are_asked_for(situation: Situation) -> None:
    page = situation.page(prefix="inc", worker="tcp://10.0.0.1:4000")
    asked = situation.cluster.of("profile")[-1]
    assert asked.arguments["prefix"] == "inc"
    assert asked.arguments["worker"] == "tcp://10.0.0.1:4000"
    assert page.view.toolbar is not None
    assert page.view.toolbar.choice.value == "inc"
    assert page.view.toolbar.worker.label == "worker 1 ✕"


@pytest.mark.parametrize("action", ["transfer-", "disk-read-", "disk-write-", "deserialize-", ""])
def test_the_action_of_a_rectangle_is_left_out(situation: Situation, action: str) -> None:
    assert Profile(situation.store, LIGHT, {"prefix": f"{action}inc"}).sampling.prefix == "inc"


def test_a_worker_can_be_let_go(situation: Situation) -> None:
    page = situation.page(worker="tcp://10.0.0.1:4000")
    page.view._restrict("")
    assert situation.cluster.of("profile")[-1].arguments["worker"] == ""
    assert page.view.toolbar is not None
    assert not page.view.toolbar.worker.visible


def test_choosing_a_task_asks_for_it(situation: Situation) -> None:
    page = situation.page()
    assert page.view.toolbar is not None
    assert page.view._options() == ([("", "All tasks"), ("inc", "inc"), ("load", "load")], "")
    assert page.view.toolbar.choice.options == page.view._options()[0]
    page.view.toolbar.choice.value = "inc"
    situation.cluster.reply()
    page.view.update()
    assert page.titles == ["all", "inc"]


def test_an_open_page_shows_another_task_when_asked_to(situation: Situation) -> None:
    page = situation.page()
    page.view.show({"prefix": "inc"})
    situation.cluster.reply()
    page.view.update()
    assert page.titles == ["all", "inc"]


def task_button(page: ProfilePage) -> Button:
    assert page.view.toolbar is not None
    return page.view.toolbar.task


def test_a_profile_opened_from_a_block_leads_to_the_task(situation: Situation) -> None:
    page = situation.page(prefix="inc", from_task="inc-7")
    button = task_button(page)
    assert (button.visible, button.label) == (True, "Task page of inc-7")
    button._trigger_event(ButtonClick(button))
    opening = page.view.opening
    assert opening is not None
    assert (opening.plot, opening.arguments) == ("task", {"key": "inc-7"})


def test_a_narrow_pane_leads_to_the_task_in_fewer_words(situation: Situation) -> None:
    page = situation.page(320, 220, prefix="inc", from_task="inc-7")
    assert task_button(page).label == "Task page"


def test_the_way_to_the_task_follows_what_is_shown(situation: Situation) -> None:
    page = situation.page(prefix="inc")
    assert not task_button(page).visible
    page.view.show({"prefix": "inc", "from_task": "inc-8"})
    assert (task_button(page).visible, task_button(page).label) == (True, "Task page of inc-8")
    page.view._choose("load")
    assert not task_button(page).visible


def test_another_block_of_the_same_function_leaves_what_the_reader_did(
    situation: Situation,
) -> None:
    worker = "tcp://10.0.0.1:4000"
    page = situation.page(prefix="inc", from_task="inc-7", worker=worker)
    page.view._restrict("")
    situation.cluster.reply()
    page.view.update()
    click(page, "inc")
    focus = page.view.focus
    assert focus is not None
    page.view.show({"prefix": "inc", "from_task": "inc-8", "worker": worker})
    assert (page.view.focus, page.view.sampling.worker) == (focus, "")
    assert task_button(page).label == "Task page of inc-8"


@pytest.mark.parametrize(
    "asked", [{"prefix": "load"}, {"prefix": "inc", "worker": "tcp://10.0.0.1:4000"}]
)
def test_another_function_or_worker_is_seen_whole(
    situation: Situation, asked: dict[str, str]
) -> None:
    page = situation.page(prefix="inc", from_task="inc-7")
    click(page, "inc")
    page.view.show({**asked, "from_task": "inc-8"})
    sampling = page.view.sampling
    assert page.view.focus is None
    assert (sampling.prefix, sampling.worker) == (asked["prefix"], asked.get("worker", ""))


def test_a_block_of_the_function_of_before_leads_back_to_it(situation: Situation) -> None:
    page = situation.page(prefix="inc", from_task="inc-7")
    page.view._choose("load")
    page.view.show({"prefix": "inc", "from_task": "inc-8"})
    assert page.view.sampling.prefix == "inc"


def test_a_drag_over_the_timeline_asks_for_that_period(situation: Situation) -> None:
    page = situation.page()
    assert page.view.timeline is not None
    assert page.view.toolbar is not None
    drag(page, 0.5, 1.5)
    asked = situation.cluster.of("profile")[-1].arguments
    assert (asked["start"], asked["stop"]) == (1000.5, 1001.5)
    assert page.view.timeline.period.visible
    assert page.view.toolbar.period.visible


def test_clear_forgets_the_period(situation: Situation) -> None:
    page = situation.page()
    page.view._select(1000.5, 1001.5)
    page.view.command("clear")
    assert page.view.timeline is not None
    assert not page.view.timeline.period.visible
    assert not page.view.sampling.has_period


def test_it_is_asked_again_after_some_seconds_while_tasks_end(situation: Situation) -> None:
    page = situation.page()
    before = len(situation.cluster.asked)
    situation.now += REFRESH_S - 0.1
    page.view.update()
    assert len(situation.cluster.asked) == before
    situation.now += 0.2
    page.view.update()
    assert len(situation.cluster.asked) == before + 2


def test_a_page_that_opens_on_old_answers_asks_again_at_once(situation: Situation) -> None:
    situation.page()
    situation.now += REFRESH_S + 0.1
    before = len(situation.cluster.asked)
    situation.page()
    assert [i.kind for i in situation.cluster.asked[before:]] == ["activity", "profile"]
    situation.page()
    assert len(situation.cluster.asked) == before + 2


def test_nothing_sampled_yet_is_asked_again_soon_while_tasks_run(situation: Situation) -> None:
    situation.cluster.profiles[""] = answer(node("root", 0))
    page = situation.page()
    before = len(situation.cluster.asked)
    situation.now += SOON_S + 0.1
    page.view.update()
    assert len(situation.cluster.asked) == before + 2


def test_many_workers_are_asked_again_more_seldom_and_that_is_said() -> None:
    situation = Situation(n_workers=1000)
    page = situation.page()
    assert "renewed every 40 s, as it takes many answers" in page.view.notice.note
    before = len(situation.cluster.asked)
    situation.now += 39.0
    page.view.update()
    assert len(situation.cluster.asked) == before
    situation.now += 2.0
    page.view.update()
    assert len(situation.cluster.asked) == before + 2


def test_it_is_not_asked_again_when_no_task_has_ended(situation: Situation) -> None:
    page = situation.page()
    for _ in range(2):  # once to see whether anything changed since the first answer
        situation.now += REFRESH_S + 0.1
        page.view.update()
        situation.cluster.reply()
    before = len(situation.cluster.asked)
    situation.now += 10 * REFRESH_S
    page.view.update()
    assert len(situation.cluster.asked) == before


def test_a_period_is_not_asked_for_again(situation: Situation) -> None:
    page = situation.page()
    page.view._select(1000.5, 1001.5)
    situation.cluster.reply()
    page.view.update()
    before = len(situation.cluster.of("profile"))
    situation.now += REFRESH_S + 0.1
    page.view.update()
    assert len(situation.cluster.of("profile")) == before


def test_few_tasks_are_asked_for_one_by_one_where_all_together_do_not_tell() -> None:
    situation = Situation()
    whole = node("root", 100, node("call", 100, node("inc", 0), node("load", 0)))
    situation.cluster.profiles = {
        "": answer(whole),
        "inc": answer(node("root", 80, node("call", 80, node("inc", 0)))),
        "load": answer(node("root", 20, node("call", 20, node("load", 0)))),
    }
    page = situation.page()
    assert any(title.startswith("One of:") for title in page.titles)
    situation.cluster.reply()
    page.view.update()
    assert page.titles == ["all", "call", "inc", "load"]
    assert box(page, "inc")["whole"] == "800 ms · 80 % · 80 samples"


def _many_tasks(n: int, n_workers: int = 2) -> tuple[Situation, list[str]]:
    """Return a cluster with ``n`` kinds of tasks, of which the first have most samples."""
    situation, names = Situation(n_workers), [f"task{i:02d}" for i in range(n)]
    samples = {name: 10 * (n - i) for i, name in enumerate(names)}
    whole = sum(samples.values())
    situation.cluster.activity = activity({name: [k] for name, k in samples.items()})
    situation.cluster.profiles = {
        name: answer(node("root", k, node("call", k, node(name, 0)))) for name, k in samples.items()
    }
    callees = [node(name, 0) for name in names]
    situation.cluster.profiles[""] = answer(node("root", whole, node("call", whole, *callees)))
    return situation, names


def _asked_one_by_one(situation: Situation) -> set[str]:
    return {str(one.arguments["prefix"]) for one in situation.cluster.of("profile")} - {""}


def test_of_many_tasks_those_with_most_samples_are_asked_for_and_the_rest_is_one_box() -> None:
    situation, names = _many_tasks(MAX_PARTS + 3)
    page = situation.page()
    situation.cluster.reply()
    page.view.update()
    assert _asked_one_by_one(situation) == set(names[:MAX_PARTS])
    assert page.titles[:3] == ["all", "call", "task00"]
    (rest,) = [title for title in page.titles if title.startswith("One of:")]
    assert all(name in rest for name in names[MAX_PARTS:])
    assert box(page, rest)["whole"].endswith(" · 60 samples")


def test_tasks_whose_last_rival_is_the_rest_leave_nothing_open() -> None:
    situation, names = _many_tasks(MAX_PARTS + 1)
    page = situation.page()
    situation.cluster.reply()
    page.view.update()
    assert sorted(page.titles) == sorted(["all", "call", *names])


def test_the_whole_is_asked_for_again_where_there_are_other_tasks() -> None:
    situation, names = _many_tasks(MAX_PARTS + 3)
    page = situation.page()
    situation.cluster.reply()
    page.view.update()
    page.view.sampling.refresh()
    open_ = [one for one in situation.cluster.of("profile") if one.state == "asked"]
    assert {one.arguments["prefix"] for one in open_} == {"", *names[:MAX_PARTS]}


def test_many_workers_are_asked_for_fewer_tasks_and_too_many_for_none() -> None:
    n_workers = MAX_REQUESTS // 3
    situation, names = _many_tasks(5, n_workers)
    situation.page()
    assert _asked_one_by_one(situation) == set(names[:3])
    situation, _ = _many_tasks(5, MAX_REQUESTS + 1)
    situation.page()
    assert _asked_one_by_one(situation) == set()


def test_tasks_are_asked_for_as_before_while_others_only_just_have_more_samples() -> None:
    situation, names = _many_tasks(MAX_PARTS + 2)
    page = situation.page()
    rows = {name: [100 + i] for i, name in enumerate(names)}
    situation.cluster.activity = activity(rows)
    page.view.sampling.refresh()
    situation.cluster.reply()
    page.view.update()
    assert page.view.sampling.parts == tuple(names[:MAX_PARTS])


def test_what_is_wrong_with_an_answer_is_said_until_a_better_one_comes(
    situation: Situation,
) -> None:
    page = situation.page()
    good = situation.cluster.profiles[""]
    _renew(situation, page, {"": {**good, "tree": {}}})
    for _ in range(3):
        with pytest.raises(KeyError):
            page.view.update()
    _renew(situation, page, {"": good})
    page.view.update()
    assert page.titles[0] == "all"


def test_a_bad_answer_about_one_task_is_forgotten_when_a_better_one_comes() -> None:
    situation = Situation()
    good = {
        "": answer(node("root", 100, node("call", 100, node("inc", 0), node("load", 0)))),
        "inc": answer(node("root", 80, node("call", 80, node("inc", 0)))),
        "load": answer(node("root", 20, node("call", 20, node("load", 0)))),
    }
    situation.cluster.profiles = {**good, "load": {**good["load"], "tree": {}}}
    page = situation.page()
    situation.cluster.reply()
    with pytest.raises(KeyError):
        page.view.update()
    _renew(situation, page, good)
    page.view.update()
    assert page.titles == ["all", "call", "inc", "load"]


def _renew(situation: Situation, page: ProfilePage, profiles: dict[str, Any]) -> None:
    """Have all answers come anew; `profiles` are answers, plain data of many types."""
    situation.cluster.profiles = profiles
    page.view.sampling.refresh()
    situation.cluster.reply()
