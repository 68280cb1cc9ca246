"""Links of mails back to the desk: buttons, and the end of the mails.

A link changes nothing when it is opened, since scanners of mail open all of them: it shows what it
will do, and a button on that page does it. ``List-Unsubscribe-Post`` does it at once (RFC 8058).
"""

from __future__ import annotations

import hashlib
from typing import TypeVar

import msgspec

from aitp_desk.model.errors import ResourceNotFound
from aitp_desk.transports.base import Delivery, HookReply, HookResult
from aitp_desk.transports.email.letter.line import one_line
from aitp_desk.transports.email.letter.texts import say, supported
from aitp_desk.transports.email.seal import Seal
from aitp_desk.transports.events import Choice, Incoming, OptOut
from aitp_desk.transports.pages.html import render_action_page

PRESS = "press"
UNSUBSCRIBE = "unsubscribe"
MOST_LABEL = 200
Opened = TypeVar("Opened", "Press", "Unsubscription")


class Press(msgspec.Struct, frozen=True, tag="press", forbid_unknown_fields=True):
    """What the link of a button does.

    Parameters:
        label: what the button says.
        message_ref: Message-ID of the mail.
    """

    conversation: str
    recipient: str
    token: str
    label: str
    message_ref: str
    language: str
    is_proven: bool


class Unsubscription(msgspec.Struct, frozen=True, tag="unsubscribe", forbid_unknown_fields=True):
    """Whose mails a link ends."""

    conversation: str
    recipient: str
    language: str
    is_proven: bool


class Links:
    """Makes the links of mails, and answers those who open them.

    Parameters:
        secret: seals them.
        url: of the transport's endpoints, without a final slash.
        site_name: shown on the pages.
        colour: of the site.
    """

    def __init__(self, secret: bytes, url: str, site_name: str, colour: str) -> None:
        self._seal = Seal(secret)
        self._url = url
        self._site_name = site_name
        self._colour = colour

    def to_press(self, press: Press) -> str:
        """Return the link of a button."""
        short = msgspec.structs.replace(press, label=one_line(press.label, MOST_LABEL))
        return f"{self._url}/{PRESS}?link={self._seal.close(short)}"

    def to_unsubscribe(self, unsubscription: Unsubscription) -> str:
        """Return the link that ends a person's mails."""
        return f"{self._url}/{UNSUBSCRIBE}?link={self._seal.close(unsubscription)}"

    def read_press(self, delivery: Delivery) -> HookResult:
        """Show what a button does, or do it.

        Raises:
            ResourceNotFound: the link is not one of this desk.
        """
        word, press = self._open(delivery, Press)
        if delivery.method == "GET":
            lead, action = say("confirmLead", press.language), press.label
            title = say("confirmTitle", press.language)
            return self._show(press.language, title, lead, action)
        choice = Choice(token=press.token, message_ref=press.message_ref)
        event = _report(press, f"press:{_digest(word)}", choice, delivery.now)
        result = self._show(press.language, press.label, say("confirmDone", press.language))
        return msgspec.structs.replace(result, events=(event,))

    def read_unsubscribe(self, delivery: Delivery) -> HookResult:
        """Show that the mails go on, or end them.

        Raises:
            ResourceNotFound: the link is not one of this desk.
        """
        word, unsubscription = self._open(delivery, Unsubscription)
        language = unsubscription.language
        action = say("unsubscribe", language)
        if delivery.method == "GET":
            return self._show(language, action, say("unsubscribeLead", language), action)
        # who writes again and then wants no more mails uses the same link
        hour = delivery.now // 3600
        event_id = f"unsubscribe:{_digest(word)}:{hour}"
        event = _report(unsubscription, event_id, OptOut(), delivery.now)
        result = self._show(language, action, say("unsubscribed", language))
        return msgspec.structs.replace(result, events=(event,))

    def _open(self, delivery: Delivery, kind: type[Opened]) -> tuple[str, Opened]:
        word = delivery.query.get("link", "")
        value = self._seal.open(word, kind)
        if value is None:
            raise ResourceNotFound("This link is not complete. Copy it from the mail once more.")
        return word, value

    def _show(self, language: str, title: str, lead: str, action: str = "") -> HookResult:
        """Return a page, with a button if something is to be done."""
        body = render_action_page(
            language=supported(language),
            title=title,
            lead=lead,
            site=self._site_name,
            colour=self._colour,
            action=action,
        )
        return HookResult(reply=HookReply(body=body, content_type="text/html; charset=utf-8"))


def _report(link: Press | Unsubscription, id_: str, event: Choice | OptOut, now: int) -> Incoming:
    """Return the event of a link that was followed."""
    return Incoming(
        event_id=id_,
        conversation=link.conversation,
        sender=link.recipient,
        is_proven=link.is_proven,
        holds_secret=True,
        sent_at=now,
        event=event,
    )


def _digest(word: str) -> str:
    return hashlib.sha256(word.encode()).hexdigest()[:32]
