"""Streams through the relay: their bounds, their ends, and what is left of them."""

from __future__ import annotations

import asyncio
import json
import logging

import psutil
import pytest
from tornado.httpclient import HTTPResponse
from tornado.simple_httpclient import HTTPStreamClosedError

from tests.proxy.backends import Backend
from tests.proxy.client import Client


def message(answer: HTTPResponse) -> str:
    return str(json.loads(answer.body)["message"])


@pytest.fixture
def announced(backend: Backend) -> Backend:
    backend.announce()
    return backend


async def test_answer_arrives_while_it_is_made(client: Client, announced: Backend) -> None:
    first = asyncio.Event()
    task = asyncio.ensure_future(
        client.relayed(
            announced, "slow", params={"second": "3"}, streaming_callback=lambda _: first.set()
        )
    )
    await asyncio.wait_for(first.wait(), 30)
    assert not task.done()
    assert (await task).code == 200


async def test_broken_answer_breaks_here_too(client: Client, announced: Backend) -> None:
    with pytest.raises(HTTPStreamClosedError):
        await client.relayed(announced, "broken")


async def test_reader_that_is_slow_slows_the_sender(client: Client, announced: Backend) -> None:
    # 64 MiB are asked for by a client that reads nothing: what leaves the backend is bounded by
    # the buffers on the way, and it ends when the client leaves.
    reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
    path = f"{client.base_url}dask-diag-lab/dashboards/{announced.id}/flood?chunks=1024"
    login = f"Host: 127.0.0.1\r\nAuthorization: token {client.token}\r\n\r\n"
    writer.write(f"GET {path} HTTP/1.1\r\n{login}".encode())
    await reader.readexactly(20)
    last = -1
    while (now := (await client.control(announced)).get("flooded", 0)) != last:
        last = now
        await asyncio.sleep(0.3)
    assert last < 40 * 2**20
    writer.close()
    async with asyncio.timeout(30):
        while (await client.control(announced)).get("flood_end") != "StreamClosedError":
            await asyncio.sleep(0.05)


async def test_nothing_is_left_open_after_many_requests(client: Client, announced: Backend) -> None:
    process = psutil.Process()

    async def use(how: int) -> None:
        if how == 0:
            await client.relayed(announced, "plots.json")
        elif how == 1:
            with pytest.raises(HTTPStreamClosedError):
                await client.relayed(announced, "broken")
        else:
            _, writer = await asyncio.open_connection("127.0.0.1", client.port)
            path = f"{client.base_url}dask-diag-lab/dashboards/{announced.id}/slow?second=9"
            login = f"Host: 127.0.0.1\r\nAuthorization: token {client.token}\r\n\r\n"
            writer.write(f"GET {path} HTTP/1.1\r\n{login}".encode())
            await asyncio.sleep(0.2)
            writer.close()

    await asyncio.gather(*(use(how) for how in range(3)))
    before, tasks = process.num_fds(), len(asyncio.all_tasks())
    await asyncio.gather(*(use(number % 3) for number in range(30)))
    async with asyncio.timeout(40):
        while process.num_fds() > before or len(asyncio.all_tasks()) > tasks:
            await asyncio.sleep(0.05)


async def test_no_token_is_ever_logged(
    client: Client, announced: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        await client.dashboards()
        await client.relayed(announced, "seen/a", params={"token": "browser-secret"})
        with pytest.raises(HTTPStreamClosedError):
            await client.relayed(announced, "broken")
        await client.get("dashboards", announced.id, "plots/x/session", params={"token": "b"})
    assert announced.token not in caplog.text
    assert "browser-secret" not in caplog.text


class TestTimeouts:
    """With short timeouts."""

    @pytest.fixture
    def settings(self) -> dict[str, object]:
        return {"answer_timeout_s": 2.5, "health_timeout_s": 0.3, "max_answer_bytes": 2**20}

    async def test_answer_that_does_not_begin_is_a_timeout_in_words(
        self, client: Client, announced: Backend
    ) -> None:
        answer = await client.relayed(announced, "slow", params={"first": "15"})
        assert answer.code == 504
        assert "holding the interpreter" in message(answer)

    async def test_answer_that_stalls_is_broken_off(
        self, client: Client, announced: Backend
    ) -> None:
        with pytest.raises(HTTPStreamClosedError):
            await client.relayed(announced, "slow", params={"second": "15"})

    async def test_answer_that_is_too_large_is_broken_off(
        self, client: Client, announced: Backend
    ) -> None:
        with pytest.raises(HTTPStreamClosedError):
            await client.relayed(announced, "flood", params={"chunks": "64"})

    async def test_slow_health_is_unreachable(self, client: Client, announced: Backend) -> None:
        await client.control(announced, delay_s=2)
        (dashboard,) = await client.dashboards()
        assert dashboard["state"] == "unreachable"


class TestSwitchedOff:
    """With ``c.DaskDiagLab.relay = False``."""

    @pytest.fixture
    def settings(self) -> dict[str, object]:
        return {"relay": False}

    async def test_list_stays_and_nothing_is_relayed(
        self, client: Client, announced: Backend
    ) -> None:
        assert len(await client.dashboards()) == 1
        answer = await client.relayed(announced, "health")
        assert answer.code == 403
        assert "switched off" in message(answer)
        added = await client.post("api", "dashboards", body='{"url": "http://127.0.0.1:1"}')
        assert added.code == 403
