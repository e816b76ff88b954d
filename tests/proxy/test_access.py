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
from tornado.httpclient import HTTPClientError

from dask_diag_lab.proxy.extension import ROUTES, DaskDiagLab
from dask_diag_lab.proxy.sockets import SocketHandler
from tests.proxy.backends import Backend
from tests.proxy.client import Client

PLACES = {
    "DashboardsHandler": ["api/dashboards"],
    "DashboardHandler": ["api/dashboards/stock-1"],
    "EventsHandler": ["api/events"],
    "RelayHandler": ["dashboards/{id}/health", "dashboards/{id}/plots/x/session"],
    "RelaySocket": ["dashboards/{id}/plots/x/ws"],
    "FrameHandler": ["frames/somekey/status"],
    "FrameSocket": ["frames/somekey/individual-x/ws"],
}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
ANONYMOUS = {"Authorization": ""}


def test_every_route_is_in_the_table_of_these_tests() -> None:
    assert {handler.__name__ for _, handler in ROUTES} == set(PLACES)


@pytest.mark.parametrize("name", sorted(PLACES))
async def test_nobody_gets_in_without_a_login(name: str, client: Client, backend: Backend) -> None:
    backend.announce()
    for place, method, accept in product(PLACES[name], METHODS, ("*/*", "text/html")):
        answer = await client.get(
            place.format(id=backend.id),
            method=method,
            headers={**ANONYMOUS, "Accept": accept},
            body="" if method in ("POST", "PUT", "PATCH") else None,
            allow_nonstandard_methods=True,
        )
        is_login_page = answer.code == 302 and "/login?next=" in answer.headers["Location"]
        assert answer.code in (403, 405) or (is_login_page and accept == "text/html")
    assert (await client.control(backend))["asked"] == 1


@pytest.mark.parametrize("name", [h.__name__ for _, h in ROUTES if issubclass(h, SocketHandler)])
async def test_no_socket_opens_without_a_login(name: str, client: Client, backend: Backend) -> None:
    backend.announce()
    for place in PLACES[name]:
        with pytest.raises(HTTPClientError) as error:
            async with client.socket(place.format(id=backend.id), headers=dict(ANONYMOUS)):
                pass
        assert error.value.code == 403
    assert (await client.control(backend))["asked"] == 1


async def test_cookie_login_reads_but_does_not_write_without_xsrf(
    client: Client, backend: Backend
) -> None:
    backend.announce()
    login = client.cookie_login()
    assert (await client.get("api", "dashboards", headers=dict(login))).code == 200
    assert (await client.relayed(backend, "health", headers=dict(login))).code == 200
    for parts, method in [
        (("api", "dashboards"), "POST"),
        (("api", "dashboards", "x"), "DELETE"),
        (("dashboards", backend.id, "plots/x/session"), "POST"),
    ]:
        answer = await client.get(
            *parts,
            method=method,
            headers=dict(login),
            body='{"url": "http://127.0.0.1:1"}' if method == "POST" else None,
        )
        assert answer.code == 403, parts


async def test_cookie_login_writes_with_xsrf(client: Client, backend: Backend) -> None:
    backend.announce()
    login = client.cookie_login()
    page = await client.relayed(backend, "status", headers={**login, "Accept": "text/html"})
    (cookie,) = [c for c in page.headers.get_list("Set-Cookie") if c.startswith("_xsrf=")]
    xsrf = cookie.partition(";")[0]
    headers = {
        **login,
        "Cookie": f"{login['Cookie']}; {xsrf}",
        "X-XSRFToken": xsrf.removeprefix("_xsrf="),
    }
    answer = await client.post(
        "dashboards", backend.id, "plots/x/session", headers=headers, body="{}"
    )
    assert answer.code == 200


async def test_page_of_another_origin_cannot_ask(client: Client, backend: Backend) -> None:
    backend.announce()
    headers = {**client.cookie_login(), "Origin": "http://evil.example"}
    for parts in [("api", "dashboards"), ("dashboards", backend.id, "health")]:
        assert (await client.get(*parts, headers=dict(headers))).code == 404
    for place in ("api/events", f"dashboards/{backend.id}/plots/x/ws"):
        with pytest.raises(HTTPClientError) as error:
            async with client.socket(place, headers=dict(headers)):
                pass
        assert error.value.code in (403, 404)


def last_activity(app: ServerApp) -> object:
    return app.web_app.last_activity()  # type: ignore[no-untyped-call]  # Jupyter's own


async def test_nothing_counts_as_activity(
    client: Client, backend: Backend, jp_serverapp: ServerApp
) -> None:
    backend.announce()
    before = last_activity(jp_serverapp)
    await client.dashboards()
    await client.relayed(backend, "health")
    await client.post("dashboards", backend.id, "plots/x/session", body="{}")
    await client.post("api", "dashboards", body="{}")
    async with client.socket("api", "events") as events:
        await events.read_message()
    async with client.socket("dashboards", backend.id, "plots/x/ws") as socket:
        await socket.write_message("x")
        await socket.read_message()
    assert last_activity(jp_serverapp) == before


async def test_no_answer_holds_the_token(client: Client, backend: Backend) -> None:
    backend.announce()
    answers = [
        await client.get("api", "dashboards"),
        await client.relayed(backend, "plots.json"),
        await client.relayed(backend, "nothing"),
    ]
    async with client.socket("api", "events") as events:
        pushed = str(await events.read_message())
    for text in [*(a.body.decode() + str(a.headers) for a in answers), pushed]:
        assert backend.token not in text
        assert str(backend.port) not in text, "not its address either"


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
            }
        }

    async def test_each_verb_asks_for_its_action(self, client: Client, backend: Backend) -> None:
        backend.announce()
        expected = []
        for action, method, place in [
            ("read", "GET", "api/dashboards"),
            ("write", "POST", "api/dashboards"),
            ("write", "DELETE", "api/dashboards/x"),
            ("execute", "GET", f"dashboards/{backend.id}/health"),
            ("execute", "HEAD", f"dashboards/{backend.id}/health"),
            ("execute", "POST", f"dashboards/{backend.id}/plots/x/session"),
        ]:
            body = "{}" if method == "POST" else None
            answer = await client.get(place, method=method, body=body)
            assert answer.code == 403
            expected.append((action, "dask-diag-lab"))
        for action, place in [
            ("read", "api/events"),
            ("execute", f"dashboards/{backend.id}/plots/x/ws"),
        ]:
            with pytest.raises(HTTPClientError) as error:
                async with client.socket(place):
                    pass
            assert error.value.code == 403
            expected.append((action, "dask-diag-lab"))
        assert Recorder.asked == expected

    async def test_reader_sees_the_list_and_opens_nothing(
        self, client: Client, backend: Backend
    ) -> None:
        backend.announce()
        Recorder.allowed = {"read"}
        assert len(await client.dashboards()) == 1
        assert (await client.relayed(backend, "health")).code == 403


class TestOtherBaseUrl:
    """Below another prefix, as behind a hub."""

    @pytest.fixture
    def jp_base_url(self) -> str:
        return "/user/me@example.org/named server/".replace(" ", "%20")

    async def test_relay_works(
        self, client: Client, backend: Backend, extension: DaskDiagLab
    ) -> None:
        backend.announce()
        place = f"{client.base_url}dask-diag-lab/dashboards/{backend.id}"
        answer = await client.raw(f"{place}/seen/a%20b?x=1")
        assert json.loads(answer.body)["uri"] == "/seen/a%20b?x=1"
        moved = await client.raw(f"{place}/redirect?to=/status")
        assert moved.headers["Location"] == f"{place}/status"
