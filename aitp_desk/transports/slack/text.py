"""Slack's message text as plain text, and plain text as Slack's message text.

The text of a message holds ``&amp;``, ``&lt;`` and ``&gt;``, and references in angle brackets:
``<@U…>`` for people, ``<#C…>`` for channels, ``<!here>`` for groups, ``<https://…|label>`` for
links (docs.slack.dev, "Formatting message text").
"""

from __future__ import annotations

import re

MOST_CHARACTERS = 40_000
"""The longest message of Slack."""

_REFERENCE = re.compile(r"<([^<>]+)>")


def read_text(text: str, bot: str) -> str:
    """Return what a person wrote, without mentions of the desk.

    Parameters:
        bot: the desk's own user id.
    """

    def show(found: re.Match[str]) -> str:
        return _show(found[1], bot)

    plain = _REFERENCE.sub(show, text[:MOST_CHARACTERS].replace("\0", ""))
    # the ampersand last: "&amp;lt;" is the text "&lt;"
    return plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").strip()


def mentions(text: str, bot: str) -> bool:
    """Return whether a text mentions the desk."""
    return bool(bot) and (f"<@{bot}>" in text or f"<@{bot}|" in text)


def escape_text(text: str) -> str:
    """Return a plain text in which Slack finds no references."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _show(reference: str, bot: str) -> str:
    target, _, label = reference.partition("|")
    match target[:1]:
        case "@":
            return "" if target[1:] == bot else f"@{label or target[1:]}"
        case "#":
            return f"#{label or target[1:]}"
        case "!":
            return label or f"@{target[1:]}"
        case _:
            pass
    address = target.removeprefix("mailto:").removeprefix("tel:")
    return f"{label} ({address})" if label and label not in (address, target) else address
