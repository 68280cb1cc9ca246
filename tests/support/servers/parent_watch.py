"""Ends what a process of the tests has started, also if that process is killed."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_WATCH = 'read -r _ || exec "$@" >/dev/null 2>&1'
"""The line is sent by a process that ends well; without it the pipe ends with the process."""


@contextmanager
def ended_with_parent(*command: str | Path, **options: Any) -> Iterator[None]:
    """Run a command if this process is killed before the context ends.

    Parameters:
        options: of its process.
    """
    watch = subprocess.Popen(
        ["sh", "-c", _WATCH, "sh", *command],
        stdin=subprocess.PIPE,
        start_new_session=True,  # what is sent to all of a terminal does not reach it
        **options,
    )
    try:
        yield
    finally:
        watch.communicate(b"over\n")
