"""Payers' accounts: who may spend what is on them."""

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
"""Keys of accounts begin so; the account's id follows."""
KEY_BYTES = 32
CODE_LENGTH = 20
CODE_SIGNS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""What store-credit codes are written with: digits and letters of which none looks like another."""

_CODE = re.compile(rf"[{CODE_SIGNS}]{{{CODE_LENGTH}}}")


class Account(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A payer's account. It is kept when threads are erased, and holds nothing of a person.

    Parameters:
        id: ``acct_`` and small letters or digits.
        opened_at: Unix seconds.
        keys: Ed25519 public keys that may sign for it, base64url without padding.
        owner: digest of the principal whose it is; empty for nobody's.
        code: digest of the store-credit code by which anybody may spend it; empty for none.
    """

    id: str
    opened_at: int
    keys: tuple[str, ...] = ()
    owner: str = ""
    code: str = ""

    def is_of(self, principal: str | None) -> bool:
        """Whether it is this caller's."""
        return principal is not None and bool(self.owner) and self.owner == digest(principal)


def new_id() -> str:
    """An id that no account has."""
    return f"acct_{''.join(secrets.choice(CODE_SIGNS) for _ in range(CODE_LENGTH)).lower()}"


def new_code() -> str:
    """A store-credit code that nobody guesses, as it is compared."""
    return "".join(secrets.choice(CODE_SIGNS) for _ in range(CODE_LENGTH))


def account_key(id: str) -> str:
    """What the record of an account is called."""
    return f"{ACCOUNT}{id}"


def account_of(books: Books, id: str) -> Account | None:
    """The account of an id; None where there is none."""
    record = books.record(account_key(id)) if is_payer(id) else None
    return None if record is None else msgspec.convert(record.value, Account)


def account_of_owner(books: Books, principal: str) -> Account | None:
    """The account of a caller; None for one who has none."""
    return _named_by(books, f"owner:{digest(principal)}")


def account_of_code(books: Books, code: str) -> Account | None:
    """The account that a store-credit code opens; None where it opens none."""
    plain = plain_code(code)
    return None if plain is None else _named_by(books, f"code:{digest(plain)}")


def _named_by(books: Books, key: str) -> Account | None:
    record = books.record(key)
    return None if record is None else account_of(books, record.value)


def open_account(account: Account) -> tuple[Effect, ...]:
    """Open an account. Where its id, owner or code has one already, nothing is written.

    Raises:
        ValueError: it has no such id, a key that is none, or nobody who may spend it.
    """
    if not is_payer(account.id):
        raise ValueError(f"{account.id!r} is no id of an account: acct_ and small letters, digits.")
    if not (account.keys or account.owner or account.code):
        raise ValueError("An account has a key, an owner or a code: else nobody could spend it.")
    for key in account.keys:
        check_public_key(key)
    effects: list[Effect] = [Keep(account_key(account.id), account, 0, outlives=True)]
    if account.owner:
        effects.append(Keep(f"owner:{account.owner}", account.id, 0, outlives=True))
    if account.code:
        effects.append(Keep(f"code:{account.code}", account.id, 0, outlives=True))
    return tuple(effects)


def check_public_key(text: str) -> bytes:
    """Read an Ed25519 public key: 32 bytes in base64url without padding.

    Raises:
        ValueError: it is none.
    """
    try:
        key = base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True)
    except (ValueError, binascii.Error):
        key = b""
    if len(key) != KEY_BYTES or base64.urlsafe_b64encode(key).rstrip(b"=").decode() != text:
        raise ValueError(
            "A key is an Ed25519 public key: its 32 bytes in base64url without padding, 43 signs."
        )
    return key


def digest(text: str) -> str:
    """What stands for a text in keys, and wherever it is not kept itself."""
    return hashlib.sha256(text.encode()).hexdigest()


def plain_code(code: str) -> str | None:
    """A store-credit code as it is compared, however it was written; None for what is none."""
    plain = re.sub(r"[\s-]", "", code.upper())
    if len(plain) > CODE_LENGTH:
        plain = plain.removeprefix("SC")
    # people read what is printed: O is a zero there, I and L are a one (Crockford's base 32)
    plain = plain.translate(str.maketrans("OIL", "011"))
    return plain if _CODE.fullmatch(plain) else None


def printed_code(plain: str) -> str:
    """A store-credit code as it is printed: ``SC-7K2QX-…``."""
    fives = (plain[start : start + 5] for start in range(0, CODE_LENGTH, 5))
    return "-".join(("SC", *fives))
