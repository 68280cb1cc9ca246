"""Extracts the text of one PDF, as a program: ``python -I extraction.py MAX_PAGES``.

It reads the file from its input and writes one JSON object: ``title``, ``pages`` and the ``count``
of all pages, or a ``problem``. It is a separate process because a PDF is effectively a program,
often of foreign origin: a slow one can be killed, one that takes too much memory fails alone, and
nothing of the desk is within reach. Therefore it imports nothing of the desk.
"""

from __future__ import annotations

import io
import json
import logging
import re
import resource
import sys
from contextlib import suppress
from typing import Any

MAX_MEMORY = 1024**3
MAX_CPU_SECONDS = 60
MAX_CHARACTERS = 4_000_000
"""Pages after so many characters are not read."""

# all control characters but tab and line feed
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def extract(payload: bytes, max_pages: int) -> dict[str, Any]:
    """Return the title and the pages of a PDF, or a problem."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, FileNotDecryptedError, LimitReachedError

    try:
        reader = PdfReader(io.BytesIO(payload))
        count = len(reader.pages)
        pages: list[str] = []
        room = MAX_CHARACTERS
        for number in range(min(count, max_pages)):
            text = _clean(reader.pages[number].extract_text())
            room -= len(text)
            if room < 0:
                break
            pages.append(text)
        title = reader.metadata.title if reader.metadata else None
    except (FileNotDecryptedError, DependencyError):
        return {"problem": "The PDF is encrypted; save it without a password."}
    except (MemoryError, LimitReachedError):
        return {"problem": "The PDF needs too much memory; save it again or split it."}
    except Exception:  # noqa: BLE001 -- a broken file breaks its reader in any way
        return {"problem": "The PDF is broken; save it again."}
    return {"title": _clean(title or ""), "pages": pages, "count": count}


def _clean(text: str) -> str:
    return _CONTROLS.sub(" ", text.encode("utf-8", "replace").decode())


def main() -> None:
    """Read the file, and write its text."""
    logging.disable()
    for limit, most in (
        (resource.RLIMIT_AS, MAX_MEMORY),
        (resource.RLIMIT_CPU, MAX_CPU_SECONDS),
    ):
        with suppress(ValueError, OSError):  # some systems do not know the limit
            resource.setrlimit(limit, (most, most))
    found = extract(sys.stdin.buffer.read(), int(sys.argv[1]))
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
