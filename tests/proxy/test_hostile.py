"""Whatever arrives, it is used or refused in words: properties, and one bad among good ones."""

from __future__ import annotations

import json
import logging
import math
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dask_diag_lab.proxy.client import Address, NotAllowedError
from dask_diag_lab.proxy.messages import (
    Health,
    MessageError,
    PlotList,
    check,
    check_record,
)
from dask_diag_lab.proxy.policy import read_address
from dask_diag_lab.proxy.records import MAX_TRIES, RecordDiscovery
from dask_diag_lab.proxy.relay import check_path, kept_query, relayed_location
from dask_diag_lab.proxy.stock import plots_of_index
from tests.proxy.backends import FIXTURES, Backend
from tests.proxy.client import Client

# A machine that is busy is no failure.
FEW = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
NUMBERS = st.integers(-(10**320), 10**320) | st.floats()
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
ROOT = "/user/x/dask-diag-lab/dashboards/abc/"
ODD = ("..", "%2e%2e", "%2E.", "%5c", "\\", "//", "%2f", "%00", "a", "?", "#", ";", "@", ":", "é")
PIECES = st.lists(st.sampled_from(ODD) | st.text(max_size=5), max_size=8)
FIXTURE = json.loads((FIXTURES / "runtime_record" / "valid.json").read_text())
HEALTH = json.loads((FIXTURES / "http" / "health.json").read_text())


@FEW
@given(st.sampled_from(sorted(FIXTURE)), JSON)
def test_a_record_is_checked_or_refused(field: str, value: object) -> None:
    try:
        record = check_record({**FIXTURE, field: value})
    except MessageError:
        return
    assert record[field] == value or field == "versions"  # type: ignore[literal-required]
    assert math.isfinite(record["started"])


@FEW
@given(st.sampled_from(sorted(HEALTH)), JSON)
def test_messages_are_checked_or_refused(field: str, value: object) -> None:
    for message, kind in (
        ({**HEALTH, field: value}, Health),
        ({"plots": [{"name": "a", "title": "", "group": "", "description": value}]}, PlotList),
        (value, PlotList),
    ):
        try:
            checked = check(message, kind)
        except MessageError:
            continue
        json.dumps(checked, allow_nan=False)
    plots_of_index(value)


@FEW
@given(st.sampled_from(("stock", "diagnostics")), st.sampled_from("/ "), PIECES)
def test_what_is_relayed_stays_below_its_root(kind: Any, joint: str, pieces: list[str]) -> None:
    path = joint.strip().join(pieces)
    try:
        check_path(kind, path)
    except NotAllowedError:
        return
    assert path.isascii()
    assert urlsplit(urljoin(f"http://h{ROOT}", f"./{unquote(path)}")).netloc == "h"
    assert ".." not in unquote(path).replace("\\", "/").split("/")


@FEW
@given(st.sampled_from("/ "), PIECES, st.sampled_from(("", "http://127.0.0.1:1/p/", "//", "/p/")))
def test_a_redirect_stays_below_its_root(joint: str, pieces: list[str], start: str) -> None:
    address = Address("http", "127.0.0.1", 1, "127.0.0.1", "/p")
    place = relayed_location(address, "/p/status", start + joint.strip().join(pieces), ROOT)
    if place is not None:
        assert place.startswith(ROOT)
        path = unquote(urlsplit(place).path).removeprefix(ROOT)
        assert not path.startswith("/")
        assert ".." not in path.replace("\\", "/").split("/")


@FEW
@given(st.lists(st.sampled_from(("token", "%74oken", "_xsrf", "a", "=", "&", ";", "+", "%26"))))
def test_no_right_of_the_browser_is_in_a_query(pieces: list[str]) -> None:
    for argument in kept_query("".join(pieces)).lstrip("?").replace(";", "&").split("&"):
        name = unquote(argument.partition("=")[0]).replace("+", " ").strip()
        assert name not in ("token", "_xsrf")


@FEW
@given(PIECES)
def test_an_address_is_read_or_refused(pieces: list[str]) -> None:
    try:
        place = read_address("http://h" + "".join(pieces))
    except NotAllowedError:
        return
    assert urlsplit(place.url).hostname == place.host
    assert read_address(place.url) == place


def test_junk_neither_hides_a_record_nor_slows_the_scan(
    announced: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    folder = announced.folder
    for i in range(100):  # each names a process that lives and does not listen there
        junk = {**FIXTURE, "id": f"{i:016x}", "pid": announced.pid, "url": "http://127.0.0.1:9"}
        junk["start_ticks"] = announced.start_ticks
        path = folder / f"dask-diag-lab-{i:016x}.json"
        path.write_text(json.dumps(junk) if i % 2 else "[" * 9000)
        path.chmod(0o600)
    announced.announce()  # the newest
    discovery = RecordDiscovery(folder, logging.getLogger("test.junk"))
    tried = 0
    while tried < 100:
        assert [one.record["id"] for one in discovery.scan()] == [announced.id]
        tried, before = len(caplog.records), tried
        assert tried - before <= MAX_TRIES


BAD = {
    "huge": b'{"started": 1%s}' % (b"0" * 309),
    "deep": b"[" * 20_000,
    "odd": b'{"workers": NaN, "since": Infinity, "state": 1e999}',
}


@pytest.mark.parametrize("body", BAD.values(), ids=BAD)
async def test_a_bad_answer_is_a_reason_and_touches_no_other(
    body: bytes, client: Client, announced: Backend
) -> None:
    with Backend(announced.folder) as other:
        other.announce()
        async with client.events() as events:
            await events.until(lambda found: [one["state"] for one in found] == ["live"] * 2)
            await client.control(other, raw=body.decode())
            found = await events.until(
                lambda found: any(one["state"] == "unreachable" for one in found)
            )
            states = {one["id"]: one["state"] for one in found}
            assert states == {announced.id: "live", other.id: "unreachable"}
            await client.control(announced, more_plots=1)
            await events.until(lambda found: max(len(one["plots"]) for one in found) == 4)
