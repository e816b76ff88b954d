"""Stock dashboards added by hand: a real scheduler, the policy, and the sandboxed pages."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import re
import time
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urljoin

import pytest
from tornado.web import create_signed_value
from tornado.websocket import WebSocketClientConnection

from dask_diag_lab.proxy.policy import is_allowed
from dask_diag_lab.proxy.relay import KEY_DAYS, KEY_NAME
from tests.proxy.backends import Backend, StockScheduler
from tests.proxy.client import Client, message, served


async def added(client: Client, stock: StockScheduler) -> dict[str, Any]:  # Any: JSON
    answer = await client.add(f"http://LOCALHOST:{stock.port}/status")
    assert answer.code == 201, answer.body
    return dict(json.loads(answer.body))


async def framed(client: Client, stock: StockScheduler, path: str) -> str:
    """Add a dashboard, open a page of it as a browser does and return where its frame is."""
    dashboard = await added(client, stock)
    headers = {"Accept": "text/html", "Authorization": f"token {client.token}"}
    page = f"{client.base_url}dask-diag-lab/dashboards/{dashboard['id']}/{path}"
    answer = await client.raw(page, headers=headers)
    assert answer.code == 302
    return str(answer.headers["Location"])


async def test_added_dashboard_is_listed_once(client: Client, stock: StockScheduler) -> None:
    async with client.events() as events:
        await events.until(lambda found: not found)
        dashboard = await added(client, stock)
        await events.until(lambda found: found == [dashboard])
    assert dashboard["scheduler"]["address"] == stock.address
    assert (dashboard["kind"], dashboard["state"]) == ("stock", "live")
    assert dashboard["name"] == f"localhost:{stock.port}"
    plots = {plot["name"]: plot for plot in dashboard["plots"]}
    assert (plots["task-stream"]["title"], plots["task-stream"]["group"]) == (
        "Task Stream",
        "Tasks",
    )
    assert plots["cluster-map"]["route"] == "statics/individual-cluster-map.html"
    again = await client.add(f"localhost:{stock.port}")
    assert (again.code, json.loads(again.body)["id"]) == (200, dashboard["id"])
    for code in (204, 404):
        gone = await client.get("api", "dashboards", dashboard["id"], method="DELETE")
        assert gone.code == code
    assert await client.dashboards() == []


async def test_data_passes_dangerous_places_do_not(client: Client, stock: StockScheduler) -> None:
    dashboard = await added(client, stock)

    async def code(path: str, **options: Any) -> int:  # Any: tornado's options
        return int((await client.get("dashboards", dashboard["id"], path, **options)).code)

    assert await code("json/counts.json") == 200
    assert await code("individual-plots.json") == 200
    for path in ("proxy/22/127.0.0.1/x", "jupyter/lab", "api/v1/retire_workers", "%70roxy/1/h/"):
        assert await code(path) == 403
    assert await code("status", method="POST", body="") == 405
    assert await code("individual-x/session", method="POST", body="") == 405


async def test_page_is_sandboxed_and_live(client: Client, stock: StockScheduler) -> None:
    place = await framed(client, stock, "individual-task-stream")
    page = await client.raw(place, headers={})
    policy = page.headers["Content-Security-Policy"]
    assert policy.startswith("sandbox allow-scripts allow-popups allow-downloads allow-modals;")
    assert "allow-same-origin" not in policy
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert "Set-Cookie" not in page.headers
    (script, *_) = re.findall(r'src="(static/js/bokeh[^"]*)"', page.body.decode())
    loaded = await client.raw(place.rpartition("/")[0] + "/" + script, headers={})
    assert "javascript" in loaded.headers["Content-Type"]
    assert "sandbox" in loaded.headers["Content-Security-Policy"]
    async with live(client, place) as socket:
        assert "ACK" in str([await socket.read_message() for _ in range(3)])
    route = place.removeprefix(f"{client.base_url}dask-diag-lab/") + "/ws"
    options: dict[str, Any] = {"headers": {"Authorization": "", "Origin": "null"}}  # Any: tornado's
    wrong = re.sub("frames/[^/]+", "frames/" + "x" * 43, route)
    assert await client.refused_socket(wrong, **options) == 403


async def test_scripts_of_bokeh_extensions_come_from_the_dashboard_that_has_them(
    client: Client, stock: StockScheduler
) -> None:
    place = await framed(client, stock, "individual-task-stream")
    browser = {"Accept": "text/html", "Accept-Encoding": "gzip"}
    page = await client.raw(place, headers=browser)
    (script,) = re.findall(r'src="([^"]*/extensions/[^"]*)"', page.body.decode())
    loaded = await client.raw(urljoin(place, script), headers={})
    assert (loaded.code, loaded.headers["Content-Type"]) == (200, "text/javascript")
    assert len(page.body) == int(page.headers["Content-Length"])


async def test_key_opens_its_dashboard_only_and_is_not_logged(
    client: Client, stock: StockScheduler, announced: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("DEBUG"):
        path = f"status?to%6ben=b&%5fXSRF=a&key=inc&token={client.token}"
        place = await framed(client, stock, path)
        assert place.endswith("/status?key=inc"), "no right of the browser is in the page's address"
        caplog.clear()  # who makes a redirect logs where to
        assert (await client.raw(place, headers={})).code == 200
    key = place.split("/frames/")[1].partition("/")[0]
    assert key not in caplog.text
    root, health = f"{client.base_url}dask-diag-lab", f"dashboards/{announced.id}/health"
    for path in (f"{health}?token={key}", "api/dashboards", f"frames/{key}/../../{health}"):
        assert (await client.raw(f"{root}/{path}", headers={})).code in (400, 403)
    (dashboard,) = [one for one in await client.dashboards() if one["kind"] == "stock"]
    with caplog.at_level("DEBUG"):
        async with live(client, place) as socket:
            await client.get("api", "dashboards", dashboard["id"], method="DELETE")
            assert await closing(socket) == 1008
        gone = await client.raw(place, headers={})
        assert (gone.code, "no such dashboard" in message(gone)) == (404, True)
    logged = [one for one in caplog.records if one.name != "tornado.general"]
    assert key not in str([one.getMessage() for one in logged])


@asynccontextmanager
async def live(client: Client, place: str) -> AsyncIterator[WebSocketClientConnection]:
    """Open the websocket of a page in its frame."""
    page = await client.raw(place, headers={})
    (token, *_) = re.findall(r'"token":"([^"]+)"', page.body.decode())
    route = place.removeprefix(f"{client.base_url}dask-diag-lab/").partition("?")[0] + "/ws"
    options: dict[str, Any] = {"headers": {"Authorization": "", "Origin": "null"}}  # Any: tornado's
    async with client.socket(route, **options, subprotocols=["bokeh", token]) as socket:
        assert socket.selected_subprotocol == "bokeh"
        yield socket


async def closing(socket: WebSocketClientConnection) -> int | None:
    """Read a socket to its end; return why it was closed."""
    async with asyncio.timeout(30):
        while await socket.read_message() is not None:
            pass
    return socket.close_code


@pytest.mark.parametrize(("age_s", "code"), [(60, 200), (KEY_DAYS * 86_400 + 60, 403)])
async def test_key_ends_with_its_time(
    client: Client, stock: StockScheduler, age_s: float, code: int
) -> None:
    dashboard, begun_s = await added(client, stock), time.time() - age_s
    secret = client.app.web_app.settings["cookie_secret"]
    signed = create_signed_value(secret, KEY_NAME, dashboard["id"], clock=lambda: begun_s)
    key = urlsafe_b64encode(signed).decode().rstrip("=")
    page = f"{client.base_url}dask-diag-lab/frames/{key}/status"
    assert (await client.raw(page, headers={})).code == code


async def test_dashboard_that_ends_stays_listed_as_unreachable(client: Client) -> None:
    with StockScheduler() as scheduler:
        dashboard = await added(client, scheduler)
    (now,) = await client.until(
        lambda found: [one for one in found if one["state"] == "unreachable"]
    )
    assert now["id"] == dashboard["id"]
    assert "nothing listens" in now["reason"]
    assert now["plots"]


# AWS (also its containers and IPv6), Azure, GCP, Oracle, Alibaba, Tencent, IBM and the like.
METADATA = (
    *("169.254.169.254", "169.254.170.2", "169.254.0.23", "168.63.129.16", "192.0.0.192"),
    *("100.100.100.200", "fe80::a9fe:a9fe", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254"),
    "fd00:c1::a9fe:a9fe",
)


@pytest.mark.parametrize(
    ("host", "ip", "policy", "expected"),
    [
        ("localhost", "127.0.0.1", ["localhost"], True),
        ("a.localhost", "10.0.0.1", ["*"], False),
        ("node7.cluster", "10.1.2.3", ["node*.cluster"], True),
        ("node7.cluster", "10.1.2.3", ["10.1.0.0/16"], True),
        ("node7.cluster", "10.2.2.3", ["10.1.0.0/16", "nonsense/99"], False),
        ("evil.example", "127.0.0.1", ["localhost", "127.0.0.1"], False),
        ("meta", "169.254.169.254", ["*", "0.0.0.0/0"], False),
        *[("meta", ip, ["*", "::/0", "0.0.0.0/0"], False) for ip in METADATA],
        ("site", "2001:db8::1", ["*"], True),
        ("any", "224.0.0.1", ["*"], False),
        ("::1", "::1", ["[::1]"], True),
    ],
)
def test_policy_decides(host: str, ip: str, policy: list[str], expected: bool) -> None:
    assert is_allowed(host, ipaddress.ip_address(ip), policy) is expected


@pytest.mark.parametrize(
    ("body", "code", "word"),
    [
        ('{"url": 3}', 400, "Send JSON like"),
        ("[" * 5_000, 400, "Send JSON like"),
        ('{"url": "http://192.0.2.1:8787"}', 403, "allowed_hosts"),
        ('{"url": "ftp://127.0.0.1/"}', 403, "not an address"),
        ('{"url": "tcp://127.0.0.1:8786"}', 403, "dashboard_link"),
        ('{"url": "http://me:secret@127.0.0.1:8787"}', 403, "user name"),
        ('{"url": "http://127.0.0.1:8787/status?token=secret"}', 403, "without"),
        ('{"url": "http://127.0.0.1:99999"}', 403, "not an address"),
        ('{"url": "http://127.0.0.1:8787/../x"}', 403, "not an address"),
    ],
)
async def test_address_is_refused_in_words(body: str, code: int, word: str, client: Client) -> None:
    answer = await client.get("api", "dashboards", method="POST", body=body)
    assert answer.code == code
    assert word in message(answer)
    assert "secret" not in message(answer)


@pytest.mark.parametrize(
    "answer",
    [
        b'HTTP/1.1 200 OK\r\n\r\n{"a": "http://evil.example/individual-x"}',
        b"HTTP/1.1 200 OK\r\nContent-Length: 900000000\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
    ],
)
async def test_what_is_no_dashboard_is_refused(answer: bytes, client: Client) -> None:
    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)

    async with served(respond) as port:
        refused = await client.add(f"127.0.0.1:{port}")
    assert refused.code == 502
    assert f"127.0.0.1:{port}" in message(refused)
    assert "evil" not in message(refused)
