"""Who may ask: login, authorizer, XSRF and origin on every route, and what counts as activity."""

from __future__ import annotations

import json
from itertools import product
from typing import ClassVar

import pytest
from jupyter_server.auth import Authorizer
from jupyter_server.auth.identity import User
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.serverapp import ServerApp
from tornado.simple_httpclient import HTTPStreamClosedError
from tornado.websocket import WebSocketHandler

from dask_diag_lab.proxy.extension import ROUTES
from tests.proxy.backends import Backend
from tests.proxy.client import Client, message

PLACES = {
    "DashboardsHandler": ["api/dashboards"],
    "DashboardHandler": ["api/dashboards/stock-1"],
    "RecordingsHandler": ["api/recordings"],
    "EventsHandler": ["api/events"],
    "RelayHandler": [f"dashboards/{{id}}/{path}" for path in ("health", "stream")],
    "FrameHandler": ["frames/somekey/status", "frames/somekey/individual-x/ws"],
}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def test_every_route_is_in_the_table_of_these_tests() -> None:
    assert {handler.__name__ for _, handler in ROUTES} == set(PLACES)


@pytest.mark.parametrize("handler", [handler for _, handler in ROUTES])
async def test_nobody_gets_in_without_a_login(
    handler: type[JupyterHandler], client: Client, announced: Backend
) -> None:
    for place in (place.format(id=announced.id) for place in PLACES[handler.__name__]):
        for method, accept in product(METHODS, ("*/*", "text/html")):
            answer = await client.get(
                place,
                method=method,
                headers={"Authorization": "", "Accept": accept},
                body="" if method in ("POST", "PUT", "PATCH") else None,
                allow_nonstandard_methods=True,
            )
            is_login_page = answer.code == 302 and "/login?next=" in answer.headers["Location"]
            assert answer.code in (403, 405) or (is_login_page and accept == "text/html")
        if issubclass(handler, WebSocketHandler):
            assert await client.refused_socket(place, headers={"Authorization": ""}) == 403
    assert (await client.control(announced))["asked"] == 1


async def test_cookie_login_does_not_write_without_xsrf(client: Client) -> None:
    login = client.cookie_login()
    assert (await client.get("api", "dashboards", headers=dict(login))).code == 200
    answer = await client.get("api/dashboards", method="POST", headers=dict(login), body="{}")
    assert answer.code == 403


async def test_page_of_another_origin_cannot_ask(client: Client, announced: Backend) -> None:
    headers = {**client.cookie_login(), "Origin": "http://evil.example"}
    for parts in [("api", "dashboards"), ("dashboards", announced.id, "health")]:
        assert (await client.get(*parts, headers=dict(headers))).code == 404
    for place in ("api/events", f"dashboards/{announced.id}/stream"):
        assert await client.refused_socket(place, headers=dict(headers)) in (403, 404)


def last_activity(app: ServerApp) -> object:
    return app.web_app.last_activity()  # type: ignore[no-untyped-call]  # Jupyter's own


async def test_nothing_counts_as_activity(client: Client, announced: Backend) -> None:
    before = last_activity(client.app)
    await client.dashboards()
    await client.add("")
    async with client.events() as events:
        await events.until(bool)
    async with client.socket("dashboards", announced.id, "stream") as socket:
        await socket.write_message("x")
        await socket.read_message()
    assert last_activity(client.app) == before


async def test_tokens_are_in_no_answer_and_in_no_log(
    client: Client, announced: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("DEBUG"):
        answers = [
            await client.get("api", "dashboards"),
            await client.relayed(announced, "plots.json", params={"token": "browser-secret"}),
            await client.relayed(announced, "nothing"),
        ]
        with pytest.raises(HTTPStreamClosedError):
            await client.relayed(announced, "broken")
        async with client.events() as events:
            await events.until(bool)
    texts = [*(a.body.decode() + str(a.headers) for a in answers), json.dumps(events.messages)]
    assert str(announced.port) not in "".join(texts), "not its address either"
    for text in (*texts, caplog.text):
        assert announced.token not in text
        assert "browser-secret" not in text


class Recorder(Authorizer):
    """Allows nothing but what a test has set, and remembers what was asked."""

    allowed: ClassVar[set[str]] = set()
    asked: ClassVar[list[tuple[str, str]]] = []

    def is_authorized(
        self, handler: JupyterHandler, user: User, action: str, resource: str
    ) -> bool:
        self.asked.append((action, resource))
        return action in self.allowed


class TestAuthorizer:
    """With an authorizer that knows only some actions."""

    @pytest.fixture
    def jp_server_config(self) -> dict[str, object]:
        Recorder.allowed, Recorder.asked = set(), []
        return {
            "ServerApp": {
                "jpserver_extensions": {"dask_diag_lab.proxy": True},
                "authorizer_class": Recorder,
            },
            "DaskDiagLab": {"discover": False},
        }

    async def test_each_verb_asks_for_its_action(self, client: Client, announced: Backend) -> None:
        expected = []
        for action, method, place in [
            ("read", "GET", "api/dashboards"),
            ("write", "POST", "api/dashboards"),
            ("write", "DELETE", "api/dashboards/x"),
            ("execute", "POST", "api/recordings"),
            ("execute", "GET", f"dashboards/{announced.id}/health"),
            ("execute", "HEAD", f"dashboards/{announced.id}/health"),
            ("read", "WS", "api/events"),
            ("execute", "WS", f"dashboards/{announced.id}/stream"),
        ]:
            if method == "WS":
                assert await client.refused_socket(place) == 403
            else:
                body = "{}" if method == "POST" else None
                assert (await client.get(place, method=method, body=body)).code == 403
            expected.append((action, "dask-diag-lab"))
        assert Recorder.asked == expected
        Recorder.allowed = {"read"}
        assert len(await client.dashboards()) == 1
        assert (await client.relayed(announced, "health")).code == 403


@pytest.mark.parametrize("settings", [{"relay": False, "discover": False}])
class TestSwitchedOff:
    """With ``c.DaskDiagLab.relay = False``."""

    async def test_list_stays_and_nothing_else(self, client: Client, announced: Backend) -> None:
        assert len(await client.dashboards()) == 1
        answer = await client.relayed(announced, "health")
        assert answer.code == 403
        assert "switched off" in message(answer)
        assert (await client.add("http://127.0.0.1:1")).code == 403
