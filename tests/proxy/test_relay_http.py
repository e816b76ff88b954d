"""HTTP through the relay: what arrives, what comes back, what is refused."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from tornado.httpclient import HTTPResponse

from tests.proxy.backends import Backend
from tests.proxy.client import Client


def seen(answer: HTTPResponse) -> dict[str, Any]:  # Any: JSON
    assert answer.code == 200, answer.body
    return dict(json.loads(answer.body))


def message(answer: HTTPResponse) -> str:
    return str(json.loads(answer.body)["message"])


@pytest.fixture
def announced(backend: Backend) -> Backend:
    backend.announce()
    return backend


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
    }
    answer = await client.relayed(
        announced,
        "seen/a",
        params={"token": client.token, "_xsrf": "secret", "kept": "1"},
        headers={**headers, "Authorization": f"token {client.token}"},
    )
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
    answer = await client.relayed(announced, "seen/a")
    assert answer.headers.get_list("Content-Security-Policy") == [
        (
            "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
            "font-src 'self' data:; connect-src 'self'; frame-ancestors 'self'; "
            "base-uri 'none'; form-action 'none'; script-src 'self'"
        )
    ]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert "X-Odd" not in answer.headers
    assert not any("upstream" in cookie for cookie in answer.headers.get_list("Set-Cookie"))


async def test_encoded_characters_of_a_path_arrive_as_they_were(
    client: Client, announced: Backend
) -> None:
    path = f"{client.base_url}dask-diag-lab/dashboards/{announced.id}/seen/a%2Fb%20%3Fc%22?q=%26"
    assert seen(await client.raw(path))["uri"] == "/seen/a%2Fb%20%3Fc%22?q=%26"


@pytest.mark.parametrize(
    "path", ["../health", "seen/%2e%2e/x", "seen/..%2fx", "/seen", "seen/%5c..", "seen/%0d%0aX"]
)
async def test_odd_path_is_refused(path: str, client: Client, announced: Backend) -> None:
    place = f"{client.base_url}dask-diag-lab/dashboards/{announced.id}/"
    answer = await client.raw(place + path)
    assert answer.code == 400
    assert message(answer) == "This address cannot be relayed."


async def test_session_is_opened_by_post_with_its_body(client: Client, announced: Backend) -> None:
    answer = await client.post(
        "dashboards", announced.id, "plots/task-stream/session", body='{"look": {}}'
    )
    assert seen(answer) == {"token": "task-stream", "body": '{"look": {}}'}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "seen/a"),
        ("POST", "plots/x/session/y"),
        ("PUT", "plots/x/session"),
        ("DELETE", "seen/a"),
        ("PATCH", "seen/a"),
    ],
)
async def test_other_methods_are_refused(
    method: str, path: str, client: Client, announced: Backend
) -> None:
    answer = await client.relayed(
        announced, path, method=method, body="", allow_nonstandard_methods=True
    )
    assert answer.code == 405
    assert (await client.control(announced))["asked"] == 1


async def test_large_body_is_refused_before_it_is_read(client: Client, announced: Backend) -> None:
    answer = await client.post("dashboards", announced.id, "plots/x/session", body="x" * 300_000)
    assert answer.code in (400, 413)


async def test_head_has_the_headers_only(client: Client, announced: Backend) -> None:
    answer = await client.relayed(announced, "plots.json", method="HEAD")
    assert answer.code == 200
    assert int(answer.headers["Content-Length"]) > 100
    assert answer.body == b""


async def test_redirect_inside_is_rewritten(client: Client, announced: Backend) -> None:
    root = f"{client.base_url}dask-diag-lab/dashboards/{announced.id}/"
    for to, place in [
        ("status", "status"),
        ("/plots/x?a=1&token=t", "plots/x?a=1"),
        (f"{announced.url}/plots/y#z", "plots/y#z"),
    ]:
        answer = await client.relayed(announced, "redirect", params={"to": to})
        assert (answer.code, answer.headers["Location"]) == (302, root + place)


@pytest.mark.parametrize(
    "to", ["http://192.0.2.1/", "//192.0.2.1/x", "https://127.0.0.1/", "javascript:alert(1)"]
)
async def test_redirect_to_elsewhere_is_refused(
    to: str, client: Client, announced: Backend
) -> None:
    answer = await client.relayed(announced, "redirect", params={"to": to})
    assert answer.code == 502
    assert "Location" not in answer.headers
    assert "192.0.2.1" not in answer.body.decode()


async def test_unknown_dashboard_is_told(client: Client, announced: Backend) -> None:
    answer = await client.get("dashboards", "0" * 16, "health")
    assert answer.code == 404
    assert "Run the cell that makes the client again." in message(answer)


async def test_token_is_never_sent_to_a_later_program_on_the_port(
    client: Client, announced: Backend
) -> None:
    assert (await client.relayed(announced, "health")).code == 200
    port = announced.port
    announced.kill()
    got: list[bytes] = []

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        got.append(await reader.read(100))
        writer.close()

    async with await asyncio.start_server(listen, "127.0.0.1", port):
        answer = await client.relayed(announced, "health")
        assert answer.code == 404
        assert "has ended" in message(answer)
        socket = await client.get("dashboards", announced.id, "plots/x/ws")
        assert socket.code in (400, 404)
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
