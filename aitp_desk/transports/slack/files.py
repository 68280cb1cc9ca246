"""Files of Slack: read with the token, and sent to the address that Slack gives for them."""

from __future__ import annotations

from aitp_desk.capability import Request, Response, Send
from aitp_desk.transports.base import MOST_FILE_BYTES, Refused, ask_platform
from aitp_desk.transports.slack.failures import find_status_failure

_SECONDS = 30.0


async def download(send: Send, token: str, url: str, max_bytes: int) -> bytes:
    """Download a file with the token. The caller has checked that the address is Slack's.

    Raises:
        Failed: one of its kinds; Refused if it is longer.
    """
    most = min(max_bytes, MOST_FILE_BYTES)
    request = Request(
        url=url,
        headers={"Authorization": f"Bearer {token}"},
        max_bytes=most,
        seconds=_SECONDS,
    )
    response = await _ask(send, request, "the file")
    if response.url not in {url, ""} and _is_page(response):
        # without the scope Slack redirects to its sign-in page
        raise Refused("Slack gave no file: the app needs the scope files:read.")
    return response.body


async def upload(send: Send, url: str, data: bytes) -> None:
    """Send a file to the address that Slack has given for it.

    Raises:
        Failed: one of its kinds.
    """
    headers = {"Content-Type": "application/octet-stream"}
    request = Request(url=url, method="POST", body=data, headers=headers, seconds=_SECONDS)
    await _ask(send, request, "the upload")


async def _ask(send: Send, request: Request, what: str) -> Response:
    response = await ask_platform(send, request)
    if failed := find_status_failure(what, response.status, response.headers):
        raise failed
    return response


def _is_page(response: Response) -> bool:
    return response.headers.get("content-type", "").startswith("text/html")
