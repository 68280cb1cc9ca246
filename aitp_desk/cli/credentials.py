"""Options and output that the commands for keys and for OAuth clients share."""

from __future__ import annotations

import click

from aitp_desk.cli.arguments import fail
from aitp_desk.model.timestamps import write_day, write_minute

MAX_NAME = 200

scopes_given = click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    help="threads, actions, actions:NAME, operator, admin or sensitive; repeatable.",
)
expires_given = click.option(
    "--expires", metavar="90d|DATE", help="When it expires; by default never."
)
overlap_given = click.option(
    "--overlap",
    default="1h",
    show_default=True,
    metavar="LENGTH",
    help="How long the current secret stays valid, such as 30m or 2d; 0 ends it now.",
)
webhook_secret = click.option(
    "--webhook-secret",
    "shows_webhook_secret",
    is_flag=True,
    help="Also show the secret that signs callbacks.",
)


def check_name(name: str) -> None:
    """Exit where a name could not be shown in a list."""
    if not name.strip() or not name.isprintable() or len(name) > MAX_NAME:
        fail([f"--name must be one line of at most {MAX_NAME} characters."])


def print_created(what: str, scopes: tuple[str, ...], expires_at: int | None) -> None:
    """Print that a credential was made.

    Parameters:
        what: with its id and name.
        expires_at: Unix seconds; None for never.
    """
    ends = "" if expires_at is None else f" It expires {write_minute(expires_at)} UTC."
    click.echo(f"Created {what} with the scopes {', '.join(scopes)}.{ends}")


def print_rotated(what: str, until: int, now: int) -> None:
    """Print that a credential has a new secret.

    Parameters:
        until: when the previous secret expires, in Unix seconds, as ``now`` is.
    """
    former = f"stays valid until {write_minute(until)} UTC" if until > now else "is no longer valid"
    click.echo(f"Rotated {what}. The previous secret {former}.")


def describe_lifetime(
    revoked_at: int | None, expires_at: int | None, now: float
) -> tuple[str, ...]:
    """Return the credential's state, and the day on which it expires.

    Parameters:
        revoked_at, expires_at, now: Unix seconds.
    """
    if revoked_at is not None:
        return "revoked", write_day(revoked_at)
    if expires_at is None:
        return ("live",)
    return "live until" if now < expires_at else "expired", write_day(expires_at)
