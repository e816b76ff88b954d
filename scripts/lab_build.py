"""Tells whether the built front end belongs to the sources beside it; builds nothing itself."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path

SOURCES = ("package.json", "yarn.lock", "tsconfig*.json", "src", "style", "schema")
"""Patterns of files and folders that the front end is built from."""
_STAMP = Path(".make/lab.sha256")


def outputs(root: Path) -> list[Path]:
    """Return a file of each part of the build; all are there, or it has to be built."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    targets = project["tool"]["jupyter-packaging"]["options"]["skip-if-exists"]
    return [root / target for target in targets]


def fingerprint(root: Path) -> str:
    """Return a digest of the names and contents of the sources below `root`."""
    digest = hashlib.sha256()
    for path in sorted(file for pattern in SOURCES for file in _files(root, pattern)):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def is_fresh(root: Path) -> bool:
    """Tell whether there is nothing to build; an unpacked sdist carries its build."""
    if not all(path.exists() for path in outputs(root)):
        return False
    if (root / "PKG-INFO").exists():
        return True
    stamp = root / _STAMP
    return stamp.exists() and stamp.read_text() == fingerprint(root)


def remember(root: Path, digest: str) -> None:
    """Note that what is built now was made from sources with this digest."""
    (root / _STAMP).parent.mkdir(exist_ok=True)
    (root / _STAMP).write_text(digest)


def _files(root: Path, pattern: str) -> list[Path]:
    found = [file for path in root.glob(pattern) for file in (path, *path.rglob("*"))]
    return [file for file in found if file.is_file()]
