"""Signs a visitor's requests by the key of its domain (Web Bot Auth).

Sources: RFC 9421 (HTTP message signatures); RFC 9530 (Content-Digest);
``draft-ietf-webbotauth-httpsig-protocol-00``.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from multidict import CIMultiDict

from aitp_desk.visitor.errors import VisitError

DIRECTORY_PATH = "/.well-known/http-message-signatures-directory"
"""Where the agent's own domain publishes :meth:`Signer.directory`."""
VALID_SECONDS = 60
LABEL = "visitor"
TAG = "web-bot-auth"


class KeyUnusable(VisitError):
    """A key cannot sign requests; the message says why."""


class _Request(NamedTuple):
    """A request, as the signing package reads it."""

    method: str
    url: str
    headers: Any


class Signer(msgspec.Struct, frozen=True):
    """The key of an agent.

    Parameters:
        agent: the origin whose key directory has the public key, such as
            "https://agent.example".
    """

    agent: str
    key: Ed25519PrivateKey

    @property
    def jwk(self) -> dict[str, str]:
        """The public key."""
        public = encode_base64url(self.key.public_key().public_bytes_raw())
        return {"crv": "Ed25519", "kty": "OKP", "x": public}

    @property
    def key_id(self) -> str:
        """The thumbprint of the public key (RFC 7638)."""
        canonical = json.dumps(self.jwk, sort_keys=True, separators=(",", ":"))
        return encode_base64url(hashlib.sha256(canonical.encode()).digest())

    def directory(self) -> dict[str, Any]:
        """Return the key directory, for the agent's own domain to publish."""
        return {"keys": [self.jwk]}

    def sign(self, method: str, url: str, body: bytes) -> dict[str, str]:
        """Return the headers that sign a request: its method, address and body.

        Raises:
            KeyUnusable: the package that signs is not installed.
        """
        try:
            from http_message_signatures import (
                HTTPMessageSigner,
                MappingKeyResolver,
                algorithms,
            )
        except ImportError:
            raise KeyUnusable(
                "Signing requests needs the extra: pip install 'aitp-desk[signatures]'."
            ) from None
        headers = CIMultiDict({"Signature-Agent": f'{LABEL}="{self.agent}"'})
        components = ["@method", "@target-uri", f'"signature-agent";key="{LABEL}"']
        if body:
            digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
            headers["Content-Digest"] = f"sha-256=:{digest}:"
            components.append("content-digest")
        created = datetime.datetime.now(datetime.UTC)
        keys = MappingKeyResolver(public_keys={}, private_keys={self.key_id: self.key})
        HTTPMessageSigner(signature_algorithm=algorithms.ED25519, key_resolver=keys).sign(
            _Request(method, url, headers),
            key_id=self.key_id,
            created=created,
            expires=created + datetime.timedelta(seconds=VALID_SECONDS),
            nonce=secrets.token_urlsafe(24),
            label=LABEL,
            tag=TAG,
            use_existing_digest=bool(body),
            covered_component_ids=tuple(components),
        )
        return dict(headers)


def load_key(path: Path) -> Ed25519PrivateKey:
    """Read an Ed25519 private key in PEM, as ``openssl genpkey -algorithm ed25519`` writes it.

    Raises:
        KeyUnusable: it is not such a key, or cannot be read; the message holds nothing of it.
    """
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except OSError as error:
        raise KeyUnusable(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise KeyUnusable(f"{path} is not a private key in PEM without a password.") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyUnusable(f"{path} is not an Ed25519 key.")
    return key


def encode_base64url(data: bytes) -> str:
    """Encode bytes without padding (RFC 7515, section 2)."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def sign_detached(signer: Signer, kind: str, header: Mapping[str, Any], payload: bytes) -> str:
    """Sign a payload as a JWS with detached content (RFC 7515, appendix F).

    Parameters:
        kind: the payload's type, for ``typ``.
    """
    whole = {"alg": "EdDSA", "typ": kind, **header}
    protected = encode_base64url(json.dumps(whole, sort_keys=True, separators=(",", ":")).encode())
    signature = signer.key.sign(f"{protected}.{encode_base64url(payload)}".encode())
    return f"{protected}..{encode_base64url(signature)}"
