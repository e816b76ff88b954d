"""The profile: what it draws, and how it is zoomed."""

from __future__ import annotations

from typing import Any

import pytest
from bokeh.events import Tap
from bokeh.models import TapTool
from bokeh.models.callbacks import CustomJS, OpenURL

from dask_diag_lab.views.look import DARK, LIGHT
from dask_diag_lab.views.profile.inks import luminance
from tests.kernel.views.profiles import (
    Situation,
    answer,
    box,
    click,
    has_timeline,
    label_texts,
    mixed_tree,
    node,
)


@pytest.fixture
def situation() -> Situation:
    return Situation()


def test_a_function_is_as_wide_as_its_share_and_below_its_caller(situation: Situation) -> None:
    page = situation.page()
    inc, svd = box(page, "inc"), box(page, "svd")
    assert inc["right"] - inc["left"] == pytest.approx(0.8)
    assert svd["right"] - svd["left"] == pytest.approx(0.5)
    assert svd["top"] == inc["bottom"]


def test_hover_has_place_line_total_share_own_and_samples(situation: Situation) -> None:
    inc = box(situation.page(), "inc")
    assert inc["where"] == "home/me/inc.py:3 (your code)"
    assert inc["source"] == "inc()"
    assert inc["whole"] == "800 ms · 80 % · 80 samples"
    assert inc["itself"] == "Itself: 100 ms · 10 %"


def test_own_code_is_told_from_libraries_by_more_than_colour(situation: Situation) -> None:
    page = situation.page()
    assert box(page, "inc")["line_width"] > box(page, "svd")["line_width"]
    assert "your code" not in box(page, "svd")["where"]
    assert box(page, "svd")["where"] == "numpy/linalg/_linalg.py:3"


@pytest.mark.parametrize("look", [LIGHT, DARK], ids=lambda look: look.name)
def test_text_on_every_box_can_be_read(situation: Situation, look: Any) -> None:
    page = situation.page()
    page.view.look = look
    page.view.restyle()
    page.view._search_for("svd")
    assert page.view.flames is not None
    labels, boxes = page.view.flames.labels.model.data, page.view.flames.boxes.model.data
    places = list(zip(boxes["left"], boxes["top"], boxes["fill"], strict=True))
    for x, y, ink in zip(labels["x"], labels["y"], labels["color"], strict=True):
        (fill,) = [fill for left, top, fill in places if left == x and top < y < top + 1]
        low, high = sorted((luminance(fill), luminance(ink)))
        assert (high + 0.05) / (low + 0.05) >= 4.5


def test_labels_stand_only_where_there_is_room(situation: Situation) -> None:
    wide, narrow = label_texts(situation.page(width=800)), label_texts(situation.page(width=100))
    assert any(text.startswith("helper") for text in wide)
    assert not any("helper" in text for text in narrow)


def test_remote_names_are_text(situation: Situation) -> None:
    name = "<script>alert(1)</script>" + "x" * 10_000
    situation.cluster.profiles[""] = answer(node("root", 5, node(name, 5)))
    (_, title) = situation.page().titles
    assert title.startswith("<script>")
    assert len(title) <= 200


def test_nothing_is_sent_when_nothing_changed(situation: Situation) -> None:
    assert situation.page().sent() == []


def test_the_same_answer_again_sends_nothing(situation: Situation) -> None:
    page = situation.page()
    situation.cluster.profiles[""] = answer(mixed_tree())
    page.view.sampling.refresh()
    situation.cluster.reply()
    assert page.sent() == []


def test_dark_canvas_gets_other_colours(situation: Situation) -> None:
    page = situation.page()
    before = box(page, "inc")["line"]
    page.view.look = DARK
    page.view.restyle()
    assert box(page, "inc")["line"] == DARK.foreground != before


def test_a_click_zooms_and_leaves_callers_above(situation: Situation) -> None:
    page = situation.page()
    click(page, "inc")
    inc, root = box(page, "inc"), box(page, "all")
    assert (inc["left"], inc["right"]) == (0, 1)
    assert root["bottom"] == inc["top"]
    assert "load" not in page.titles


def test_a_click_on_a_caller_goes_back_to_it(situation: Situation) -> None:
    page = situation.page()
    click(page, "helper")
    click(page, "inc")
    assert box(page, "svd")["right"] - box(page, "svd")["left"] == pytest.approx(50 / 80)


def test_fit_shows_everything_again(situation: Situation) -> None:
    page = situation.page()
    click(page, "inc")
    assert page.view.toolbar is not None
    assert page.view.toolbar.reset.visible
    page.view.command("fit")
    assert "load" in page.titles
    assert not page.view.toolbar.reset.visible


def test_zoom_outlives_a_new_answer(situation: Situation) -> None:
    page = situation.page()
    click(page, "inc")
    situation.cluster.profiles[""] = answer(node("root", 300, node("load", 200), node("inc", 100)))
    page.view.sampling.refresh()
    situation.cluster.reply()
    page.view.update()
    assert page.titles == ["all", "inc"]


def test_a_click_beside_the_boxes_does_nothing(situation: Situation) -> None:
    page = situation.page()
    assert page.view.flames is not None
    figure = page.view.flames.figure
    for x, y in ((-0.2, 1.0), (1.2, 1.0), (0.5, 60.0), (0.5, -2.0)):
        figure._trigger_event(Tap(figure, x=x, y=y))
    assert page.view.focus is None


def test_deep_callers_share_a_row(situation: Situation) -> None:
    tree = node("f20", 10)
    for level in range(19, -1, -1):
        tree = node(f"f{level}", 10, tree)
    situation.cluster.profiles[""] = answer(node("root", 10, tree))
    page = situation.page(height=600)
    click(page, "f20")
    assert page.view.flames is not None
    assert len(page.titles) == 6
    assert any("callers more" in text for text in label_texts(page))


def test_no_click_opens_a_browser_tab(situation: Situation) -> None:
    root = situation.page().document.roots[0]
    assert not list(root.select({"type": OpenURL}))
    assert not list(root.select({"type": TapTool}))
    assert not list(root.select({"type": CustomJS}))


def test_a_low_pane_gives_the_timelines_place_to_the_flame_graph(situation: Situation) -> None:
    page = situation.page()
    assert has_timeline(page)
    page.resize(800, 100)
    assert not has_timeline(page)
    page.resize(800, 400)
    assert has_timeline(page)


def test_rows_that_do_not_fit_can_be_scrolled_to(situation: Situation) -> None:
    tree = node("f40", 10)
    for level in range(39, -1, -1):
        tree = node(f"f{level}", 10, tree)
    situation.cluster.profiles[""] = answer(node("root", 10, tree))
    page = situation.page(height=300)
    assert page.view.flames is not None
    y_range: Any = page.view.flames.figure.y_range  # its ends are declared as dates as well
    assert y_range.bounds == (0, 42)
    assert 10 < y_range.start < 20


def test_closing_lets_go(situation: Situation) -> None:
    page = situation.page()
    view = page.view
    view.close()
    view.update()
    assert (view.flames, view.timeline, view.toolbar, view.listing) == (None,) * 4
