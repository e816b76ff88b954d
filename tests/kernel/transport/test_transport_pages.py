"""The pages of a worker and of a task, fed by a real cluster all the way."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from dask_diag_lab.store import Store
from dask_diag_lab.store.queries import Query
from dask_diag_lab.transport import QueryRunner
from dask_diag_lab.views.details.page import DetailPage
from dask_diag_lab.views.details.task import TaskPage
from dask_diag_lab.views.details.worker import WorkerPage
from tests.kernel.transport.live_cluster import cluster, feeding, until

GATE = threading.Event()


def inc(x: int) -> int:
    return x + 1


def wait(x: int) -> int:
    GATE.wait(120)
    return x


def fail(x: int) -> int:
    raise ValueError("<i>no</i>")


@asynccontextmanager
async def stored(address: str) -> AsyncIterator[Store]:
    """Return a store that is fed and whose questions are answered."""
    store, questioner = Store(), QueryRunner(address, {})

    def ask(query: Query) -> None:
        questioner.ask(
            query.kind,
            query.arguments,
            lambda answer: store.answer(query, answer),
            lambda words: store.fail(query, words),
        )

    store.queries.on_ask = ask
    async with feeding(address, on_batch=store.apply):
        await until(lambda: len(store.workers))
        try:
            yield store
        finally:
            await questioner.close()


async def drawn(page: DetailPage, condition: Any) -> None:
    """Update the page until it shows what is waited for."""

    def look() -> bool:
        page.update()
        return bool(condition())

    await until(look)


async def test_the_page_of_a_worker_shows_what_it_runs_and_does() -> None:
    GATE.clear()
    async with cluster() as (s, (w,), c), stored(s.address) as store:
        kept = c.submit(inc, 1, key=("<b>kept</b>", 0))
        await kept
        busy = c.submit(wait, 1, key="busy")
        await until(lambda: w.state.executing)
        page = WorkerPage(store, arguments={"worker": w.address})
        page.build()
        data = page.sortable.source
        try:
            await drawn(page, lambda: "busy" in list(data.data["key"]))
            rows = dict(zip(data.data["key"], data.data["state"], strict=True))
            assert rows == {"busy": "executing", "('<b>kept</b>', 0)": "memory"}
            page.choose("call-stacks")
            await drawn(page, lambda: "in wait" in page.text(page.section))
            page.choose("logs")
            await drawn(page, lambda: w.address in page.text(page.section))
            assert page.caption.note == ""
        finally:
            GATE.set()
        await busy


async def test_the_page_of_a_task_shows_its_error_and_leads_to_its_neighbours() -> None:
    async with cluster() as (s, (w,), c), stored(s.address) as store:
        bad = c.submit(fail, 1, key=("bad", 0))
        after = c.submit(inc, bad, key="after")
        with pytest.raises(ValueError, match="no"):
            await after
        page = TaskPage(store, arguments={"key": "after"})
        page.build()
        await drawn(page, lambda: page.section.name == "error")
        assert page.text(page.section).startswith("The error is that of ('bad', 0)")
        page.choose("dependencies")
        page.update()
        page.sortable.source.selected.indices = [0]
        assert page.key == "('bad', 0)"
        await drawn(page, lambda: "<i>no</i>" in page.text(page.sections[4]))
        page.choose("workers")
        page.update()
        assert ("it failed there", w.address) in list(
            zip(*(page.sortable.source.data[n] for n in ("role", "worker")), strict=True)
        )
