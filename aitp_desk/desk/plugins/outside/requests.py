"""Sends HTTP requests for plugins, under the rules of all outgoing requests."""

from __future__ import annotations

from collections.abc import Mapping

from aitp_desk.capability import Request, Response, Send, Unanswered
from aitp_desk.capability.http import MOST_BYTES, MOST_SECONDS
from aitp_desk.egress import AddressRefused, Egress, EgressError, Fetched, TooLarge


def make_sender(egress: Egress, most_bytes: int = MOST_BYTES) -> Send:
    """Return a function that sends HTTP requests for plugins.

    Parameters:
        egress: the one client for addresses that others choose.
        most_bytes: maximum size of a response.
    """

    async def send(request: Request) -> Response:
        try:
            found = await _ask(egress, request, most_bytes)
        except AddressRefused as error:
            raise Unanswered(str(error), is_refused=True) from None
        except TooLarge as error:
            raise Unanswered(str(error), is_too_long=True) from None
        except EgressError as error:
            raise Unanswered(str(error)) from None
        return Response(
            status=found.status, headers=_small(found.headers), body=found.body, url=found.url
        )

    return send


async def _ask(egress: Egress, request: Request, most_bytes: int) -> Fetched:
    max_bytes = min(request.max_bytes, most_bytes)
    seconds = min(request.seconds, MOST_SECONDS)
    if request.method == "GET":
        return await egress.fetch(
            request.url,
            max_bytes=max_bytes,
            seconds=seconds,
            headers=request.headers,
            wants_reasons=request.wants_reasons,
        )
    return await egress.send(
        request.url,
        request.body,
        method=request.method,
        max_bytes=max_bytes,
        seconds=seconds,
        headers=request.headers,
        wants_reasons=request.wants_reasons,
    )


def _small(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
