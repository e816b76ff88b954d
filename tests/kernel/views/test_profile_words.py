"""The profile: search, table, note, and what it says where there is no picture."""

from __future__ import annotations

import pytest

from dask_diag_lab.views.profile.profile import Profile
from tests.kernel.views.profiles import ProfilePage, Situation, answer, box, mixed_tree, node


@pytest.fixture
def situation() -> Situation:
    return Situation()


def test_a_search_tells_the_share_and_dims_the_rest(situation: Situation) -> None:
    page = situation.page()
    before = box(page, "load")["fill"]
    page.view._search_for("SVD")
    assert page.view.toolbar is not None
    assert page.view.toolbar.matches.text == "50 % of the time"
    assert box(page, "load")["fill"] != before
    assert box(page, "svd")["fill"] == box(situation.page(), "svd")["fill"]


def test_a_search_without_a_match_says_so(situation: Situation) -> None:
    page = situation.page()
    page.view._search_for("pandas")
    assert page.view.toolbar is not None
    assert page.view.toolbar.matches.text == "No match"


def test_the_table_takes_the_place_of_the_flame_graph(situation: Situation) -> None:
    page = situation.page()
    page.view._tabulate(True)
    assert page.view.flames is not None
    assert page.view.listing is not None
    assert not page.view.flames.figure.visible
    assert list(page.view.listing.source.data["function"]) == ["svd", "helper", "load", "inc"]


def test_table_counts_recursion_once() -> None:
    situation = Situation()
    inner = node("f", 6)
    situation.cluster.profiles[""] = answer(node("root", 10, node("f", 10, node("g", 8, inner))))
    view = situation.page().view
    columns = view.table().columns
    at = list(columns["function"]).index("f")
    assert columns["total_s"][at] == pytest.approx(0.10)
    assert columns["own_s"][at] == pytest.approx(0.08)
    assert columns["samples"][at] == 10


def test_own_times_of_the_table_add_up_to_all(situation: Situation) -> None:
    assert sum(situation.page().view.table().columns["own_s"]) == pytest.approx(1.0)


def test_table_works_before_anything_is_drawn(situation: Situation) -> None:
    view = Profile(situation.store)
    assert view.table().columns["function"] == []
    situation.cluster.reply()
    assert len(view.table().columns["function"]) == 4


def test_note_says_how_it_was_measured(situation: Situation) -> None:
    note = situation.page().view.notice.note
    assert note == "10 ms per sample over 2.00 s from 2 workers"


def test_note_says_how_many_frames_were_merged(situation: Situation) -> None:
    kids = [node(f"f{i}", 1) for i in range(40)]
    situation.cluster.profiles[""] = answer(node("root", 100_040, node("big", 100_000), *kids))
    page = situation.page()
    assert "40 frames below 0.1 % merged" in page.view.notice.note
    assert "40 more functions called by all" in page.titles


def test_workers_without_an_answer_are_named(situation: Situation) -> None:
    missing = {"tcp://10.0.0.1:4000": "timed out"}
    situation.cluster.profiles[""] = answer(mixed_tree(), missing=missing)
    note = situation.page().view.notice.note
    assert "from 1 worker" in note
    assert "tcp://10.0.0.1:4000 (timed out)" in note


def test_waiting_is_told_in_words(situation: Situation) -> None:
    page = ProfilePage(Profile(situation.store))
    assert page.view.notice.empty == "Waiting for the cluster's answer."


def test_a_failure_says_why_and_what_to_do(situation: Situation) -> None:
    page = ProfilePage(Profile(situation.store))
    for inquiry in situation.cluster.asked:
        situation.store.fail(inquiry, "The scheduler did not answer within 10 s.")
    page.view.update()
    assert "did not answer within 10 s. Press Refresh" in page.view.notice.empty


def test_a_failed_renewal_keeps_the_picture_and_says_so(situation: Situation) -> None:
    page = situation.page()
    page.view.sampling.refresh()
    for inquiry in situation.cluster.asked:
        situation.store.fail(inquiry, "The scheduler is gone.")
    page.view.update()
    assert "svd" in page.titles
    assert "Not renewed: The scheduler is gone." in page.view.notice.note


def test_no_samples_of_a_task_are_explained(situation: Situation) -> None:
    situation.cluster.profiles["load"] = answer(node("root", 0))
    assert "No samples of load" in situation.page(prefix="load").view.notice.empty


def test_an_idle_cluster_says_what_to_do(situation: Situation) -> None:
    situation.cluster.profiles[""] = answer(node("root", 0))
    assert "No samples yet" in situation.page().view.notice.empty
