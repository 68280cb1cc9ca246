"""The errors of input that never becomes a request."""

from __future__ import annotations

from aitp_desk.http.connection.message_head import MAX_HEAD, MAX_LINE
from aitp_desk.model.errors import DeskError, InvalidRequest, RequestTimeout, Unavailable
from aitp_desk.model.text import write_count

RETRY_SECONDS = 10
"""Seconds after which a client without a connection may try again."""


def too_many_connections() -> DeskError:
    """Return the error of a connection above the limit."""
    return Unavailable(
        f"Too many connections are open. Try again in {RETRY_SECONDS} seconds.",
        retry_after=RETRY_SECONDS,
    )


def slow_head(seconds: float) -> DeskError:
    """Return the error of a head that exceeded the time limit."""
    return RequestTimeout(f"The request's headers took more than {write_count(seconds, 'second')}.")


def malformed() -> DeskError:
    """Return the error of bytes that are no request."""
    return InvalidRequest(
        "This cannot be read as an HTTP/1.1 request: it is malformed, its method is"
        f" unknown, or its first line or a header is longer than {MAX_LINE} bytes, or its"
        f" head than {MAX_HEAD}."
    )


def unknown_coding() -> DeskError:
    """Return the error of a body in a coding that is not read."""
    return InvalidRequest(
        "The only supported Transfer-Encoding is 'chunked', without others.",
        param="Transfer-Encoding",
    )


def malformed_body() -> DeskError:
    """Return the error for a body with malformed chunks."""
    return InvalidRequest("The body's chunks cannot be read: they are malformed.")


def ended_early() -> DeskError:
    """Return the error of a body whose client is gone."""
    return InvalidRequest("The connection ended before the body was complete.")
