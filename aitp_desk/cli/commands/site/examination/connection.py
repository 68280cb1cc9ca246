"""Checks the way to a desk: its name, its certificate, the redirect from http, the clock."""

from __future__ import annotations

import ssl
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from yarl import URL

from aitp_desk.cli.commands.site.examination.findings import Findings
from aitp_desk.egress import AddressRefused, Egress, EgressError, Preview, TooSlow

HEALTH_PATH = "/health"
SECONDS = 15.0
"""The longest that one check waits."""
RENEWAL_DAYS = 14
"""A certificate that ends sooner is not renewed by itself: authorities renew at 30."""
SKEW_SECONDS = 60
"""Signed requests and tokens are refused when clocks differ by minutes."""
_DAY = 24 * 3600
REDIRECTS = frozenset({301, 302, 307, 308})


async def check_connection(egress: Egress, origin: str, findings: Findings) -> bool:
    """Check name, certificate and clock.

    Returns:
        Whether anything answers there.
    """
    host = URL(origin).host or ""
    sent = time.time()
    try:
        found = await egress.preview(f"{origin}{HEALTH_PATH}", seconds=SECONDS)
    except EgressError as error:
        findings.fault(_blame(error), str(error), _advise(error))
        return False
    findings.approve("dns", f"{host} answers at {found.address}")
    _check_certificate(origin, found, findings)
    _check_clock(found.headers, (sent + time.time()) / 2, findings)
    return True


async def check_redirect(egress: Egress, origin: str, findings: Findings) -> None:
    """Check that http leads to https, if both have their usual ports."""
    address = URL(origin)
    if address.scheme != "https" or not address.is_default_port():
        return
    plain = str(address.with_scheme("http"))
    advice = f"let {plain} redirect to {origin}, and serve nothing else there"
    try:
        found = await egress.preview(f"{plain}/", seconds=SECONDS)
    except EgressError as error:
        if isinstance(error, AddressRefused):
            raise
        findings.warn("tls", f"{plain} does not answer", advice)
        return
    target = URL(plain).join(URL(found.headers.get("Location", "")))
    if found.status in REDIRECTS and target.scheme == "https":
        findings.approve("tls", f"{plain} redirects to https")
    else:
        findings.fault("tls", f"{plain} answers with status {found.status}", advice)


def _blame(error: EgressError) -> str:
    """Return the check that an error belongs to."""
    text = str(error)
    if "its name has no address" in text or isinstance(error, AddressRefused):
        return "dns"
    return "tls" if "certificate" in text or "TLS" in text else "reach"


def _advise(error: EgressError) -> str:
    match _blame(error):
        case "dns":
            return "give the public https:// address, and an A or AAAA record to its name"
        case "tls":
            return "get a certificate of a public authority for this name, and serve its chain"
        case _ if isinstance(error, TooSlow):
            return "see whether the desk runs, and whether the web server passes requests on to it"
        case _:
            return "start the web server, and open its port in the firewall"


def _check_certificate(origin: str, found: Preview, findings: Findings) -> None:
    if URL(origin).scheme != "https":
        findings.approve("tls", "not used: this address is of this machine")
        return
    ends = ssl.cert_time_to_seconds(str(found.certificate["notAfter"]))
    days = int((ends - time.time()) // _DAY)
    told = f"the certificate is valid for {days} more days"
    if days < RENEWAL_DAYS:
        findings.warn("tls", told, "renew it now, and automatically from then on")
    else:
        findings.approve("tls", told)
    if "Strict-Transport-Security" not in found.headers:
        advice = f'set site.url = "{origin}"; then the desk sends Strict-Transport-Security'
        findings.warn("tls", "browsers are not told to use https only", advice)


def _check_clock(headers: Mapping[str, str], now: float, findings: Findings) -> None:
    try:
        skew = parsedate_to_datetime(headers.get("Date", "")).timestamp() - now
    except ValueError:
        findings.warn("clock", "the response has no valid Date", "let the web server send one")
        return
    if abs(skew) > SKEW_SECONDS:
        what = f"the server's clock differs by {skew:+.0f} seconds from this machine's"
        findings.fault("clock", what, "synchronise both by NTP: signatures and tokens need it")
    else:
        findings.approve("clock", f"differs by {abs(skew):.0f} seconds")
