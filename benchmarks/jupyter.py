"""A JupyterLab server of its own for a measurement, and kernels in it, spoken to over its API."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect


@dataclass(frozen=True, slots=True)
class Lab:
    """A running JupyterLab: its URL without a trailing slash, its token, its folders."""

    url: str
    token: str
    folder: Path
    runtime: Path

    def call(self, method: str, path: str, body: object = None) -> Any:  # JSON of any shape
        """Return the decoded answer of an API call."""
        request = urllib.request.Request(  # noqa: S310 - the URL is our own server's
            f"{self.url}/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {self.token}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as reply:  # noqa: S310
            text = reply.read()
        return json.loads(text) if text else None

    def socket_request(self, path: str) -> HTTPRequest:
        """Return the request that opens a websocket of this server."""
        url = f"{self.url.replace('http', 'ws', 1)}/{path}"
        return HTTPRequest(url, headers={"Authorization": f"token {self.token}"})

    async def execute(self, kernel_id: str, code: str) -> None:
        """Send ``code`` to a kernel and return without waiting for it."""
        request = self.socket_request(f"api/kernels/{kernel_id}/channels")
        channel = await websocket_connect(request)
        header = {
            "msg_id": uuid.uuid4().hex,
            "msg_type": "execute_request",
            "username": "",
            "session": uuid.uuid4().hex,
            "date": "",
            "version": "5.3",
        }
        content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content}
        await channel.write_message(json.dumps({**message, "channel": "shell", "buffers": []}))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_up(lab: Lab, process: subprocess.Popen[bytes], timeout_s: float = 60) -> None:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        try:
            lab.call("GET", "api/status")
        except OSError:
            time.sleep(0.2)
            if process.poll() is not None:
                break
        else:
            return
    msg = "JupyterLab did not start"
    raise RuntimeError(msg)


@contextmanager
def running_lab() -> Iterator[Lab]:
    """Run JupyterLab on a free port in a temporary folder, with runtime files of its own."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "notebooks"
        root.mkdir()
        port = _free_port()
        runtime = Path(folder) / "runtime"
        lab = Lab(f"http://127.0.0.1:{port}", secrets.token_hex(16), root, runtime)
        environment = {
            **os.environ,
            "JUPYTER_RUNTIME_DIR": str(runtime),
            "JUPYTER_CONFIG_DIR": str(Path(folder) / "config"),
            "JUPYTERLAB_WORKSPACES_DIR": str(Path(folder) / "workspaces"),
            "JUPYTERLAB_SETTINGS_DIR": str(Path(folder) / "settings"),
        }
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
        command += [f"--port={port}", "--ServerApp.port_retries=0", "--ip=127.0.0.1"]
        command += [f"--IdentityProvider.token={lab.token}", "--expose-app-in-browser"]
        process = subprocess.Popen(
            command,
            cwd=root,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _wait_until_up(lab, process)
            yield lab
        finally:
            process.terminate()
            process.wait(timeout=30)
