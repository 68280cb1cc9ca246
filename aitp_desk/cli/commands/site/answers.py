"""What the owner of a new site answers, by options or on a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

_QUESTIONS = {
    "site.name": "Name of the site",
    "site.url": "Its public https:// address",
    "site.contact.email": "Email address for visitors",
}
_WITHOUT = {
    "site.name": "by default the heading of its home page",
    "site.url": "none yet",
    "site.contact.email": "none: no question becomes a ticket",
}
"""What an empty answer means."""
_SITEMAP = (
    "--from takes the https address of a sitemap, such as https://www.example.com/sitemap.xml"
)
_SITEMAP_FILE = re.compile(r"(?:\.|sitemap)[^/]*$", re.IGNORECASE)
"""The end of an address that is a file, and not a home page."""
Check = Callable[[click.Context, click.Parameter, str | None], str | None]


def check_setting(key: str) -> Check:
    """Return the callback of an option whose value becomes a setting: the setting's rules hold."""

    def check(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
        return value and _check(key, value)

    return check


def check_sitemap(
    _context: click.Context, _option: click.Parameter, value: str | None
) -> str | None:
    """Return the address of a sitemap; that of a home page stands for its sitemap.xml.

    Raises:
        UsageError: it is no public https address.
    """
    from aitp_desk.model.web_address import origin_of, web_address, wrong_address

    address = web_address(value or "")
    if value and (address is None or wrong_address(value, allow_loopback=False)):
        raise click.UsageError(_SITEMAP)
    if address is None or _SITEMAP_FILE.search(address.path) or address.query:
        return value
    sitemap = f"{origin_of(address)}{address.path.rstrip('/')}/sitemap.xml"
    click.echo(f"note   {value} is a home page, not a sitemap; {sitemap} is taken.")
    return sitemap


def ask_owner(detected: Mapping[str, Any], keys: Iterable[str]) -> dict[str, str]:
    """Ask for settings, with what was detected as the default; empty for none.

    Parameters:
        keys: the full names of the settings to ask for.
    """
    answers: dict[str, str] = {}
    for key in keys:
        default = str(detected.get(key, ""))
        answers[key] = click.prompt(
            _QUESTIONS[key] if default else f"{_QUESTIONS[key]} (empty: {_WITHOUT[key]})",
            default=default,
            show_default=bool(default),
            value_proc=partial(_check_answer, key),
        )
    return answers


def _check_answer(key: str, text: str) -> str:
    text = text.strip()
    if text and key == "site.url" and "://" not in text:
        text = f"https://{text}"
    return _check(key, text) if text else ""


def _check(key: str, value: str) -> str:
    """Return a valid value of a setting.

    Raises:
        BadParameter: it breaks the rules for the setting.
    """
    from aitp_desk.config import ConfigError, check_public, load_config
    from aitp_desk.config.catalogue import as_toml

    with TemporaryDirectory() as empty:
        try:
            faults = check_public(load_config(Path(empty), [f"{key}={as_toml(value)}"]))
        except ConfigError as error:
            faults = error.problems
    if faults:
        raise click.BadParameter(str(faults[0]))
    return value.rstrip("/") if key == "site.url" else value
