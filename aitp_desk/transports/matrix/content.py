"""Writes the contents of the desk's messages; no I/O.

Source: Matrix specification 1.16, client-server API: instant messaging, threads, event annotations,
user and room mentions.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

import msgspec

from aitp_desk.transports.matrix.conversations import Place
from aitp_desk.transports.matrix.text import write_html
from aitp_desk.transports.matrix.wire import CHOICES, FILES, MOST_CHOICES, MOST_NAME, PARTS
from aitp_desk.transports.messages import Outgoing, OutgoingFile
from aitp_desk.transports.wire.texts import say

MOST_CONTENT = 56_000
"""The longest content in bytes: a whole event has at most 65,536 (section "Size limits")."""
MOST_SOURCES = 10


def write_message(
    outgoing: Outgoing, place: Place, *, answered: str = "", parts: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return the content of a message.

    An answer of the agent is a notice, which no other program answers; what a person wrote or what
    the desk begins on its own is a text, for which clients notify people.

    Parameters:
        answered: the latest message of the thread, for clients that show no threads.
        parts: the messages of its files.
    """
    content: dict[str, Any] = {
        "msgtype": "m.notice" if outgoing.is_reply and not outgoing.speaker else "m.text",
        "body": _body(outgoing),
        "format": "org.matrix.custom.html",
        "formatted_body": _html(outgoing),
        **relate(place, outgoing.recipient, answered),
    }
    choices = _choices(outgoing)
    if choices:
        content[CHOICES] = [{"token": token, "label": label} for token, label in choices]
    if parts:
        content[PARTS] = list(parts)
    if not _fits(content):
        del content["format"], content["formatted_body"]
    if not _fits(content):
        content["body"] = _body(msgspec.structs.replace(outgoing, sources=()))
    return content


def write_notice(text: str, place: Place, recipient: str) -> dict[str, Any]:
    """Return the content of a sentence of the transport."""
    return {"msgtype": "m.notice", "body": text, **relate(place, recipient, place.root)}


def write_file(file: OutgoingFile, url: str, place: Place, recipient: str) -> dict[str, Any]:
    """Return the content of a file's message.

    Parameters:
        url: the ``mxc:`` address of its upload.
    """
    kind = file.content_type.partition("/")[0]
    name = file.name[:MOST_NAME] or "file"
    return {
        "msgtype": f"m.{kind}" if f"m.{kind}" in FILES else "m.file",
        "body": name,
        "filename": name,
        "url": url,
        "info": {"mimetype": file.content_type[:MOST_NAME], "size": len(file.data)},
        **relate(place, recipient, place.root),
    }


def relate(place: Place, recipient: str, answered: str) -> dict[str, Any]:
    """Return the members that put a message into its thread."""
    if not place.root:
        return {"m.mentions": {}}
    return {
        "m.mentions": {"user_ids": [recipient]} if recipient else {},
        "m.relates_to": {
            "rel_type": "m.thread",
            "event_id": place.root,
            "is_falling_back": True,
            "m.in_reply_to": {"event_id": answered or place.root},
        },
    }


def _body(outgoing: Outgoing) -> str:
    blocks = [f"{outgoing.speaker}:"] if outgoing.speaker else []
    blocks.append(outgoing.text)
    if outgoing.sources:
        listed = (f"- {one.title}: {one.url}" for one in outgoing.sources[:MOST_SOURCES])
        blocks.append("\n".join([f"{say('sources', outgoing.language)}:", *listed]))
    if links := _links(outgoing):
        blocks.append("\n".join(f"- {label}: {url}" for label, url in links))
    if choices := _choices(outgoing):
        if not _lists_choices(outgoing):
            blocks.append(_number(choices))
        blocks.append(say("choose_number", outgoing.language))
    return "\n\n".join(filter(None, blocks))


def _html(outgoing: Outgoing) -> str:
    blocks = [f"<p><strong>{escape(outgoing.speaker)}</strong></p>"] if outgoing.speaker else []
    blocks.append(write_html(outgoing.text))
    if outgoing.sources:
        listed = ((one.title, one.url) for one in outgoing.sources[:MOST_SOURCES])
        blocks.append(f"<p>{escape(say('sources', outgoing.language))}:</p>{_list(listed)}")
    if links := _links(outgoing):
        blocks.append(_list(links))
    if choices := _choices(outgoing):
        items = "".join(f"<li>{escape(label)}</li>" for _, label in choices)
        if not _lists_choices(outgoing):
            blocks.append(f"<ol>{items}</ol>")
        blocks.append(f"<p><em>{escape(say('choose_number', outgoing.language))}</em></p>")
    return "".join(blocks)


def _list(links: Iterable[tuple[str, str]]) -> str:
    items = (
        f'<li><a href="{escape(url)}">{escape(title or url)}</a></li>'
        if url.startswith(("https://", "http://"))
        else f"<li>{escape(title)}</li>"
        for title, url in links
    )
    return f"<ul>{''.join(items)}</ul>"


def _links(outgoing: Outgoing) -> list[tuple[str, str]]:
    """Return the pages that buttons and the form lead to."""
    links = [(one.label, one.url) for one in outgoing.buttons if one.url and not one.token]
    if outgoing.form is not None and outgoing.form.url:
        links.append((outgoing.form.title, outgoing.form.url))
    return links


def _choices(outgoing: Outgoing) -> list[tuple[str, str]]:
    return [(one.token, one.label) for one in outgoing.buttons if one.token][:MOST_CHOICES]


def _number(choices: list[tuple[str, str]]) -> str:
    return "\n".join(f"{at}. {label}" for at, (_, label) in enumerate(choices, start=1))


def _lists_choices(outgoing: Outgoing) -> bool:
    """Return whether the text ends with the same numbered list already."""
    return f"\n{outgoing.text.rstrip()}".endswith(f"\n{_number(_choices(outgoing))}")


def _fits(content: dict[str, Any]) -> bool:
    return len(msgspec.json.encode(content)) <= MOST_CONTENT


def keycap(number: int) -> str:
    """Return the reaction of a number from 1 to 9."""
    return f"{number}\ufe0f\u20e3"
