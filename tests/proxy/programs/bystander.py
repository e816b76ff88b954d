"""A program that is no dashboard of this user: listens, prints its port, then whether it hears.

Its arguments are the id of its user, and modules that it has loaded.
"""

from __future__ import annotations

import importlib
import os
import socket
import sys

for module in sys.argv[2:]:
    importlib.import_module(module)
os.setuid(int(sys.argv[1]))
with socket.create_server(("127.0.0.1", 0)) as server:
    print(server.getsockname()[1], flush=True)
    server.accept()
    print("disturbed", flush=True)
    sys.stdin.read()
