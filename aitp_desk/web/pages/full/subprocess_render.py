"""Renders long or many pages as Markdown in a subprocess.

The converter from HTML to Markdown holds the GIL: for half a second where a page has a megabyte,
again and again where there are a thousand. A subprocess blocks no request.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import IO

import msgspec

from aitp_desk.agent.generative.passages import estimate_tokens
from aitp_desk.config import Site
from aitp_desk.knowledge.documents.base import Document
from aitp_desk.knowledge.sources.processes import start_process
from aitp_desk.model.errors import Unavailable
from aitp_desk.web.pages.full.markdown import write_markdown

HERE_CHARACTERS = 64 * 1024
"""How many characters are rendered in this process, since a subprocess takes time to start."""

_PROGRAM = "aitp_desk.web.pages.full.subprocess_render"
_SIZE = 8
"""How many bytes state the length of a message."""
_encode = msgspec.msgpack.encode


class RenderedPage(msgspec.Struct, frozen=True, array_like=True):
    """A page as Markdown, with front matter, and its approximate number of tokens."""

    text: str
    tokens: int


class _RenderOptions(msgspec.Struct, frozen=True, array_like=True):
    """The options for all pages.

    As :func:`aitp_desk.web.pages.full.markdown.write_markdown` takes them.
    """

    site: Site
    urls: Mapping[str, str]


def write_pages(
    site: Site, documents: Iterable[Document], urls: Mapping[str, str]
) -> Iterator[RenderedPage]:
    """Yield pages as Markdown; blocks, so iterate it in a thread.

    Parameters:
        urls: address of each document by its source, for links from file to file.

    Raises:
        Unavailable: the process ended too early.
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
    """Run a process that reads options and pages; kill it at the end."""
    with start_process(_PROGRAM) as process:
        try:
            yield process
        finally:
            process.kill()
            if process.stdin is not None:
                with suppress(OSError):  # the killed process reads no more
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
    return Unavailable("This page could not be written now. Request it again.", retry_after=30)


def _send(to: IO[bytes] | None, what: msgspec.Struct) -> None:
    message = _encode(what)
    if to is not None:
        to.write(len(message).to_bytes(_SIZE))
        to.write(message)
        to.flush()


def _receive(of: IO[bytes] | None) -> bytes:
    """Read the next message.

    Raises:
        EOFError: there is none.
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
    """Render the pages read from standard input, until it ends."""
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
