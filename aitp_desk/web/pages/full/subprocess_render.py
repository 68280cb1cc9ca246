"""Pages as Markdown where they are long or many: written by a process of its own.

What turns HTML into Markdown lets no other thread run meanwhile: for half a second where a page has
a megabyte, again and again where there are a thousand. A process holds up nobody.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import IO

import msgspec

from aitp_desk.agent.claude.passages import estimate_tokens
from aitp_desk.config import Site
from aitp_desk.knowledge.documents.base import Document
from aitp_desk.knowledge.sources.processes import start_process
from aitp_desk.model.errors import Unavailable
from aitp_desk.web.pages.full.markdown import write_markdown

HERE_CHARACTERS = 64 * 1024
"""What is written in a row without a process, which takes its time to start."""

_PROGRAM = "aitp_desk.web.pages.full.subprocess_render"
_SIZE = 8
"""How many bytes say how long what follows is."""
_encode = msgspec.msgpack.encode


class RenderedPage(msgspec.Struct, frozen=True, array_like=True):
    """A page as Markdown, with front matter, and about how many tokens it is."""

    text: str
    tokens: int


class _RenderOptions(msgspec.Struct, frozen=True, array_like=True):
    """What holds for all pages.

    As :func:`aitp_desk.web.pages.full.markdown.write_markdown` takes it.
    """

    site: Site
    urls: Mapping[str, str]


def write_pages(
    site: Site, documents: Iterable[Document], urls: Mapping[str, str]
) -> Iterator[RenderedPage]:
    """Pages as Markdown, one after the other; to be asked for in a thread.

    Parameters:
        urls: address of each document by its source, for links from file to file.

    Raises:
        Unavailable: the process has ended before it was done.
    """
    order = _RenderOptions(site, urls)
    room = HERE_CHARACTERS
    writer: subprocess.Popen[bytes] | None = None
    with ExitStack() as stack:
        for document in documents:
            room -= len(document.body)
            if room >= 0:
                yield _write(order, document)
                continue
            if writer is None:
                writer = stack.enter_context(_writer())
                _tell(writer, order)
            yield _ask(writer, document)


def _write(order: _RenderOptions, document: Document) -> RenderedPage:
    text = write_markdown(order.site, document, order.urls)
    return RenderedPage(text, estimate_tokens(text))


@contextmanager
def _writer() -> Iterator[subprocess.Popen[bytes]]:
    """A process that takes an order and then pages; it ends when nobody asks it any more."""
    with start_process(_PROGRAM) as process:
        try:
            yield process
        finally:
            process.kill()
            if process.stdin is not None:
                with suppress(OSError):  # what it has not read, nobody reads any more
                    process.stdin.close()


def _ask(writer: subprocess.Popen[bytes], document: Document) -> RenderedPage:
    _tell(writer, document)
    try:
        return msgspec.msgpack.decode(_receive(writer.stdout), type=RenderedPage)
    except EOFError:
        raise _gone() from None


def _tell(writer: subprocess.Popen[bytes], what: msgspec.Struct) -> None:
    try:
        _send(writer.stdin, what)
    except OSError:
        raise _gone() from None


def _gone() -> Unavailable:
    return Unavailable("This could not be written now; ask again.", retry_after=30)


def _send(to: IO[bytes] | None, what: msgspec.Struct) -> None:
    message = _encode(what)
    if to is not None:
        to.write(len(message).to_bytes(_SIZE))
        to.write(message)
        to.flush()


def _receive(of: IO[bytes] | None) -> bytes:
    """The next message.

    Raises:
        EOFError: there is none any more.
    """
    size = of.read(_SIZE) if of is not None else b""
    if of is None or len(size) < _SIZE:
        raise EOFError
    length = int.from_bytes(size)
    message = of.read(length)
    if len(message) < length:
        raise EOFError
    return message


def main() -> None:
    """Write the pages that come in, until no more come."""
    pages = sys.stdin.buffer
    order = msgspec.msgpack.decode(_receive(pages), type=_RenderOptions)
    try:
        while True:
            document = msgspec.msgpack.decode(_receive(pages), type=Document)
            _send(sys.stdout.buffer, _write(order, document))
    except EOFError:
        return


if __name__ == "__main__":
    main()
