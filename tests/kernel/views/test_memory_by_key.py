"""Memory by key: bytes in memory by prefix, the order, the bar of the others."""

from __future__ import annotations

import pytest

from dask_diag_lab.views.look import DARK, LIGHT, Look
from dask_diag_lab.views.palette import prefix_color
from dask_diag_lab.views.pane_size import CHARACTER_PX
from dask_diag_lab.views.tasks.memory_by_key import MemoryByKey
from tests.kernel.views.situations import GIB, MIB, Page, batch, prefix, store_of


def test_bars_are_the_bytes_in_memory_largest_first() -> None:
    rows = [prefix("a", memory=2, nbytes=MIB), prefix("b", memory=1, nbytes=3 * MIB)]
    view = MemoryByKey(store_of(prefixes=rows))
    page = Page(view)
    data = view.bars.model.data
    assert list(data["size"]) == [3 * MIB, MIB]
    assert data["hover0"] == ["b", "a"]
    assert data["hover1"] == [
        "3.00 MiB: 75 % of all results",
        "1.00 MiB: 25 % of all results",
    ]
    assert data["hover2"] == ["1 result in memory", "2 results in memory"]
    assert page.title == "Memory by key: 4.00 MiB · 3 results in memory"
    assert view.notice.note == ""


def test_order_by_name_is_that_of_the_stock_dashboard() -> None:
    rows = [prefix(name, memory=1, nbytes=n) for n, name in enumerate(("c", "A", "b"), 1)]
    view = MemoryByKey(store_of(prefixes=rows))
    Page(view)
    assert view.bars.model.data["hover0"] == ["b", "A", "c"]
    view.command("order-name")
    assert view.bars.model.data["hover0"] == ["A", "b", "c"]
    assert view._select.value == "name"


def test_choosing_in_the_list_orders_as_well() -> None:
    rows = [prefix(name, memory=1, nbytes=n) for n, name in enumerate(("c", "a"), 1)]
    view = MemoryByKey(store_of(prefixes=rows))
    page = Page(view)
    view._select.value = "name"
    assert page.sent() == []
    view._select.value = "size"
    view._select.value = "name"
    view.command("order-size")
    assert view.bars.model.data["hover0"] == ["a", "c"]


def test_released_results_take_no_memory() -> None:
    rows = [prefix("gone", released=5), prefix("kept", memory=1, nbytes=MIB)]
    view = MemoryByKey(store_of(prefixes=rows))
    page = Page(view)
    assert list(view.bars.model.data["size"]) == [MIB]
    assert page.title.startswith("Memory by key: 1.00 MiB")


def test_what_is_left_of_a_prefix_is_told_as_exactly_as_all_of_it() -> None:
    view = MemoryByKey(store_of(prefixes=[prefix("a", memory=1, released=3, nbytes=MIB)]))
    page = Page(view)
    assert list(view.bars.model.data["size"]) == [MIB]
    assert view.bars.model.data["value"] == ["1.00 MiB"]
    assert page.title == "Memory by key: 1.00 MiB · 1 result in memory"
    assert view.notice.note == ""


def test_what_does_not_fit_is_one_bar_with_the_sum() -> None:
    rows = [prefix(f"p{i:03}", memory=2, nbytes=(200 - i) * MIB) for i in range(200)]
    view = MemoryByKey(store_of(prefixes=rows))
    page = Page(view, 600, 300)
    data = view.bars.model.data
    assert sum(data["size"]) == pytest.approx(sum(row["nbytes"] for row in rows))
    n_others = 200 - (len(data["size"]) - 1)
    assert data["hover0"][-1] == f"{n_others} other prefixes"
    assert data["hover2"][-1] == f"{2 * n_others} results in memory"
    assert f"{n_others} smaller prefixes in one bar" in view.notice.note
    page.resize(3840, 2160)
    assert len(data["size"]) < len(view.bars.model.data["size"]) <= 100


def test_odd_names_are_visible_and_whole_in_the_hover() -> None:
    names = ["a\nb", "", "<b>bold</b>", "x" * 5000]
    rows = [prefix(name, memory=1, nbytes=4 - n) for n, name in enumerate(names)]
    view = MemoryByKey(store_of(prefixes=rows))
    Page(view, 400, 300)
    assert view.bars.model.data["hover0"] == ["a␤b", "(blank)", "<b>bold</b>", "x" * 5000]
    shown = [str(label) for label in view.figure.yaxis[0].major_label_overrides.values()]
    assert shown[:2] == ["a␤b", "(blank)"]
    assert len(shown[3]) < 40
    assert "…" in shown[3]


@pytest.mark.parametrize("look", [LIGHT, DARK, Look(palette="okabe-ito")])
def test_colour_is_that_of_the_prefix_everywhere(look: Look) -> None:
    store = store_of(prefixes=[prefix("a", memory=1, nbytes=1), prefix("b", memory=1, nbytes=2)])
    view = MemoryByKey(store, look)
    Page(view)
    expected = [prefix_color(store.palette.index(name), look) for name in ("b", "a")]
    assert view.bars.model.data["color"] == expected


def test_no_results_are_explained_and_come_back() -> None:
    store = store_of(prefixes=[prefix("a", waiting=3)])
    page = Page(MemoryByKey(store))
    assert page.view.notice.empty.startswith("No results are in memory")
    store.apply(batch(prefixes=[prefix("a", memory=3, nbytes=MIB)]))
    page.sent()
    assert page.view.notice.empty == ""


def test_sizes_that_nobody_tells_are_not_drawn_as_nothing() -> None:
    view = MemoryByKey(store_of(prefixes=[prefix("a", memory=3, nbytes=-1)]))
    Page(view)
    assert "is not known" in view.notice.empty
    assert len(view.bars.model.data["size"]) == 0


@pytest.mark.parametrize("width", [300, 420, 800])
def test_the_title_ends_where_the_pane_does(width: int) -> None:
    rows = [prefix("a-rather-long-name-of-a-prefix", memory=12345, nbytes=5 * MIB)]
    page = Page(MemoryByKey(store_of(prefixes=rows)), width, 200)
    names = page.plot.yaxis[0].major_label_overrides.values()
    left_px = max(len(str(name)) for name in names) * CHARACTER_PX
    assert page.title.strip()
    assert left_px + len(page.title) * CHARACTER_PX * 1.1 <= width


def test_no_tasks_at_all_are_explained() -> None:
    page = Page(MemoryByKey(store_of()))
    assert page.view.notice.empty.startswith("No results are in memory")


def test_nothing_is_sent_when_nothing_changed() -> None:
    rows = [prefix("a", memory=3, nbytes=GIB)]
    store = store_of(prefixes=rows)
    page = Page(MemoryByKey(store))
    store.apply(batch(prefixes=rows))
    assert page.sent() == []


def test_table_has_all_prefixes_with_results() -> None:
    rows = [prefix("a", memory=1, nbytes=1), prefix("b", memory=2, nbytes=9, released=1)]
    table = MemoryByKey(store_of(prefixes=[*rows, prefix("c", waiting=1)])).table()
    assert table.columns["prefix"] == ["b", "a"]
    assert table.columns["nbytes"] == [9, 1]
    assert table.columns["count"] == [2, 1]
