"""Terminates TLS before a port of this machine, as the proxy of a hub does.

Its arguments are the certificate's file, the port behind and a path that is taken off. Prints its
own port, ends with standard input.
"""

from __future__ import annotations

import asyncio
import ssl
import sys

CERTIFICATE, PORT, PREFIX = sys.argv[1:]


async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy to the end."""
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    writer.close()


async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass one connection on, with the path of its first request changed."""
    behind_reader, behind_writer = await asyncio.open_connection("127.0.0.1", int(PORT))
    line = (await reader.readline()).decode()
    behind_writer.write(line.replace(f" {PREFIX}/", " /", 1).encode())
    await asyncio.gather(pipe(reader, behind_writer), pipe(behind_reader, writer))


async def main() -> None:
    """Serve until standard input ends."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE)
    server = await asyncio.start_server(relay, "127.0.0.1", 0, ssl=context)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


asyncio.run(main())
