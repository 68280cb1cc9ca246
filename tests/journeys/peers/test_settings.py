"""What `aitp-desk check` says of partners, and what a desk does with wrong settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from aitp_desk.config import ConfigError
from tests.support.desk.command import run_here
from tests.support.sites.partners import FORWARDING, LIBRARY, peer, serving_site, write_site

URL = "https://books.example"


@pytest.mark.parametrize(
    ("toml", "fault"),
    [
        (f'[[peers]]\nurl = "{URL}"\n', "peers: table 1 of [[peers]] has no name."),
        (peer(URL) + peer(URL), "peers, books: has a name that is already in use."),
        (
            peer("books.example"),
            "peers, books: url must be a web address without a user name",
        ),
        (
            peer("https://me:secret@books.example"),
            "peers, books: url must be a web address without a user name",
        ),
        (
            peer(URL, bearer_env="BOOKS_TOKEN"),
            "peers, books: bearer_env names the environment variable BOOKS_TOKEN, which is not",
        ),
        (peer(URL, budget="much"), "peers, books: budget must be an amount such as 29.99 EUR."),
        (
            peer(URL, budget="9.00 EUR", buyers="anyone", account="acct_site"),
            "peers, books: buyers is anyone, for whom account would pay: set prepaid, or buyers",
        ),
        (
            peer(URL, passthrough="nobody"),
            "peers, books: passthrough names 'nobody', which is no agent of [[agents]].",
        ),
        (
            peer(URL) + '[[peers.terms]]\naction = "order"\n',
            "peers, books: has terms of order, which is not one of the offered actions.",
        ),
        (
            FORWARDING + peer(URL, passthrough="desk2") + peer(URL, "more", passthrough="desk2"),
            "peers, more: 'desk2' already forwards to another partner.",
        ),
        (
            FORWARDING + peer(URL, passthrough="desk2", topics=["books"]),
            "peers, books: has a passthrough, where topics and actions have no use;",
        ),
    ],
)
async def test_a_wrong_setting_is_reported_and_not_served(
    tmp_path: Path, toml: str, fault: str
) -> None:
    site = write_site(tmp_path / "site", LIBRARY, toml, desk2="# Nothing\n\nNothing.\n")
    told = run_here("check", site)
    assert told.code == 1
    assert fault in told.err
    assert "secret" not in told.err
    with pytest.raises(ConfigError) as error:
        async with serving_site(site):
            pass
    assert fault in str(error.value)
