"""A desk that kills itself right after one of its commits, once a file says after which."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any
from unittest.mock import patch

from aitp_desk.cli import main
from aitp_desk.store.engine.sqlite_writer import WriterThread

ORDER = "DYING_DESK_ORDER"
"""The environment variable with the path of the file, which holds a number from 1."""


def die_after(order: Path, commit: int) -> None:
    """Order a desk that runs to kill itself after a commit, counted from 1."""
    whole = order.with_suffix(".new")
    whole.write_text(str(commit))
    whole.replace(order)  # at once: a desk that reads half an order never dies


class DyingWriter(WriterThread):
    """A writer that counts its commits from the moment when the file is there."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._order = Path(os.environ[ORDER])
        self._commits = 0
        execute = self._execute

        def count(statement: str, *values: Any) -> Any:
            done = execute(statement, *values)
            if statement == "COMMIT" and self._order.exists():
                self._commits += 1
                if self._commits == int(self._order.read_text()):
                    os.kill(os.getpid(), signal.SIGKILL)
            return done

        self._execute = count


if __name__ == "__main__":
    with patch("aitp_desk.store.engine.sqlite.WriterThread", DyingWriter):
        main()
