"""Reads what people do in a room; no I/O.

Source: Matrix specification 1.16, client-server API: instant messaging, rich replies, threads,
event replacements, event annotations, user and room mentions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from aitp_desk.transports.events import IncomingFile
from aitp_desk.transports.matrix.conversations import is_event
from aitp_desk.transports.matrix.events import Event
from aitp_desk.transports.matrix.text import find_mentions, read_html, strip_quotation

CHOICES = "org.aitp_desk.choices"
"""Member of a message with buttons: their tokens and labels, in order."""
PARTS = "org.aitp_desk.parts"
"""Member of a message with files: the ids of their messages."""
MOST_CHOICES = 9
"""As many as there are keys with a digit."""
MOST_NAME = 200

_TEXTS = frozenset({"m.text", "m.emote"})
FILES = frozenset({"m.image", "m.file", "m.audio", "m.video"})
"""Types of messages that are files."""
_MXC = re.compile(r"mxc://([A-Za-z0-9.\-\[\]:]{1,255})/([A-Za-z0-9_\-]{1,255})")
_KEYCAP = re.compile("([1-9])\ufe0f?\u20e3\ufe0f?")
_NUMBER = re.compile(r"\s*([1-9])[.)]?\s*")
_UNSAFE = re.compile("[\x00\ud800-\udfff]")


class Relation(msgspec.Struct, frozen=True, kw_only=True):
    """How an event relates to others.

    Parameters:
        kind: ``m.thread``, ``m.replace``, ``m.annotation`` or another; empty for none.
        target: the event's id.
        answers: the message that it answers; empty for none, and where it only stands for the
            thread in clients that show no threads.
        key: of a reaction.
    """

    kind: str = ""
    target: str = ""
    answers: str = ""
    key: str = ""

    @property
    def root(self) -> str:
        """The message that the thread hangs on; empty for none."""
        return self.target if self.kind == "m.thread" else ""


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """A message of a person.

    Parameters:
        trimmed: the quotation before it.
        mentions: users that it mentions.
    """

    text: str
    trimmed: str = ""
    files: tuple[IncomingFile, ...] = ()
    mentions: frozenset[str] = frozenset()


def read_relation(content: dict[str, Any]) -> Relation:
    """Return how an event relates to others."""
    found = content.get("m.relates_to")
    if not isinstance(found, dict):
        return Relation()
    kind, target, key = found.get("rel_type"), found.get("event_id"), found.get("key")
    answered = found.get("m.in_reply_to")
    answers = answered.get("event_id") if isinstance(answered, dict) else None
    if found.get("is_falling_back") is True:
        answers = None
    if not (isinstance(kind, str) and is_event(target)):
        kind = target = ""
    return Relation(
        kind=kind,
        target=target or "",
        answers=answers if isinstance(answers, str) and is_event(answers) else "",
        key=key if isinstance(key, str) else "",
    )


def read_message(event: Event) -> Written | None:
    """Return what a person wrote.

    Notices are no messages of people: programs write them, and programs must not answer them.

    Returns:
        None for what is none.
    """
    content = event.content
    kind = content.get("msgtype")
    if event.type != "m.room.message" or event.state_key is not None or not isinstance(kind, str):
        return None
    if kind in _TEXTS:
        text, trimmed = _read_text(content)
        return Written(text=text, trimmed=trimmed, mentions=_mentions(content))
    if kind == "m.location":
        text = "\n".join(filter(None, (_text(content, "body"), _text(content, "geo_uri"))))
        return Written(text=text, mentions=_mentions(content))
    if kind not in FILES:
        return None
    file = _read_file(content)
    has_caption = "filename" in content and content.get("filename") != content.get("body")
    text, trimmed = _read_text(content) if has_caption else ("", "")
    files = () if file is None else (file,)
    if not files and not text:
        return None
    return Written(text=text, trimmed=trimmed, files=files, mentions=_mentions(content))


def read_edit(event: Event) -> str | None:
    """Return the new text of a replaced message; None if nothing is replaced."""
    new = event.content.get("m.new_content")
    if read_relation(event.content).kind != "m.replace" or not isinstance(new, dict):
        return None
    replaced = read_message(msgspec.structs.replace(event, content=new))
    return None if replaced is None else replaced.text


def strip_address(text: str, names: Iterable[str]) -> tuple[str, bool]:
    """Remove the desk's name from the start of a message.

    Returns:
        The rest, and whether the message begins with a name and a colon or comma, or with ``@``.
    """
    begun = text.lstrip()
    for name in sorted(filter(None, names), key=len, reverse=True):
        for mark in ("@", ""):
            start = f"{mark}{name}"
            if begun[: len(start)].casefold() != start.casefold():
                continue
            rest = begun[len(start) :]
            if rest[:1] in {":", ","}:
                return rest[1:].lstrip(), True
            if not rest or rest[0].isspace():
                return rest.lstrip(), start.startswith("@")
    return text, False


def read_choices(event: Event, user: str) -> tuple[tuple[str, str], ...]:
    """Return the tokens and labels of a message of the desk.

    Parameters:
        user: the desk's own; a message of another has none.
    """
    found = event.content.get(CHOICES)
    if event.sender != user or event.type != "m.room.message" or not isinstance(found, list):
        return ()
    return tuple(
        (token, label)
        for one in found[:MOST_CHOICES]
        if isinstance(one, dict)
        and isinstance(token := one.get("token"), str)
        and isinstance(label := one.get("label"), str)
    )


def read_number(text: str) -> int:
    """Return the number that a message consists of; 0 for another message."""
    found = _NUMBER.fullmatch(text) if len(text) < 16 else None
    return int(found[1]) if found else 0


def read_key(key: str) -> int:
    """Return the number of a reaction; 0 for another one."""
    found = _KEYCAP.fullmatch(key)
    return int(found[1]) if found else 0


def read_parts(event: Event, user: str) -> tuple[str, ...]:
    """Return the ids of the files' messages of a message of the desk."""
    found = event.content.get(PARTS)
    if event.sender != user or not isinstance(found, list):
        return ()
    return tuple(one for one in found[:100] if isinstance(one, str) and is_event(one))


def split_media(ref: str) -> tuple[str, str] | None:
    """Return the server and the id of a file's ``mxc:`` address; None if it is none."""
    found = _MXC.fullmatch(ref)
    return (found[1], found[2]) if found else None


def _text(content: dict[str, Any], name: str) -> str:
    value = content.get(name)
    return _UNSAFE.sub("", value) if isinstance(value, str) else ""


def _read_text(content: dict[str, Any]) -> tuple[str, str]:
    """Return the text that a client shows, and the quotation before it."""
    body = _text(content, "body")
    relation = content.get("m.relates_to")
    is_answer = isinstance(relation, dict) and "m.in_reply_to" in relation
    plain, quotation = strip_quotation(body) if is_answer else (body, "")
    if content.get("format") == "org.matrix.custom.html":
        html = _text(content, "formatted_body")
        shown = read_html(html) if html else None
        if shown:
            return shown, quotation
    return plain.strip(), quotation


def _mentions(content: dict[str, Any]) -> frozenset[str]:
    found = content.get("m.mentions")
    if isinstance(found, dict):
        users = found.get("user_ids")
        return (
            frozenset(one for one in users if isinstance(one, str))
            if isinstance(users, list)
            else frozenset()
        )
    return find_mentions(_text(content, "formatted_body"))


def _read_file(content: dict[str, Any]) -> IncomingFile | None:
    url = content.get("url")
    if not isinstance(url, str) or split_media(url) is None:
        return None
    found = content.get("info")
    info: dict[str, Any] = found if isinstance(found, dict) else {}
    size = info.get("size")
    return IncomingFile(
        name=(_text(content, "filename") or _text(content, "body"))[:MOST_NAME],
        content_type=_text(info, "mimetype")[:MOST_NAME] or "application/octet-stream",
        size=size if isinstance(size, int) and 0 < size < 2**53 else 0,
        ref=url,
    )
