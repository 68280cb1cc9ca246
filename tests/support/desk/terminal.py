"""The command `aitp-desk` within the process of a test, for what needs no other process."""

from __future__ import annotations

from collections.abc import Mapping

from click.testing import CliRunner

from aitp_desk.cli import main
from tests.support.store.chosen import name_store

NO_VARIABLES: Mapping[str, str] = {}


def command(
    *arguments: object, exit_code: int = 0, environment: Mapping[str, str] = NO_VARIABLES
) -> list[str]:
    """Run a command to its end; the lines that it wrote, to stdout and stderr in their order."""
    done = CliRunner().invoke(
        main, name_store(arguments), env=dict(environment), catch_exceptions=False
    )
    assert done.exit_code == exit_code, done.output
    return done.output.splitlines()
