"""``make demo``: JupyterLab on a copy of the demo notebook, everything set up before.

``PORT`` in the environment asks for that port; without it the first free one from 8888 is taken.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import webbrowser
from pathlib import Path

from environment import LOGS, PYTHON, ROOT, SCRIPTS, isolated, jupyter_arguments, prepare
from steps import FailedError, MissingError, Steps

_PATIENCE_S = 120.0


def main() -> int:
    """Set up, start JupyterLab and wait until it is stopped."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    steps = Steps(5, LOGS / "demo.log")
    prepare(steps, ["demo"])
    steps.begin("A copy of the demo notebook")
    folder = Path(tempfile.mkdtemp(prefix="dask-diag-lab-"))
    shutil.copy(ROOT / "examples" / "demo.ipynb", folder)
    steps.note(f"{folder / 'demo.ipynb'} (your changes stay there)")
    steps.begin("JupyterLab starts")
    token = secrets.token_hex(24)
    port = _port()
    with tempfile.TemporaryDirectory(prefix="ddl-") as settings:
        server = _start(folder, port, token, Path(settings))
        try:
            _wait(server, port)
            url = f"http://127.0.0.1:{port}/lab/tree/demo.ipynb?token={token}"
            steps.begin(f"Ready. Stop with Ctrl-C.\n\n      {url}\n")
            if _has_browser():
                webbrowser.open(url)
            return server.wait()
        except KeyboardInterrupt:
            print("\nStopping JupyterLab and its kernels.")
            return 0
        finally:
            server.terminate()
            server.wait()


def _start(folder: Path, port: int, token: str, settings: Path) -> subprocess.Popen[bytes]:
    env = isolated(settings, dict(os.environ))
    env["PATH"] = os.pathsep.join([str(SCRIPTS), os.environ.get("PATH", os.defpath)])
    env["JUPYTER_TOKEN"] = token  # not on the command line, where everybody could read it
    command: list[str | Path] = [
        PYTHON,
        "-m",
        "jupyterlab",
        "--no-browser",
        f"--ServerApp.port={port}",
    ]
    command += ["--ServerApp.port_retries=0", "--log-level=WARN", *jupyter_arguments()]
    # A session of its own: Ctrl-C reaches only this process, which then ends the server properly.
    return subprocess.Popen(command, cwd=folder, env=env, start_new_session=True)


def _port() -> int:
    named = os.environ.get("PORT", "")
    if named and not named.isdecimal():
        msg = f"PORT={named} is not a number."
        raise FailedError(msg)
    for port in [int(named)] if named else range(8888, 8988):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise MissingError(
        f"Port {named or '8888 to 8987'} is taken by another program.",
        "make demo PORT=9999   (any free one)",
    )


def _wait(server: subprocess.Popen[bytes], port: int) -> None:
    """Return when the server answers; even "forbidden" is an answer."""
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until:
        if server.poll() is not None:
            msg = "JupyterLab ended while it started; its messages are above."
            raise FailedError(msg)
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/api", timeout=5).close()
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.3)
        else:
            return
    msg = f"JupyterLab did not answer within {_PATIENCE_S:.0f} s."
    raise FailedError(msg)


def _has_browser() -> bool:
    """Tell whether a window can open here; text browsers cannot show Lab."""
    has_screen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return bool(has_screen) or sys.platform in {"darwin", "win32"}


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (MissingError, FailedError) as problem:
        sys.exit(f"\n{problem}")
