"""The arguments, progress and error reports that commands share."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NoReturn

import click

DASHED_ARGUMENTS = {"ignore_unknown_options": True}
"""Context settings of a command whose arguments may begin with a dash: key ids, text."""

site_folder = click.argument(
    "folder", type=click.Path(path_type=Path, exists=True, file_okay=False)
)
data_folder = click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    help="The desk's data folder; by default store.data, which is .desk in FOLDER.",
)
overrides = click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="SECTION.KEY=VALUE",
    help="A setting that overrides desk.toml; repeatable.",
)
written_to = click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file to write, readable only by you; by default standard output.",
)


@contextmanager
def written_alone(out: Path | None) -> Iterator[IO[str]]:
    """Open the file of ``--out`` for its owner only, or exit.

    Parameters:
        out: None for the standard output.
    """
    try:
        if out is None:
            yield sys.stdout
        else:
            opened = os.open(out, os.O_WRONLY | os.O_CREAT, 0o600)
            os.fchmod(opened, 0o600)  # also a file that others could read before
            os.ftruncate(opened, 0)
            with os.fdopen(opened, "w") as file:
                yield file
    except OSError as error:
        where = "standard output" if out is None else f"--out: {out}"
        fail([f"{where} cannot be written: {error.strerror}."])


@contextmanager
def mistakes_told(code: int = 1) -> Iterator[None]:
    """Turn errors that the user can fix into lines and an exit code."""
    from aitp_desk.actions.faults import ActionsError
    from aitp_desk.auth.keys.master_key import KeyFileError
    from aitp_desk.config import ConfigError
    from aitp_desk.knowledge.sources.admission import ContentUnreadable
    from aitp_desk.model.errors import DeskError
    from aitp_desk.store.base import StoreError

    try:
        yield
    except (ActionsError, ConfigError) as error:
        fail(map(str, error.problems), code)
    except DeskError as error:
        fail([error.message], code)
    except (ContentUnreadable, KeyFileError, StoreError) as error:
        fail([str(error)], code)


no_model = click.option(
    "--no-model", is_flag=True, help="Do not use a model, even if its API key is set."
)


MOST_FAULTS = 50
"""The most faults that a check prints, so that a long list stays readable."""


def list_first_faults(lines: Sequence[str]) -> Iterator[str]:
    """Yield the first faults of a check, and the number of the rest."""
    yield from lines[:MOST_FAULTS]
    if len(lines) > MOST_FAULTS:
        yield f"and {len(lines) - MOST_FAULTS} more."


def fail(lines: Iterable[str], code: int = 1) -> NoReturn:
    """Write the lines to stderr and exit with a code."""
    for line in lines:
        click.echo(line, err=True)
    sys.exit(code)


_PROGRESS_SECONDS = 1.0


@contextmanager
def progress(did: str, things: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show the progress on one line of a terminal; nothing elsewhere."""
    is_watched, is_shown = _is_watched(), False
    next_at = time.monotonic() + _PROGRESS_SECONDS

    def report(n: int, of: int | None = None) -> None:
        nonlocal next_at, is_shown
        if is_watched and time.monotonic() >= next_at:
            next_at, is_shown = time.monotonic() + _PROGRESS_SECONDS, True
            whole = "" if of is None else f" of {of}"
            click.echo(f"\r{did} {n}{whole} {things}", nl=False, err=True)

    try:
        yield report
    finally:
        if is_shown:
            click.echo(err=True)


def _is_watched() -> bool:
    return sys.stderr.isatty()
