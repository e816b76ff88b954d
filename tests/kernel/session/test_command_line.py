"""The command ``dask-diag-lab`` and the scheduler's preload, in processes of their own."""

from __future__ import annotations

import gzip
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
from typing import IO, Any

import pytest
from distributed import Client, LocalCluster, Security
from distributed.utils import get_ip

from tests.kernel.dashboards import answer_at
from tests.kernel.serving import LIMIT_S, TOKEN, wait_until
from tests.kernel.session.small_clusters import PARTLY_CLOSED, small_cluster

pytestmark = [pytest.mark.usefixtures("runtime_dir"), *PARTLY_CLOSED]

BESIDE = ("scheduler", "--port", "0", "--no-dashboard", "--preload", "dask_diag_lab.scheduler")
Start = Callable[..., "Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a command; what still runs at the end is ended."""
    started: list[Popen[str]] = []

    def begin(*words: str, module: str = "dask_diag_lab", **environment: str) -> Popen[str]:
        options: dict[str, Any] = {"text": True, "env": os.environ | environment}
        options |= dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
        started.append(Popen([sys.executable, "-m", module, *words], **options))
        return started[-1]

    yield begin
    for process in started:
        process.terminate()
        process.communicate(timeout=LIMIT_S)


def ended(process: Popen[str]) -> tuple[int, str, str]:
    """Return exit code and outputs of a command, once it has ended."""
    out, err = process.communicate(timeout=LIMIT_S)
    return process.returncode, out, err


def line_of(stream: IO[str] | None) -> str:
    """Wait for the next line that a command prints."""
    assert stream is not None
    return stream.readline()


def opened(process: Popen[str]) -> tuple[str, str]:
    """Return the address, and the token, that a command prints for browsers."""
    found = re.search(r"(http://\S+)/status\?token=(\S+)", line_of(process.stdout))
    assert found, process.communicate()
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
    assert listed.startswith(f"{cluster.scheduler_address} · live · 1 worker · ")
    assert f"{url}/status?token={token}" in listed
    serve.send_signal(number)
    assert ended(serve) == (0, "", "")
    assert ended(start("list"))[1].startswith("Nothing runs here.")


def test_a_taken_port_is_said_and_the_next_one_is_used(start: Start, cluster: LocalCluster) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        serve = start("serve", cluster.scheduler_address, "--port", str(port))
        line = line_of(serve.stdout)
        assert line.startswith(f"Port {port} is taken. Plots of {cluster.scheduler_address}: http")
        assert f":{port}/" not in line


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


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="no IPv6")
def test_every_address_of_ipv6_is_served_and_one_is_printed(
    start: Start, cluster: LocalCluster
) -> None:
    command = ("serve", cluster.scheduler_address, "--port", "0", "--address", "::")
    url, token = opened(start(*command))
    assert url.startswith("http://[")
    wait_until(lambda: is_live(url, token), "never live")


def test_certificates_are_given_as_to_dask_worker(start: Start, tmp_path: Path) -> None:
    security, page = Security.temporary(), tmp_path / "page.html"
    words = []
    for flag, name in (("ca-file", "ca_file"), ("cert", "client_cert"), ("key", "client_key")):
        (tmp_path / name).write_text(getattr(security, f"tls_{name}"))
        words += [f"--tls-{flag}", str(tmp_path / name)]
    with small_cluster(protocol="tls://", security=security) as cluster:
        url, token = opened(start("serve", cluster.scheduler_address, "--port", "0", *words))
        wait_until(lambda: is_live(url, token), "never live")
        words += ["--output", str(page), "--duration", "0"]
        assert ended(start("report", cluster.scheduler_address, *words))[0] == 0
        assert page.exists()


def test_an_address_of_no_scheduler_is_said_in_a_line(
    start: Start, cluster: LocalCluster, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    for address in ("tcp://127.0.0.1:1", *cluster.scheduler_info["workers"]):
        code, out, err = ended(start("report", address, "--output", str(page)))
        assert (code, out) == (1, "")
        assert re.fullmatch(rf"Error: .*{address}.*\n", err)
        assert not page.exists()


@pytest.mark.parametrize("command", ["task-stream", "report", "profile"])
def test_a_capture_writes_its_page_when_the_time_is_over(
    start: Start, cluster: LocalCluster, tmp_path: Path, command: str
) -> None:
    page = tmp_path / "page.html"
    words = (command, cluster.scheduler_address, "--output", str(page), "--duration", "0.5")
    assert ended(start(*words))[0] == 0
    text = page.read_text(encoding="utf-8")
    assert "<!DOCTYPE html>" in text
    assert "Calling code" not in text  # it would be ours


def test_a_page_goes_to_stdout_or_is_compressed(
    start: Start, cluster: LocalCluster, tmp_path: Path
) -> None:
    words = ("task-stream", cluster.scheduler_address, "--duration", "0", "--output")
    assert "<!DOCTYPE html>" in ended(start(*words, "-"))[1]
    page = tmp_path / "page.html.gz"
    assert ended(start(*words, page.as_uri()))[0] == 0
    assert b"<!DOCTYPE html>" in gzip.decompress(page.read_bytes())


@pytest.mark.parametrize("command", ["task-stream", "report"])
def test_a_capture_ends_with_its_cluster_and_writes_its_page(
    start: Start, tmp_path: Path, command: str
) -> None:
    page = tmp_path / "page.html"
    with small_cluster() as cluster:
        capture = start(command, cluster.scheduler_address, "--output", str(page))
        assert "until Ctrl-C" in line_of(capture.stderr)
    code, _, err = ended(capture)
    assert (code, "Error" in err) == (0, False)
    assert "<!DOCTYPE html>" in page.read_text(encoding="utf-8")


def test_bad_options_are_said_before_anything_else(start: Start) -> None:
    for words in (("serve", "--token", "guessable"), ("task-stream", "--output", "/no/page.html")):
        code, out, err = ended(start(*words, "tcp://127.0.0.1:1"))
        assert (code, out) == (2, "")
        assert re.search("Error: .*(32 to 512|/no/page.html)", err)


def test_the_preload_serves_beside_the_scheduler_and_ends_with_it(start: Start) -> None:
    scheduler = start(*BESIDE, module="dask", DASK_DIAG_LAB_TOKEN=TOKEN)
    url, shown = opened(scheduler)
    assert shown == "…"
    wait_until(lambda: answer_at(url, TOKEN, "/health")["state"] == "live", "never live")
    scheduler.send_signal(signal.SIGTERM)
    assert "Traceback" not in ended(scheduler)[2]


def test_the_preload_lets_a_process_end_that_closes_nothing(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import dask, distributed, sys\n"
        "dask.config.set({'distributed.scheduler.preload': ['dask_diag_lab.scheduler']})\n"
        "cluster = distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None)\n"
        "sys.stdin.readline()\n"
    )
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with Popen([sys.executable, str(program)], text=True, **pipes) as process:
        opened(process)
        out, err = process.communicate("\n", timeout=LIMIT_S)
    assert (process.returncode, out) == (0, "")
    assert "Traceback" not in err


def test_a_fault_of_the_preload_leaves_the_scheduler_alone(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "scheduler.json"
    words = (*BESIDE, "--scheduler-file", str(file))
    scheduler = start(*words, module="dask", DASK_DIAG_LAB_TOKEN="too-short")
    while "diagnostics beside the scheduler ended" not in line_of(scheduler.stderr):
        assert scheduler.poll() is None
    with Client(scheduler_file=str(file), set_as_default=False) as client:
        assert client.scheduler_info()["n_workers"] == 0
