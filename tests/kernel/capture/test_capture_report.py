"""A performance report: what ran in a block, in one file that needs nothing else."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import fsspec
import pytest
from dask.utils_test import inc
from distributed import Client, wait
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from dask_diag_lab import get_task_stream, performance_report
from tests.kernel.capture.saved import control, fact, plots, tabs
from tests.kernel.dashboards import attached_client

pytestmark = pytest.mark.usefixtures("runtime_dir")


def test_a_report_has_what_ran_the_plots_and_the_code_and_needs_no_network(
    client: Client, tmp_path: Path
) -> None:
    wait(client.map(abs, range(5), pure=False))
    path = tmp_path / "new" / "folder" / "report.html"
    with performance_report(str(path)):
        wait(client.map(inc, range(300), pure=False))
    page = path.read_text(encoding="utf-8")
    assert tabs(page)[:3] == ["Where the Time Goes", "Findings", "Summary"]
    assert fact(page, "Tasks") == "300"
    assert "wait(client.map(inc, range(300), pure=False))" in page  # this very code
    assert version("distributed") in page
    assert not re.search(r'(?:src|href)="(?!data:)', page)
    documents = plots(page)
    assert control(documents["task-stream"], "headline").endswith("2 threads")
    assert control(documents["progress"], "headline").startswith("300 tasks ended")
    assert "life" not in control(documents["task-stream"], "note")
    assert {control(one, "state") for one in documents.values()} == {"live"}
    assert {"progress", "compute-time-per-key", "profile", "transfers"} <= set(documents)
    assert len(page) < 3_000_000


def test_a_report_needs_no_runtime_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", "/dev/null/runtime")
    path = tmp_path / "report.html"
    with attached_client(1) as client, performance_report(str(path)):
        wait(client.map(inc, range(3), pure=False))
    assert fact(path.read_text(encoding="utf-8"), "Tasks") == "3"


def test_with_a_cdn_only_bokehjs_is_fetched(client: Client, tmp_path: Path) -> None:
    with performance_report(str(tmp_path / "cdn"), mode="cdn"):
        wait(client.submit(inc, 1))
    page = (tmp_path / "cdn").read_text(encoding="utf-8")
    fetched = re.findall(r'(?:src|href)="(?!data:)([^"]*)"', page)
    assert fetched[0] == f"https://cdn.bokeh.org/bokeh/release/bokeh-{version('bokeh')}.min.js"
    assert all(address.startswith("https://cdn.bokeh.org/") for address in fetched)
    assert "task-stream" in plots(page)


def test_reports_nest_and_each_has_its_own_block(client: Client, tmp_path: Path) -> None:
    with performance_report(str(tmp_path / "outer.html")):
        wait(client.map(abs, range(20), pure=False))
        with performance_report(str(tmp_path / "inner.html")):
            wait(client.map(inc, range(10), pure=False))
    outer, inner = ((tmp_path / f"{name}.html").read_text() for name in ("outer", "inner"))
    assert (fact(outer, "Tasks"), fact(inner, "Tasks")) == ("30", "10")


def test_what_cannot_be_written_is_said_before_the_block(client: Client, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for wrong in (tmp_path, tmp_path / "file" / "report.html"):
        with pytest.raises(OSError, match="cannot be written"), performance_report(str(wrong)):
            pytest.fail("the block began")
    in_no_folder = get_task_stream(client, "save", str(tmp_path / "none" / "stream.html"))
    with pytest.raises(OSError, match="cannot be written"), in_no_folder:
        pytest.fail("the block began")


def test_a_page_that_cannot_be_written_at_the_end_is_kept_elsewhere(
    client: Client, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    fails = pytest.raises(OSError, match="could not be written")
    with fails as raised, get_task_stream(client, "save", str(path)):
        path.mkdir()
    path.rmdir()
    mine = pytest.raises(KeyError, match="mine")
    warned = pytest.warns(RuntimeWarning, match="could not be written")
    with warned as said, mine, get_task_stream(client, "save", str(path)):
        path.mkdir()
        raise KeyError("mine")
    for message in (str(raised.value), str(said[0].message)):
        kept = Path(re.findall(r"See (.*)\.$", message)[0])
        assert "task-stream" in plots(kept.read_text(encoding="utf-8"))
        kept.unlink()


def test_the_calling_code_is_the_cell_of_a_notebook(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    source = (
        "%%time\nimport dask_diag_lab, distributed  # here we go\n"
        "with distributed.Client(n_workers=1, processes=False, dashboard_address=':0') as client:\n"
        f"    with dask_diag_lab.performance_report({str(path)!r}):\n"
        "        client.submit(abs, -1).result()\n"
        "    dask_diag_lab.attach(client).close()"
    )
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    try:
        shell.run_cell(source, store_history=True).raise_error()
    finally:
        InteractiveShell.clear_instance()
    assert "# here we go" in path.read_text(encoding="utf-8")


def test_without_a_client_there_is_no_report_but_after_it_closed_there_is(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"client"), performance_report():
        pass
    path = tmp_path / "report.html"
    with attached_client() as client, performance_report(str(path)):
        client.submit(inc, 1).result()
        client.close()
    assert "inc" in path.read_text(encoding="utf-8")


def test_a_report_goes_where_fsspec_writes(client: Client) -> None:
    with performance_report("memory://reports/one.html.gz"):
        wait(client.submit(inc, 1))
    with fsspec.open("memory://reports/one.html.gz", "rt", compression="gzip") as file:
        assert "Task Stream" in tabs(file.read())
