"""The settings that all transports have in common."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated
from unicodedata import normalize

import msgspec
from msgspec import Meta

from aitp_desk.model.access.scope import ACTION_NAME

_ACCENTS = re.compile("[\u0300-\u036f]")
"""As decomposed letters have them; telephones leave them out."""
LONGEST_WORD = 200
"""A longer message has other words too."""
STOP_WORDS = (
    "stop",
    "stop all",
    "stopall",
    "stopp",
    "unsubscribe",
    "abmelden",
    "abbestellen",
    "désabonner",
    "me désabonner",
    "désinscription",
    "arrêt",
    "baja",
    "darme de baja",
    "annulla iscrizione",
    "disiscrivimi",
    "afmelden",
    "uitschrijven",
    "cancelar subscrição",
    "descadastrar",
    "sair",
    "wypisz",
    "wypisz mnie",
    "配信停止",
    "退订",
    "退訂",
    "수신거부",
    "수신 거부",
    "เลิกรับข้อความ",
    "หยุดส่งข้อความ",
)
"""In every language that the desk speaks."""


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
        return len(text) <= LONGEST_WORD and _fold(text) in _fold_all(self.stop_words)


def _fold(text: str) -> str:
    """Return a text in one form: letters are written wide, composed, in capitals, with accents."""
    plain = _ACCENTS.sub("", normalize("NFKD", text))
    return " ".join(plain.split()).strip(" .!。\"'").casefold()


@lru_cache
def _fold_all(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(_fold, words))
