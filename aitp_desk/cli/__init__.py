"""The command ``aitp-desk``: a file a command, with what is heavy imported inside the functions.

A command's file is read when it is asked for: a desk that starts needs only its own.
"""

from __future__ import annotations

from importlib import import_module

import click

_COMMANDS = frozenset(
    {
        "audit",
        "check",
        "client",
        "erase",
        "export",
        "init",
        "jobs",
        "keys",
        "mcp",
        "serve",
        "snippet",
        "store",
        "tickets",
        "token",
    }
)
"""Each is the function of its name, in the file of its name."""


class _Commands(click.Group):
    """The commands, each imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"{__name__}.{cmd_name}"), cmd_name)
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="aitp-desk")
def main() -> None:
    """A desk beside a website: it answers agents and people from the site's own content."""
