"""The mail program of Ada: sends what she writes to the desk, and prints the desk's reply."""

import smtplib
import sys
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import make_msgid
from pathlib import Path
from queue import Queue
from typing import Any

from aiosmtpd.controller import Controller

ADA, DESK = "ada@people.example", "desk@club.example"
LAST = Path(__file__).with_name("last-mail")


class Inbox:
    """Takes the desk's mails, as the mail server of Ada does."""

    def __init__(self) -> None:
        self.mails: Queue[bytes] = Queue()

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802
        """Keep a mail; aiosmtpd calls this."""
        self.mails.put(envelope.content)
        return "250 OK"


def write(text: str) -> EmailMessage:
    """Return a new mail of Ada, or her reply to the last mail of the desk."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = f"Ada <{ADA}>", DESK, "A court"
    mail["Message-ID"] = make_msgid(domain="people.example")
    if LAST.exists():
        last = message_from_bytes(LAST.read_bytes(), policy=policy.default)
        mail.replace_header("To", last["Reply-To"])
        mail.replace_header("Subject", last["Subject"])
        mail["In-Reply-To"] = last["Message-ID"]
    # the club's mail server adds this when it has examined the sender
    mail["Authentication-Results"] = "mx.club.example; dmarc=pass header.from=people.example"
    mail.set_content(text)
    return mail


def main() -> None:
    inbox = Inbox()
    server = Controller(inbox, "127.0.0.1", 2525)
    server.start()
    try:
        with smtplib.LMTP("127.0.0.1", 2424) as desk:
            desk.send_message(write(sys.argv[1]))
        reply = inbox.mails.get(timeout=60)
    finally:
        server.stop()
    LAST.write_bytes(reply)
    text = message_from_bytes(reply, policy=policy.default).get_body(("plain",))
    if text:
        print(text.get_content().replace("\r\n", "\n").partition("\n-- \n")[0])


if __name__ == "__main__":
    main()
