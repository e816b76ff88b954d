"""Tables of plots that need something: a request counts as a viewer and waits for the data."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from typing import Any

import pytest

from dask_diag_lab.records import ExtraChange, GraphChange
from dask_diag_lab.server import tables
from dask_diag_lab.store.inquiries import Inquiry
from dask_diag_lab.store.workings import Working
from dask_diag_lab.views.asked import UNASKED
from dask_diag_lab.views.base import Notice
from tests.kernel.server.sample_views import (
    Asking,
    Choosing,
    Counting,
    Crafting,
    Failing,
    Following,
    Reading,
    Stuck,
    sample_plot,
)
from tests.kernel.serving import Served, make_batch, run, serving, until
from tests.kernel.views.situations import group

SAMPLES = (
    sample_plot("choose", Choosing),
    sample_plot("ask", Asking),
    sample_plot("fail", Failing),
    sample_plot("follow", Following),
    sample_plot("count", Counting),
    sample_plot("craft", Crafting),
    sample_plot("read", Reading),
    sample_plot("stuck", Stuck),
)


LONG_S = 30.0
"""More than a busy machine takes for anything here."""


@pytest.fixture(autouse=True)
def fresh_views(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(tables, "WAIT_S", LONG_S)
    Counting.made.clear()
    Failing.is_broken = True
    yield
    Counting.made.clear()


def extras(*keys: str) -> dict[str, ExtraChange]:
    """Return a batch's extras: erred tasks with these keys, and no counters."""
    rows: dict[str, list[Any]] = {
        "key": list(keys),
        "prefix": ["inc"] * len(keys),
        "time": [1.0] * len(keys),
        "workers": [()] * len(keys),
        "exception": [""] * len(keys),
        "traceback": [""] * len(keys),
        "count": [len(keys)] * len(keys),
        "kind": [""] * len(keys),
        "kind_count": [len(keys)] * len(keys),
        "kind_first": [1.0] * len(keys),
    }
    none: dict[str, list[Any]] = {"name": [], "unit": [], "value": []}
    return {"errors": ExtraChange(rows, 0), "counters": ExtraChange(none, 0)}


def test_a_table_waits_for_what_its_plot_needs_and_counts_as_a_viewer() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            asking = asyncio.create_task(served.json("/plots/choose.json"))
            await until(lambda: served.wanted == [Choosing.needs], "nothing is wanted")
            assert served.watched == [True]
            served.feed(make_batch(2, extras=extras("inc-1")))
            assert (await asking)["columns"] == {"key": ["inc-1"]}

    run(story())


def test_a_table_waits_until_the_task_graph_is_followed() -> None:
    change = GraphChange(True, True, 1, 100, added=[(0, "inc-1", "inc", "inc", ())])

    async def story() -> None:
        async with serving(SAMPLES) as served:
            asking = asyncio.create_task(served.json("/plots/follow.json"))
            await until(lambda: served.wanted == [frozenset({"graph"})], "nothing is wanted")
            served.feed(make_batch(2))
            served.feed(make_batch(3, graph=change))
            assert (await asking)["columns"] == {"key": ["inc-1"]}

    run(story())


@pytest.mark.parametrize("name", ["choose", "follow"])
def test_what_a_closed_cluster_was_not_asked_for_is_not_awaited(name: str) -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            served.feed(make_batch(2))
            served.store.set_feed_state("closed", "", 1.0)
            answer = await served.json(f"/plots/{name}.json")
            assert answer["rows"] == 0
            assert answer["note"].startswith(UNASKED)

    run(story())


def test_a_table_that_nobody_looked_at_before_is_that_of_now() -> None:
    async def story() -> None:
        found: list[Served] = []

        async def catch_up() -> None:
            found[0].feed(make_batch(2))

        async with serving(SAMPLES, catch_up=catch_up) as served:
            found.append(served)
            before = served.store.version
            (version,) = (await served.json("/plots/count.json"))["columns"]["version"]
            assert version > before

    run(story())


def test_what_was_sent_before_is_not_taken_for_the_data_of_now(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tables, "UNCHANGED_S", LONG_S)

    async def story() -> None:
        async with serving(SAMPLES) as served:
            served.feed(make_batch(2, extras=extras("old")))
            asking = asyncio.create_task(served.json("/plots/choose.json"))
            await until(lambda: served.wanted, "nothing is wanted")
            served.feed(make_batch(3, extras=extras("old", "new")))
            assert (await asking)["columns"] == {"key": ["old", "new"]}

    run(story())


def test_what_does_not_change_when_it_is_sent_again_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tables, "UNCHANGED_S", LONG_S)

    async def story() -> None:
        async with serving(SAMPLES) as served:
            served.feed(make_batch(2, extras=extras("same")))
            asking = asyncio.create_task(served.json("/plots/choose.json"))
            await until(lambda: served.wanted, "nothing is wanted")
            begun = time.monotonic()
            served.feed(make_batch(3))
            served.feed(make_batch(4))
            assert (await asking)["columns"] == {"key": ["same"]}
            assert time.monotonic() - begun < LONG_S

    run(story())


def test_a_table_that_has_to_wait_too_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "WAIT_S", 0.2)

    async def story() -> None:
        async with serving(SAMPLES) as served:
            table = await served.json("/plots/choose.json")
            assert table["rows"] == 0
            assert "ask again" in table["note"]
            assert (await served.ask("/plots/choose.csv")).code == 200

    run(story())


def test_a_closed_cluster_is_not_waited_for() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            served.store.set_feed_state("closed", "It was closed.", 1.0)
            begun = time.monotonic()
            await served.json("/plots/choose.json")
            assert time.monotonic() - begun < LONG_S

    run(story())


def test_nothing_is_wanted_any_more_some_time_after_the_last_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tables, "WANTED_S", 0.3)
    monkeypatch.setattr(tables, "WAIT_S", 0.1)

    async def story() -> None:
        async with serving(SAMPLES) as served:
            await served.json("/plots/choose.json")
            await until(lambda: served.watched == [True, False], "still wanted")
            assert served.wanted[-1] == frozenset()

    run(story())


async def answer_with(served: Served, lines: list[str]) -> Inquiry:
    """Answer the question that is asked next, a moment later."""
    asked: list[Inquiry] = []
    served.store.inquiries.on_ask = asked.append
    await until(lambda: asked, "nothing was asked")
    served.store.answer(asked[0], lines)
    served.server.tick()
    return asked[0]


def test_a_table_waits_for_the_answer_to_what_its_plot_asks_in_its_update() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            served.store.inquiries.on_ask = lambda _: None
            answering = asyncio.create_task(answer_with(served, ["one", "two"]))
            await asyncio.sleep(0)
            table = await served.json("/plots/ask.json?worker=tcp://1.2.3.4:5")
            assert table["columns"] == {"line": ["one", "two"]}
            assert (await answering).arguments == {"worker": "tcp://1.2.3.4:5"}

    run(story())


def test_an_old_answer_is_asked_for_again() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            served.store.inquiries.on_ask = lambda _: None
            inquiry = served.store.inquiries.ask("logs", worker="")
            served.store.inquiries.answered(inquiry, ["old"], served.store.time - 60)
            answering = asyncio.create_task(answer_with(served, ["new"]))
            await asyncio.sleep(0)
            assert (await served.json("/plots/ask.json"))["columns"] == {"line": ["new"]}
            await answering

    run(story())


def test_a_question_that_fails_ends_the_wait() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            served.store.inquiries.on_ask = lambda asked: served.store.fail(asked, "No way.")
            assert (await served.json("/plots/ask.json"))["rows"] == 0

    run(story())


def test_a_picture_that_fails_does_not_take_its_table_along(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            table = await served.json("/plots/fail.json")
            assert table["columns"] == {"version": [served.store.version]}

    with caplog.at_level(logging.CRITICAL):
        run(story())


def test_a_table_that_fails_is_an_error_in_words(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_: Counting) -> None:
        raise ZeroDivisionError("100 % on purpose")

    monkeypatch.setattr(Choosing, "table", broken)

    async def story() -> None:
        async with serving(SAMPLES) as served:
            served.store.set_feed_state("lost", "", 1.0)
            reply = await served.ask("/plots/choose.json")
            assert reply.code == 500
            assert "ZeroDivisionError: 100 % on purpose" in reply.body.decode()
            assert (await served.ask("/plots.json")).code == 200

    with caplog.at_level(logging.CRITICAL):
        run(story())


def test_a_table_follows_the_arguments_and_refuses_those_there_are_not() -> None:
    async def story() -> None:
        async with serving() as served:
            groups = [group("inc-1", "inc", processing=2), group("inc-2", "inc", memory=3)]
            served.store.apply(make_batch(groups=groups))
            served.store.set_feed_state("closed", "", time.time())  # no spans will come
            await served.server.loaded()
            tables = {
                query: await served.json(f"/plots/progress.json{query}")
                for query in ("", "?by=group", "?by=group&order=topological")
            }
            assert tables[""]["columns"]["prefix"] == ["inc"]
            assert tables["?by=group"]["columns"]["group"] == ["inc-1", "inc-2"]
            assert len(tables["?by=group&order=topological"]["columns"]["group"]) == 2
            for query, word in (("by=colour", "“by”"), ("order=name&by=group", "“order”")):
                reply = await served.ask(f"/plots/progress.json?{query}")
                text = reply.body.decode()
                assert (reply.code, word in text, "one of" in text) == (400, True, True)

    run(story())


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("task.json?key=nope", "The scheduler does not know the task “nope”."),
        ("worker.json?worker=zzz", "No worker with the address “zzz” has been here."),
    ],
)
def test_a_table_of_what_there_is_not_says_so_as_the_page_does(path: str, words: str) -> None:
    async def story() -> None:
        async with serving() as served:
            store = served.store
            await served.server.loaded()
            store.inquiries.on_ask = lambda inquiry: store.answer(inquiry, None)
            table = await served.json(f"/plots/{path}")
            assert (table["rows"], words in table["note"]) == (0, True)

    run(story())


def test_words_for_an_empty_picture_are_not_said_above_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def update(view: Counting) -> None:
        view.notice = Notice(empty="No picture.")

    monkeypatch.setattr(Counting, "update", update)

    async def story() -> None:
        async with serving(SAMPLES) as served:
            assert (await served.json("/plots/count.json"))["note"] == ""

    run(story())


def test_a_table_waits_for_a_view_that_reads_bit_by_bit() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            reply = await served.json("/plots/read.json")
            assert reply["note"] == "5 of 5"

    run(story())


def test_a_view_that_fails_to_read_on_is_not_waited_for() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            assert "ask again" not in (await served.json("/plots/stuck.json"))["note"]

    run(story())


def test_a_table_waits_for_its_own_work_and_not_for_that_of_others() -> None:
    async def story() -> None:
        async with serving(SAMPLES) as served:
            store = served.store
            started: list[Working[Any]] = []  # results of any type
            store.workings.on_start = started.append
            store.workings.start(lambda: "of another page")
            assert "ask again" not in (await served.json("/plots/count.json"))["note"]
            asking = asyncio.create_task(served.json("/plots/craft.json"))
            await until(lambda: len(started) == 2, "nothing is started")
            started[1].do()
            store.worked_out(started[1])
            served.server.tick()
            assert (await asking)["columns"] == {"line": ["made"]}

    run(story())
