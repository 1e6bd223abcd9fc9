"""`python -m bench.drain_receiver MILLISECONDS`: an audit sink that takes anything, after so long; prints its port.

Written against asyncio's protocols, so that it costs a tenth of its client: what is measured is the client.
"""

import asyncio
import sys

ANSWER = b"HTTP/1.1 204 No Content\r\n\r\n"


class Receiver(asyncio.Protocol):
    """One connection: finds the end of each request and answers it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._transport: asyncio.Transport | None = None
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer + data if self._buffer else data
        while (end := _end_of_request(buffer)) is not None:
            buffer = buffer[end:]
            self._answer()
        self._buffer = buffer

    def _answer(self) -> None:
        assert self._transport is not None
        if self._seconds:
            asyncio.get_running_loop().call_later(self._seconds, self._transport.write, ANSWER)
        else:
            self._transport.write(ANSWER)


def _end_of_request(buffer: bytes) -> int | None:
    head = buffer.find(b"\r\n\r\n")
    if head < 0:
        return None
    fields = buffer[:head].lower()
    at = fields.find(b"content-length:")
    end = head + 4 + int(fields[at + 15 :].split(b"\r\n", 1)[0])
    return end if len(buffer) >= end else None


async def main() -> None:
    seconds = float(sys.argv[1]) / 1000
    server = await asyncio.get_running_loop().create_server(lambda: Receiver(seconds), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
