"""Whole processes: scripts, forks, exits, settings, and an environment without Bokeh."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import dask
import pytest

import dask_diag_lab
from dask_diag_lab.composition import LIMITS, own_listen, setting
from tests.kernel.serving import records_in

ROOT = Path(__file__).resolve().parents[3]
CONFIG = Path(str(dask_diag_lab.__file__)).parent / "dask_diag_lab.yaml"

CLUSTER = """
    import json, os, sys, threading, time, urllib.request, warnings
    from distributed import Client
    client = Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0")
    def records():
        folder = os.environ["JUPYTER_RUNTIME_DIR"]
        return sorted(os.listdir(folder)) if os.path.exists(folder) else []
    def threads():
        return [t.name for t in threading.enumerate() if t.name == "dask-diag-lab"]
    def get(diagnostics, path):
        base, _, token = diagnostics.url.partition("/status?token=")
        request = urllib.request.Request(base + path, headers={"Authorization": f"token {token}"})
        try:
            with urllib.request.urlopen(request, timeout=30) as reply:
                return reply.status, reply.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
"""

NO_BOKEH = """
    import sys
    class Missing:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] == "bokeh":
                raise ModuleNotFoundError("No module named 'bokeh'", name="bokeh")
    sys.meta_path.insert(0, Missing())
"""


def script(tmp_path: Path, *parts: str, is_configured: bool = False) -> Any:
    """Run a script in a fresh interpreter; return what it printed as JSON."""
    path, config = tmp_path / "script.py", tmp_path / "config"
    path.write_text("\n".join(textwrap.dedent(part) for part in parts))
    config.mkdir()
    if is_configured:
        (config / CONFIG.name).write_text(CONFIG.read_text())
    folders = {"JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"), "DASK_CONFIG": str(config)}
    done = subprocess.run(
        [sys.executable, str(path)],
        env={**os.environ, "PYTHONPATH": str(ROOT), **folders},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert records_in(tmp_path / "runtime") == []  # though nobody closed anything
    return json.loads(done.stdout.splitlines()[-1])


def test_a_forked_child_has_no_server_and_takes_nothing_away(tmp_path: Path) -> None:
    seen = script(
        tmp_path,
        CLUSTER,
        """
        import dask_diag_lab
        warnings.simplefilter("ignore")
        diagnostics = dask_diag_lab.attach()
        diagnostics.url
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            diagnostics.close()
            answer = [threads(), len(records()), diagnostics.is_closed]
            os.write(write, json.dumps(answer).encode())
            sys.exit()
        os.waitpid(child, 0)
        answer = json.loads(os.read(read, 1000))
        state = json.loads(get(diagnostics, "/health")[1])["state"]
        print(json.dumps([answer, len(records()), state in ("live", "connecting")]))
        """,
    )
    assert seen == [[[], 1, True], 1, True]


def test_the_settings_file_merges_keeps_cells_quiet_and_leaves_a_script_alone(
    tmp_path: Path,
) -> None:
    config, *levels, traces = script(
        tmp_path,
        CLUSTER,
        """
        import dask, logging
        names = ("distributed.preloading", "distributed.scheduler")
        levels = [logging.getLogger(name).getEffectiveLevel() for name in names]
        traces = [threads(), "dask_diag_lab.session" in sys.modules, records()]
        print(json.dumps([dask.config.config, *levels, traces]))
        """,
        is_configured=True,
    )
    assert traces == [[], False, []]
    assert config["distributed"]["client"]["preload"] == ["dask_diag_lab.preload"]
    assert config["distributed"]["scheduler"]["allowed-failures"] == 3
    intervals = {"interval": "250ms", "idle-interval": "2s"}
    listen = {"host": "127.0.0.1", "port": 0}
    known = {"auto-attach": True, "max-actions": 2_000_000, **intervals, **listen}
    known |= {"record-runs": None, "recorded-runs": 20, "recorded-size": "1 GB"}
    assert config["diag-lab"] == known
    assert levels[0] == 30 > levels[1]


def test_a_run_is_saved_also_where_the_interpreter_exits_at_once(tmp_path: Path) -> None:
    script(
        tmp_path,
        CLUSTER,
        """
        import dask, dask_diag_lab
        dask.config.set({"diag-lab.record-runs": os.path.dirname(__file__)})
        diagnostics = dask_diag_lab.attach()
        while json.loads(get(diagnostics, "/health")[1])["workers"] != 1:
            time.sleep(0.01)
        print(json.dumps(client.gather(client.map(abs, range(50)))))
        """,
    )
    assert [file.name[-11:] for file in tmp_path.glob("run *")] == ["abs.daskrun"]


def test_without_bokeh_the_server_says_why_and_the_client_works(tmp_path: Path) -> None:
    seen = script(
        tmp_path,
        NO_BOKEH,
        CLUSTER,
        """
        import dask_diag_lab
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            diagnostics = dask_diag_lab.attach()
        warned = [str(w.message) for w in caught if issubclass(w.category, RuntimeWarning)]
        try:
            dask_diag_lab.plot("task-stream")
        except RuntimeError as error:
            plot = str(error)
        while json.loads(get(diagnostics, "/health")[1])["workers"] != 1:
            time.sleep(0.01)
        answers = {
            path: get(diagnostics, path)
            for path in ("/plots/task-stream", "/status", "/plots/task-stream.json", "/plots.json")
        }
        health = json.loads(get(diagnostics, "/health")[1])
        print(json.dumps([warned, plot, health, answers, client.submit(sum, [1, 2]).result()]))
        """,
    )
    warned, plot, health, answers, computed = seen
    assert len(warned) == 1
    for text in (*warned, plot, health["reason"], answers["/plots/task-stream"][1]):
        assert "Bokeh" in text
        assert "pip install" in text
    assert (health["state"], computed) == ("degraded", 3)
    assert json.loads(answers.pop("/plots.json")[1]) == {"plots": []}
    assert [code for code, _ in answers.values()] == [503, 503, 503]


@pytest.mark.parametrize(
    ("name", "given", "kept"),
    [
        ("interval", "1ms", 0.05),
        ("interval", "1h", 300),
        ("max-actions", "12", 1000),
        ("port", 70_000, 65_535),
    ],
)
def test_a_value_out_of_its_limits_is_replaced_with_a_warning(
    name: str, given: object, kept: float, caplog: pytest.LogCaptureFixture
) -> None:
    with dask.config.set({f"diag-lab.{name}": given}), caplog.at_level(logging.INFO):
        assert setting(name) == kept
    (message,) = [record.getMessage() for record in caplog.records]
    assert message == f"diag-lab.{name} is {given}; it has been set to {kept:g}"


def test_values_within_their_limits_are_taken_as_they_are(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert [setting(name) for name in LIMITS] == [2_000_000, 0.25, 2.0, 0]
    wanted = {"diag-lab.interval": 0.05, "diag-lab.idle-interval": "5 minutes"}
    with dask.config.set(wanted | {"diag-lab.max-actions": "1000", "diag-lab.port": "9000"}):
        assert [setting(name) for name in LIMITS] == [1000, 0.05, 300.0, 9000]
    assert caplog.records == []


def test_a_kernel_listens_at_no_address_that_others_reach(caplog: pytest.LogCaptureFixture) -> None:
    with dask.config.set({"diag-lab.host": "0.0.0.0", "diag-lab.port": 9000}):
        assert own_listen() == ("127.0.0.1", 9000, "")
    assert "diag-lab.host is 0.0.0.0" in caplog.text
    with dask.config.set({"diag-lab.host": "::1"}):
        assert own_listen().host == "::1"
