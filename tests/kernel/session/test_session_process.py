"""Whole processes: scripts, forks, exits, settings, and an environment without Bokeh."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import dask_diag_lab
from tests.kernel.serving import records_in

ROOT = Path(__file__).resolve().parents[3]
CONFIG = Path(str(dask_diag_lab.__file__)).parent / "dask_diag_lab.yaml"

CLUSTER = """
    import json, os, sys, threading, time, urllib.request, warnings
    from distributed import Client
    def small_client():
        return Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0")
    def records():
        folder = os.environ["JUPYTER_RUNTIME_DIR"]
        return sorted(os.listdir(folder)) if os.path.exists(folder) else []
    def until(condition):
        deadline = time.monotonic() + 30
        while not condition():
            assert time.monotonic() < deadline, "never"
            time.sleep(0.01)
    def threads():
        return [t.name for t in threading.enumerate() if t.name == "dask-diag-lab"]
"""

NO_BOKEH = """
    import sys
    from importlib import metadata
    class Missing:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] == "bokeh":
                raise ModuleNotFoundError("No module named 'bokeh'", name="bokeh")
    sys.meta_path.insert(0, Missing())
"""


def script(tmp_path: Path, *parts: str, config: Path | None = None, **env: str) -> Any:
    """Run a script in a fresh interpreter; return what it printed as JSON."""
    path = tmp_path / "script.py"
    path.write_text("\n".join(textwrap.dedent(part) for part in parts))
    (tmp_path / "config").mkdir(exist_ok=True)
    if config is not None:
        (tmp_path / "config" / config.name).write_text(config.read_text())
    done = subprocess.run(
        [sys.executable, str(path)],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"),
            "DASK_CONFIG": str(tmp_path / "config"),
            **env,
        },
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]) if done.stdout.strip() else None


def test_an_exit_without_closing_leaves_no_record(tmp_path: Path) -> None:
    seen = script(
        tmp_path,
        CLUSTER,
        """
        import dask_diag_lab
        client = small_client()
        dask_diag_lab.attach().url
        print(json.dumps(records()))
        """,
    )
    assert len(seen) == 1
    assert records_in(tmp_path / "runtime") == []


def test_a_forked_child_has_no_server_and_takes_nothing_away(tmp_path: Path) -> None:
    seen = script(
        tmp_path,
        CLUSTER,
        """
        import dask_diag_lab
        warnings.simplefilter("ignore")
        client = small_client()
        diagnostics = dask_diag_lab.attach()
        port = int(diagnostics.url.split("/status")[0].rpartition(":")[2])
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            diagnostics.close()
            answer = [threads(), len(records()), diagnostics.is_closed]
            os.write(write, json.dumps(answer).encode())
            os._exit(0)
        os.waitpid(child, 0)
        answer = json.loads(os.read(read, 1000))
        token = diagnostics.url.partition("token=")[2]
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/health", headers={"Authorization": f"token {token}"}
        )
        with urllib.request.urlopen(request, timeout=30) as reply:
            state = json.load(reply)["state"]
        print(json.dumps([answer, len(records()), state in ("live", "connecting")]))
        """,
    )
    assert seen == [[[], 1, True], 1, True]


def test_the_settings_file_merges_and_keeps_cells_quiet(tmp_path: Path) -> None:
    seen = script(
        tmp_path,
        """
        import json, logging
        import dask, distributed
        get = dask.config.get
        print(json.dumps([
            get("distributed.client.preload"),
            get("diag-lab"),
            get("distributed.scheduler.allowed-failures"),
            logging.getLogger("distributed.preloading").getEffectiveLevel(),
            logging.getLogger("distributed.scheduler").getEffectiveLevel(),
        ]))
        """,
        config=CONFIG,
    )
    preload, ours, other, level, scheduler_level = seen
    assert preload == ["dask_diag_lab.preload"]
    assert ours == {
        "auto-attach": True,
        "interval": "250ms",
        "idle-interval": "2s",
        "max-actions": 2_000_000,
    }
    assert other == 3
    assert level == 30
    assert scheduler_level < 30


def test_a_script_is_left_alone(tmp_path: Path) -> None:
    seen = script(
        tmp_path,
        CLUSTER,
        """
        client = small_client()
        print(json.dumps([threads(), "dask_diag_lab.session" in sys.modules, records()]))
        """,
        config=CONFIG,
    )
    assert seen == [[], False, []]


def test_without_bokeh_the_server_says_why_and_the_client_works(tmp_path: Path) -> None:
    seen = script(
        tmp_path,
        NO_BOKEH,
        CLUSTER,
        """
        import dask_diag_lab
        client = small_client()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            diagnostics = dask_diag_lab.attach()
        said = [str(w.message) for w in caught if issubclass(w.category, RuntimeWarning)]
        try:
            dask_diag_lab.plot("task-stream")
        except RuntimeError as error:
            plot = str(error)
        base, _, token = diagnostics.url.partition("/status?token=")
        def get(path):
            request = urllib.request.Request(
                base + path, headers={"Authorization": f"token {token}"}
            )
            try:
                with urllib.request.urlopen(request, timeout=30) as reply:
                    return reply.status, reply.read().decode()
            except urllib.error.HTTPError as error:
                return error.code, error.read().decode()
        until(lambda: json.loads(get("/health")[1])["workers"] == 1)
        print(json.dumps({
            "said": said,
            "plot": plot,
            "sum": client.submit(sum, [1, 2]).result(),
            "health": json.loads(get("/health")[1]),
            "plots": json.loads(get("/plots.json")[1]),
            "page": get("/plots/task-stream"),
            "status": get("/status"),
            "session": get("/plots/task-stream.json"),
        }))
        """,
    )
    assert seen["sum"] == 3
    for text in (*seen["said"], seen["plot"], seen["health"]["reason"], seen["page"][1]):
        assert "Bokeh" in text
        assert "pip install" in text
    assert len(seen["said"]) == 1
    assert seen["health"]["state"] == "degraded"
    assert seen["plots"] == {"plots": []}
    assert [seen[name][0] for name in ("page", "status", "session")] == [503, 503, 503]
    assert records_in(tmp_path / "runtime") == []
