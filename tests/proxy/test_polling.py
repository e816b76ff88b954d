"""Websockets by polling: the same messages in order, of one login, bounded, and their end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tornado.httpclient import HTTPResponse

from dask_diag_lab.proxy import polling
from dask_diag_lab.proxy.extension import DaskDiagLab
from tests.proxy.backends import Backend
from tests.proxy.client import Client

MB = 2**20


class Page:
    """A page that polls."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def get(self, **options: Any) -> HTTPResponse:  # Any: tornado's options
        return await self._client.get("polls", "a-key", request_timeout=60, **options)

    async def post(self, **asked: object) -> HTTPResponse:
        return await self._client.get("polls", "a-key", method="POST", body=json.dumps(asked))

    async def open(self, backend: Backend, path: str = "plots/x/ws") -> HTTPResponse:
        offered = ["bokeh", "session.token"]
        place = {"dashboard": backend.id, "path": path, "protocols": offered}
        return await self.post(do="open", id="s", **place)

    async def refusal(self, backend: Backend, path: str, name: str = "s") -> str:
        """Return why a plot does not open."""
        place = {"dashboard": backend.id, "path": path, "protocols": []}
        assert (await self.post(do="open", id=name, **place)).code == 204
        (part,) = json.loads((await self.get()).body.partition(b"\n")[0])["parts"]
        assert (part["id"], part["kind"]) == (name, "closed")
        return str(part["reason"])

    async def receive(self) -> list[tuple[str, bytes]]:
        """Return kinds and contents of the messages that one request gets."""
        answer = await self.get()
        assert answer.code == 200
        head, _, content = answer.body.partition(b"\n")
        received = []
        for part in json.loads(head)["parts"]:
            received.append((part["kind"], content[: part["size"]]))
            content = content[part["size"] :]
        return received

    async def expect(self, count: int) -> list[tuple[str, bytes]]:
        """Return the next messages."""
        received: list[tuple[str, bytes]] = []
        while len(received) < count:
            received += await self.receive()
        return received


@asynccontextmanager
async def opened(client: Client, backend: Backend) -> AsyncIterator[Page]:
    page = Page(client)
    assert (await page.open(backend)).code == 204
    ((kind, first),) = await page.expect(1)
    assert (kind, json.loads(first)["offered"]) == ("text", ["bokeh", "session.token"])
    yield page
    await page.post(do="close", ids=["s"])


async def until_closed(client: Client, backend: Backend) -> None:
    async with asyncio.timeout(40):
        while (await client.control(backend))["sockets"]:
            await asyncio.sleep(0.02)


async def test_messages_come_in_order_and_the_end_last(client: Client, announced: Backend) -> None:
    async with opened(client, announced) as page:
        waiting = asyncio.create_task(page.expect(1))
        for n in range(20):
            await page.post(do="send", id="s", data=f"{n} grüße")
        received = await waiting
        received += await page.expect(20 - len(received))
        assert received == [("text", f"{n} grüße".encode()) for n in range(20)]
        await page.post(do="send", id="s", data="send 3000000")
        await page.post(do="send", id="s", data="close")
        assert await page.expect(2) == [("binary", b"y" * 3_000_000), ("closed", b"")]


async def test_who_reads_slowly_holds_up_the_dashboard(client: Client, announced: Backend) -> None:
    async with opened(client, announced) as page:
        for _ in range(12):
            await page.post(do="send", id="s", data=f"send {2 * MB}")
        sizes = [sum(len(content) for _, content in await page.expect(1)) for _ in range(3)]
        assert max(sizes) <= polling.MAX_HELD_BYTES + 2 * MB
        assert sum(sizes) < 24 * MB


async def test_what_nobody_fetches_is_closed(
    client: Client, announced: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(polling, "LEASE_S", 0.2)
    async with opened(client, announced) as page:
        await until_closed(client, announced)
        assert (await page.get()).code == 404


async def test_only_plots_of_a_dashboard_open(client: Client, announced: Backend) -> None:
    page = Page(client)
    assert (await page.post(do="dance")).code == 400
    assert (await page.post(do="open", id="s", dashboard="x", path="x", protocols=5)).code == 400
    for path in ("plots/x", "../ws", "nothing/ws"):
        assert await page.refusal(announced, path)
    announced.id = "0" * 16
    assert "no such dashboard" in await page.refusal(announced, "plots/x/ws")


async def test_a_plot_that_does_not_open_holds_up_no_other(
    client: Client, announced: Backend
) -> None:
    async with opened(client, announced) as page:
        assert await page.refusal(announced, "plots/x", "other")
        await page.post(do="send", id="s", data="hello")
        assert await page.expect(1) == [("text", b"hello")]


async def test_a_key_is_of_its_login(client: Client, announced: Backend) -> None:
    async with opened(client, announced) as page:
        # By cookie, this is another user than the one who has the token.
        assert (await page.get(headers=client.cookie_login())).code == 404


def last_activity(client: Client) -> object:
    return client.app.web_app.last_activity()  # type: ignore[no-untyped-call]  # Jupyter's own


async def test_a_request_that_waits_is_no_activity(
    client: Client, announced: Backend, extension: DaskDiagLab
) -> None:
    async with opened(client, announced) as page:
        before = last_activity(client)
        waiting = asyncio.create_task(page.expect(1))
        await page.post(do="send", id="s", data="x")
        await waiting
        assert last_activity(client) == before
        await extension.stop_extension()
        await until_closed(client, announced)
