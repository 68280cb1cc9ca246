"""Tests in a subprocess whether a page can be parsed in time.

Parsing HTML takes time that grows with the square of the nesting depth, so a page of one MiB can
block the desk for hours, at each start again; so can many slow PDFs. A thread cannot be killed; a
process can. Small pages are not tested: they cannot take long.
"""

from __future__ import annotations

import asyncio
import resource
import sys
from contextlib import suppress
from pathlib import Path
from typing import cast

from aitp_desk.knowledge.documents.base import SourceKind
from aitp_desk.knowledge.documents.chunks import split_passages
from aitp_desk.knowledge.sources.admission import ContentFile
from aitp_desk.knowledge.sources.loader import RawContent, parse_content
from aitp_desk.knowledge.sources.pdf.texts import MAX_PAGES, PROGRAM, is_installed
from aitp_desk.knowledge.sources.processes import PACKAGES, make_environment

TRIED_FROM_BYTES = 64 * 1024
"""A smaller page is accepted untested; a PDF is not."""
MAX_SECONDS = 20.0
"""A page that takes longer is not read."""
MAX_MEMORY = 1024**3

_PROGRAM = "aitp_desk.knowledge.web.time_limit"


async def can_be_read(kind: SourceKind, body: bytes) -> bool:
    """Return whether a page becomes passages within the bounds of time and memory.

    Parameters:
        kind: its format.
        body: a text as UTF-8.
    """
    if kind == "pdf" and is_installed():
        command = ("-I", PROGRAM, str(MAX_PAGES))
    elif kind != "pdf" and len(body) > TRIED_FROM_BYTES:
        command = ("-m", _PROGRAM, kind)
    else:
        return True
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=PACKAGES,
        env=make_environment(),
    )
    try:
        async with asyncio.timeout(MAX_SECONDS):
            await process.communicate(body)
    except TimeoutError:
        return False
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode == 0


def main() -> None:
    """Parse the page on the input, in the given format, as the desk would."""
    with suppress(ValueError, OSError):  # some systems do not know the limit
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    kind, body = cast(SourceKind, sys.argv[1]), sys.stdin.buffer.read()
    found = ContentFile("https://example.com/", Path(), kind)
    for document in parse_content(RawContent(((found, body),), (), b"")).documents:
        split_passages(document)


if __name__ == "__main__":
    main()
