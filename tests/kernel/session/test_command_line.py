"""The command ``dask-diag-lab`` and the scheduler's preload."""

from __future__ import annotations

import asyncio
import gzip
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dask
import pytest
from click.testing import CliRunner, Result
from distributed import Client, LocalCluster, Security
from distributed.utils import get_ip

from dask_diag_lab.cli import main, serve_until
from dask_diag_lab.composition import Listen, Target
from dask_diag_lab.transport import feed
from tests.kernel.dashboards import answer_at
from tests.kernel.serving import LIMIT_S, TOKEN, wait_until
from tests.kernel.session.small_clusters import PARTLY_CLOSED, our_threads, small_cluster

pytestmark = [pytest.mark.usefixtures("runtime_dir"), *PARTLY_CLOSED]

PRELOAD = {"distributed.scheduler.preload": ["dask_diag_lab.scheduler"]}
NOBODY = "tcp://127.0.0.1:1"
IMPATIENT = """
from dask_diag_lab.transport import feed
feed.CONNECT_TIMEOUT_S = 1.0
from dask_diag_lab.cli import main
main()
"""
PIPES: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
Run = Callable[..., Result]


@pytest.fixture
def command() -> Iterator[Run]:
    """Run a command in this process, and undo what it does to that."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    handlers = [signal.getsignal(number) for number in numbers]
    loggers = [logging.getLogger(n) for n in ("distributed.client", "dask_diag_lab.server.saved")]
    levels = [logger.level for logger in loggers]
    yield lambda *words: CliRunner().invoke(main, words)
    for number, handler in zip(numbers, handlers, strict=True):
        signal.signal(number, handler)
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


def opened(line: str) -> tuple[str, str]:
    """Return the address, and the token, that a command prints for browsers."""
    found = re.search(r"(http://\S+)/status\?token=(\S+)", line)
    assert found, line
    return found[1], found[2]


def is_live(url: str, token: str) -> bool:
    health = answer_at(url, token, "/health")
    return (health["state"], health["workers"]) == ("live", 1)


def test_serve_waits_for_its_scheduler_and_is_listed_until_it_is_told_to_end(
    command: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "elsewhere"  # another runtime folder of this user
    folder.mkdir(mode=0o700)
    held = socket.socket()  # others that look for a free port do not get this one
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    port = held.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    words = [sys.executable, "-c", IMPATIENT, "serve", address, "--port", "0"]
    environment = os.environ | {"JUPYTER_RUNTIME_DIR": str(folder)}
    with held, subprocess.Popen(words, env=environment, text=True, **PIPES) as serve:
        try:
            assert serve.stderr is not None
            assert serve.stdout is not None
            line = serve.stderr.readline()
            waits = f"Waiting for the scheduler at {address}"
            assert line.startswith(waits)
            with small_cluster(scheduler_port=port):
                url, token = opened(serve.stdout.readline())
                wait_until(lambda: is_live(url, token), "never live")
                listed = command("list")
                assert listed.exit_code == 0
                found = next(x for x in listed.output.splitlines() if x.startswith(address))
                assert " · 1 worker · " in found
                assert found.endswith(" · live")
                assert f"{url}/status?token={token}" in listed.output
                serve.send_signal(signal.SIGTERM)
                output, said = serve.communicate(timeout=LIMIT_S)
                assert (output, serve.returncode) == ("", 0)
                # It says so again where it is refused for another reason.
                assert all(line.startswith(waits) for line in said.splitlines())
            assert url not in command("list").output
        finally:
            serve.kill()


def serve_until_looked_at(
    cluster: LocalCluster, listen: Listen, look: Callable[[], object]
) -> None:
    target = Target(str(cluster.scheduler_info["id"]), cluster.scheduler_address, {})
    asyncio.run(serve_until(lambda _: asyncio.to_thread(look), target, listen))


def test_what_was_served_is_recorded_and_opened_again(command: Run, tmp_path: Path) -> None:
    path = tmp_path / "batch.daskrun"
    words = [sys.executable, "-m", "dask_diag_lab"]
    with small_cluster() as cluster, Client(cluster) as client:
        serving = [*words, "serve", cluster.scheduler_address, "--port", "0", "--record", str(path)]
        with subprocess.Popen(serving, text=True, **PIPES) as serve:
            assert serve.stdout is not None
            url, token = opened(serve.stdout.readline())
            wait_until(lambda: is_live(url, token), "never live")
            assert client.submit(abs, -1).result() == 1
            serve.send_signal(signal.SIGINT)
            assert serve.communicate(timeout=LIMIT_S) == ("", f"Recorded in {path}.\n")
    # As the Jupyter server does: it ends with standard input.
    opening = [*words, "open", str(path), "--port", "0", "--for-jupyter", "0123456789abcdef"]
    with subprocess.Popen(opening, text=True, **PIPES) as recording:
        assert recording.stdout is not None
        line = recording.stdout.readline()
        assert line.startswith("Plots of batch.daskrun: http")
        assert answer_at(*opened(line), "/plots/task-stream.json")["columns"]["prefix"] == ["abs"]
        assert (*recording.communicate(timeout=LIMIT_S), recording.returncode) == ("", "", 0)
    subprocess.run([*opening, "--unused-s", "0.1"], timeout=LIMIT_S, check=True, **PIPES)
    path.write_text("no recording")
    refused = command("open", str(path))
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert f"{path} is no recording" in refused.stderr
    assert "cannot be written" in command("serve", NOBODY, "--record", "/no/x.daskrun").stderr


def test_a_taken_port_is_said_and_the_next_one_is_used(
    cluster: LocalCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        serve_until_looked_at(cluster, Listen("127.0.0.1", port, ""), bool)
    line = capsys.readouterr().out
    assert line.startswith(f"Port {port} is taken. Plots of {cluster.scheduler_address}: http")
    assert f":{port}/" not in line


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_another_address_is_served_to_those_who_have_the_token(
    cluster: LocalCluster, capsys: pytest.CaptureFixture[str], host: str
) -> None:
    if host == "::" and not socket.has_dualstack_ipv6():
        pytest.skip("no IPv6")

    def look() -> None:
        url, shown = opened(capsys.readouterr().out)
        assert url.startswith("http://[" if host == "::" else f"http://{get_ip()}:")
        assert shown == "…"
        wait_until(lambda: is_live(url, TOKEN), "never live")
        with pytest.raises(urllib.error.HTTPError, match="403"):
            answer_at(url, "wrong", "/health")

    serve_until_looked_at(cluster, Listen(host, 0, TOKEN), look)


def test_certificates_are_given_as_to_dask_worker(command: Run, tmp_path: Path) -> None:
    security, page = Security.temporary(), tmp_path / "page.html"
    words = ["--output", str(page), "--duration", "0"]
    for flag, name in (("ca-file", "ca_file"), ("cert", "client_cert"), ("key", "client_key")):
        (tmp_path / name).write_text(getattr(security, f"tls_{name}"))
        words += [f"--tls-{flag}", str(tmp_path / name)]
    with small_cluster(protocol="tls://", security=security) as cluster:
        assert command("task-stream", cluster.scheduler_address, *words).exit_code == 0
    assert page.exists()


def test_an_address_of_no_scheduler_is_said_in_a_line(
    command: Run, cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.html"
    for address in (*cluster.scheduler_info["workers"], NOBODY):
        if address == NOBODY:
            monkeypatch.setattr(feed, "CONNECT_TIMEOUT_S", 0.5)
        done = command("report", "--output", str(page), address)
        assert (done.exit_code, done.stdout) == (1, "")
        assert re.fullmatch(rf"Error: .*{address}.*\n", done.stderr)
    assert not page.exists()


def test_the_port_of_dask_s_dashboard_is_said_to_be_that(
    command: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "CONNECT_TIMEOUT_S", 0.5)
    place = "127.0.0.1:8787"
    for address in (place, f"tcp://{place}", f"http://{place}/status"):
        done = command("serve", address)
        assert done.exit_code == 1
        assert "port of Dask's own dashboard" in done.stderr


@pytest.mark.parametrize("name", ["task-stream", "report", "profile"])
def test_a_capture_writes_its_page_when_the_time_is_over(
    command: Run, cluster: LocalCluster, tmp_path: Path, name: str
) -> None:
    page = tmp_path / "page.html.gz"
    words = ("--output", page.as_uri(), "--duration", "0.1")
    assert command(name, cluster.scheduler_address, *words).exit_code == 0
    text = gzip.decompress(page.read_bytes()).decode()
    assert "<!DOCTYPE html>" in text
    assert "Calling code" not in text  # it would be ours


def test_a_capture_ends_with_its_cluster_and_writes_its_page(command: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    with small_cluster() as cluster:
        scheduler: Any = cluster.scheduler  # has no types

        def close() -> None:
            wait_until(lambda: any("diag" in name for name in scheduler.plugins), "not watched")
            cluster.close()

        closing = threading.Thread(target=close)
        closing.start()
        done = command("task-stream", cluster.scheduler_address, "--output", str(page))
        closing.join()
    assert done.exit_code == 0
    assert "Error" not in done.stderr
    assert "until Ctrl-C" in done.stderr
    assert "<!DOCTYPE html>" in page.read_text(encoding="utf-8")


def test_bad_options_are_said_before_anything_else(command: Run) -> None:
    for words in (("serve", "--token", "guessable"), ("task-stream", "--output", "/no/page.html")):
        done = command(*words, "tcp://127.0.0.1:1")
        assert (done.exit_code, done.stdout) == (2, "")
        assert re.search("Error: .*(32 to 512|/no/page.html)", done.stderr)


@pytest.mark.parametrize("is_announced", [True, False])
def test_the_preload_serves_beside_the_scheduler_and_ends_with_it(
    is_announced: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DASK_DIAG_LAB_TOKEN", TOKEN)
    if not is_announced:
        monkeypatch.setenv("JUPYTER_RUNTIME_DIR", "/dev/null/runtime")
    printed = ""

    def is_printed() -> bool:
        nonlocal printed
        printed += capsys.readouterr().out
        return printed.endswith("\n")

    with dask.config.set(PRELOAD), small_cluster():
        wait_until(is_printed, "not printed")
        url, shown = opened(printed)
        assert shown == "…"
        wait_until(lambda: is_live(url, TOKEN), "never live")
    wait_until(lambda: not our_threads(), "it outlives its scheduler")


def test_the_preload_lets_a_process_end_that_closes_nothing(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import dask, distributed, sys\n"
        f"dask.config.set({PRELOAD})\n"
        "cluster = distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None)\n"
        "sys.stdin.readline()\n"
    )
    with subprocess.Popen([sys.executable, str(program)], text=True, **PIPES) as process:
        assert process.stdout is not None
        opened(process.stdout.readline())
        out, err = process.communicate("\n", timeout=LIMIT_S)
    assert (process.returncode, out) == (0, "")
    assert "Traceback" not in err


def test_a_fault_of_the_preload_leaves_the_scheduler_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("DASK_DIAG_LAB_TOKEN", "too short")
    logger = logging.getLogger("distributed.dask_diag_lab")
    logger.addHandler(caplog.handler)  # `distributed` hands nothing on
    with dask.config.set(PRELOAD), small_cluster() as cluster:
        wait_until(lambda: "diagnostics beside the scheduler ended" in caplog.text, "not said")
        with Client(cluster, set_as_default=False) as client:
            assert client.submit(abs, -1).result() == 1
    logger.removeHandler(caplog.handler)
