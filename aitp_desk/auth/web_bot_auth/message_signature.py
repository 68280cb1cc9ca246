"""HTTP message signatures (RFC 9421) of automated clients ("Web Bot Auth").

The profile is that of ``draft-ietf-webbotauth-httpsig-protocol-00``: a signature with the tag
``web-bot-auth``, and a ``Signature-Agent`` that says where the signer's keys are. This module
parses a signature and verifies it with a key; ``agents.py`` decides whose key and with which
scopes. The package of the extra ``signatures`` builds the signature base.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import http_sf
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from http_message_signatures import (
    HTTPMessageSignaturesException,
    HTTPMessageVerifier,
    HTTPSignatureAlgorithm,
    MappingKeyResolver,
    algorithms,
)

from aitp_desk.auth.credentials.address import Headers
from aitp_desk.auth.credentials.request_credentials import WEB_BOT_AUTH
from aitp_desk.model.errors import NotAuthenticated
from aitp_desk.model.web_address import origin_of, web_address

DIRECTORY_TAG: Final = "http-message-signatures-directory"
MAX_FIELD = 4096
"""Maximum characters of each field with signatures."""
MAX_SIGNATURES = 8
MAX_COMPONENTS = 32
MAX_NONCE = 256
MAX_COVERED = 8192
"""Maximum characters of all fields that a signature covers: parsing structured fields is slow."""

PublicKey = Ed25519PublicKey | EllipticCurvePublicKey | RSAPublicKey

_KEY_ID_CHARACTERS = 43
"""Length of a thumbprint (RFC 7638) with SHA-256, in base64url."""
_TARGETS = frozenset({'"@authority"', '"@target-uri"'})
_DIGESTS = ('"content-digest"', '"content-digest";key="sha-256"')


class SignatureClaim(NamedTuple):
    """The parameters of a signature, not yet verified.

    Parameters:
        label: of the signature in its fields.
        origin: where the signer publishes its keys, ``https://agent.example``.
        key_id: thumbprint of the key.
        created: Unix seconds, as is ``expires``.
    """

    label: str
    origin: str
    key_id: str
    created: int
    expires: int
    nonce: str | None


class Request(NamedTuple):
    """A request, as the verifying package reads it.

    Parameters:
        url: absolute, as the sender knows it.
    """

    method: str
    url: str
    headers: Any


class Response(NamedTuple):
    """A response, as the verifying package reads it."""

    status_code: int
    headers: Any
    request: Request


class _Verifier(HTTPMessageVerifier):
    """Leaves the check of times to the desk and its clock."""

    def validate_created_and_expires(self, *_given: Any, **_more: Any) -> None:
        """Accept any."""


def read_claim(headers: Headers) -> SignatureClaim | None:
    """Read the signature of a request that identifies its agent.

    Returns:
        None if there is none that the desk accepts: none has the tag, or the agent publishes its
            keys other than in a directory.

    Raises:
        NotAuthenticated: it cannot be read, or there are several.
    """
    inputs = _read_fields(headers, "Signature-Input")
    tagged = [label for label, found in inputs.items() if _tag(found) == WEB_BOT_AUTH]
    if not tagged:
        return None
    if len(tagged) > 1 or len(inputs) > MAX_SIGNATURES:
        raise NotAuthenticated(f"Send one signature with the tag {WEB_BOT_AUTH}.")
    label = tagged[0]
    components, parameters = inputs[label]
    if not isinstance(components, list) or len(components) > MAX_COMPONENTS:
        raise _malformed("Signature-Input")
    if _covered_characters(components, headers) > MAX_COVERED:
        raise NotAuthenticated(
            f"The fields that a message signature covers must have at most {MAX_COVERED}"
            " characters together."
        )
    agent = _agent_of(headers, label, components)
    if agent is None:
        return None
    created, expires = parameters.get("created"), parameters.get("expires")
    key_id, nonce = parameters.get("keyid"), parameters.get("nonce")
    if (
        type(created) is not int
        or type(expires) is not int
        or not isinstance(key_id, str)
        or len(key_id) != _KEY_ID_CHARACTERS
        or not isinstance(nonce, str | None)
        or len(nonce or "") > MAX_NONCE
    ):
        raise NotAuthenticated(
            "A signature must have `created` and `expires` in whole seconds, `keyid` with the"
            f" thumbprint of its key, and a `nonce` of at most {MAX_NONCE} characters."
        )
    return SignatureClaim(label, agent, key_id, created, expires, nonce)


def verify_claim(claim: SignatureClaim, key: PublicKey, request: Request) -> Mapping[str, str]:
    """Return the components that a signature covers, with their values.

    Parameters:
        request: its URL has the desk's own origin, so a signature for another site is invalid.

    Raises:
        NotAuthenticated: this key has not signed this request, or no authority is covered.
    """
    try:
        [result] = _verifier(claim.key_id, key).verify(
            request, max_age=None, expect_tag=WEB_BOT_AUTH, expect_label=claim.label
        )
    except (HTTPMessageSignaturesException, ValueError) as error:
        raise NotAuthenticated(
            "The message signature is not valid: it was made with another key, for"
            " another site or for another request."
        ) from error
    covered: Mapping[str, str] = result.covered_components
    if _TARGETS.isdisjoint(covered):
        raise NotAuthenticated("A message signature must cover @authority or @target-uri.")
    return covered


def covers_request(covered: Mapping[str, str], target: str) -> bool:
    """Return whether a signature covers method, path and query, and so no other request."""
    if '"@method"' not in covered:
        return False
    if '"@target-uri"' in covered or '"@request-target"' in covered:
        return True
    return '"@path"' in covered and ("?" not in target or '"@query"' in covered)


def covered_digest(covered: Mapping[str, str]) -> bytes | None:
    """Return the covered SHA-256 of the body (RFC 9530); None if none is covered.

    Raises:
        NotAuthenticated: the covered digest is not SHA-256.
    """
    for component in _DIGESTS:
        if component not in covered:
            continue
        kind = "item" if "key" in component else "dictionary"
        digest: Any = _parse(covered[component], "Content-Digest", kind)
        digest = digest[0] if kind == "item" else digest.get("sha-256", (None,))[0]
        if not isinstance(digest, bytes) or len(digest) != 32:
            raise NotAuthenticated("A signed Content-Digest must have exactly one sha-256.")
        return digest
    return None


def check_possession(
    response: Response, body: bytes, keys: Mapping[str, PublicKey], now: float
) -> None:
    """Verify the signatures of a key directory's response; it may have none.

    They show that the server has the private keys, for this authority (appendix of the draft).

    Parameters:
        keys: by thumbprint.
        now: Unix seconds.

    Raises:
        ValueError: a signature is invalid.
    """
    text = ", ".join(response.headers.getall("Signature-Input", []))
    inputs = _parse_dictionary(text) if len(text) <= MAX_FIELD else {}
    if len(inputs) > MAX_SIGNATURES or (text and not inputs):
        raise ValueError("its signatures are too many or too long")
    for label, found in inputs.items():
        parameters = _parameters(found)
        if _tag(found) != DIRECTORY_TAG:
            continue
        components = found[0] if isinstance(found[0], list) else []
        if _covered_characters(components, response.headers) > MAX_COVERED:
            raise ValueError("its signature covers too much")
        key_id = parameters.get("keyid")
        key = keys.get(key_id) if isinstance(key_id, str) else None
        created, expires = parameters.get("created"), parameters.get("expires")
        if key is None or not isinstance(key_id, str):
            raise ValueError("it is signed with a key that it does not list")
        if type(created) is not int or type(expires) is not int or not created <= now < expires:
            raise ValueError("its signature is not valid at this time")
        try:
            _verifier(key_id, key).verify(
                response,
                max_age=None,
                expect_tag=DIRECTORY_TAG,
                expect_label=label,
                require_components=('"@authority";req', "content-digest"),
                body=body,
            )
        except (HTTPMessageSignaturesException, ValueError) as error:
            raise ValueError("its signature is not valid") from error


def _verifier(key_id: str, key: PublicKey) -> HTTPMessageVerifier:
    keys = MappingKeyResolver(public_keys={key_id: key}, private_keys={})
    return _Verifier(signature_algorithm=_algorithm(key), key_resolver=keys)


def _algorithm(key: PublicKey) -> type[HTTPSignatureAlgorithm]:
    """Return a key's one algorithm, whatever the signature says."""
    match key:
        case Ed25519PublicKey():
            return algorithms.ED25519
        case EllipticCurvePublicKey():
            return algorithms.ECDSA_P256_SHA256
        case _:
            return algorithms.RSA_PSS_SHA512


def _agent_of(headers: Headers, label: str, components: list[Any]) -> str | None:
    """Return the origin of the covered key directory; None if it names none."""
    lines = headers.getall("Signature-Agent", [])
    named = [parameters for name, parameters in components if name == "signature-agent"]
    if not named:
        raise NotAuthenticated(
            "A message signature must cover its member of Signature-Agent:"
            ' "signature-agent";key="…".'
        )
    text = ", ".join(lines)
    if len(text) > MAX_FIELD:
        raise _malformed("Signature-Agent")
    value: Any
    if text.lstrip().startswith('"') and {} in named:  # the form of earlier versions of the draft
        value, parameters = _parse(text, "Signature-Agent", "item")
    else:
        keys = [found.get("key") for found in named]
        key = label if label in keys else keys[0]
        if len(keys) > 1 and key != label:
            raise _malformed("Signature-Agent")
        member = _parse(text, "Signature-Agent", "dictionary").get(key)
        if member is None:
            raise _malformed("Signature-Agent")
        value, parameters = member
    if str(parameters.get("type", "directory")) != "directory" or not isinstance(value, str):
        return None
    return _origin(value)


def _origin(url: str) -> str:
    """Return an origin in its canonical form (RFC 6454, section 6.2)."""
    parts = web_address(url)
    if (
        parts is None
        or parts.path not in {"", "/"}
        or "@" in parts.netloc
        or parts.query
        or parts.fragment
        or (parts.hostname or "").endswith(".")
    ):
        raise NotAuthenticated(
            "Signature-Agent must be an origin without a path, such as https://agent.example."
        )
    return origin_of(parts)


def _read_fields(headers: Headers, name: str) -> dict[str, Any]:
    text = ", ".join(headers.getall(name, []))
    if len(text) > MAX_FIELD:
        raise _malformed(name)
    found: dict[str, Any] = _parse(text, name, "dictionary")
    return found


def _parameters(member: Any) -> Mapping[str, Any]:
    return member[1] if isinstance(member, tuple) and isinstance(member[1], dict) else {}


def _covered_characters(components: Any, headers: Headers) -> int:
    """Return the total length of the fields that a signature covers."""
    fields = {name for name, _ in components if isinstance(name, str)}
    return sum(len(line) for name in fields for line in headers.getall(name, []))


def _tag(member: Any) -> str | None:
    """Return a signature's tag; a token does not equal a string."""
    tag = _parameters(member).get("tag")
    return tag if isinstance(tag, str) else None


def _parse(text: str, name: str, kind: str) -> Any:
    try:
        return (
            _parse_dictionary(text)
            if kind == "dictionary"
            else http_sf.parse(text.encode(), tltype=kind)
        )
    except (ValueError, RecursionError):
        raise _malformed(name) from None


def _parse_dictionary(text: str) -> Any:
    """Parse a dictionary without duplicate keys: parsers could differ in which they take."""

    def refuse(key: str, _where: str) -> None:
        raise ValueError(key)

    return http_sf.parse(text.encode(), tltype="dictionary", on_duplicate_key=refuse)


def _malformed(name: str) -> NotAuthenticated:
    return NotAuthenticated(f"The header {name} of the message signature cannot be read.")
