"""The settings that all transports have in common."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated

import msgspec
from msgspec import Meta

from aitp_desk.model.access.scope import ACTION_NAME

STOP_WORDS = (
    "stop",
    "stop all",
    "unsubscribe",
    "abmelden",
    "désabonner",
    "baja",
    "annulla iscrizione",
    "afmelden",
    "wypisz",
    "配信停止",
    "退订",
)


class CommonSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of every section ``[transports.NAME]``."""

    agent: Annotated[
        str, Meta(description="The further site agent that answers; by default the site's own.")
    ] = ""
    actions: Annotated[
        tuple[Annotated[str, Meta(pattern=rf"\A{ACTION_NAME}\Z")], ...],
        Meta(
            description="The actions that people may call whom the platform has proven, in private "
            "conversations, in addition to the queries that are open to anyone."
        ),
    ] = ()
    blocked: Annotated[
        tuple[str, ...],
        Meta(
            description="People whose messages are dropped: the platform's ids; for mail addresses "
            "or domains such as @example.org."
        ),
    ] = ()
    stop_words: Annotated[
        tuple[str, ...],
        Meta(description="Messages that end all messages of the desk, in any case of letters."),
    ] = STOP_WORDS
    quiet_hours: Annotated[
        str,
        Meta(
            pattern=r"\A(?:(?:[01]\d|2[0-3]):[0-5]\d-(?:[01]\d|2[0-3]):[0-5]\d)?\Z",
            description="When the desk sends only replies within ten minutes, in site.timezone, "
            "such as 22:00-07:00; other messages wait for the end.",
        ),
    ] = ""
    strangers_per_hour: Annotated[
        int,
        Meta(
            ge=0,
            description="The most answers an hour to new people whom the platform has not proven, "
            "all together; further messages are kept for operators.",
        ),
    ] = 100
    operators: Annotated[
        str,
        Meta(
            description="The conversation with the operators, to which tickets go: the platform's "
            "name of a channel, a room, a group or a mail address; empty for none."
        ),
    ] = ""

    def is_stop_word(self, text: str) -> bool:
        """Return whether a message says that its sender wants no more messages."""
        word = " ".join(text.split()).strip(" .!").casefold()
        return word in _fold(self.stop_words)


@lru_cache
def _fold(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word.casefold() for word in words)
