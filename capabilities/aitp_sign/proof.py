"""Verifies signatures against the request. Pure.

The caller, which has the request's record, checks time and repetition.
"""

from __future__ import annotations

import hashlib

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from aitp_sign.errors import Unproven
from aitp_sign.evm import secp256k1
from aitp_sign.keys import ed25519, jws
from aitp_sign.keys.encodings import from_base64, from_base64url, to_base64url
from aitp_sign.messages import Signature
from aitp_sign.near import nep413
from aitp_sign.subjects import EVM_SCHEMES, NearCall, Scheme, Signed, Subject, signed_of


class Expected(msgspec.Struct, frozen=True):
    """The expected signature.

    Parameters:
        until: expiry in Unix seconds.
        account, public_key: the expected signer; empty for any.
    """

    subject: Signed
    schemes: tuple[Scheme, ...]
    until: int
    account: str = ""
    public_key: str = ""


class Proof(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a signature proves.

    Parameters:
        public_key: the signing key; empty if the scheme shows only an address.
        account: the signer's account, as far as known.
        account_proved: whether the account is proved without the chain.
        digest: SHA-256 of the signed bytes, in hex.
    """

    scheme: Scheme
    public_key: str
    account: str
    account_proved: bool
    digest: str

    @property
    def signer(self) -> str:
        """The proved identity of the signer."""
        return self.public_key or self.account


def prove(expected: Expected, given: Signature) -> Proof:
    """Verify a signature against the request.

    Raises:
        Unproven: it proves something else, or nothing.
    """
    if given.scheme not in expected.schemes:
        raise Unproven("wrong_scheme", f"Sign by {' or '.join(expected.schemes)}, as requested.")
    try:
        signed = signed_of(
            expected.subject, given.scheme, expected.until, given.callback_url or None
        )
    except ValueError as error:
        raise Unproven(
            "malformed", f"This content cannot be signed by that scheme: {error}"
        ) from None
    digest = hashlib.sha256(signed).hexdigest()
    if given.scheme in EVM_SCHEMES:
        if not (expected.account or given.account):
            # for another text it would yield a different, unused address
            raise Unproven("malformed", "account is missing. It must be the address that signed.")
        address = secp256k1.signer_of(signed, given.signature)
        proof = Proof(given.scheme, "", address, account_proved=True, digest=digest)
        _check_address(expected.account or given.account, address)
    elif given.scheme == "jws":
        proof = Proof("jws", _check_jws(given, signed), "", account_proved=False, digest=digest)
    else:
        proof = _prove_by_key(expected.subject, given, signed, digest)
    if expected.public_key and proof.public_key != expected.public_key:
        raise Unproven("wrong_key", f"Sign with the requested key {expected.public_key}.")
    if expected.account and not proof.account_proved:
        _check_account(expected, proof)
    return proof


def is_known(scheme: Scheme) -> bool:
    """Return whether signatures of a scheme can be verified here."""
    return scheme not in EVM_SCHEMES or secp256k1.is_here()


def thumbprint(key: jws.Jwk) -> str:
    """Return the thumbprint of a JWK (RFC 7638)."""
    members = {"crv": key.crv, "kty": key.kty, "x": key.x} | ({"y": key.y} if key.y else {})
    return to_base64url(hashlib.sha256(msgspec.json.encode(members)).digest())


def _prove_by_key(subject: Subject, given: Signature, signed: bytes, digest: str) -> Proof:
    key = ed25519.read_key(given.public_key)
    try:
        is_raw = given.scheme == "ed25519"
        signature = from_base64url(given.signature) if is_raw else from_base64(given.signature)
    except ValueError as error:
        raise Unproven("malformed", f"signature is {error}.") from None
    ed25519.check(key, signature, signed)
    account = given.account
    if isinstance(subject, NearCall):
        account = subject.transaction.signer_id
        if given.public_key != subject.transaction.public_key:
            raise Unproven("wrong_key", "The transaction names a different key.")
    return Proof(given.scheme, given.public_key, account, _is_called_by(account, key), digest)


def _is_called_by(account: str, key: Ed25519PublicKey) -> bool:
    if not nep413.is_implicit(account):
        return False
    if account != key.public_bytes_raw().hex():
        raise Unproven("wrong_account", "The account is named after a different key.")
    return True


def _check_jws(given: Signature, signed: bytes) -> str:
    if isinstance(given.jwk, msgspec.UnsetType):
        raise Unproven("malformed", "jwk is missing. It must be the key of the JWS.")
    jws.check(given.signature, signed, given.jwk)
    return thumbprint(given.jwk)


def _check_address(expected: str, address: str) -> None:
    if expected and expected.lower() != address.lower():
        raise Unproven("wrong_account", f"The signature is by {address}, or of different content.")


def _check_account(expected: Expected, proof: Proof) -> None:
    if proof.account and proof.account != expected.account:
        raise Unproven("wrong_account", f"Sign with the requested account {expected.account}.")
    if not expected.public_key:
        raise Unproven(
            "wrong_account",
            f"The desk cannot verify that {proof.public_key} is a key of {expected.account}."
            " The request must also name the key, or an account named after its key.",
        )
