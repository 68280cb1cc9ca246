"""The command ``aitp-desk``: one module per command, heavy imports inside functions.

A command's module is imported on use, so that ``serve`` loads only its own. Packages add commands
by an entry point group (:mod:`aitp_desk.cli.extension`).
"""

from __future__ import annotations

from importlib import import_module

import click

_FOLDERS = {
    "commands": ("ask check enrich evaluate export files jobs lint serve snippet store transport"),
    "commands.access": "audit client keys token",
    "commands.agents": "mcp partners visit",
    "commands.site": "dev doctor init",
    "commands.threads": "erase export_person insights tickets transcript",
}
_COMMANDS = {
    name.replace("_", "-"): f"{__name__}.{folder}.{name}"
    for folder in _FOLDERS
    for name in _FOLDERS[folder].split()
}
"""The module of each command; the command is the function of the same name in it."""
GROUP = "aitp_desk.commands"
"""The entry point group in which packages name their commands."""


class _Commands(click.Group):
    """The commands, each imported on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        from importlib.metadata import entry_points

        return sorted(_COMMANDS.keys() | entry_points(group=GROUP).names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in _COMMANDS:
            return _of_package(cmd_name)
        path = _COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(path), path.rpartition(".")[2])
        return command


def _of_package(name: str) -> click.Command | None:
    """Return a package's command; None where no package has it.

    Raises:
        ClickException: it cannot be imported, or is not a command.
    """
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP, name=name):
        try:
            command = point.load()
        except Exception as error:  # a fault of a package is reported without a traceback
            raise click.ClickException(f"{point.value} cannot be imported: {error}") from error
        if not isinstance(command, click.Command):
            raise click.ClickException(f"{point.value} is not a click command.")
        return command
    return None


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="aitp-desk")
def main() -> None:
    """A desk next to a website: it answers agents and people from the site's own content."""
