"""A real Jupyter kernel: ``Client()`` alone is enough, and a busy cell is no bar."""

from __future__ import annotations

import ast
import base64
import gzip
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dask_diag_lab.server.announce import session_name
from tests.kernel.dashboards import answer_at
from tests.kernel.notebook.kernels import Kernel, running_kernel
from tests.kernel.server.browser import messages_in
from tests.kernel.serving import records_in, wait_until
from tests.kernel.session.small_clusters import saved_runs

FOUND = """
from dask_diag_lab.server import channel
channel.FOUND_S = 0  # so long a Jupyter server may take to find a dashboard
"""
CELL = """
from distributed import Client
client = Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0")
import os, time
while not os.path.exists({flag!r}):
    time.sleep(0.05)
"""


@pytest.fixture(scope="module")
def runtime_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernel") / "runtime"


@pytest.fixture(scope="module")
def kernel(runtime_dir: Path) -> Iterator[Kernel]:
    with running_kernel(runtime_dir) as made:
        made.run(FOUND)
        yield made


@pytest.fixture
def flag(tmp_path: Path) -> Path:
    """The file that lets `CELL` end."""
    return tmp_path / "go"


def state_of(record: dict[str, Any]) -> str:
    return str(answer_at(record["url"], record["token"], "/health")["state"])


def our_records(folder: Path) -> list[Path]:
    return [path for path in records_in(folder) if path.name.startswith("dask-diag-lab-")]


def live_record(folder: Path) -> dict[str, Any]:
    """Return the content of the one record, once its cluster is live."""
    wait_until(lambda: our_records(folder), "no record")
    (path,) = our_records(folder)
    assert path.stat().st_mode & 0o777 == 0o600
    record: dict[str, Any] = json.loads(path.read_text())
    wait_until(lambda: state_of(record) == "live", "never live")
    return record


def test_a_client_announces_itself_while_its_cell_runs(
    kernel: Kernel, runtime_dir: Path, flag: Path
) -> None:
    code = CELL.format(flag=str(flag))
    content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False}
    request = kernel.client.session.msg("execute_request", content, metadata={"cellId": "a"})
    kernel.client.shell_channel.send(request)
    cell = request["header"]["msg_id"]
    record = live_record(runtime_dir)
    assert record["cell"] == ["a", cell]
    kernel_id = Path(kernel.manager.connection_file).stem.removeprefix("kernel-")
    assert (record["kernel_id"], record["name"]) == (kernel_id, "analysis.ipynb")
    flag.touch()
    assert kernel.outputs_until_idle(cell) == []
    end = "import dask_diag_lab; dask_diag_lab.attach().close(); client.close()"
    assert kernel.run(end) == []
    assert our_records(runtime_dir) == []


def test_what_cells_compute_are_runs_of_their_names_the_first_one_also(
    kernel: Kernel, flag: Path
) -> None:
    flag.touch()
    code = f"{CELL.format(flag=str(flag))}\nfuture = client.submit(abs, -1); future.result()"
    for number, cell in enumerate((code, "import time\nclient.submit(abs, -2).result()", "1 + 1")):
        content = {"code": cell, "silent": False, "store_history": True, "allow_stdin": False}
        metadata = {"cellId": f"cell-{number}"}
        request = kernel.client.session.msg("execute_request", content, metadata=metadata)
        kernel.client.shell_channel.send(request)
        kernel.outputs_until_idle(request["header"]["msg_id"])
    shown = kernel.value(
        "import dask_diag_lab; [(r.name, r.cell, r.state) for r in dask_diag_lab.runs()]"
    )
    first = "future = client.submit(abs, -1); future.result()"
    second = "client.submit(abs, -2).result()"
    assert ast.literal_eval(shown) == [(first, "cell-0", "done"), (second, "cell-1", "done")]
    kernel.run("dask_diag_lab.attach().close(); client.close()")


def test_a_cell_that_has_two_clusters_compute_is_a_run_of_each(kernel: Kernel, flag: Path) -> None:
    flag.touch()
    for name in ("one", "two"):
        kernel.run(CELL.format(flag=str(flag)).replace("client =", f"{name} ="))
    kernel.run("one.submit(abs, -3).result()\ntwo.submit(time.sleep, 1).result()")
    kernel.run("import dask_diag_lab as d; (second,), (first,) = d.runs(two), d.runs(one)")
    assert kernel.value("first.name == second.name") == "True"
    assert kernel.value("first.stop < second.stop - 0.5") == "True"
    kernel.run("one.close(); two.close()")


def test_the_magic_shows_a_run_below_its_cell_and_checks_it(kernel: Kernel, flag: Path) -> None:
    flag.touch()
    kernel.run(CELL.format(flag=str(flag)))
    magic = '%%dask_diag "my sum" --check "duration<0.0001s"\nclient.submit(abs, -5).result()'
    result, shown, error = kernel.run(magic)
    assert result["data"]["text/plain"] == "5"
    assert "my sum: " in shown["data"]["text/html"]
    assert "my sum: duration is" in error["evalue"]
    for line, named in (
        ("one two", "two"),
        ('--check "foo<3%"', "foo<3%"),
        ("--chek idle", "--chek"),
        ('"a', "quot"),
    ):
        (refused,) = kernel.run(f"%%dask_diag {line}\nprint('it ran')")
        assert refused["text"].startswith("UsageError: ")
        assert named in refused["text"]
    (failed,) = [one for one in kernel.run("%%dask_diag\n1 / 0") if "ename" in one or "name" in one]
    assert "ZeroDivisionError" in str(failed)
    kernel.run("%%dask_diag\nx = client.submit(abs, -7).result()")
    kernel.run("%%capture\nclient.submit(abs, -9).result()")  # runs its cell once more
    listed = kernel.value("import dask_diag_lab; [r.name for r in dask_diag_lab.runs()]")
    names = ast.literal_eval(listed)
    calls = ["x = client.submit(abs, -7).result()", "client.submit(abs, -9).result()"]
    assert names == ["my sum", *calls]
    kernel.run("dask_diag_lab.attach().close(); client.close()")


def test_auto_attach_can_be_switched_off(kernel: Kernel, runtime_dir: Path, flag: Path) -> None:
    flag.touch()
    kernel.run('import dask; dask.config.set({"diag-lab.auto-attach": False})')
    assert kernel.run(CELL.format(flag=str(flag))) == []
    kernel.run('dask.config.set({"diag-lab.auto-attach": True})')
    threads = "import threading; [t.name for t in threading.enumerate() if 'diag' in t.name]"
    assert kernel.value(threads) == "[]"
    assert our_records(runtime_dir) == []
    assert kernel.value("import dask_diag_lab; dask_diag_lab.attach().url[:4]") == "'http'"
    assert len(our_records(runtime_dir)) == 1
    kernel.run("dask_diag_lab.attach().close(); client.close()")
    assert our_records(runtime_dir) == []


@pytest.mark.parametrize(
    ("path", "kernel_id", "name"),
    [
        ("/home/me/analysis.ipynb", None, "analysis.ipynb"),
        ("C:\\work\\analysis.ipynb", None, "analysis.ipynb"),
        ("notes/ä b.ipynb", None, "ä b.ipynb"),
        ("", "0b8f3c52-7d0e", "kernel 0b8f3c52"),
        pytest.param("", None, f"python {os.getpid()}", id="python"),
    ],
)
def test_a_dashboard_is_called_after_its_notebook(
    path: str, kernel_id: str | None, name: str
) -> None:
    assert session_name({"JPY_SESSION_NAME": path}, kernel_id) == name


class Page:
    """A page that has only the kernel's messages."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self.dashboards: dict[str, dict[str, Any]] = {}
        self.received: dict[str, list[tuple[str, bytes]]] = {}

    def send(self, **field: object) -> None:
        content = {"target_name": "dask-diag-lab", "dask-diag-lab": field}
        client = self._kernel.client
        client.control_channel.send(client.session.msg("comm_info_request", content))

    def until(self, condition: Callable[[], object], timeout_s: float = 60) -> None:
        """Read messages until a condition is met."""
        deadline = time.monotonic() + timeout_s
        while not condition():
            message = self._kernel.client.get_iopub_msg(timeout=deadline - time.monotonic())
            if message["msg_type"] == "comm_msg":
                assert message["parent_header"] == {}, "it would be output of the cell"
                self._take(message["content"]["data"])

    def _take(self, data: dict[str, Any]) -> None:
        for one in data.get("changed", []):
            self.dashboards[one["id"]] = {**self.dashboards.get(one["id"], {}), **one}
        for one in data.get("removed", []):
            self.dashboards.pop(one, None)
        if part := data.get("part"):
            packed = base64.b64decode(data["payload"])
            chunk = gzip.decompress(packed) if data["gzip"] else packed
            known = self.received.setdefault(part["id"], [])
            is_new = not known or not known[-1][0].endswith("+")
            known[-1:] = [*known[-1:], ("", b"")] if is_new else known[-1:]
            kind = f"{part['kind']}{'+' if part['more'] else ''}"
            known[-1] = (kind, known[-1][1] + chunk)

    def answer(self, name: str, path: str) -> bytes:
        """Return what the kernel's server answers."""
        self.send(do="fetch", id=name, path=path)
        self.until(lambda: [kind for kind, _ in self.received.get(name, []) if kind[-1] != "+"])
        return self.received[name][-1][1]


def test_plots_pass_the_kernels_own_messages_while_a_cell_runs(kernel: Kernel, flag: Path) -> None:
    cell = kernel.client.execute(CELL.format(flag=str(flag)))
    page = Page(kernel)
    page.until(lambda: any(one.get("plots") for one in page.dashboards.values()))
    (dashboard,) = page.dashboards.values()
    assert dashboard["state"] == "live"
    page.answer("loaded", "individual-plots.json")  # there once Bokeh is loaded
    library = page.answer("a", "static/js/bokeh.min.js")
    assert len(library) > 1_000_000
    assert page.answer("b", "recording.daskrun?run=1").startswith(b"PK")
    assert json.loads(page.answer("f", "runs.json?brief=1")) == {"runs": []}
    page.send(do="open", id="c")
    page.send(do="send", id="c", data='{"type": "open", "id": "1", "plot": "progress"}')
    page.until(lambda: page.received.get("c", [("+", b"")])[0][0] == "frame")
    ((message, _),) = messages_in(page.received["c"][0][1])
    assert (message["type"], message["id"]) == ("document", "1")
    page.send(do="close", ids=["c"])
    page.send(do="fetch", id="d", path="../../etc/passwd")
    page.send(do="open", id="e")
    page.send(do="send", id="e", data="nonsense")
    page.until(lambda: len(page.received.keys() & {"d", "e"}) == 2)
    assert [page.received[one][0][0] for one in "de"] == ["closed", "closed"]
    page.send(do="keep", ids=["e"])  # is not held any more
    page.until(lambda: len(page.received["e"]) == 2)
    page.dashboards.clear()
    page.send(do="ask")
    page.until(lambda: page.dashboards)
    flag.touch()
    assert kernel.outputs_until_idle(cell) == []
    kernel.client.execute("import dask_diag_lab; dask_diag_lab.attach().close(); client.close()")
    page.until(lambda: not page.dashboards)


def test_a_history_outlives_its_client_and_goes_with_the_kernel(
    kernel: Kernel, runtime_dir: Path, flag: Path
) -> None:
    flag.touch()
    kernel.run(CELL.format(flag=str(flag)))
    record = live_record(runtime_dir)
    assert kernel.run("cluster = client.cluster; client.close(); cluster.close()") == []
    wait_until(lambda: state_of(record) == "closed", "the end is not said")
    kernel.stop()
    wait_until(lambda: not our_records(runtime_dir), "the record outlives the kernel")


def test_a_run_is_saved_though_the_kernel_ends_before_its_cluster(tmp_path: Path) -> None:
    """With workers in processes Jupyter kills it before it comes to what is done at exit."""
    with running_kernel(tmp_path / "runtime") as kernel:
        kernel.run(f"""
import dask, dask_diag_lab
from distributed import Client
dask.config.set({{"diag-lab.record-runs": {str(tmp_path)!r}}})
client = Client(n_workers=1, threads_per_worker=1, dashboard_address=":0")
dask_diag_lab.runs()  # once it is followed
""")
        kernel.run("client.gather(client.map(abs, range(20)))")
    assert saved_runs(tmp_path) == [("[2] client.gather(client.map(abs, range(20)))", "done", 20)]
