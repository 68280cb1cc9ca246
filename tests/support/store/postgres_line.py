"""A line to a PostgreSQL server that can be cut, in the middle of a COMMIT too, or slow."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import Enum
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

SOCKET = ".s.PGSQL.5432"
COMMIT = b"COMMIT\0"


class Cut(Enum):
    """What becomes of the next COMMIT."""

    BEFORE = "the server never hears of it"
    AFTER = "the server commits, and its answer is lost"


class Line:
    """Passes bytes between desks and the server.

    Attributes:
        url: the server's address by this line.
        is_open: whether new connections are let through.
        cut: what is done at the next COMMIT; None to let it pass.
        cuts: how many were not let pass.
        holds: the COMMIT that follows these bytes is held until it may pass, and its answer for as
            long as its connection lasts; None to hold none.
        is_reached, may_pass, is_answered: of that COMMIT.
        sent: everything that the desks have sent.
        seconds: how long a round trip takes.
        listener: accepts its connections.
    """

    def __init__(self, url: str, folder: Path) -> None:
        parts = urlsplit(url)
        query = {name: value for name, (value,) in parse_qs(parts.query).items()}
        self._server = Path(query["host"]) / SOCKET
        query["host"] = str(folder)
        self.url = f"postgresql://{parts.netloc}{parts.path}?{urlencode(query)}"
        self.is_open = True
        self.cut: Cut | None = None
        self.cuts = 0
        self.holds: bytes | None = None
        self.is_reached, self.may_pass = asyncio.Event(), asyncio.Event()
        self.is_answered = asyncio.Event()
        self.sent = b""
        self.seconds = 0.0
        self.listener: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._serving: set[asyncio.Task[None]] = set()

    def break_all(self) -> None:
        """Cut every connection."""
        for writer in list(self._writers):
            writer.transport.abort()

    def end(self) -> None:
        """Refuse new connections, as the socket of a server that is gone."""
        assert self.listener is not None
        self.listener.close()

    async def close(self) -> None:
        """End every connection, and with it the server's session."""
        self.is_open = False
        self.end()
        await asyncio.sleep(0)  # what was just accepted begins
        for serving in self._serving:
            serving.cancel()
        if self._serving:
            await asyncio.wait(self._serving)

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        if not self.is_open:
            writer.transport.abort()
            return
        serving = asyncio.current_task()
        assert serving is not None
        self._serving.add(serving)
        both = {writer}
        try:
            back, forth = await asyncio.open_unix_connection(str(self._server))
            both.add(forth)
            self._writers |= both
            async with asyncio.TaskGroup() as group:
                is_last, is_held = asyncio.Event(), asyncio.Event()
                group.create_task(self._pass_on(reader, forth, is_last, is_held))
                group.create_task(self._pass_back(back, writer, is_last, is_held))
        except* (ConnectionError, OSError):
            pass
        finally:
            self._serving.discard(serving)
            self._writers -= both
            for one in both:
                one.transport.abort()

    async def _pass_on(
        self,
        reader: asyncio.StreamReader,
        forth: asyncio.StreamWriter,
        is_last: asyncio.Event,
        is_held: asyncio.Event,
    ) -> None:
        is_near = False
        while sent := await reader.read(65536):
            self.sent += sent
            is_near |= self.holds is not None and self.holds in sent
            if self.cut is not None and COMMIT in sent:
                cut, self.cut = self.cut, None
                self.cuts += 1
                if cut is Cut.BEFORE:
                    raise ConnectionError
                is_last.set()
            if is_near and self.holds is not None and COMMIT in sent:
                self.holds = None
                is_held.set()
                self.is_reached.set()
                await self.may_pass.wait()
            if self.seconds:
                await asyncio.sleep(self.seconds)
            forth.write(sent)
            await forth.drain()
        raise ConnectionError

    async def _pass_back(
        self,
        back: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        is_last: asyncio.Event,
        is_held: asyncio.Event,
    ) -> None:
        while got := await back.read(65536):
            if is_last.is_set():
                break
            if is_held.is_set():
                self.is_answered.set()
                continue
            writer.write(got)
            await writer.drain()
        raise ConnectionError


@asynccontextmanager
async def open_line(url: str, folder: Path) -> AsyncIterator[Line]:
    """Open a line to the server of a URL, which names the folder of its socket."""
    line = Line(url, folder)
    line.listener = await asyncio.start_unix_server(line.connect, str(folder / SOCKET))
    try:
        yield line
    finally:
        await line.close()
