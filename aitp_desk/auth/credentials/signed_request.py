"""Requests signed with a secret shared by the client and the desk.

AHP 0.1 calls this ``signed_request`` (section 8.2) and agents.txt 1.0 ``hmac``; both leave its form
open. ``docs/build/oauth.md`` defines it, with test vectors. The secret is never sent. A
signature is valid once, for one method, URL, body and time.

The store keeps no secret: a key's secret is derived from a data key, the key's id and its version.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from aitp_desk.auth.credentials.api_key import FindKey
from aitp_desk.auth.credentials.last_use import LastUse
from aitp_desk.auth.credentials.nonces import NonceCache
from aitp_desk.auth.credentials.proof import Head, Proof, get_credential
from aitp_desk.auth.credentials.proof_cache import ProofCache
from aitp_desk.auth.credentials.request_credentials import HMAC_SCHEME
from aitp_desk.auth.keys.data_keys import DataKeys
from aitp_desk.model.access.credential import CredentialMark
from aitp_desk.model.access.principal import KEY_PREFIX, ProvenBy, make_key_principal
from aitp_desk.model.errors import NotAuthenticated
from aitp_desk.store.records.keys import Key

MAX_CREDENTIAL = 512
"""Maximum characters of a credential; a longer one is not parsed."""

_ALGORITHM = HMAC_SCHEME.upper()
_FORMS = {
    "keyid": re.compile(r"[0-9a-f]{16}\.[1-9][0-9]{0,8}", re.ASCII),
    "timestamp": re.compile(r"[0-9]{1,12}", re.ASCII),
    "nonce": re.compile(r"[A-Za-z0-9._~+/=-]{16,128}", re.ASCII),
    "body": re.compile(r"[0-9a-f]{64}", re.ASCII),
    "signature": re.compile(r"[0-9a-f]{64}", re.ASCII),
}
"""The parameters of the credential; none contains a comma or a quotation mark."""
_USUAL = re.compile(
    ", ".join(f'{name}="({form.pattern})"' for name, form in _FORMS.items()), re.ASCII
)
"""The credential in the documented spelling, parsed in one match."""
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#]*", re.ASCII | re.IGNORECASE)


class SignedHeader(NamedTuple):
    """The parameters of a signed request's credential.

    Parameters:
        key_id: id of the key and, after a point, its version.
        timestamp: the time of signing in Unix seconds. Like the other parameters, text as sent.
        body: SHA-256 of the body in hexadecimal digits.
        signature: HMAC-SHA256 of :func:`make_signed_text` in hexadecimal digits.
    """

    key_id: str
    timestamp: str
    nonce: str
    body: str
    signature: str


class _SigningSecret:
    """The secret of a signing key. Its text form never shows it."""

    __slots__ = ("_begun",)

    def __init__(self, text: str) -> None:
        self._begun = hmac.new(text.encode(), digestmod="sha256")

    def sign(self, text: bytes) -> bytes:
        """Return the signature of a text."""
        signing = self._begun.copy()  # the key is expanded once
        signing.update(text)
        return signing.digest()


class _KeyProof(Proof, frozen=True, kw_only=True):
    """The proof of a named key, before its signature is verified."""

    secret: _SigningSecret


class SignedRequests:
    """The authentication method of signed requests.

    Parameters:
        find: looks keys up in the store.
        verified: caches keys that were looked up.
        nonces: remembers used nonces.
        last_use: records when keys are used.
        window_seconds: maximum difference between a timestamp and the desk's clock.
        clock: Unix seconds.
    """

    def __init__(
        self,
        find: FindKey,
        keys: DataKeys,
        verified: ProofCache,
        nonces: NonceCache,
        last_use: LastUse,
        *,
        window_seconds: int,
        clock: Callable[[], float],
    ) -> None:
        self._find = find
        self._keys = keys
        self._verified = verified
        self._nonces = nonces
        self._last_use = last_use
        self._window = window_seconds
        self._clock = clock

    async def verify(self, head: Head) -> Proof:
        """Return the proof of the key that signed a request. It is valid once.

        Raises:
            NotAuthenticated: the signature is not valid.
        """
        signed = read_signed(get_credential(head))
        signed_at = int(signed.timestamp)
        self._check_age(signed_at)
        known = await self._verified.find(signed.key_id, self._look_up)
        text = make_signed_text(head.method, head.target, signed)
        expected = known.secret.sign(text)
        if not hmac.compare_digest(expected, bytes.fromhex(signed.signature)):
            raise _unproven()
        until = signed_at + self._window
        return Proof(
            known.principal,
            self,
            signed.key_id,
            known.until,
            bytes.fromhex(signed.body),
            (partial(self._use, known.principal.id, signed.nonce, until),),
            known.mark,
        )

    async def _use(self, principal_id: str, nonce: str, until: int) -> None:
        await self._nonces.use(principal_id, nonce, until=until)
        self._last_use.note(principal_id.removeprefix(KEY_PREFIX))

    async def still_holds(self, proof: Proof) -> bool:
        """Return whether the key is still valid with its scopes, for a long-lived response."""
        return await self._verified.is_still_valid(proof, self._look_up)

    def _check_age(self, signed_at: int) -> None:
        off = signed_at - int(self._clock())
        if abs(off) > self._window:
            raise NotAuthenticated(
                f"The timestamp is {abs(off)} seconds"
                f" {'ahead of' if off > 0 else 'behind'} the desk's clock; at most"
                f" {self._window} are allowed. Sign the request again with the current"
                " time, as in the Date header of this response.",
                reason="expired",
            )

    async def _look_up(self, key_id: str) -> _KeyProof:
        id_, _, version = key_id.partition(".")
        token = await self._find(id_)
        now = self._clock()
        if token is None or token.kind != "hmac" or not token.is_live(now):
            raise _unproven()
        until, data_key = _holds_until(token, int(version), now)
        principal = make_key_principal(token.id, token.scopes, ProvenBy.SIGNED_REQUEST)
        secret = _SigningSecret(make_secret(self._keys, token.id, int(version), data_key))
        mark = CredentialMark(int(version))
        return _KeyProof(principal, self, key_id, until, mark=mark, secret=secret)


def make_secret(keys: DataKeys, id_: str, version: int, data_key: int) -> str:
    """Return the secret of a key's version: 64 hexadecimal digits, used as text.

    Parameters:
        data_key: the version of the data key that it is derived from.
    """
    return keys.derive(f"hmac {id_}", version, data_key=data_key).hex()


def read_signed(credential: str) -> SignedHeader:
    """Parse the text after the scheme: five parameters, each once (RFC 9110, 11.2).

    The parameters may come in any order.

    Raises:
        NotAuthenticated: the text does not have this form.
    """
    if usual := _USUAL.fullmatch(credential):
        return SignedHeader(*usual.groups())
    given: dict[str, str] = {}
    parameters = credential.split(",") if len(credential) <= MAX_CREDENTIAL else ()
    for parameter in parameters:
        name, _, value = parameter.strip(" \t").partition("=")
        if len(value) >= 2 and value[0] == value[-1] == '"':
            value = value[1:-1]
        form = _FORMS.get(name)
        if form is None or name in given or form.fullmatch(value) is None:
            raise _malformed()
        given[name] = value
    if len(given) < len(_FORMS):
        raise _malformed()
    return SignedHeader(*(given[name] for name in _FORMS))


def make_signed_text(method: str, target: str, signed: SignedHeader) -> bytes:
    """Return the signed text: one line for each thing that the signature covers.

    Parameters:
        method: as sent.
        target: the target of the request line, as sent.
    """
    place = get_path_and_query(target)
    lines = (_ALGORITHM, method, place, signed.timestamp, signed.nonce, signed.body)
    return "\n".join(lines).encode(errors="surrogateescape")


def get_path_and_query(target: str) -> str:
    """Return path and query of a request's target, without an origin.

    Nothing is decoded or normalised.
    """
    if not target.startswith("/") and (origin := _ORIGIN.match(target)):
        rest = target[origin.end() :]
        return rest if rest.startswith("/") else f"/{rest}"
    return target


def _holds_until(token: Key, version: int, now: float) -> tuple[float | None, int]:
    """Return a key version's end of validity and its secret's data key.

    Raises:
        NotAuthenticated: it is not valid now.
    """
    if version == token.version:
        return token.expires_at, token.data_key
    former = token.former_at(now)
    if former is None or version != token.version - 1:
        raise _unproven()
    until = former.until if token.expires_at is None else min(former.until, token.expires_at)
    return until, former.data_key


def _malformed() -> NotAuthenticated:
    names = ", ".join(f'{name}="…"' for name in _FORMS)
    return NotAuthenticated(
        f"A signed request must have 'Authorization: {_ALGORITHM} {names}', with each"
        " parameter once and in the documented form.",
        reason="malformed",
    )


def _unproven() -> NotAuthenticated:
    return NotAuthenticated(
        "The signature is not valid: the key is unknown, revoked or expired, or the"
        " signed request differs from the received one. Sign the method, the path and"
        " query as they are sent, the timestamp, the nonce and the SHA-256 of the body."
    )
