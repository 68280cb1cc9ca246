"""Checks what a desk offers to strangers: metrics, uploads, registration, the console."""

from __future__ import annotations

from http import HTTPStatus

from aitp_desk.cli.commands.site.examination.documents import OAUTH_PLACE, SNIPPET
from aitp_desk.cli.commands.site.examination.findings import Findings
from aitp_desk.visitor import VisitError
from aitp_desk.visitor.discovery.members import decode_object, text_of
from aitp_desk.visitor.fetcher import Fetcher

METRICS_PATH = "/metrics"
FILES_PATH = "/v1/files"
CONSOLE_PATH = "/console"
_REFUSED = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND})


async def check_exposure(fetcher: Fetcher, findings: Findings) -> None:
    """Check that figures are closed, and name what is open to strangers.

    It sends no credential, and uploads nothing: the body is empty.
    """
    origin = fetcher.origin
    try:
        metrics = await fetcher.read(origin + METRICS_PATH)
        files = await fetcher.send(origin + FILES_PATH, b"", method="POST", attempts=1)
        issuer = await fetcher.read(origin + OAUTH_PLACE, accept="application/json")
        console = await fetcher.read(origin + CONSOLE_PATH)
    except VisitError as error:
        findings.fault("exposure", f"not tried: {error}", SNIPPET)
        return
    if metrics.status in _REFUSED:
        findings.approve("exposure", f"{METRICS_PATH} is refused without a key")
    elif metrics.status < HTTPStatus.BAD_REQUEST and b"aitp_desk_" in metrics.body:
        findings.fault(
            "exposure",
            f"everybody can read {METRICS_PATH}",
            "let the web server add no credential to requests",
        )
    if files.status == HTTPStatus.UNSUPPORTED_MEDIA_TYPE:
        findings.warn(
            "exposure",
            "everybody may upload files",
            "if nobody needs it: files.anonymous = false",
        )
    document = decode_object(issuer)
    if text_of(document, "registration_endpoint"):
        findings.warn(
            "exposure",
            "every program may register itself as a client",
            "if no agent needs it: oauth.registration.enabled = false",
        )
    shown = ["the console"] if console.status == HTTPStatus.OK else []
    shown += ["access tokens"] if text_of(document, "token_endpoint") else []
    if shown:
        findings.approve("exposure", f"on, for those with a key: {', '.join(shown)}")
