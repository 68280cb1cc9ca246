"""A desk that acknowledges before its commits, as none may: `aitp-desk`, but for that.

It loses messages when it is killed, which shows that the proof sees it when messages are lost.
"""

from __future__ import annotations

import time
from unittest.mock import patch

from aitp_desk.cli import main
from aitp_desk.store.engine.sqlite_writer import WriterThread
from aitp_desk.store.engine.unit import Unit

SECONDS_EARLY = 0.002


class HastyWriter(WriterThread):
    """A writer that tells the caller of a unit as soon as the unit was driven."""

    def _drive(self, unit: Unit) -> None:
        super()._drive(unit)
        self._on_settled([unit])
        time.sleep(SECONDS_EARLY)


if __name__ == "__main__":
    with patch("aitp_desk.store.engine.sqlite.WriterThread", HastyWriter):
        main()
