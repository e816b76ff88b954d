"""HTTP through the relay: what arrives, what comes back, what is refused, how streams end."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from typing import Any

import psutil
import pytest
from tornado.httpclient import HTTPResponse
from tornado.simple_httpclient import HTTPStreamClosedError

from dask_diag_lab.proxy import dashboard as dashboard_module
from tests.proxy.backends import Backend
from tests.proxy.client import Client, message


def seen(answer: HTTPResponse) -> dict[str, Any]:  # Any: JSON
    assert answer.code == 200, answer.body
    return dict(json.loads(answer.body))


async def test_dashboard_gets_its_own_token_and_nothing_of_the_browser(
    client: Client, announced: Backend
) -> None:
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
    assert "secret" not in answer.body.decode()
    assert client.token not in answer.body.decode()


async def test_answer_is_stripped_and_gets_our_policy(client: Client, announced: Backend) -> None:
    headers = (await client.relayed(announced, "seen/a")).headers
    (policy,) = headers.get_list("Content-Security-Policy")
    assert policy.startswith("default-src 'none'; ")
    assert policy.endswith("; script-src 'self'")
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "X-Odd" not in headers
    assert not any("upstream" in cookie for cookie in headers.get_list("Set-Cookie"))


async def test_path_arrives_as_it_was_and_an_odd_one_is_refused(
    client: Client, announced: Backend
) -> None:
    place = f"{client.base_url}dask-diag-lab/dashboards/{announced.id}/"
    path = "seen/a%2Fb%20%3Fc%22?q=%26"
    assert seen(await client.raw(place + path))["uri"] == f"/{path}"
    for odd in ("../health", "seen/%2e%2e/x", "seen/..%2fx", "/seen", "seen/%5c..", "seen/%0d%0aX"):
        answer = await client.raw(place + odd)
        assert answer.code == 400, odd
        assert message(answer) == "This address cannot be relayed."


async def test_get_head_and_the_session_post_pass_and_nothing_else(
    client: Client, announced: Backend
) -> None:
    session, body = "plots/task-stream/session", '{"look": {}}'
    answer = await client.relayed(announced, session, method="POST", body=body)
    assert seen(answer) == {"path": f"/{session}", "body": body}
    for method, path in [
        ("POST", "seen/a"),
        ("POST", "plots/x/session/y"),
        ("PUT", "plots/x/session"),
        ("DELETE", "seen/a"),
        ("PATCH", "seen/a"),
    ]:
        refused = await client.relayed(
            announced, path, method=method, body="", allow_nonstandard_methods=True
        )
        assert refused.code == 405
    head = await client.relayed(announced, "plots.json", method="HEAD")
    assert (head.code, head.body) == (200, b"")
    assert int(head.headers["Content-Length"]) > 100
    large = await client.relayed(announced, session, method="POST", body="x" * 300_000)
    assert large.code in (400, 413)
    assert (await client.control(announced))["asked"] == 3


async def test_redirect_is_rewritten_inside_and_refused_to_elsewhere(
    client: Client, announced: Backend
) -> None:
    root = f"{client.base_url}dask-diag-lab/dashboards/{announced.id}/"
    for to, place in [
        ("status", "status"),
        ("/plots/x?a=1&token=t", "plots/x?a=1"),
        (f"{announced.url}/plots/y#z", "plots/y#z"),
    ]:
        answer = await client.relayed(announced, "redirect", params={"to": to})
        assert (answer.code, answer.headers["Location"]) == (302, root + place)
    for to in ("http://192.0.2.1/", "//192.0.2.1/x", "https://127.0.0.1/", "javascript:alert(1)"):
        answer = await client.relayed(announced, "redirect", params={"to": to})
        assert answer.code == 502
        assert "Location" not in answer.headers
        assert "192.0.2.1" not in answer.body.decode()


async def test_token_is_never_sent_to_a_later_program_on_the_port(
    client: Client, announced: Backend
) -> None:
    assert (await client.relayed(announced, "health")).code == 200
    announced.kill()
    got: list[bytes] = []

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        got.append(await reader.read(100))
        writer.close()

    async with await asyncio.start_server(listen, "127.0.0.1", announced.port):
        answer = await client.relayed(announced, "health")
        assert answer.code == 404
        assert "Run the cell that makes the client again." in message(answer)
        assert await client.refused_socket("dashboards", announced.id, "plots/x/ws") == 404
    assert got == []


async def test_wrong_token_of_a_record_is_a_gateway_error_not_a_logout(
    client: Client, backend: Backend
) -> None:
    backend.announce(token="w" * 40)
    answer = await client.relayed(backend, "health")
    assert answer.code == 502
    assert "Restart the kernel" in message(answer)
    (dashboard,) = await client.dashboards()
    assert dashboard["state"] == "unreachable"
    assert "refused the token" in dashboard["reason"]


async def test_answer_arrives_while_it_is_made(client: Client, announced: Backend) -> None:
    first = asyncio.Event()
    options = {"params": {"second": "3"}, "streaming_callback": lambda _: first.set()}
    task = asyncio.ensure_future(client.relayed(announced, "slow", **options))
    await asyncio.wait_for(first.wait(), 30)
    assert not task.done()
    assert (await task).code == 200


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


async def test_browser_that_leaves_with_the_last_byte_is_no_fault(
    client: Client, announced: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    place = f"{client.base_url}dask-diag-lab/dashboards/{announced.id}/plots.json"
    url = f"http://127.0.0.1:{client.port}{place}?token={client.token}"

    def ask_often() -> None:
        for _ in range(30):  # who is first is a matter of microseconds
            urllib.request.urlopen(url, timeout=30).close()

    await asyncio.to_thread(ask_often)
    assert "Uncaught exception" not in caplog.text


async def test_nothing_is_left_open_after_many_requests(client: Client, announced: Backend) -> None:
    process = psutil.Process()

    async def use(how: int) -> None:
        if how == 0:
            await client.relayed(announced, "plots.json")
        elif how == 1:  # a dashboard that dies in the middle of its answer
            with pytest.raises(HTTPStreamClosedError):
                await client.relayed(announced, "broken")
        elif how == 2:  # a browser that leaves
            _, writer = await client.begin(announced, "slow?second=9")
            await asyncio.sleep(0.2)
            writer.close()
        else:  # a websocket that is closed at one end or at the other
            async with client.socket("dashboards", announced.id, "plots/x/ws") as socket:
                await socket.write_message("close" if how == 3 else "x")
                await socket.read_message()

    await asyncio.gather(*(use(how) for how in range(5)))
    before, tasks = process.num_fds(), len(asyncio.all_tasks())
    await asyncio.gather(*(use(number % 5) for number in range(50)))
    async with asyncio.timeout(40):
        while process.num_fds() > before or len(asyncio.all_tasks()) > tasks:
            await asyncio.sleep(0.05)


class TestTimeouts:
    """With short timeouts."""

    @pytest.fixture
    def settings(self) -> dict[str, object]:
        return {"answer_timeout_s": 2.5}

    async def test_answer_that_does_not_begin_is_a_timeout_in_words(
        self, client: Client, announced: Backend, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(dashboard_module, "EXAMINE_TIMEOUT_S", 0.3)
        answer = await client.relayed(announced, "slow", params={"first": "15"})
        assert answer.code == 504
        assert "holding the interpreter" in message(answer)
        await client.control(announced, delay_s=2)
        (dashboard,) = await client.dashboards()
        assert dashboard["state"] == "unreachable"
        assert "holding the interpreter" in dashboard["reason"]

    @pytest.mark.parametrize("path", ["slow?second=15", "flood?chunks=4200", "broken?is_reset=1"])
    async def test_answer_that_stalls_is_too_large_or_reset_is_broken_off(
        self, path: str, client: Client, announced: Backend
    ) -> None:
        reader, writer = await client.begin(announced, path)
        async with asyncio.timeout(30):
            answer = await reader.read()
        assert answer.startswith(b"HTTP/1.1 200 OK")
        assert not answer.endswith(b"0\r\n\r\n"), "that is the end of a whole answer"
        writer.close()


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
        assert (await client.add("http://127.0.0.1:1")).code == 403
