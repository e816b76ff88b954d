"""Adds the project's data files to the wheel of an editable install, where setuptools drops them.

Without them neither Jupyter nor Dask would find a checkout that is installed in place.
"""

from __future__ import annotations

import base64
import hashlib
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path


def add_data_files(wheel: Path, root: Path) -> None:
    """Write ``[tool.setuptools.data-files]`` of the project at `root` into its editable wheel."""
    name, version = wheel.name.split("-")[:2]
    record_name = f"{name}-{version}.dist-info/RECORD"
    with zipfile.ZipFile(wheel) as archive:
        contents = {entry: archive.read(entry) for entry in archive.namelist()}
    record = contents.pop(record_name).decode()
    for target, source in _data_files(root):
        entry = f"{name}-{version}.data/data/{target}"
        contents[entry] = source.read_bytes()
        record += f"{entry},sha256={_digest(contents[entry])},{len(contents[entry])}\n"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, content in contents.items():
            archive.writestr(entry, content)
        archive.writestr(record_name, record)


def _data_files(root: Path) -> Iterator[tuple[str, Path]]:
    project = tomllib.loads((root / "pyproject.toml").read_text())
    for folder, patterns in project["tool"]["setuptools"]["data-files"].items():
        for pattern in patterns:
            for source in sorted(root.glob(pattern)):
                yield f"{folder}/{source.name}", source


def _digest(content: bytes) -> str:
    """Return the hash as RECORD files write it: URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
