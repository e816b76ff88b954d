"""Reads one runtime record from disk, trusting nothing about the file.

Must not contact the dashboard, and never puts a record's content in an error's text.
"""

from __future__ import annotations

import json
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dask_diag_lab.proxy.fields import WireError
from dask_diag_lab.proxy.wire import RuntimeRecord, parse_record

MAX_BYTES: Final = 64 * 1024
"""A record has some 600 bytes; more than this is no record."""

# O_NOFOLLOW refuses a symlink and O_NONBLOCK keeps a named pipe from blocking the reader; all other
# checks are on the open file, so that it cannot be exchanged between check and read. Windows has
# neither flag; there only the look at the name before it is opened refuses a link.
_OPEN_FLAGS: Final = os.O_RDONLY | sum(
    getattr(os, flag, 0) for flag in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_BINARY")
)

_NAME = re.compile(r"dask-diag-lab-([A-Za-z0-9_-]{1,100})\.json")


class RecordError(Exception):
    """Why a file is not a usable record, in words for the log; never its content."""


@dataclass(frozen=True, slots=True)
class Signature:
    """Changes whenever a file was written, replaced or had its owner or mode changed."""

    inode: int
    size: int
    modified_ns: int
    changed_ns: int


def record_id(file_name: str) -> str | None:
    """Return the id that a record's file name claims, None for other files."""
    match = _NAME.fullmatch(file_name)
    return match[1] if match else None


def signature(status: os.stat_result) -> Signature:
    """Return what tells two states of a file apart."""
    return Signature(status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def read_record(path: Path, uid: int | None) -> RuntimeRecord:
    """Read a record that user ``uid`` owns alone (None where the system has no owners).

    Raises
    ------
    RecordError
        When the file is not a regular one, not the user's own, readable by others, too large
        or not a record.
    FileNotFoundError
        When it has gone meanwhile.
    """
    content = _own_file_content(path, uid)
    try:
        record = parse_record(json.loads(content))
    except WireError as error:
        raise RecordError(str(error)) from None
    except (ValueError, RecursionError):
        raise RecordError("it is not JSON; it may be cut short") from None
    if record.id != record_id(path.name):
        raise RecordError("its id is not the one of its file name")
    return record


def _own_file_content(path: Path, uid: int | None) -> bytes:
    try:
        if stat.S_ISLNK(path.lstat().st_mode):
            raise RecordError("it is a link, not a plain file")
        descriptor = os.open(path, _OPEN_FLAGS)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise RecordError(f"it cannot be opened as a plain file ({error.strerror})") from None
    try:
        _check_status(os.fstat(descriptor), uid)
        content = os.read(descriptor, MAX_BYTES + 1)
    except OSError as error:
        raise RecordError(f"it cannot be read ({error.strerror})") from None
    finally:
        os.close(descriptor)
    if len(content) > MAX_BYTES:
        raise RecordError(f"it is larger than {MAX_BYTES} bytes")
    return content


def _check_status(status: os.stat_result, uid: int | None) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise RecordError("it is not a regular file")
    if uid is not None and status.st_uid != uid:
        raise RecordError("it belongs to another user")
    if uid is not None and status.st_mode & 0o077:
        raise RecordError("others may read or write it; its mode has to be 0600")
    if status.st_size > MAX_BYTES:
        raise RecordError(f"it is larger than {MAX_BYTES} bytes")
