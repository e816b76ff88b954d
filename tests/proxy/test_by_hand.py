"""Stock dashboards added by hand: a real scheduler, the policy, and the sandboxed pages."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from typing import Any

import pytest
from tornado.httpclient import HTTPClientError, HTTPResponse

from dask_diag_lab.proxy.wire import check_dashboard
from tests.proxy.backends import Backend, StockScheduler
from tests.proxy.client import Client


async def add(client: Client, url: object) -> HTTPResponse:
    return await client.post("api", "dashboards", body=json.dumps({"url": url}))


def said(answer: HTTPResponse) -> str:
    return str(json.loads(answer.body)["message"])


async def added_to(client: Client, stock: StockScheduler) -> dict[str, Any]:  # Any: JSON
    answer = await add(client, f"{stock.url}/status")
    assert answer.code == 201, answer.body
    return dict(json.loads(answer.body))


async def framed(client: Client, dashboard_id: str, path: str) -> str:
    """Open a page as a browser does and return where its frame is."""
    answer = await client.get("dashboards", dashboard_id, path, headers={"Accept": "text/html"})
    assert answer.code == 302
    place = str(answer.headers["Location"])
    assert place.startswith(f"{client.base_url}dask-diag-lab/frames/")
    return place


async def test_stock_dashboard_is_listed_with_our_names(
    client: Client, stock: StockScheduler
) -> None:
    dashboard = await added_to(client, stock)
    check_dashboard(dashboard)
    assert dashboard["scheduler"]["id"] == stock.scheduler_id
    assert (dashboard["kind"], dashboard["state"], dashboard["kernel_id"]) == (
        "stock",
        "live",
        None,
    )
    plots = {plot["name"]: plot for plot in dashboard["plots"]}
    assert plots["task-stream"]["title"] == "Task Stream"
    assert plots["task-stream"]["group"] == "Tasks"
    assert plots["task-stream"]["route"] == "individual-task-stream"
    assert plots["cluster-map"]["route"] == "statics/individual-cluster-map.html"
    assert await client.dashboards() == [dashboard]


async def test_adding_twice_is_adding_once_and_removing_removes(
    client: Client, stock: StockScheduler
) -> None:
    dashboard = await added_to(client, stock)
    again = await add(client, stock.url)
    assert (again.code, json.loads(again.body)["id"]) == (200, dashboard["id"])
    assert len(await client.dashboards()) == 1
    gone = await client.get("api", "dashboards", dashboard["id"], method="DELETE")
    assert gone.code == 204
    assert await client.dashboards() == []
    assert (await client.get("api", "dashboards", "x", method="DELETE")).code == 404


async def test_adding_is_pushed(client: Client, stock: StockScheduler) -> None:
    async with client.socket("api", "events") as events:
        assert json.loads(str(await events.read_message())) == {"dashboards": []}
        await added_to(client, stock)
        assert len(json.loads(str(await events.read_message()))["dashboards"]) == 1


async def test_data_is_relayed_and_dangerous_places_are_not(
    client: Client, stock: StockScheduler
) -> None:
    dashboard = await added_to(client, stock)

    async def code(path: str, **options: Any) -> int:  # Any: tornado's options
        return int((await client.get("dashboards", dashboard["id"], path, **options)).code)

    assert await code("json/counts.json") == 200
    assert await code("individual-plots.json") == 200
    assert await code("static/js/bokeh.min.js") == 200
    for path in ("proxy/22/127.0.0.1/x", "jupyter/lab", "api/v1/retire_workers", "%70roxy/1/h/"):
        assert await code(path) == 403
    assert await code("status", method="POST", body="") == 405
    assert await code("individual-x/session", method="POST", body="") == 405


async def test_page_of_a_stock_dashboard_is_sandboxed_and_works_without_cookies(
    client: Client, stock: StockScheduler
) -> None:
    dashboard = await added_to(client, stock)
    place = await framed(client, dashboard["id"], "individual-task-stream")
    page = await client.raw(place, headers={})
    assert page.code == 200
    policy = page.headers["Content-Security-Policy"]
    assert policy.startswith("sandbox allow-scripts allow-popups allow-downloads;")
    assert "allow-same-origin" not in policy
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert "Set-Cookie" not in page.headers
    script = re.search(r'src="(static/js/bokeh[^"]*)"', page.body.decode())
    assert script is not None
    loaded = await client.raw(place.rpartition("/")[0] + "/" + script[1], headers={})
    assert loaded.code == 200
    assert "javascript" in loaded.headers["Content-Type"]
    assert "sandbox" in loaded.headers["Content-Security-Policy"]


async def test_socket_of_a_sandboxed_page_opens_with_its_key_only(
    client: Client, stock: StockScheduler
) -> None:
    dashboard = await added_to(client, stock)
    place = await framed(client, dashboard["id"], "individual-task-stream")
    page = (await client.raw(place, headers={})).body.decode()
    token = re.search(r'"token":"([^"]+)"', page)
    assert token is not None
    route = place.removeprefix(f"{client.base_url}dask-diag-lab/")
    headers = {"Authorization": "", "Origin": "null"}
    async with client.socket(
        f"{route}/ws", headers=dict(headers), subprotocols=["bokeh", token[1]]
    ) as live:
        assert live.selected_subprotocol == "bokeh"
        fragments = [await live.read_message() for _ in range(3)]
        assert "ACK" in str(fragments)
    wrong = re.sub("frames/[^/]+", "frames/" + "x" * 43, route)
    with pytest.raises(HTTPClientError) as error:
        async with client.socket(f"{wrong}/ws", headers=dict(headers)):
            pass
    assert error.value.code == 403


async def test_login_token_does_not_come_into_the_page(
    client: Client, stock: StockScheduler
) -> None:
    dashboard = await added_to(client, stock)
    place = f"{client.base_url}dask-diag-lab/dashboards/{dashboard['id']}/profile"
    answer = await client.raw(
        f"{place}?to%6ben=b&%5fXSRF=a&key=inc&token={client.token}",
        headers={"Accept": "text/html"},
    )
    assert answer.code == 302
    assert str(answer.headers["Location"]).endswith("/profile?key=inc")


async def test_key_is_void_when_the_dashboard_is_removed(
    client: Client, stock: StockScheduler
) -> None:
    dashboard = await added_to(client, stock)
    place = await framed(client, dashboard["id"], "status")
    await client.get("api", "dashboards", dashboard["id"], method="DELETE")
    answer = await client.raw(place, headers={})
    assert answer.code == 403
    assert "Open it again" in said(answer)


async def test_key_opens_no_other_dashboard_and_nothing_else(
    client: Client, stock: StockScheduler, backend: Backend
) -> None:
    backend.announce()
    dashboard = await added_to(client, stock)
    place = await framed(client, dashboard["id"], "status")
    key = place.split("/frames/")[1].partition("/")[0]
    root = f"{client.base_url}dask-diag-lab/"
    for path in (
        f"dashboards/{backend.id}/health?token={key}",
        "api/dashboards",
        f"frames/{key}/../../dashboards/{backend.id}/health",
    ):
        assert (await client.raw(root + path, headers={})).code in (400, 403)


async def test_key_is_not_logged(
    client: Client, stock: StockScheduler, caplog: pytest.LogCaptureFixture
) -> None:
    dashboard = await added_to(client, stock)
    with caplog.at_level("DEBUG"):
        caplog.clear()
        place = await framed(client, dashboard["id"], "status")
        await client.raw(place, headers={})
        await client.raw(f"{place}/nothing", headers={})
    key = place.split("/frames/")[1].partition("/")[0]
    assert key not in caplog.text


async def test_dashboard_that_goes_says_so(client: Client) -> None:
    with StockScheduler() as scheduler:
        dashboard = await added_to(client, scheduler)
    (now,) = await client.dashboards()
    assert (now["id"], now["state"]) == (dashboard["id"], "unreachable")
    assert "remove it from the list" in now["reason"]
    assert now["plots"]
    answer = await client.get("dashboards", dashboard["id"], "health")
    assert answer.code == 404


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("http://192.0.2.1:8787", "allowed_hosts"),
        ("http://evil.example:8787", "allowed_hosts"),
        ("http://169.254.169.254/latest", "allowed_hosts"),
        ("http://2130706433:8787", "allowed_hosts"),
        ("http://127.0.0.1.nip.io:8787", "allowed_hosts"),
        ("ftp://127.0.0.1/", "Only http and https"),
        ("file:///etc/passwd", "Only http and https"),
        ("http://me:secret@127.0.0.1:8787", "user name"),
        ("http://127.0.0.1:8787/status?token=secret", "without"),
        ("http://127.0.0.1:99999", "not an address"),
        ("http://[::1", "not an address"),
        ("http://127.0.0.1:8787/../x", "path"),
        ("http://127.0.0.1:1", "nothing listens"),
        ("x" * 600, "too long"),
    ],
)
async def test_address_is_refused_in_words(url: str, word: str, client: Client) -> None:
    answer = await add(client, url)
    assert answer.code == 403
    assert word in said(answer)
    assert "secret" not in said(answer)


@pytest.mark.parametrize("url", [None, 3, "", "  ", ["http://127.0.0.1"]])
async def test_body_without_an_address_is_refused(url: object, client: Client) -> None:
    answer = await add(client, url)
    assert answer.code == 400
    assert "Send JSON like" in said(answer)


async def test_body_that_is_no_json_is_refused(client: Client) -> None:
    for body in ("{", "[]", "x" * 20_000, "[" * 5_000):
        assert (await client.post("api", "dashboards", body=body)).code == 400


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\n\r\nnot json",
        b'HTTP/1.1 200 OK\r\n\r\n{"a": "http://evil.example/individual-x"}',
        b"HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 900000000\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"",
    ],
)
async def test_what_is_no_dashboard_is_refused(answer: bytes, client: Client) -> None:
    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(respond, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        refused = await add(client, f"127.0.0.1:{port}")
    assert refused.code == 502
    assert f"127.0.0.1:{port}" in said(refused)
    assert "evil" not in said(refused)
    assert await client.dashboards() == []


class TestShortTimeout:
    """With a short timeout."""

    @pytest.fixture
    def settings(self) -> dict[str, object]:
        return {"health_timeout_s": 0.3}

    async def test_what_never_answers_is_refused_in_time(self, client: Client) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            answer = await add(client, f"http://127.0.0.1:{silent.getsockname()[1]}")
        assert answer.code == 502
        assert "in time" in said(answer)
