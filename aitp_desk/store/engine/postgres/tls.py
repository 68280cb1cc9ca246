"""Verifies a PostgreSQL server by the authorities of this machine, and explains what fails.

asyncpg does what libpq does with ``sslmode``, but knows no ``sslrootcert=system``.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping

from aitp_desk.store.base import StoreError

_UNTRUSTED = frozenset({18, 19, 20, 21})
_ANOTHER_NAME = frozenset({62, 64})
_REASONS = {
    9: "its certificate is not valid yet. Compare the clocks of both machines",
    10: "its certificate has expired. Renew it on the server",
    23: "its certificate was revoked. Renew it on the server",
    **dict.fromkeys(
        _UNTRUSTED,
        "its certificate is of an authority that is not trusted here. Name a file with the"
        " authority's certificate by sslrootcert in store.url",
    ),
    **dict.fromkeys(
        _ANOTHER_NAME,
        "its certificate is for another name. Use a name of the certificate in store.url, or"
        " sslmode=verify-ca, which does not compare names",
    ),
}
"""By the numbers that OpenSSL gives what it verifies (X509_V_ERR_…)."""
_NO_TLS = (
    "the server has no TLS. Turn it on there (ssl = on), or use sslmode=disable in store.url, which"
    " sends everything in the clear"
)
_NO_CLIENT_CERTIFICATE = (
    "the server wants a client certificate. Name its file by sslcert and that of its key by sslkey"
    " in store.url"
)


def build_system_context(query: dict[str, str], environment: Mapping[str, str]) -> ssl.SSLContext:
    """Return a context as of ``sslmode=verify-full&sslrootcert=system``.

    Parameters:
        query: the parameters of the URL; those that are used here are removed.

    Raises:
        StoreError: a file cannot be read.
    """

    def take(name: str) -> str | None:
        return query.pop(name, None) or environment.get(f"PG{name.upper()}")

    context = ssl.create_default_context()
    certificate, key, revoked = take("sslcert"), take("sslkey"), take("sslcrl")
    password = query.pop("sslpassword", "")
    file = ""
    try:
        if certificate is not None:
            file = f"{certificate} or {key}"
            context.load_cert_chain(certificate, key, password)
        if revoked is not None:
            file = revoked
            context.load_verify_locations(revoked)
            context.verify_flags |= ssl.VERIFY_CRL_CHECK_CHAIN
    except OSError as error:
        raise StoreError(f"The file {file} of store.url cannot be read: {error}.") from error
    return context


def explain_tls_error(error: BaseException) -> str | None:
    """Return what is wrong with a TLS connection and what to do; None for another error."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return _REASONS.get(error.verify_code)
    if isinstance(error, ConnectionError) and "rejected SSL upgrade" in str(error):
        return _NO_TLS
    if "valid client certificate" in str(error):
        return _NO_CLIENT_CERTIFICATE
    return None
