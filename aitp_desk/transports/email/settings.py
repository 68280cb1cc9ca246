"""Settings of ``[transports.email]``: the desk's address, the way in, the way out."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from aitp_desk.config.sections.actions.action_terms import Variable
from aitp_desk.config.units import Bytes, Count, Line, Seconds

Port = Annotated[int, Meta(ge=1, le=65535)]
Security = Annotated[
    Literal["starttls", "tls", "none"],
    Meta(
        description=(
            "How the connection is encrypted; the server's certificate is verified. none is"
            " only for a server on this machine."
        )
    ),
]
Name = Annotated[str, Meta(pattern=r"\A[^\x00-\x1f\x7f-\x9f]*\Z", max_length=200)]
Authority = Annotated[
    Name,
    Meta(
        extra={"unit": "a path"},
        description="Certificates of the authority of the server; empty: public ones.",
    ),
]


class Smtp(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The mail server that takes the desk's mail."""

    host: Annotated[Line, Meta(description="The mail server that takes the desk's mail.")]
    port: Annotated[
        Port, Meta(description="587 for starttls, 465 for tls, 25 for a server on this machine.")
    ] = 587
    security: Security = "starttls"
    user: Annotated[Name, Meta(description="User name; empty for no sign-in.")] = ""
    password_env: Annotated[
        Variable, Meta(description="Environment variable with the password.")
    ] = ""
    ca_file: Authority = ""
    seconds: Annotated[Seconds, Meta(description="The time limit of each step.")] = 30
    mails_per_connection: Annotated[
        Count, Meta(description="How many mails a connection carries before it is closed.")
    ] = 50
    idle_seconds: Annotated[
        Seconds, Meta(description="When a connection without mails is closed.")
    ] = 10


class Lmtp(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the desk takes mail from a mail server in front of it."""

    listen: Annotated[
        Line,
        Meta(
            extra={"unit": "host:port or unix:PATH"},
            description="Where the desk listens, such as 127.0.0.1:2424 or unix:/run/desk/lmtp.",
        ),
    ]
    protocol: Annotated[
        Literal["lmtp", "smtp"], Meta(description="What the mail server in front of it speaks.")
    ] = "lmtp"
    is_network_trusted: Annotated[
        bool,
        Meta(
            description=(
                "Set it to listen at an address that other machines reach: each of them can then"
                " deliver mail with forged proofs of the sender."
            )
        ),
    ] = False
    max_connections: Annotated[Count, Meta(description="How many may be open at once.")] = 10
    max_recipients: Annotated[Count, Meta(description="The most recipients of a mail.")] = 20
    idle_seconds: Annotated[
        Seconds, Meta(description="The time limit of each command, and of a mail's bytes.")
    ] = 120


class Imap(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mailbox that the desk looks into."""

    host: Annotated[Line, Meta(description="The server of the mailbox.")]
    port: Annotated[Port, Meta(description="993 for tls, 143 for starttls.")] = 993
    security: Security = "tls"
    user: Annotated[Line, Meta(description="User name.")]
    password_env: Annotated[Variable, Meta(description="Environment variable with the password.")]
    ca_file: Authority = ""
    folder: Annotated[Line, Meta(description="The folder that is read.")] = "INBOX"
    done_folder: Annotated[
        Name,
        Meta(description="Where read mails are moved; empty: they stay and are marked as seen."),
    ] = ""
    interval: Annotated[Seconds, Meta(description="Pause between two looks.")] = 20
    seconds: Annotated[Seconds, Meta(description="The time limit of each step.")] = 30


class Postmark(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Mail that Postmark delivers by a webhook."""

    user: Annotated[Line, Meta(description="User name in the webhook's URL.")] = "postmark"
    password_env: Annotated[
        Variable, Meta(description="Environment variable with the password in the webhook's URL.")
    ]


class Mailgun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Mail that Mailgun delivers by a route."""

    signing_key_env: Annotated[
        Variable, Meta(description="Environment variable with the HTTP webhook signing key.")
    ]
    tolerance: Annotated[Seconds, Meta(description="How old a request's signature may be.")] = 300


class Ses(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Mail that Amazon SES delivers through a topic of SNS."""

    topic: Annotated[
        str,
        Meta(
            pattern=r"\Aarn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_.-]{1,256}\Z",
            extra={"unit": "an ARN"},
            description="The topic that the receipt rule publishes to.",
        ),
    ]


class Email(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Conversations by email."""

    address: Annotated[
        Line,
        Meta(
            extra={"unit": "an email address"},
            description="The desk's address: mail to it begins a conversation.",
        ),
    ]
    sender_name: Annotated[
        Name, Meta(description="The name next to the address; empty for the site's name.")
    ] = ""
    separator: Annotated[
        Literal["+", "-", "=", "_"],
        Meta(description="What the mail server separates a subaddress with, as in desk+abc@."),
    ] = "+"
    reply_domain: Annotated[
        Name,
        Meta(
            description="The domain of the addresses that people reply to; empty: that of address."
        ),
    ] = ""
    authserv_id: Annotated[
        Name,
        Meta(
            description=(
                "The name in the Authentication-Results that your mail server writes; without it no"
                " sender is proven."
            )
        ),
    ] = ""
    smtp: Annotated[Smtp, Meta(description="The mail server that takes the desk's mail.")]
    lmtp: Annotated[Lmtp | None, Meta(description="Where a mail server delivers to the desk.")] = (
        None
    )
    imap: Annotated[Imap | None, Meta(description="A mailbox that the desk looks into.")] = None
    postmark: Annotated[
        Postmark | None, Meta(description="Mail that Postmark delivers by a webhook.")
    ] = None
    mailgun: Annotated[
        Mailgun | None, Meta(description="Mail that Mailgun delivers by a route.")
    ] = None
    ses: Annotated[Ses | None, Meta(description="Mail that Amazon SES delivers through SNS.")] = (
        None
    )
    max_bytes: Annotated[
        Bytes, Meta(description="The largest mail, in both directions, with its attachments.")
    ] = 10 * 1024 * 1024
    max_files: Annotated[Count, Meta(description="The most attachments of a mail.")] = 10
    refused_types: Annotated[
        tuple[str, ...],
        Meta(
            extra={"unit": "media types"},
            description=(
                "Types of attachments that are dropped, as detected from their bytes, and of"
                " programs also from their names; image/* is every type of pictures."
            ),
        ),
    ] = ("application/x-msdownload", "application/x-executable", "application/x-sh")
    per_second: Annotated[
        float, Meta(gt=0, le=1000, description="The most mails a second to everybody.")
    ] = 5.0


def is_on_this_machine(host: str) -> bool:
    """Whether a name or an address is that of this machine."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_settings(settings: Email) -> None:
    """Refuse settings that cannot work together.

    Raises:
        ValueError: says which, and what would work.
    """
    local, _, domain = settings.address.rpartition("@")
    if not local or not domain or any(sign in settings.address for sign in ' <>,;:"\\()[]'):
        raise ValueError("address must be an email address, such as desk@shop.example.")
    for name, server in (("smtp", settings.smtp), ("imap", settings.imap)):
        if server is None:
            continue
        if server.security == "none" and not is_on_this_machine(server.host):
            raise ValueError(
                f"{name}.security may be none only for a server on this machine. Use starttls or"
                " tls."
            )
        if bool(server.user) != bool(server.password_env):
            raise ValueError(f"{name}.user and {name}.password_env go together.")
        if server.ca_file and not Path(server.ca_file).is_file():
            raise ValueError(f"{name}.ca_file names no file: {server.ca_file}.")
    if settings.lmtp is not None:
        check_listen(settings.lmtp)
    if settings.authserv_id and any(sign in settings.authserv_id for sign in ' ;"()'):
        raise ValueError("authserv_id must be one name, such as mx.shop.example.")


def check_listen(lmtp: Lmtp) -> None:
    """Refuse an address that other machines reach, unless the site has allowed that.

    Raises:
        ValueError: says what would work.
    """
    if lmtp.listen.startswith("unix:"):
        return
    host, _, port = lmtp.listen.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise ValueError("lmtp.listen must be host:port or unix:PATH, such as 127.0.0.1:2424.")
    if not is_on_this_machine(host) and not lmtp.is_network_trusted:
        raise ValueError(
            "lmtp.listen is an address that other machines reach. Use 127.0.0.1, or set"
            " lmtp.is_network_trusted if only your mail server reaches it."
        )
