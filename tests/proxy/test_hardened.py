"""A container in which nobody may know who listens: our own dashboards do not depend on it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

import pytest

from tests.proxy.backends import Backend, StockScheduler
from tests.proxy.client import Client, message

pytestmark = pytest.mark.parametrize("settings", [{"discover": True}])

TABLE = re.compile(r"/proc/.*net/tcp6?")
IS_HARDENED = [False]  # an audit hook stays for the life of the process


def refuse(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse to open the table of connections, as a mandatory access control does."""
    if IS_HARDENED[0] and event == "open" and TABLE.fullmatch(str(arguments[0])):
        raise PermissionError(13, "Permission denied", str(arguments[0]))


@pytest.fixture(autouse=True)
def hardened() -> Iterator[None]:
    sys.addaudithook(refuse)
    IS_HARDENED[0] = True
    yield
    IS_HARDENED[0] = False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="others have no such table")
async def test_ours_are_listed_and_live_and_the_log_says_once_what_is_off(
    client: Client, announced: Backend, stock: StockScheduler, caplog: pytest.LogCaptureFixture
) -> None:
    def is_live(found: list[dict[str, object]]) -> bool:
        return [(one["id"], one["state"]) for one in found] == [(announced.id, "live")]

    await client.until(is_live)
    async with client.events() as events:
        await events.until(is_live)
    assert is_live(await client.dashboards())
    lines = [one.getMessage() for one in caplog.records if "not looked for" in one.getMessage()]
    assert len(lines) == 1
    assert "Permission denied" in lines[0]
    refused = await client.add(f"127.0.0.1:{stock.port}")
    assert (refused.code, "cannot be told" in message(refused)) == (502, True)
