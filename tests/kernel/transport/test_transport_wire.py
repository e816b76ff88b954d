"""Whatever a collector's answer holds: it is taken over as a batch, or an error says why not."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dask_diag_lab.collector.actions import ActionRecorder
from dask_diag_lab.collector.wire import Strings
from dask_diag_lab.schema.columns import WireError
from dask_diag_lab.schema.tables import TABLES, THRESHOLDS
from dask_diag_lab.store import LiveSession
from dask_diag_lab.transport.decode import Decoder
from dask_diag_lab.transport.link import unpacked
from tests.kernel.schema.test_schema_columns import sample_rows

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=8)
    | st.binary(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)
"""What msgpack can say."""


def answer() -> dict[str, Any]:
    """Return a whole answer to a pull, with rows in every table."""
    strings = Strings()
    log = ActionRecorder(strings)
    action = {"action": "compute", "start": 1.0, "stop": 2.0}
    for number in range(3):
        message = {"startstops": [action], "thread": 7, "nbytes": 8, "metadata": {"a": 1}}
        log.add(f"inc-{number}", "inc", "tcp://a:1", 0, message)
    actions, to = log.since(0, 0)
    sent = {"dropped": 0, "removed": (), "is_full": False}
    rows = {name: sample_rows(table) for name, table in TABLES.items() if name != "actions"}
    for some in rows.values():  # that have names
        if some[0][0] == "ä":
            some[:] = [(f"{number}", *row[1:]) for number, row in enumerate(some)]
    for name in ("running", "node-states"):  # numbers of strings, of states
        rows[name] = [tuple(min(c, 3) if type(c) is int else c for c in row) for row in rows[name]]
    scheduler = {"id": "s", "address": "tcp://s:1", "n_erred": 0}
    scheduler |= {"n_workers": 1, "nthreads": 1, "thresholds": dict.fromkeys(THRESHOLDS, 0.5)}
    return {
        **actions,
        "epoch": "e",
        "time": 3.0,
        "began": 0.0,
        "scheduler": scheduler,
        "graph": {"total": 3, "limit": 9, "is_exact": True},
        "left_out": {"names": 0},
        "tables": {name: {"rows": some, **sent} for name, some in rows.items()},
        "strings_from": 0,
        "strings": strings.texts,
        "cursors": {"actions": to},
        "failed": {"clients": "it changed"},
    }


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to each part of an answer."""
    inner: Any = value.items() if isinstance(value, dict) else ()
    inner = enumerate(value) if isinstance(value, (list, tuple)) else inner
    return [path, *(place for name, one in inner for place in places(one, (*path, name)))]


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Return an answer with another value at a place."""
    if not path:
        return new
    name, *rest = path
    if isinstance(value, dict):
        return value | {name: replaced(value[name], tuple(rest), new)}
    return [*value[:name], replaced(value[name], tuple(rest), new), *value[name + 1 :]]


PLACES = places(answer())[1:]


def taken(live: LiveSession, given_answer: Any) -> bool:
    """Whether an answer was taken over; if not, an error said why, and all is as before."""
    decoder = Decoder()
    try:
        batch = decoder.decode(given_answer)
    except WireError:
        return False
    before = (
        live.version,
        live.history.scheduler,
        live.history.actions.total,
        len(live.history.strings),
    )
    try:
        live.apply(batch)
    except ValueError:
        assert (
            live.version,
            live.history.scheduler,
            live.history.actions.total,
            len(live.history.strings),
        ) == before
        return False
    return True


def test_the_answer_of_these_tests_is_a_good_one() -> None:
    live = LiveSession()
    assert taken(live, answer())
    assert live.history.actions.total == 3
    assert (
        len(live.history.workers) == len(live.history.prefixes) == live.history.running.count == 3
    )


EXTREME: dict[type, st.SearchStrategy[Any]] = {
    int: st.sampled_from([-(2**63), -1, 0, 1, 2, 3, 5, 2**31, 2**32, 2**63 - 1, 2**64 - 1]),
    float: st.sampled_from([math.nan, math.inf, -math.inf, -1.0, 0.0, 1e300, -1e300, 5e-324]),
    str: st.text(max_size=3),
    bytes: st.binary(max_size=200),
}


@st.composite
def wrong(draw: st.DrawFn) -> list[tuple[tuple[Any, ...], Any]]:
    """Draw places of an answer, and other values there: of the same type, or of any."""
    found = []
    for place in draw(st.lists(st.sampled_from(PLACES), min_size=1, max_size=3)):
        part: Any = answer()
        for name in place:
            part = part[name]
        alike = EXTREME.get(type(part), PLAIN)
        found.append((place, draw(st.one_of(alike, alike, alike, PLAIN))))
    return found


@settings(max_examples=150, deadline=None)
@given(changes=st.lists(wrong(), min_size=1, max_size=2))
def test_an_answer_of_which_any_part_is_wrong_is_applied_or_refused_whole(changes: Any) -> None:
    live = LiveSession()
    for change in changes:
        given_answer = answer()
        for place, new in change:
            with suppress(LookupError, TypeError):  # what is gone by now
                given_answer = replaced(given_answer, place, new)
        taken(live, given_answer)
    assert taken(live, answer() | {"epoch": "next"})  # what came before does no harm
    assert len(live.history.workers) == 3


@settings(max_examples=100, deadline=None)
@given(value=PLAIN)
def test_what_is_no_answer_at_all_is_refused(value: Any) -> None:
    assert not taken(LiveSession(), value)


@settings(max_examples=100, deadline=None)
@given(data=st.binary(max_size=200))
def test_bytes_are_plain_data_or_an_error(data: bytes) -> None:
    with suppress(WireError):
        unpacked(data)


def test_a_number_of_items_that_nobody_sent_needs_no_memory() -> None:
    for header in (b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff"):
        with pytest.raises(WireError):
            unpacked(header)
