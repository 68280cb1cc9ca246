"""Who is calling: the head of a request → Principal. Doors never look at credentials themselves.

``identify.py`` decides which proof is asked for, and ``ways.py`` puts it together. The rest, from
what is sent to what is kept:

- What a head presents: ``presented.py``, ``address.py`` (where it comes from), ``address_line.py``
  (credentials in addresses, which are refused).
- The ways, each a file that says what it proves (``proof.py``): ``api_key.py``, ``bearer.py``
  (JWTs), ``signed_request.py`` (a shared secret), ``agents.py`` (Web Bot Auth), ``links.py``.
- JWTs: ``compact.py`` takes a token apart, ``claims.py`` holds it to its bounds, ``issuers.py``
  says who may sign, ``jwk.py`` and ``jwks.py`` with what; ``issued.py`` is this desk as an issuer.
- Agents' signatures: ``message_signature.py`` (RFC 9421), ``directories.py`` (their keys).
- What this desk gives: ``clients.py`` and ``issuing.py`` (OAuth), ``signing.py`` (with which keys).
- What is remembered: ``verified.py`` (proofs), ``nonces.py`` (what was used), ``last_use.py``,
  ``guesses.py`` and ``per_minute.py`` (who has caused too much), and for how long the keys of
  others are: ``key_sets.py``.
- The desk's own keys: ``keys.py`` (the master key) wraps ``data_keys.py``, from which all others
  come: ``exchanging.py``, ``sealing.py``, ``audit_keys.py``.
"""
