"""A desk that carries messages and acknowledges before its commits, as none may.

What it loses shows that the proof sees it when something is lost.
"""

from __future__ import annotations

from unittest.mock import patch

from aitp_desk.cli import main
from tests.faults.processes.carrying_desk import open_carrying
from tests.faults.processes.early_acknowledgement import HastyWriter

if __name__ == "__main__":
    with (
        patch("aitp_desk.app.process.open_server", open_carrying),
        patch("aitp_desk.store.engine.sqlite.WriterThread", HastyWriter),
    ):
        main()
