"""Authentication: from the head of a request to its Principal.

Protocols never read credentials themselves. ``identifier.py`` chooses the authentication method of
a request, and ``methods.py`` creates all methods from the configuration.

- ``credentials/``: what a request presents (``request_credentials.py``), the client's address
  (``address.py``), credentials in URLs, which are refused (``address_line.py``), and the methods of
  API keys, signed requests and grant links. Each returns a ``Proof`` (``proof.py``).
  ``proof_cache.py``, ``nonces.py``, ``last_use.py``, ``guess_limiter.py`` and ``rate.py`` hold the
  state of verification.
- ``jwt/``: bearer tokens (``bearer.py``) of configured issuers (``issuers.py``) and of this desk
  (``own_issuer.py``, ``issuance.py``). ``compact.py`` parses a token, ``claims.py`` validates its
  claims, ``jwk.py`` and ``jwks.py`` supply the keys.
- ``web_bot_auth/``: agents that sign their requests (RFC 9421), and their key directories.
- ``keys/``: the desk's own keys. The master key (``master_key.py``) wraps the data keys
  (``data_keys.py``), from which all others are derived.
"""
