"""Nobody passes without the token: neither our routes, nor Bokeh's, nor a websocket."""

from __future__ import annotations

import pytest
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

from dask_diag_lab.server.gate import (
    FOREIGN_ORIGIN,
    Asked,
    Pass,
    Refusal,
    Welcome,
    cookie_value,
    judge,
)
from tests.kernel.serving import TOKEN, run, serving

COOKIE = "dask-diag-lab-0123456789abcdef"
KEY = cookie_value(TOKEN)
HERE = {"Host": "127.0.0.1:4000"}
ROUTES = [
    "/",
    "/status",
    "/health",
    "/plots.json",
    "/individual-plots.json",
    "/individual-task-stream",
    "/tasks",
    "/plots/task-stream",
    "/plots/task-stream.json",
    "/plots/task-stream.csv",
    "/plots/task-stream/ws",
    "/plots/task-stream/autoload.js",
    "/plots/task-stream/metadata",
    "/static/js/bokeh.min.js",
    "/static/dask-diag-lab/page.js",
    "/favicon.ico",
    "/nothing",
]


def ask(path: str = "/", query: str = "", method: str = "GET", **headers: str) -> Asked:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return Asked(method, path, query, {**HERE, **given})


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN[:-1], TOKEN + "x"])
def test_every_route_refuses_without_the_token(path: str, token: str | None) -> None:
    headers = {} if token is None else {"Authorization": f"token {token}"}
    verdict = judge(ask(path, **headers), token=TOKEN, cookie=COOKIE)
    assert isinstance(verdict, Refusal)
    assert verdict.status == 403
    assert TOKEN not in verdict.message


def test_refusals_of_a_running_server_name_no_secret_and_cover_every_route() -> None:
    async def story() -> None:
        async with serving() as served:
            for path in [*ROUTES, "/plots/task-stream/session"]:
                for method in ("GET", "POST", "PUT", "DELETE"):
                    body = "{}" if method in ("POST", "PUT") else None
                    reply = await served.ask(path, token="wrong", method=method, body=body)
                    assert reply.code == 403, (method, path)
                    assert TOKEN.encode() not in reply.body
                    assert "Set-Cookie" not in reply.headers

    run(story())


def test_a_token_in_the_query_becomes_a_cookie_and_leaves_the_address() -> None:
    async def story() -> None:
        async with serving() as served:
            reply = await served.ask(f"/status?a=1&token={TOKEN}", token=None)
            assert reply.code == 302
            assert reply.headers["Location"] == "/status?a=1"
            cookie = reply.headers["Set-Cookie"]
            assert cookie.startswith(f"{COOKIE}={KEY};")
            assert TOKEN not in str(reply.headers)
            assert "HttpOnly" in cookie
            assert "SameSite=Lax" in cookie
            kept = {"Cookie": cookie.partition(";")[0]}
            assert (await served.ask("/health", token=None, headers=kept)).code == 200

    run(story())


def test_the_redirect_stays_on_this_server() -> None:
    for path in ("//evil.example/x", "/\\evil.example/x", "\\/evil.example/x"):
        verdict = judge(ask(path, f"token={TOKEN}"), token=TOKEN, cookie=COOKIE)
        assert verdict == Welcome("/evil.example/x")


def test_a_token_in_the_query_is_no_way_to_change_things() -> None:
    verdict = judge(ask("/", f"token={TOKEN}", "POST"), token=TOKEN, cookie=COOKIE)
    assert isinstance(verdict, Refusal)


@pytest.mark.parametrize("host", ["127.0.0.1:1", "localhost:99", "[::1]:80", "LOCALHOST"])
def test_loopback_names_pass_whatever_the_port(host: str) -> None:
    asked = ask(Host=host, Authorization=f"token {TOKEN}")
    assert judge(asked, token=TOKEN, cookie=COOKIE) == Pass()


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
def test_a_rebound_name_is_refused_even_with_the_token(host: str) -> None:
    asked = ask(Host=host, Authorization=f"token {TOKEN}")
    assert isinstance(judge(asked, token=TOKEN, cookie=COOKIE), Refusal)


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:4001", "null"])
def test_a_foreign_page_cannot_use_the_cookie(origin: str) -> None:
    asked = ask(Cookie=f"{COOKIE}={KEY}", Origin=origin)
    assert isinstance(judge(asked, token=TOKEN, cookie=COOKIE), Refusal)
    own = ask(Cookie=f"{COOKIE}={KEY}", Origin="http://127.0.0.1:4000")
    assert judge(own, token=TOKEN, cookie=COOKIE) == Pass()


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "//[", "http://127.0.0.1:4000]"])
def test_an_origin_that_is_no_address_is_refused(origin: str) -> None:
    asked = ask(Cookie=f"{COOKIE}={KEY}", Origin=origin)
    assert judge(asked, token=TOKEN, cookie=COOKIE) == Refusal(403, FOREIGN_ORIGIN)


def test_the_token_itself_is_no_cookie_and_the_cookie_is_no_token() -> None:
    for asked in (
        ask(Cookie=f"{COOKIE}={TOKEN}"),
        ask(Authorization=f"token {KEY}"),
        ask(query=f"token={KEY}"),
        ask(Cookie=f"{COOKIE}={cookie_value('another server')}"),
    ):
        assert isinstance(judge(asked, token=TOKEN, cookie=COOKIE), Refusal)


def test_the_relay_may_carry_the_browsers_origin() -> None:
    asked = ask(Authorization=f"token {TOKEN}", Origin="https://hub.example")
    assert judge(asked, token=TOKEN, cookie=COOKIE) == Pass()


@pytest.mark.parametrize("cookie", ["", ";;;", f"other={KEY}", f"{COOKIE}=", f"{COOKIE}=wröng"])
def test_odd_cookies_are_refused(cookie: str) -> None:
    assert isinstance(judge(ask(Cookie=cookie), token=TOKEN, cookie=COOKIE), Refusal)


def test_websockets_are_refused_without_the_token_and_from_foreign_pages() -> None:
    async def story() -> None:
        async with serving() as served:
            url = served.url.replace("http", "ws", 1) + "/plots/task-stream/ws"
            for headers in (
                {},
                {"Authorization": "token wrong"},
                {"Cookie": f"{COOKIE}={KEY}", "Origin": "http://evil.example"},
            ):
                with pytest.raises(HTTPClientError, match="403"):
                    await websocket_connect(HTTPRequest(url, headers=headers))

    run(story())
