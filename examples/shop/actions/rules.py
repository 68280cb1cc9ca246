"""The shop's rules: numbers and texts in its database."""

from __future__ import annotations

import sqlite3


def rule(shop: sqlite3.Connection, name: str) -> str:
    """Return the value of a rule as text."""
    value: str = shop.execute("SELECT value FROM rules WHERE name = ?", (name,)).fetchone()["value"]
    return value
