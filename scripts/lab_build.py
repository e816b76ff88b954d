"""Tells whether the built Lab extension belongs to the sources beside it; builds nothing itself."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

OUTPUT = Path("dask_diag_lab/labextension")
SOURCES = ("package.json", "yarn.lock", "tsconfig.json", "src", "style", "schema")
_STAMP = Path(".make/lab.sha256")


def is_sdist(root: Path) -> bool:
    """Tell an unpacked source distribution, which carries the built extension, from a checkout."""
    return (root / "PKG-INFO").exists()


def fingerprint(root: Path, names: tuple[str, ...] = SOURCES) -> str:
    """Return a digest of the names and contents of these files and folders below `root`."""
    digest = hashlib.sha256()
    for path in _files(root, names):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def is_fresh(root: Path) -> bool:
    """Tell whether there is nothing to build."""
    if not (root / OUTPUT / "package.json").exists():
        return False
    if is_sdist(root):
        return True
    stamp = root / _STAMP
    return stamp.exists() and stamp.read_text() == fingerprint(root)


def remember(root: Path, digest: str) -> None:
    """Note that what is built now was made from sources with this digest."""
    stamp = root / _STAMP
    stamp.parent.mkdir(exist_ok=True)
    stamp.write_text(digest)


def _files(root: Path, names: tuple[str, ...]) -> Iterator[Path]:
    for name in names:
        path = root / name
        below = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (file for file in below if file.is_file() and "__pycache__" not in file.parts)
