"""Payers' accounts, and who may spend from them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import secrets

import msgspec

from aitp_desk.capability import Effect, Keep
from aitp_payments.ledger.names import is_payer
from aitp_payments.record_reads import Books

ACCOUNT = "account:"
"""Prefix of keys of accounts; the account's id follows."""
KEY_BYTES = 32
CODE_LENGTH = 20
CODE_SIGNS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""The alphabet of store-credit codes: digits and letters that do not look like one another."""

_CODE = re.compile(rf"[{CODE_SIGNS}]{{{CODE_LENGTH}}}")


class Account(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A payer's account. It outlives threads, and holds no personal data.

    Parameters:
        id: ``acct_`` and lowercase letters or digits.
        opened_at: Unix seconds.
        keys: Ed25519 public keys that may sign for it, base64url without padding.
        owner: digest of the owning principal; empty for none.
        code: digest of the store-credit code whose holder may spend it; empty for none.
    """

    id: str
    opened_at: int
    keys: tuple[str, ...] = ()
    owner: str = ""
    code: str = ""

    def is_of(self, principal: str | None) -> bool:
        """Return whether a caller owns it."""
        return principal is not None and bool(self.owner) and self.owner == digest(principal)


def new_id() -> str:
    """Make a new account id."""
    return f"acct_{''.join(secrets.choice(CODE_SIGNS) for _ in range(CODE_LENGTH)).lower()}"


def new_code() -> str:
    """Make an unguessable store-credit code, in the form that is compared."""
    return "".join(secrets.choice(CODE_SIGNS) for _ in range(CODE_LENGTH))


def account_key(id: str) -> str:
    """Return the record key of an account."""
    return f"{ACCOUNT}{id}"


def account_of(books: Books, id: str) -> Account | None:
    """Return the account of an id; None if there is none."""
    record = books.record(account_key(id)) if is_payer(id) else None
    return None if record is None else msgspec.convert(record.value, Account)


def account_of_owner(books: Books, principal: str) -> Account | None:
    """Return the account of a caller; None if there is none."""
    return _named_by(books, f"owner:{digest(principal)}")


def account_of_code(books: Books, code: str) -> Account | None:
    """Return the account of a store-credit code; None if there is none."""
    plain = plain_code(code)
    return None if plain is None else _named_by(books, f"code:{digest(plain)}")


def _named_by(books: Books, key: str) -> Account | None:
    record = books.record(key)
    return None if record is None else account_of(books, record.value)


def open_account(account: Account) -> tuple[Effect, ...]:
    """Open an account. Nothing is written if its id, owner or code already has one.

    Raises:
        ValueError: its id or a key is malformed, or it has neither a key, an owner nor a code.
    """
    if not is_payer(account.id):
        raise ValueError(
            f"{account.id!r} is not an account id: acct_ and lowercase letters or digits."
        )
    if not (account.keys or account.owner or account.code):
        raise ValueError(
            "An account must have a key, an owner or a code. Without one it cannot be spent."
        )
    for key in account.keys:
        check_public_key(key)
    effects: list[Effect] = [Keep(account_key(account.id), account, 0, outlives=True)]
    if account.owner:
        effects.append(Keep(f"owner:{account.owner}", account.id, 0, outlives=True))
    if account.code:
        effects.append(Keep(f"code:{account.code}", account.id, 0, outlives=True))
    return tuple(effects)


def check_public_key(text: str) -> bytes:
    """Parse an Ed25519 public key: 32 bytes in base64url without padding.

    Raises:
        ValueError: it is malformed.
    """
    try:
        key = base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True)
    except (ValueError, binascii.Error):
        key = b""
    if len(key) != KEY_BYTES or base64.urlsafe_b64encode(key).rstrip(b"=").decode() != text:
        raise ValueError(
            "A key must be an Ed25519 public key: its 32 bytes in base64url without padding, 43"
            " characters."
        )
    return key


def public_key_of_pem(pem: bytes) -> str:
    """Return the Ed25519 public key of a PEM file, in the form of :func:`check_public_key`.

    Raises:
        ValueError: it holds none.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(pem)
    except ValueError:
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError(
            "The file holds no Ed25519 public key. From a private key, which stays with its owner,"
            " 'openssl pkey -in agent.pem -pubout' writes it."
        )
    return base64.urlsafe_b64encode(key.public_bytes_raw()).rstrip(b"=").decode()


def digest(text: str) -> str:
    """Return the digest that replaces a text in keys and records."""
    return hashlib.sha256(text.encode()).hexdigest()


def plain_code(code: str) -> str | None:
    """Normalise a store-credit code for comparison; None for other text."""
    plain = re.sub(r"[\s-]", "", code.upper())
    if len(plain) > CODE_LENGTH:
        plain = plain.removeprefix("SC")
    # readers confuse letters: O means zero, I and L mean one (Crockford's base 32)
    plain = plain.translate(str.maketrans("OIL", "011"))
    return plain if _CODE.fullmatch(plain) else None


def printed_code(plain: str) -> str:
    """Format a store-credit code for print: ``SC-7K2QX-…``."""
    fives = (plain[start : start + 5] for start in range(0, CODE_LENGTH, 5))
    return "-".join(("SC", *fives))
