"""``aitp-desk audit``: the audit log of a desk, also while it serves."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from aitp_desk.cli.arguments import fail, mistakes_told, written_alone, written_to
from aitp_desk.cli.data import desk_data, desk_store, require_database, require_keys, run_in_store
from aitp_desk.model.text import write_count
from aitp_desk.model.timestamps import write_timestamp

if TYPE_CHECKING:
    from aitp_desk.model.access.audit import AuditKeys, AuditRow
    from aitp_desk.store.base import Store

_HEAD = re.compile(r"([0-9]{1,18}):([0-9a-f]{64})", re.ASCII)


@click.group()
def audit() -> None:
    """Check and read the audit log: who did what to which object, with which outcome."""


@audit.command()
@desk_data
@desk_store
@click.option("--head", metavar="N:LINK", help="A head printed by an earlier run.")
def verify(data: Path, url: str, head: str | None) -> None:
    """Check every row and print the head of the log; keep the head elsewhere.

    Names the first changed row and exits with code 1. To detect rows deleted from the end, pass a
    head that you kept with --head.
    """
    with mistakes_told():
        from aitp_desk.auth.keys.audit_keys import derive_audit_keys
        from aitp_desk.store.reads.audit_log import Head, check_audit

        known = None
        if head is not None:
            found = _HEAD.fullmatch(head)
            if found is None:
                fail(["--head: must be NUMBER:LINK, as 'aitp-desk audit verify' prints it."])
            known = Head(int(found[1]), bytes.fromhex(found[2]))
        keys = derive_audit_keys(require_keys(data, url))
        checked = run_in_store(data, url, lambda store: check_audit(store, keys, known))
    if checked.broken is not None:
        fail([f"The audit log is broken at row {checked.broken}: {checked.why}."])
    kept = checked.head.n - checked.dropped
    click.echo(f"The audit log is complete and unchanged: {write_count(kept, 'row')}.")
    if checked.dropped:
        click.echo(
            f"Rows up to {checked.dropped} were dropped at the end of their retention period."
        )
    click.echo(f"head {checked.head}")


@audit.command()
@desk_data
@desk_store
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]),
    help="Only rows since this time (UTC).",
)
@click.option(
    "--of",
    "of",
    metavar="KIND:ID",
    help="Only rows about one object, such as thread:ID or key:ID.",
)
@written_to
def export(data: Path, url: str, since: datetime | None, of: str | None, out: Path | None) -> None:
    """Write the audit log as JSON lines, the oldest row first."""
    with mistakes_told():
        from aitp_desk.auth.keys.audit_keys import derive_audit_keys
        from aitp_desk.store.reads.audit_log import audit_rows

        require_database(data, url)
        name = None if of is None else _name_of(of, derive_audit_keys(require_keys(data, url)))
        start = 0 if since is None else int(since.replace(tzinfo=UTC).timestamp())

        async def write(file: IO[str], store: Store) -> None:
            async for row in audit_rows(store):
                if row.at >= start and name in (None, row.object):
                    file.write(_line(row))

        try:
            with written_alone(out) as file:
                run_in_store(data, url, partial(write, file))
        except UnicodeDecodeError:
            fail(["A row was changed and is not text. Run 'aitp-desk audit verify' to find it."])


def _name_of(of: str, keys: AuditKeys) -> str:
    """Return the name of an object in the log."""
    from aitp_desk.model.access.audit import ObjectKind

    kind, _, id_ = of.partition(":")
    try:
        return keys.name(ObjectKind(kind), id_)
    except ValueError:
        kinds = ", ".join(known.value for known in ObjectKind)
        fail([f"--of: must be KIND:ID; the kinds are {kinds}."])


def _line(row: AuditRow) -> str:
    import msgspec

    told = msgspec.structs.asdict(row)
    told["at"] = write_timestamp(row.at)
    told["link"] = row.link.hex()
    return f"{msgspec.json.encode(told).decode()}\n"
