"""HTTP and websockets through the relay: what passes, what is refused, how each end is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psutil
import pytest
from tornado.httpclient import HTTPResponse
from tornado.simple_httpclient import HTTPStreamClosedError
from tornado.websocket import WebSocketClientConnection

from dask_diag_lab.proxy import relay
from dask_diag_lab.proxy.extension import DaskDiagLab
from tests.proxy.backends import Backend
from tests.proxy.client import Client, message, served


def seen(answer: HTTPResponse) -> dict[str, Any]:  # Any: JSON
    assert answer.code == 200, answer.body
    return dict(json.loads(answer.body))


async def test_only_what_is_listed_passes(client: Client, announced: Backend) -> None:
    headers = {
        "Cookie": "username-localhost=secret; _xsrf=secret",
        "X-XSRFToken": "secret",
        "Origin": "http://127.0.0.1",
        "Referer": "http://127.0.0.1/lab?token=secret",
        "X-Forwarded-For": "192.0.2.9",
        "Proxy-Authorization": "secret",
        "Accept-Language": "is",
        "If-None-Match": '"abc"',
        "Authorization": f"token {client.token}",
    }
    params = {"token": client.token, "_xsrf": "secret", "kept": "1"}
    answer = await client.relayed(announced, "seen/a", params=params, headers=headers)
    arrived = seen(answer)
    assert arrived["uri"] == "/seen/a?kept=1"
    sent = {name.title(): value for name, value in arrived["headers"].items()}
    assert sent == {
        "Host": announced.url.removeprefix("http://"),
        "Origin": announced.url,
        "Connection": "close",
        "Accept-Encoding": "gzip",
        "Accept-Language": "is",
        "If-None-Match": '"abc"',
        "Authorization": f"token {announced.token}",
    }
    (policy,) = answer.headers.get_list("Content-Security-Policy")
    assert policy.startswith("default-src 'none'; ")
    assert policy.endswith("; script-src 'none'"), "it is no page"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert "X-Odd" not in answer.headers
    assert not any("upstream" in cookie for cookie in answer.headers.get_list("Set-Cookie"))


async def test_path_arrives_as_it_was_or_is_refused(client: Client, announced: Backend) -> None:
    place = f"{client.base_url}dask-diag-lab/dashboards/{announced.id}/"
    path = "seen/a%2Fb%20%3Fc%22?q=%26"
    assert seen(await client.raw(place + path))["uri"] == f"/{path}"
    odd = "a?x;token=t&_xsrf;a=1&%74oken+=t&c=1;b"
    assert seen(await client.raw(f"{place}seen/{odd}"))["uri"] == "/seen/a?c=1;b"
    for odd in ("../health", "seen/%2e%2e/x", "seen/..%2fx", "/seen", "seen/%5c..", "seen/%0d%0aX"):
        answer = await client.raw(place + odd)
        assert answer.code == 400, odd


async def test_only_scripts_of_the_page_itself_run(client: Client, announced: Backend) -> None:
    nonces = set()
    for _ in range(2):
        headers = {"Accept": "text/html", "If-None-Match": '"abc"'}
        answer = await client.relayed(announced, "seen/a", headers=headers)
        policy = answer.headers["Content-Security-Policy"]
        nonce = seen(answer)["headers"]["X-Dask-Diag-Nonce"]
        assert policy.endswith(f"; script-src 'nonce-{nonce}' 'strict-dynamic'")
        assert answer.headers["Cache-Control"] == "no-store", "the next one has another nonce"
        assert "If-None-Match" not in seen(answer)["headers"]
        nonces.add(nonce)
    assert len(nonces) == 2
    chosen = {"Accept": "text/html", "X-Dask-Diag-Nonce": "of-somebody-else"}
    assert "somebody" not in str(seen(await client.relayed(announced, "seen/a", headers=chosen)))


async def test_only_reading_passes(client: Client, announced: Backend) -> None:
    for method in ("POST", "PUT", "DELETE"):
        options = {"method": method, "body": "", "allow_nonstandard_methods": True}
        assert (await client.relayed(announced, "seen/a", **options)).code == 405
    head = await client.relayed(announced, "plots.json", method="HEAD")
    assert (head.code, head.body) == (200, b"")
    assert int(head.headers["Content-Length"]) > 100
    assert (await client.control(announced))["asked"] == 2


async def test_redirect_stays_inside_or_is_refused(client: Client, announced: Backend) -> None:
    root = f"{client.base_url}dask-diag-lab/dashboards/{announced.id}/"
    for to, place in [
        ("status", "status"),
        ("/plots/x?a=1&token=t", "plots/x?a=1"),
        (f"{announced.url}/plots/y#z", "plots/y#z"),
    ]:
        answer = await client.relayed(announced, "redirect", params={"to": to})
        assert (answer.code, answer.headers["Location"]) == (302, root + place)
    elsewhere = ("http://192.0.2.1/", "//192.0.2.1/x", "https://127.0.0.1/", "javascript:alert(1)")
    above = ("%2e%2e/x", "a/%2E%2e/%2e./x", "/..%2flogout", "a\\..\\x", "/\\192.0.2.1")
    for to in (*elsewhere, *above, f"{announced.url}/%2e%2e/%2e%2e/logout"):
        answer = await client.relayed(announced, "redirect", params={"to": to})
        assert answer.code == 502, to
        assert "Location" not in answer.headers
        assert "192.0.2.1" not in answer.body.decode()


async def test_later_program_on_the_port_gets_nothing(client: Client, announced: Backend) -> None:
    assert (await client.relayed(announced, "health")).code == 200
    announced.kill()
    got: list[bytes] = []

    async def listen(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        got.append(await reader.read(100))

    async with served(listen, announced.port):
        answer = await client.relayed(announced, "health")
        assert answer.code == 404
        assert "Run the cell that makes the client again." in message(answer)
        assert await client.refused_socket("dashboards", announced.id, "stream") == 404
    assert got == []


async def test_reader_that_is_slow_slows_the_sender(client: Client, announced: Backend) -> None:
    # 64 MiB are asked for by a client that reads nothing: what leaves the backend is bounded by
    # the buffers on the way, and it ends when the client leaves.
    reader, writer = await client.begin(announced, "flood?chunks=1024")
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

    async def use_all() -> None:
        with pytest.raises(HTTPStreamClosedError):  # it dies in the middle of its answer
            await client.relayed(announced, "broken")
        _, writer = await client.begin(announced, "slow?second=9")
        await asyncio.sleep(0.2)
        writer.close()  # a browser that leaves
        for sent in ("close", "x"):  # a websocket that is closed at one end or at the other
            async with client.socket("dashboards", announced.id, "stream") as socket:
                await socket.write_message(sent)
                await socket.read_message()

    await use_all()
    before, tasks = process.num_fds(), len(asyncio.all_tasks())
    await asyncio.gather(*(use_all() for _ in range(10)))
    async with asyncio.timeout(40):
        while process.num_fds() > before or len(asyncio.all_tasks()) > tasks:
            await asyncio.sleep(0.05)


class TestTimeouts:
    """With short timeouts."""

    @pytest.fixture(autouse=True)
    def impatient(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(relay, "ANSWER_S", 2.5)

    async def test_late_answer_is_a_timeout(self, client: Client, announced: Backend) -> None:
        answer = await client.relayed(announced, "slow", params={"first": "15"})
        assert answer.code == 504
        assert "holding the interpreter" in message(answer)

    @pytest.mark.parametrize("path", ["slow?second=15", "broken"])
    async def test_no_whole_answer(self, path: str, client: Client, announced: Backend) -> None:
        reader, writer = await client.begin(announced, path)
        async with asyncio.timeout(30):
            answer = await reader.read()
        assert answer.startswith(b"HTTP/1.1 200 OK")
        assert not answer.endswith(b"0\r\n\r\n"), "that is the end of a whole answer"
        writer.close()
        await writer.wait_closed()


@asynccontextmanager
async def opened(client: Client, backend: Backend) -> AsyncIterator[WebSocketClientConnection]:
    """Open the echo socket and skip what it says first."""
    parts = ("dashboards", backend.id, "stream")
    async with client.socket(*parts, max_message_size=2**27) as socket:
        await socket.read_message()
        yield socket


async def test_subprotocols_pass_and_rights_do_not(client: Client, announced: Backend) -> None:
    async with client.socket(
        "dashboards",
        announced.id,
        "stream",
        params={"token": client.token, "_xsrf": "secret", "a": "1"},
        headers={"Cookie": "a=secret"},
        subprotocols=["bokeh", "session.token"],
    ) as socket:
        first = json.loads(str(await socket.read_message()))
        assert socket.selected_subprotocol == "bokeh"
    for path in ("plots/x/ws", "health"):
        assert await client.refused_socket("dashboards", announced.id, path) == 403
    assert first["offered"] == ["bokeh", "session.token"]
    assert first["uri"] == "/stream?a=1"
    assert "cookie" not in [name.lower() for name in first["headers"]]


async def test_close_codes_pass_both_ways(client: Client, announced: Backend) -> None:
    async with opened(client, announced) as socket:
        await socket.write_message("close")
        assert await socket.read_message() is None
        assert (socket.close_code, socket.close_reason) == (4001, "as asked")
    async with opened(client, announced) as socket:
        socket.close(4002, "bye")
    async with asyncio.timeout(40):
        while (state := await client.control(announced))["sockets"]:
            await asyncio.sleep(0.02)
    assert state["close_code"] == 4002
    async with opened(client, announced) as socket:
        await socket.write_message("die")
        async with asyncio.timeout(30):
            assert await socket.read_message() is None
        assert socket.close_code == 1001


async def test_messages_come_back_unless_too_large(client: Client, announced: Backend) -> None:
    async with opened(client, announced) as socket:
        for sent in ("grüße", b"\x00\xff", "", b"z" * 12 * 2**20):
            await socket.write_message(sent, binary=isinstance(sent, bytes))
            assert await socket.read_message() == sent
        await socket.write_message(f"send {65 * 2**20}")
        assert await socket.read_message() is None


async def test_stop_closes(client: Client, announced: Backend, extension: DaskDiagLab) -> None:
    async with opened(client, announced) as socket, client.socket("api", "events"):
        await extension.stop_extension()
        assert await socket.read_message() is None
        assert (socket.close_code, socket.close_reason) == (1001, "The Jupyter server stops.")
