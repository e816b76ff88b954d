"""Progress in a real kernel: bars move in their own cell's name while another cell runs."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

ROOT = Path(__file__).resolve().parents[3]
START = """
from distributed import Client, Event
client = Client(n_workers=1, threads_per_worker=1, processes={processes}, dashboard_address=":0")
def held(i):
    Event(f"go-{{i}}").wait(100)
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

Message = dict[str, Any]  # of Jupyter's protocol


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[BlockingKernelClient]:
    manager = KernelManager(kernel_name="python3")
    assert manager.kernel_spec is not None
    manager.kernel_spec.argv[0] = sys.executable
    environment = {"PYTHONPATH": str(ROOT), "JUPYTER_RUNTIME_DIR": str(tmp_path)}
    manager.start_kernel(env={**os.environ, **environment})
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel()
        manager.cleanup_resources()


def execute(kernel: BlockingKernelClient, code: str) -> str:
    """Have a cell run as editors of notebooks do, which name the cell; return its message's id."""
    content = {"code": code, "silent": False, "store_history": True}
    message = kernel.session.msg("execute_request", content, metadata={"cellId": "a"})
    kernel.shell_channel.send(message)
    return str(message["header"]["msg_id"])


def until_idle(kernel: BlockingKernelClient, cell: str) -> list[Message]:
    """Return all messages up to the end of a cell, of whatever parent."""
    messages: list[Message] = []
    while True:
        found = kernel.get_iopub_msg(timeout=60)
        if found["msg_type"] == "error":
            raise AssertionError("\n".join(found["content"]["traceback"]))
        is_of_cell = found["parent_header"].get("msg_id") == cell
        if is_of_cell and found["content"].get("execution_state") == "idle":
            return messages
        messages.append(found)


def values(messages: list[Message]) -> list[int]:
    """Return the per cent of each state of the one bar."""
    states = (m["content"]["data"].get("state", {}) for m in messages)
    found = (state.get("value") for state in states)
    return [round(100 * value) for value in found if isinstance(value, float)]


@pytest.mark.parametrize("processes", [True, False], ids=["processes", "threads"])
def test_bars_move_while_a_cell_runs(kernel: BlockingKernelClient, processes: bool) -> None:
    until_idle(kernel, execute(kernel, START.format(processes=processes)))
    began = time.monotonic()
    shown = execute(kernel, SHOW)
    first = until_idle(kernel, shown)
    assert time.monotonic() - began < 60  # and the first task is held for longer
    (shown_as,) = (m["content"] for m in first if m["msg_type"] == "display_data")
    assert "application/vnd.jupyter.widget-view+json" in shown_as["data"]
    assert shown_as["data"]["text/plain"].startswith("<Progress of")
    cell = execute(kernel, BLOCK)
    messages = until_idle(kernel, cell)
    updates = [m for m in messages if m["msg_type"] in {"comm_msg", "comm_open"}]
    assert {m["parent_header"]["msg_id"] for m in updates} == {shown}
    moves = values([m for m in first if m["msg_type"] == "comm_msg"]) + values(updates)
    assert moves == sorted(moves)
    assert {25, 50, 75, 100} <= set(moves)
    last = [m for m in updates if "Finished" in str(m["content"]["data"])]
    assert last
    (saved,) = (m["content"] for m in messages if m["msg_type"] == "update_display_data")
    assert saved["transient"] == shown_as["transient"]  # the display's id
    assert saved["data"]["text/plain"].startswith("<Finished: 4 of 4 tasks")
    assert saved["data"].keys() == shown_as["data"].keys()
    assert not [m for m in messages if m["msg_type"] == "stream"]
    until_idle(kernel, execute(kernel, "client.close()"))
