"""The runtime record by which the Jupyter server finds this server; must not know the server."""

from __future__ import annotations

import json
import os
import platform
import re
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePosixPath, PureWindowsPath
from tempfile import NamedTemporaryFile
from typing import Any, Final

SCHEMA: Final = 1
_ID: Final = re.compile(r"[0-9a-f]{8,64}")
_KERNEL_FILE = re.compile(r"kernel-(?P<id>[0-9a-fA-F-]{8,64})\.json")


def runtime_dir() -> Path:
    """Return Jupyter's runtime folder, where kernels and servers look for each other."""
    from jupyter_core.paths import jupyter_runtime_dir

    return Path(jupyter_runtime_dir())


def connection_file() -> str:
    """Return the path of this kernel's connection file, '' outside a Jupyter kernel."""
    kernelapp = sys.modules.get("ipykernel.kernelapp")
    app = getattr(kernelapp, "IPKernelApp", None)
    if app is not None and app.initialized():
        return str(app.instance().connection_file)
    return ""


def own_kernel() -> Any:  # an untyped ipykernel Kernel
    """Return the kernel that this process is, None where it is none, or of another make."""
    kind = getattr(sys.modules.get("ipykernel.kernelbase"), "Kernel", None)
    kernel = kind.instance() if kind is not None and kind.initialized() else None
    return kernel if hasattr(kernel, "control_handlers") else None


def kernel_id() -> str | None:
    """Return the Jupyter id of this kernel, from the name of its connection file."""
    match = _KERNEL_FILE.fullmatch(Path(connection_file()).name)
    return match["id"] if match else None


def running_cell() -> dict[str, list[str]]:
    """Return the id of the notebook's cell that runs and that of this run, as ``cell``; {} else."""
    parent = _parent()
    cell = parent.get("metadata", {}).get("cellId")
    return {"cell": [str(cell), str(parent["header"]["msg_id"])]} if cell else {}


def running_code() -> str:
    """Return the text of the notebook's cell that runs, '' where there is none."""
    return str(_parent().get("content", {}).get("code", ""))


def _parent() -> dict[str, Any]:
    """Return the message that has this kernel do what it does; {} where it is none."""
    kernel = own_kernel()
    return {} if kernel is None else kernel.get_parent("shell")


def session_name(environ: Mapping[str, str] = os.environ, kernel: str | None = None) -> str:
    """Return what people call this process: its notebook's file name, else kernel or process.

    Jupyter gives each kernel the path of its document in ``JPY_SESSION_NAME``.
    """
    path = environ.get("JPY_SESSION_NAME", "")
    name = PureWindowsPath(PurePosixPath(path).name).name
    if name and not _KERNEL_FILE.fullmatch(name):
        return name
    return f"kernel {kernel[:8]}" if kernel else f"python {os.getpid()}"


def start_ticks() -> int | None:
    """Return the clock tick since the machine started at which this process began, if known.

    Field 22 of ``/proc/self/stat`` (man 5 proc). It tells this process from a later one with its
    number; a time of day would not, because it moves when the clock is set.
    """
    try:
        stat = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return int(stat.rpartition(")")[2].split()[19])


def versions() -> dict[str, str | None]:
    """Return the versions that matter for a bug report; None where a package is missing."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    for package in ("dask_diag_lab", "distributed", "bokeh"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found


def read_record(dashboard_id: str) -> dict[str, Any]:  # JSON
    """Return the record of a process of this user, by its id.

    Raises
    ------
    OSError, ValueError
        There is none here.
    """
    if not _ID.fullmatch(dashboard_id):
        raise ValueError("That is no id of a dashboard.")
    file = runtime_dir() / f"dask-diag-lab-{dashboard_id}.json"
    return dict(json.loads(file.read_text(encoding="utf-8")))


def write_record(record: Mapping[str, Any], folder: Path | None = None) -> Path:
    """Write `record` for its owner only, at once and whole; return where.

    Parameters
    ----------
    record : mapping
        See "Runtime record" in the design; ``record["id"]`` names the file.
    folder : Path, optional
        Another place than Jupyter's runtime folder.

    Raises
    ------
    OSError
        It cannot be written there; nothing is left of it.
    """
    folder = runtime_dir() if folder is None else folder
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    text, target = json.dumps(record, indent=2), folder / f"dask-diag-lab-{record['id']}.json"
    # Made with mode 0600; the dot keeps half a file from being taken for a record.
    with NamedTemporaryFile("w", prefix=".dask-diag-lab-", dir=folder, delete=False) as file:
        temporary = Path(file.name)
    try:
        temporary.write_text(text, encoding="utf-8")
        return temporary.replace(target)
    finally:  # it is there still where the disk is full, for example
        temporary.unlink(missing_ok=True)
