"""Finds the user's diagnostics servers: runtime records whose process lives and listens.

Everything here blocks (files, process tables) and belongs in a thread, one scan at a time.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import time
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from dask_diag_lab.proxy.liveness import Liveness, Verdict, check_record
from dask_diag_lab.proxy.record import RecordError, Signature, read_record, record_id, signature
from dask_diag_lab.proxy.wire import RuntimeRecord

MAX_RECORDS: Final = 200
"""Records of this machine that one scan looks at; the newest, should there be more."""
MAX_FILES: Final = 20_000
"""Files that one scan may meet; a home folder that machines share keeps what others left."""
RECHECK_S: Final = 3.0
"""How old the process check of an unchanged record may be during scans."""


def current_uid() -> int | None:
    """Return this process's user id; None where the system has none."""
    return os.getuid() if hasattr(os, "getuid") else None


@dataclass(slots=True)
class _Known:
    """What the last look at one file gave."""

    signature: Signature
    record: RuntimeRecord | None
    is_elsewhere: bool = False
    is_usable: bool = False
    checked_at: float = -1e9
    said: str = ""


class Discovery:
    """Scans one folder for records, and remembers what it has seen to keep a scan cheap.

    Parameters
    ----------
    folder : Path
        The Jupyter runtime folder. It need not exist.
    log : logging.Logger
        Hears once about each record that cannot be used. Never about a token.
    """

    def __init__(self, folder: Path, log: logging.Logger) -> None:
        self.folder = folder
        self.uid = current_uid()
        self._log = log
        self._known: dict[str, _Known] = {}

    def scan(self, recheck_s: float = RECHECK_S) -> dict[str, RuntimeRecord]:
        """Return the usable records by id; records of processes that have ended are removed.

        A process that was checked less than ``recheck_s`` ago is taken for what it was then.
        """
        present = self._files()
        for name in self._known.keys() - present.keys():
            del self._known[name]
        found = {}
        room = MAX_RECORDS
        for name, status in present.items():
            known = self._known_of(name, status)
            if known.is_elsewhere:
                continue
            if room == 0:
                break
            room -= 1
            record = self._usable(name, known, recheck_s)
            if record is not None:
                found[record.id] = record
        return found

    def check(self, record: RuntimeRecord) -> Liveness:
        """Look at a record's process now, before it is contacted."""
        return check_record(record, self.uid)

    def _files(self) -> dict[str, os.stat_result]:
        """Return name and status of what looks like a record, the newest first."""
        found = []
        try:
            with os.scandir(self.folder) as entries:
                named = (entry.name for entry in entries if record_id(entry.name))
                names = list(islice(named, MAX_FILES))
        except OSError:
            return {}  # no folder, no records
        for name in names:
            with contextlib.suppress(OSError):  # gone meanwhile
                found.append((name, (self.folder / name).lstat()))
        found.sort(key=lambda file: (-file[1].st_mtime_ns, file[0]))
        return dict(found)

    def _known_of(self, name: str, status: os.stat_result) -> _Known:
        """Return what is known of one file, read anew when it has changed."""
        known = self._known.get(name)
        if known is None or known.signature != signature(status):
            known = self._known[name] = _Known(signature(status), None)
            known.record = self._read(name, known)
        return known

    def _usable(self, name: str, known: _Known, recheck_s: float) -> RuntimeRecord | None:
        if known.record is None:
            return None
        if time.monotonic() - known.checked_at >= recheck_s:
            self._check(name, known, known.record)
        return known.record if known.is_usable else None

    def _read(self, name: str, known: _Known) -> RuntimeRecord | None:
        try:
            record = read_record(self.folder / name, self.uid)
        except FileNotFoundError:
            return None
        except RecordError as error:
            self._say(name, known, str(error))
            return None
        if record.host is not None and record.host != socket.gethostname():
            # A home folder that several machines share: its process is not ours to judge.
            known.is_elsewhere = True
            return None
        return record

    def _check(self, name: str, known: _Known, record: RuntimeRecord) -> None:
        liveness = self.check(record)
        known.checked_at = time.monotonic()
        known.is_usable = liveness.verdict is Verdict.ALIVE
        if liveness.verdict is Verdict.GONE:
            self._remove(name, known, liveness.reason)
        elif liveness.verdict is Verdict.REFUSED:
            self._say(name, known, liveness.reason)

    def _remove(self, name: str, known: _Known, reason: str) -> None:
        path = self.folder / name
        try:
            if signature(path.lstat()) == known.signature:
                path.unlink()
                self._log.info("Removed the runtime record %s: %s", name, reason)
        except FileNotFoundError:
            pass  # its owner was quicker
        except OSError as error:
            self._say(name, known, f"{reason}, but it cannot be removed ({error.strerror})")

    def _say(self, name: str, known: _Known, reason: str) -> None:
        if known.said != reason:
            known.said = reason
            self._log.warning("Ignoring the runtime record %s: %s", name, reason)
