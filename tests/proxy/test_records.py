"""Records that must not be believed, found by a real scan next to a good one."""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dask_diag_lab.proxy import record
from dask_diag_lab.proxy.addresses import loopback_address
from dask_diag_lab.proxy.discovery import MAX_RECORDS, Discovery
from dask_diag_lab.proxy.liveness import Verdict, check_by_hand
from tests.proxy.backends import FIXTURES, Backend, write_record

LOG = logging.getLogger("test.records")


@pytest.fixture
def discovery(jp_runtime_dir: Path) -> Discovery:
    return Discovery(jp_runtime_dir, LOG)


def scanned(discovery: Discovery) -> list[str]:
    return sorted(discovery.scan(recheck_s=0.0))


def test_own_record_of_a_living_server_is_found(discovery: Discovery, backend: Backend) -> None:
    backend.announce()
    assert scanned(discovery) == [backend.id]


def test_bad_records_are_each_reported_once_and_harm_no_other(
    discovery: Discovery, backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    paths = []
    for fixture in FIXTURES.glob("runtime_record/bad*.json"):
        paths.append(discovery.folder / f"dask-diag-lab-{fixture.stem}.json")
        paths[-1].write_text(fixture.read_text())
        paths[-1].chmod(0o600)
    backend.announce()
    with caplog.at_level(logging.INFO):
        assert scanned(discovery) == scanned(discovery) == [backend.id]
    said = sorted(str(record.getMessage()) for record in caplog.records)
    assert len(said) == len(paths) > 10
    for path, message in zip(sorted(paths), said, strict=True):
        assert message.startswith(f"Ignoring the runtime record {path.name}: ")
        assert path.exists(), "only the record of a dead process may be removed"
    assert "Zm9v" not in caplog.text


def _widen(path: Path) -> None:
    path.chmod(0o640)


def _give_away(path: Path) -> None:
    os.chown(path, 12345, -1)


def _link(path: Path) -> None:
    real = path.with_name("elsewhere.json")
    path.rename(real)
    path.symlink_to(real)


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir(0o700)


def _fatten(path: Path) -> None:
    path.write_text(path.read_text() + " " * 70_000)


def _rename(path: Path) -> None:
    path.rename(path.with_name("dask-diag-lab-0123456789abcdef.json"))


def _deepen(path: Path) -> None:
    path.write_text("[" * 60_000)


@pytest.mark.parametrize(
    ("spoil", "word"),
    [
        (_widen, "mode"),
        pytest.param(
            _give_away,
            "another user",
            marks=pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away"),
        ),
        (_link, "plain file"),
        (_pipe, "regular file"),
        (_folder, "regular file"),
        (_fatten, "larger than"),
        (_rename, "file name"),
        (_deepen, "not JSON"),
    ],
)
def test_spoilt_file_is_not_believed(
    spoil: Callable[[Path], None],
    word: str,
    discovery: Discovery,
    backend: Backend,
    caplog: pytest.LogCaptureFixture,
) -> None:
    spoil(backend.announce())
    assert scanned(discovery) == []
    assert scanned(discovery) == []
    (message,) = [record.getMessage() for record in caplog.records]
    assert word in message
    assert backend.token not in message


def test_record_that_is_repaired_is_believed(discovery: Discovery, backend: Backend) -> None:
    path = backend.announce()
    path.chmod(0o644)
    assert scanned(discovery) == []
    path.chmod(0o600)
    assert scanned(discovery) == [backend.id]


def test_record_of_a_dead_process_is_removed(discovery: Discovery, backend: Backend) -> None:
    path = backend.announce()
    backend.kill()
    assert scanned(discovery) == []
    assert not path.exists()


def test_record_of_a_zombie_is_removed(discovery: Discovery, backend: Backend) -> None:
    path = backend.announce()
    backend.process.kill()
    os.waitid(os.P_PID, backend.pid, os.WEXITED | os.WNOWAIT)  # dead, not yet collected
    assert scanned(discovery) == []
    assert not path.exists()


def test_record_older_than_its_process_is_removed(discovery: Discovery, backend: Backend) -> None:
    path = backend.announce(started=time.time() - 3600)
    assert scanned(discovery) == []
    assert not path.exists()


def test_port_of_another_program_is_refused_and_reported(
    discovery: Discovery, backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    with Backend(backend.folder) as other:
        record = backend.record(url=other.url)
        path = write_record(backend.folder, record)
        assert scanned(discovery) == scanned(discovery) == []
    assert path.exists()
    (message,) = [r.getMessage() for r in caplog.records]
    assert f"does not listen on port {other.port}" in message


@pytest.mark.skipif(os.getuid() != 0, reason="only root can start a program as another user")
def test_process_of_another_user_is_refused(discovery: Discovery, backend: Backend) -> None:
    code = (
        "import os, socket, sys\n"
        "os.setuid(12345)\n"
        "s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True)\n"
        "sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        url = f"http://127.0.0.1:{port}"
        backend.announce(pid=process.pid, url=url)
        assert scanned(discovery) == []
        liveness = check_by_hand(loopback_address(url), 54321)
        assert liveness.verdict is Verdict.REFUSED
        assert check_by_hand(loopback_address(url), 12345).verdict is Verdict.ALIVE
        process.communicate("")


def test_record_of_another_machine_is_left_alone(discovery: Discovery, backend: Backend) -> None:
    path = backend.announce(pid=2**22 + 1, host="another-node")
    assert scanned(discovery) == []
    assert path.exists()


def test_any_number_of_records_of_other_machines_hide_none_of_this_one(
    discovery: Discovery, backend: Backend
) -> None:
    for number in range(MAX_RECORDS + 50):
        path = write_record(
            backend.folder, backend.record(id=f"{number:016x}", host="another-node", pid=2**22 + 1)
        )
        os.utime(path, (time.time() + 60,) * 2)
    backend.announce()
    assert scanned(discovery) == [backend.id]


def test_the_newest_records_are_looked_at_when_there_are_too_many(
    discovery: Discovery, backend: Backend
) -> None:
    for number in range(MAX_RECORDS):
        path = discovery.folder / f"dask-diag-lab-{number:016x}.json"
        path.write_text("{}")
        path.chmod(0o600)
        os.utime(path, (time.time() - 60,) * 2)
    backend.announce()
    assert scanned(discovery) == [backend.id]


def test_records_are_read_where_the_system_lacks_posix_flags(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = backend.announce()
    link = path.with_name("dask-diag-lab-0123456789abcdef.json")
    link.symlink_to(path)
    for flag in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK"):
        monkeypatch.delattr(os, flag)
    # A copy of the module, imported where these are missing; the real one stays as it is.
    spec = importlib.util.spec_from_file_location("record_on_windows", record.__file__)
    assert spec is not None
    assert spec.loader is not None
    reader = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, reader)
    spec.loader.exec_module(reader)
    assert reader.read_record(path, None).id == backend.id
    with pytest.raises(reader.RecordError, match="plain file"):
        reader.read_record(link, None)


def test_missing_folder_has_no_records(tmp_path: Path) -> None:
    assert Discovery(tmp_path / "none", LOG).scan() == {}


def test_change_of_content_is_noticed(discovery: Discovery, backend: Backend) -> None:
    path = backend.announce()
    status = path.stat()
    assert scanned(discovery) == [backend.id]
    path.write_text(json.dumps({}).ljust(status.st_size))
    assert scanned(discovery) == []
