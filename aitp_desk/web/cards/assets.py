"""Reads the cards' modules, their style sheet and their texts.

The modules import ``dom.js``, ``blocks.js`` and ``texts.js`` of who bundles them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from aitp_desk.web.bundle import read_modules

CARDS = Path(__file__).parent
_PUBLISHED = ("aitp-02-decisions", "aitp-03-data-request")
_OWN = ("payments", "sign")


@cache
def read_cards() -> Mapping[str, bytes]:
    """Return the modules, by name without the extension."""
    return read_modules(CARDS)


def list_schemas(url: str) -> list[str]:
    """Return the schemas of the messages that are shown as cards.

    Parameters:
        url: of the desk, which publishes some itself.
    """
    published = (f"https://aitp.dev/capabilities/{name}/v1.0.0/schema.json" for name in _PUBLISHED)
    return [*published, *(f"{url}/capabilities/{name}/v1/schema.json" for name in _OWN)]


@cache
def read_card_texts() -> Mapping[str, Mapping[str, str]]:
    """Return the texts of each language by their names."""
    texts: dict[str, dict[str, str]] = msgspec.json.decode((CARDS / "texts.json").read_bytes())
    return texts
