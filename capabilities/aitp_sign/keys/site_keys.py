"""The site's signing keys, derived from its secret and stored nowhere."""

from __future__ import annotations

from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec import UNSET

from aitp_desk.capability import Own
from aitp_sign.evm import secp256k1
from aitp_sign.keys import ed25519, jws
from aitp_sign.keys.encodings import to_base64, to_base64url, to_hex
from aitp_sign.messages import Signature
from aitp_sign.proof import thumbprint
from aitp_sign.subjects import EVM_SCHEMES, Scheme, Signed, signed_of


class OwnKeys:
    """Signs for the site. Permission is decided elsewhere.

    Attributes:
        public_key: the Ed25519 key, as ``ed25519:`` and base58.
        account: the implicit NEAR account of that key.
        address: the Ethereum address; empty if the package is not installed.
        jwk: the Ed25519 key as a JWK.
    """

    def __init__(self, own: Own) -> None:
        self._ed25519: Ed25519PrivateKey = ed25519.private_key(own.derive("signing Ed25519"))
        self._secp256k1 = secp256k1.private_key(own.derive("signing secp256k1"))
        public = self._ed25519.public_key()
        self.public_key = ed25519.write_key(public)
        self.account = public.public_bytes_raw().hex()
        self.address = secp256k1.address_of(self._secp256k1) if secp256k1.is_here() else ""
        self.jwk = jws.Jwk("OKP", "Ed25519", to_base64url(public.public_bytes_raw()))
        self.kid = thumbprint(self.jwk)

    def can(self, scheme: Scheme) -> bool:
        """Return whether there is a key for a scheme."""
        return scheme not in EVM_SCHEMES or bool(self.address)

    def sign(self, subject: Signed, scheme: Scheme, until: int, request_id: str) -> Signature:
        """Sign a subject.

        Raises:
            ValueError: it cannot be signed.
        """
        signed = signed_of(subject, scheme, until)
        if scheme in EVM_SCHEMES:
            written = to_hex(secp256k1.sign(signed, self._secp256k1))
            return Signature(scheme, written, request_id, account=self.address)
        if scheme == "jws":
            written = jws.sign(signed, self._ed25519, self.kid)
            return Signature(scheme, written, request_id, self.kid, self.jwk)
        raw = self._ed25519.sign(signed)
        written = to_base64url(raw) if scheme == "ed25519" else to_base64(raw)
        account = "" if scheme == "ed25519" else self.account
        return Signature(scheme, written, request_id, self.public_key, UNSET, account)

    def jwks(self) -> dict[str, Any]:
        """Return the public key as a JWK Set (RFC 7517)."""
        of = {"kty": "OKP", "crv": "Ed25519", "x": self.jwk.x}
        return {"keys": [{**of, "kid": self.kid, "use": "sig", "alg": "EdDSA"}]}

    def accounts(self) -> dict[str, Any]:
        """Return the public keys in the forms of wallets."""
        near = {"account": self.account, "public_key": self.public_key}
        return {"near": near} | ({"evm": {"address": self.address}} if self.address else {})
