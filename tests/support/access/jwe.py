"""Compact JWEs as an agent's own library makes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from joserfc import jwe
from joserfc.jwk import ECKey, OKPKey

_KINDS: Mapping[str, type[ECKey | OKPKey]] = {"EC": ECKey, "OKP": OKPKey}
_ALGORITHMS = ["ECDH-ES", "ECDH-ES+A256KW", "A256GCM"]


def encrypted(text: str, jwk: Mapping[str, Any], alg: str = "ECDH-ES+A256KW") -> str:
    """A text encrypted for a public key."""
    header = {"alg": alg, "enc": "A256GCM", "kid": jwk["kid"]}
    shape = {name: value for name, value in jwk.items() if name != "alg"}
    public = _KINDS[jwk["kty"]].import_key(shape)
    return jwe.encrypt_compact(header, text, public, algorithms=_ALGORITHMS)
