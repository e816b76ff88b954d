"""Progress in a real kernel: bars move in their own cell's name while another cell runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kernel.notebook.kernels import Kernel, Message, running_kernel

START = """
from distributed import Client, Event
client = Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0")
def held(i):
    Event(f"go-{i}").wait(100)
    return i
futures = client.map(held, range(4))
import dask_diag_lab
"""
SHOW = 'bars = dask_diag_lab.progress(futures, interval="50ms")\nbars'
BLOCK = """
import threading, time
def until(is_met):
    deadline = time.monotonic() + 40
    while not is_met():
        assert time.monotonic() < deadline, "never"
        time.sleep(0.05)
for i in range(4):
    Event(f"go-{i}").set()
    until(lambda: bars.report.all.done == i + 1)
until(lambda: all(t.name != "dask-diag-lab-progress" for t in threading.enumerate()))
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    with running_kernel(tmp_path / "runtime") as made:
        yield made


def execute(kernel: Kernel, code: str) -> str:
    """Have a cell run as editors of notebooks do, which name the cell; return its message's id."""
    content = {"code": code, "silent": False, "store_history": True}
    client = kernel.client
    message = client.session.msg("execute_request", content, metadata={"cellId": "a"})
    client.shell_channel.send(message)
    return str(message["header"]["msg_id"])


def comms(messages: list[Message]) -> list[Message]:
    return [m for m in messages if m["msg_type"] in {"comm_msg", "comm_open"}]


def values(messages: list[Message]) -> list[int]:
    """Return the per cent of each state of the one bar."""
    states = (m["content"]["data"].get("state", {}) for m in messages)
    found = (state.get("value") for state in states)
    return [round(100 * value) for value in found if isinstance(value, float)]


def test_bars_move_while_a_cell_runs(kernel: Kernel) -> None:
    kernel.messages_until_idle(execute(kernel, START))
    shown = execute(kernel, SHOW)
    first = kernel.messages_until_idle(shown)
    (shown_as,) = (m["content"] for m in first if m["msg_type"] == "display_data")
    assert "application/vnd.jupyter.widget-view+json" in shown_as["data"]
    assert shown_as["data"]["text/plain"].startswith("<Progress of")
    cell = execute(kernel, BLOCK)
    messages = kernel.messages_until_idle(cell)
    # Those of the dashboard come in no cell's name.
    updates = [m for m in comms(messages) if not m["content"]["comm_id"].startswith("dask-diag")]
    assert {m["parent_header"]["msg_id"] for m in updates} == {shown}
    moves = values(comms(first)) + values(updates)
    assert moves == sorted(moves)
    assert {25, 50, 75, 100} <= set(moves)
    last = [m for m in updates if "Finished" in str(m["content"]["data"])]
    assert last
    (saved,) = (m["content"] for m in messages if m["msg_type"] == "update_display_data")
    assert saved["transient"] == shown_as["transient"]  # the display's id
    assert saved["data"]["text/plain"].startswith("<Finished: 4 of 4 tasks")
    assert saved["data"].keys() == shown_as["data"].keys()
    assert not [m for m in messages if m["msg_type"] == "stream"]
    kernel.run("client.close()")
