"""A desk with the tests' own transport, whose agent never ends a reply.

`aitp-desk`, but for that.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any
from unittest.mock import patch

from aitp_desk.app.server import RunningServer, open_server
from aitp_desk.cli import main
from aitp_desk.config import Config
from tests.bench.harness.silent_desk import SilentAgent
from tests.support.transports.pigeon import Pigeon


def open_silent(config: Config, **given: Any) -> AbstractAsyncContextManager[RunningServer]:
    """A desk that only records what people on the platform write."""
    chosen = {"agent": SilentAgent(), "transports_beside": {"pigeon": Pigeon}}
    return open_server(config, **{**given, **chosen})


if __name__ == "__main__":
    with patch("aitp_desk.app.process.open_server", open_silent):
        main()
