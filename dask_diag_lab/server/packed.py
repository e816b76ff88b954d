"""Large scripts compressed once: at each opening of a page it would hold up the loop for 50 ms."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path


class Packed:
    """Files as gzip, by their path."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[int, bytes]] = {}

    def pack(self, paths: Iterable[Path]) -> None:
        """Compress files that are there; others are left out."""
        for path in paths:
            if path.is_file():
                changed_ns = path.stat().st_mtime_ns
                self._files[str(path)] = changed_ns, gzip.compress(path.read_bytes(), 6, mtime=0)

    def get(self, path: str) -> bytes | None:
        """Return a file as gzip; None when it was not packed, or has changed since."""
        changed_ns, packed = self._files.get(path, (0, b""))
        return packed if packed and Path(path).stat().st_mtime_ns == changed_ns else None
