"""Finds the user's diagnostics servers: runtime records whose process lives and listens.

Trusts nothing about a record's file, asks the operating system and never the dashboard. Everything
here blocks (files, process tables) and belongs in a thread, one scan at a time; only `is_running`
is quick enough for an event loop.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import socket
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

import psutil

from dask_diag_lab.proxy.messages import (
    MessageError,
    RuntimeRecord,
    check_record,
    loopback_address,
)
from dask_diag_lab.proxy.sockets import USER_ID, ProcessError, addresses_of

# A record has some 600 bytes; more than this is no record.
MAX_RECORD_BYTES: Final = 64 * 1024

# How many records that are not known to be good are looked at in one scan, and the pause before
# each is again: reading one and finding its process takes milliseconds.
MAX_TRIES: Final = 32
PAUSE_S: Final = 5.0
NOT_THERE: Final = (FileNotFoundError, NotADirectoryError, PermissionError)
"""Other errors, as of too many open files, say nothing of what there is."""

# O_NOFOLLOW refuses a symlink and O_NONBLOCK keeps a named pipe from blocking the reader; all other
# checks are on the open file, so that it cannot be exchanged between check and read. Windows has
# neither flag.
_OPEN_FLAGS: Final = os.O_RDONLY | sum(
    getattr(os, flag, 0) for flag in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_BINARY")
)
_ENDED: Final = (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)


class ProcessGoneError(ProcessError):
    """The process that wrote a record has ended for certain: the record is litter."""


@dataclass(frozen=True, slots=True)
class Announcement:
    """A record that may be believed, and the process that wrote it."""

    record: RuntimeRecord
    process: psutil.Process


@dataclass(slots=True)
class _File:
    """What is known of one file."""

    signature: tuple[int, ...]
    announcement: Announcement | None = None
    due_s: float = 0.0
    reason: str = ""


class RecordDiscovery:
    """Scans folders for records.

    Parameters
    ----------
    folder : Path
        The Jupyter runtime folder. It need not exist.
    log : logging.Logger
        Hears once about each record that cannot be used. Never about a token.
    *more : Path
        The runtime folders of other Jupyter servers.
    """

    def __init__(self, folder: Path, log: logging.Logger, *more: Path) -> None:
        self.folder, self._more = folder, more
        self._log = log
        self._seen: dict[Path, _File] = {}

    def scan(self) -> list[Announcement]:
        """Return what is announced, in order of beginning; remove records of ended processes.

        The process table is searched when a record is new, has changed or was not usable so far;
        of those a bounded number at a time, with pauses, so that any number of bad records neither
        slows the scan nor hides a good one. From then on it only matters whether that
        process still runs.
        """
        before, self._seen = self._seen, {}
        for path, signature in chain.from_iterable(map(_record_files, (self.folder, *self._more))):
            last = before.get(path)
            self._seen[path] = last if last and last.signature == signature else _File(signature)
        now_s = time.monotonic()
        for file in self._seen.values():
            if file.announcement and not is_running(file.announcement.process):
                file.announcement, file.due_s = None, 0.0
        unknown = [one for one in self._seen.items() if not one[1].announcement]
        # Those that were not tried yet come first, among them the newest.
        unknown.sort(key=lambda one: (one[1].due_s, -one[1].signature[0]))
        for path, file in unknown[:MAX_TRIES]:
            if file.due_s <= now_s:
                file.due_s = now_s + PAUSE_S
                self._try(path, file)
        found = [one.announcement for one in self._seen.values() if one.announcement]
        return sorted(found, key=lambda one: (one.record["started"], one.record["id"]))

    def _try(self, path: Path, file: _File) -> None:
        try:
            record = read_record(path)
            if record.get("host") in (None, socket.gethostname()):
                file.announcement = Announcement(record, find_process(record))
            # Else several machines share the folder: its process is not ours to judge.
        except FileNotFoundError:
            pass  # gone meanwhile
        except ProcessGoneError as error:
            with contextlib.suppress(OSError):
                path.unlink()
                self._log.info("Removed the runtime record %s: %s", path.name, error)
        except (MessageError, ProcessError) as error:
            if file.reason != str(error):
                file.reason = str(error)
                self._log.warning("Ignoring the runtime record %s: %s", path.name, error)


def _record_files(folder: Path) -> Iterator[tuple[Path, tuple[int, ...]]]:
    """Yield the files that are named like records, with what changes when they do."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith("dask-diag-lab-") and entry.name.endswith(".json"):
                    with contextlib.suppress(*NOT_THERE):
                        s = entry.stat(follow_symlinks=False)
                        signature = (s.st_mtime_ns, s.st_ctime_ns, s.st_ino, s.st_size)
                        yield Path(entry.path), signature
    except NOT_THERE:
        return  # no server has run yet, or none can write there


def read_record(path: Path, user_id: int | None = USER_ID) -> RuntimeRecord:
    """Read a record that the user owns alone (`user_id` None where the system has no owners).

    Raises
    ------
    MessageError
        When the file is not a regular one, not the user's own, readable by others, too large
        or not a record; never with its content.
    FileNotFoundError
        When it has gone meanwhile.
    """
    record = check_record(read_owned(path, MAX_RECORD_BYTES, user_id))
    if path.name != f"dask-diag-lab-{record['id']}.json":
        raise MessageError("its id is not the one of its file name")
    return record


def read_owned(path: Path, max_bytes: int, user_id: int | None = USER_ID) -> object:
    """Return the JSON in a file that the user owns alone; raises as `read_record` does."""
    try:
        descriptor = os.open(path, _OPEN_FLAGS)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise MessageError("it is not a regular file")
            if user_id is not None and (status.st_uid != user_id or status.st_mode & 0o077):
                raise MessageError("it belongs to another user, or its mode is not 0600")
            content = os.read(descriptor, max_bytes + 1)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise MessageError(f"it cannot be read as a plain file ({error.strerror})") from None
    if len(content) > max_bytes:
        raise MessageError(f"it is larger than {max_bytes} bytes")
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise MessageError("it is not JSON; it may be cut short") from None


def find_process(record: RuntimeRecord, user_id: int | None = USER_ID) -> psutil.Process:
    """Return the process that wrote a record, when it still listens where the record says.

    Raises
    ------
    ProcessGoneError
        When it has ended for certain: there is none, or one that began at another tick of the
        machine's own clock. The time of day proves nothing, as it can be set.
    ProcessError
        When it is another user's, may not be looked into or does not listen there. Where nobody
        may know who listens, a process that is for certain the record's own is enough.
    """
    pid, address = record["pid"], loopback_address(record["url"])
    try:
        process = psutil.Process(pid)
        if process.status() in _ENDED:
            raise ProcessGoneError(f"its process {pid} has ended")
        ticks = start_ticks(pid)
        if ticks is not None and record.get("start_ticks") not in (None, ticks):
            raise ProcessGoneError(f"process {pid} is a later one with its number")
        if user_id is not None and process.uids().real != user_id:
            raise ProcessError(f"process {pid} belongs to another user")
        try:
            is_listening = (address.ip, address.port) in addresses_of(process)
        except psutil.AccessDenied:
            # A hardened container hides who listens: the tick tells for certain who wrote this.
            is_listening = ticks is not None and ticks == record.get("start_ticks")
    except psutil.NoSuchProcess:
        raise ProcessGoneError(f"its process {pid} has ended") from None
    except psutil.AccessDenied:
        raise ProcessError(f"process {pid} may not be looked into") from None
    if not is_listening:
        raise ProcessError(f"process {pid} does not listen on port {address.port}")
    return process


def is_running(process: psutil.Process) -> bool:
    """Tell whether a process that was found still runs; takes some 0.1 ms."""
    try:
        return bool(process.is_running()) and process.status() not in _ENDED
    except psutil.Error:
        return False


def start_ticks(pid: int) -> int | None:
    """Return the tick since the machine started at which a process began; None where unknown."""
    try:
        content = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return int(content.rpartition(")")[2].split()[19])  # field 22; a name may hold ") "
