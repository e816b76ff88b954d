"""The command ``dask-diag-lab`` and the scheduler's preload, in processes of their own."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import Popen

import pytest
from distributed import Client, LocalCluster, Security
from distributed.utils import get_ip

from tests.kernel.dashboards import answer_at
from tests.kernel.serving import LIMIT_S, wait_until
from tests.kernel.session.small_clusters import PARTLY_CLOSED, small_cluster

pytestmark = [pytest.mark.usefixtures("runtime_dir"), *PARTLY_CLOSED]

ROOT = Path(__file__).resolve().parents[3]
TOKEN = "only-for-tests-" + "x" * 32
Start = Callable[..., "Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a command; what still runs at the end is ended."""
    started: list[Popen[str]] = []

    def begin(*words: str, module: str = "dask_diag_lab", **environment: str) -> Popen[str]:
        env = os.environ | {"PYTHONPATH": str(ROOT)} | environment
        pipe = subprocess.PIPE
        command = [sys.executable, "-m", module, *words]
        started.append(Popen(command, stdout=pipe, stderr=pipe, text=True, env=env))
        return started[-1]

    yield begin
    for process in started:
        process.terminate()
        process.communicate(timeout=LIMIT_S)


def ended(process: Popen[str]) -> tuple[int, str, str]:
    """Return exit code and outputs of a command, once it has ended."""
    out, err = process.communicate(timeout=LIMIT_S)
    return process.returncode, out, err


def opened(process: Popen[str]) -> tuple[str, str]:
    """Return the address, and the token, that a command prints for browsers."""
    assert process.stdout is not None
    while not (found := re.search(r"(http://\S+)/status\?token=(\S+)", process.stdout.readline())):
        assert process.poll() is None, process.communicate()
    return found[1], found[2]


def is_live(url: str, token: str) -> bool:
    health = answer_at(url, token, "/health")
    return (health["state"], health["workers"]) == ("live", 1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serve_opens_the_plots_and_is_listed_until_it_is_told_to_end(
    start: Start, cluster: LocalCluster, number: signal.Signals
) -> None:
    serve = start("serve", cluster.scheduler_address, "--port", "0")
    url, token = opened(serve)
    wait_until(lambda: is_live(url, token), "never live")
    code, listed, _ = ended(start("list"))
    assert code == 0
    assert listed.startswith(f"{cluster.scheduler_address} · live · 1 workers")
    assert f"{url}/status?token={token}" in listed
    serve.send_signal(number)
    assert ended(serve) == (0, "", "")
    assert ended(start("list"))[1].startswith("Nothing runs here.")


def test_a_taken_port_is_said_and_the_next_one_is_used(start: Start, cluster: LocalCluster) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        serve = start("serve", cluster.scheduler_address, "--port", str(port))
        assert serve.stdout is not None
        assert serve.stdout.readline().startswith(f"Port {port} is taken; it is ")
        assert port < int(opened(serve)[0].rpartition(":")[2]) < port + 50


def test_another_address_is_served_to_those_who_have_the_token(
    start: Start, cluster: LocalCluster
) -> None:
    command = ("serve", cluster.scheduler_address, "--port", "0", "--address", "0.0.0.0")
    url, shown = opened(start(*command, DASK_DIAG_LAB_TOKEN=TOKEN))
    assert url.startswith(f"http://{get_ip()}:")
    assert shown == "…"
    wait_until(lambda: is_live(url, TOKEN), "never live")
    with pytest.raises(urllib.error.HTTPError, match="403"):
        answer_at(url, "wrong", "/health")
    assert " · live · " in ended(start("list"))[1]  # found by this machine's own address


def test_certificates_are_given_as_to_dask_worker(start: Start, tmp_path: Path) -> None:
    security = Security.temporary()
    words = []
    for flag, name in (("ca-file", "ca_file"), ("cert", "client_cert"), ("key", "client_key")):
        (tmp_path / name).write_text(getattr(security, f"tls_{name}"))
        words += [f"--tls-{flag}", str(tmp_path / name)]
    with small_cluster(protocol="tls://", security=security) as cluster:
        url, token = opened(start("serve", cluster.scheduler_address, "--port", "0", *words))
        wait_until(lambda: is_live(url, token), "never live")


@pytest.mark.parametrize("command", ["serve", "task-stream"])
def test_a_scheduler_that_is_not_there_is_said_in_a_line(start: Start, command: str) -> None:
    code, out, err = ended(start(command, "tcp://127.0.0.1:1"))
    assert (code, out) == (1, "")
    assert re.fullmatch(r"Error: .*tcp://127\.0\.0\.1:1.*\n", err)


def test_a_token_that_could_be_guessed_is_refused(start: Start) -> None:
    code, _, err = ended(start("serve", "tcp://127.0.0.1:1", "--token", "short"))
    assert code == 2
    assert "32" in err


@pytest.mark.parametrize("command", ["serve", "list", "task-stream"])
def test_help_has_an_example(start: Start, command: str) -> None:
    assert f"Example: dask-diag-lab {command}" in ended(start(command, "--help"))[1]


@pytest.mark.parametrize("command", ["task-stream"])
def test_a_capture_writes_its_page_when_the_time_is_over(
    start: Start, cluster: LocalCluster, tmp_path: Path, command: str
) -> None:
    page = tmp_path / "page.html"
    words = (cluster.scheduler_address, "--duration", "0.5", "--output", str(page))
    assert ended(start(command, *words))[0] == 0
    assert "<!DOCTYPE html>" in page.read_text(encoding="utf-8")


def test_a_capture_ends_with_ctrl_c_and_with_its_cluster(start: Start, tmp_path: Path) -> None:
    pages = [tmp_path / "interrupted.html", tmp_path / "closed.html"]
    with small_cluster() as cluster:
        words = ("task-stream", cluster.scheduler_address, "--output")
        first, second = (start(*words, str(page)) for page in pages)
        for process in (first, second):
            assert process.stderr is not None
            assert "until Ctrl-C" in process.stderr.readline()
        first.send_signal(signal.SIGINT)
        assert ended(first)[0] == 0
    ended(second)
    assert all(page.exists() for page in pages)


def test_the_preload_serves_beside_the_scheduler_and_ends_with_it(start: Start) -> None:
    words = ("scheduler", "--port", "0", "--no-dashboard", "--preload", "dask_diag_lab.scheduler")
    scheduler = start(*words, module="dask")
    url, token = opened(scheduler)
    wait_until(lambda: answer_at(url, token, "/health")["state"] == "live", "never live")
    scheduler.send_signal(signal.SIGTERM)
    assert "Traceback" not in ended(scheduler)[2]


def test_a_fault_of_the_preload_leaves_the_scheduler_alone(start: Start, tmp_path: Path) -> None:
    folder, file = tmp_path / "no-folder", tmp_path / "scheduler.json"
    folder.write_text("")  # where the runtime record would be written
    words = ("scheduler", "--port", "0", "--preload", "dask_diag_lab.scheduler")
    more = ("--no-dashboard", "--scheduler-file", str(file))
    scheduler = start(*words, *more, module="dask", JUPYTER_RUNTIME_DIR=str(folder))
    assert scheduler.stderr is not None
    while "diagnostics beside the scheduler ended" not in scheduler.stderr.readline():
        assert scheduler.poll() is None
    with Client(scheduler_file=str(file), set_as_default=False) as client:
        assert client.scheduler_info()["n_workers"] == 0
