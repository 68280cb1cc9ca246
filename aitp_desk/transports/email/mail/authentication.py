"""Reads what the receiving server found out about a sender: SPF, DKIM and DMARC.

Only the topmost ``Authentication-Results`` with the configured authserv-id counts: a sender can
write such a field too, but only below those of the receiving server, which must remove fields that
bear its id (RFC 8601, section 5). All others are dropped.

An address is proven by DMARC for the domain in ``From``, or by DKIM or SPF for that domain or one
above it (RFC 7489, section 3.1, without the relaxed case that needs the list of public suffixes).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from aitp_desk.transports.email.mail.message import Address, Proof

_TOKEN = re.compile(
    r'"(?P<quoted>(?:[^"\\]|\\.)*+)"?|(?P<space>\s+)|(?P<special>[;()=])|(?P<word>[^\s;()="]+)',
    re.DOTALL,
)
_MOST_RESULTS = 50
_LONGEST = 8000


def find_proof(fields: Sequence[str], authserv_id: str, sender: Address | None) -> Proof | None:
    """Return what proves a sender's address, as the receiving server says; None for nothing.

    Parameters:
        fields: values of ``Authentication-Results``, the topmost first.
        authserv_id: of the receiving server; empty: none is believed.
        sender: the only author of the mail; None if there are none or several.
    """
    wanted = authserv_id.strip().lower()
    if not wanted or sender is None:
        return None
    for field in fields:
        statements = list(_read_statements(field[:_LONGEST]))
        if not statements:
            continue
        named = statements[0].partition(" ")[0].lower()
        if named == wanted:
            results = [_read_result(text) for text in statements[1 : _MOST_RESULTS + 1]]
            return _judge([result for result in results if result is not None], sender)
    return None


class _Result:
    """A method, its result and the properties that it was found for."""

    def __init__(self, method: str, result: str, properties: dict[str, str]) -> None:
        self.method = method
        self.result = result
        self.properties = properties


def _judge(results: Sequence[_Result], sender: Address) -> Proof | None:
    domain = _normalize(sender.domain)
    for result in results:
        if result.method != "dmarc":
            continue
        author = _normalize(result.properties.get("header.from", ""))
        if result.result != "pass":
            return None
        if author == domain:
            return Proof("dmarc", domain)
    for method, names in (
        ("dkim", ("header.d", "header.i")),
        ("spf", ("smtp.mailfrom", "smtp.mail")),
    ):
        for result in results:
            if result.method != method or result.result != "pass":
                continue
            value = next((result.properties[n] for n in names if n in result.properties), "")
            proven = _normalize(value.rpartition("@")[2])
            if _is_aligned(domain, proven):
                return Proof(method, proven)
    return None


def _is_aligned(domain: str, proven: str) -> bool:
    """Return whether a proven domain answers for another: the same, or one above it."""
    return bool(domain) and (domain == proven or ("." in proven and domain.endswith(f".{proven}")))


def _normalize(domain: str) -> str:
    """Return a domain in its ASCII form, in lower case; empty if it has no unique one.

    Two domains may have one form in the version of IDNA that Python knows: "straße" and "strasse".
    """
    domain = domain.strip().removesuffix(".").lower()
    if domain.isascii():
        return domain
    try:
        encoded = domain.encode("idna")
        return encoded.decode() if encoded.decode("idna") == domain else ""
    except UnicodeError:
        return ""


def _read_result(text: str) -> _Result | None:
    """Return ``method=result property=value…``; None if it is malformed."""
    pairs = [word.partition("=") for word in text.split(" ")]
    if not pairs[0][1]:
        return None
    method = pairs[0][0].partition("/")[0].lower()
    properties: dict[str, str] = {}
    for name, equals, value in pairs[1:]:
        if equals:
            properties.setdefault(name.lower(), value)
    return _Result(method, pairs[0][2].lower(), properties)


def _read_statements(field: str) -> Iterator[str]:
    """Yield the statements between semicolons, without comments, with single spaces.

    A value in quotation marks is one word: the spaces in it are dropped.
    """
    words: list[str] = []
    level = 0
    glue = False
    for token in _TOKEN.finditer(field):
        special = token["special"]
        if special == "(":
            level += 1
            continue
        if level:
            level -= special == ")"
            continue
        if token["space"]:
            continue
        if special == ";":
            yield " ".join(words)
            words, glue = [], False
            continue
        if special == "=":
            if words:
                words[-1] += "="
                glue = True
            continue
        quoted = token["quoted"]
        text = token[0] if quoted is None else "".join(quoted.replace("\\", "").split())
        text = text.replace("=", "").replace(";", "")
        if glue:
            words[-1] += text
        else:
            words.append(text)
        glue = False
    yield " ".join(words)
