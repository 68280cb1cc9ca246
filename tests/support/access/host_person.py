"""A website's backend that tells the desk who is signed in there, and the desk's site for that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.access.identity_provider import SECRET, claims_of, sign

ISSUER = "https://www.shop.example"
LIFETIME = 900
ACTIONS = '''
"""What a bookshop does for those it knows."""

from aitp_desk.actions import Context, action


@action(examples=["Where is my order?"])
def find_my_order(context: Context) -> str:
    """Finds the order of the customer who asks."""
    return f"Order 7 of {context.caller.id} is on its way."
'''


def write_site(folder: Path, *, more: str = "") -> Path:
    """A bookshop's desk that accepts the tokens of its website's backend.

    Parameters:
        more: of its settings.
    """
    (folder / "content").mkdir(parents=True)
    (folder / "content" / "returns.md").write_text(
        "# Returns\n\nA book may be returned within 14 days.\n\n"
        "# Gift wrapping\n\nGift wrapping costs 2 EUR.\n",
        encoding="utf-8",
    )
    (folder / "actions.py").write_text(ACTIONS, encoding="utf-8")
    (folder / "website.key").write_text(f"{SECRET}\n", encoding="utf-8")
    (folder / "desk.toml").write_text(
        f"""
        {more}
        [content]
        folder = "content"
        [[issuers]]
        name = "website"
        url = "{ISSUER}"
        algorithms = ["HS256"]
        secret_file = "website.key"
        callers = "users"
        max_lifetime_seconds = {LIFETIME}
        leeway_seconds = 0
        """,
        encoding="utf-8",
    )
    return folder


def sign_person(desk_url: str, person: str = "aya", **claims: Any) -> str:
    """A token as the website's backend signs it; a claim that is None is left out."""
    given = {"sub": person, "scope": "threads actions", **claims}
    return sign(claims_of(ISSUER, desk_url, **given), "HS256")
