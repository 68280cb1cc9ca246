"""Sends a response: short ones as a whole, others in pieces as fast as the client reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aitp_desk.http.connection.message_head import MessageHead
from aitp_desk.http.connection.response_head import WITHOUT_BODY, write_head
from aitp_desk.http.dispatcher import Response, report_fault
from aitp_desk.http.file_response import send_body, send_file, send_pieces
from aitp_desk.http.stream_response import stream_response
from aitp_desk.model.errors import Unavailable

if TYPE_CHECKING:
    from aitp_desk.http.connection.http_connection import HttpConnection


def write_response(head: MessageHead, outgoing: Response, *, closes: bool) -> bytes:
    """Serialize a whole response; of HEAD and of some statuses only the head."""
    reply, method = outgoing.reply, head.heading.method
    body, length = reply.body, len(reply.body)
    if method != "HEAD" and reply.status not in WITHOUT_BODY:
        return write_head(outgoing, head.version, closes=closes, length=length) + body
    is_known = body and method == "HEAD"
    return write_head(outgoing, head.version, closes=closes, length=length if is_known else None)


async def send_long_response(
    connection: HttpConnection, head: MessageHead, outgoing: Response, *, closes: bool
) -> bool:
    """Send a response in pieces.

    Returns:
        Whether a further response may follow.
    """
    try:
        return await _send(connection, head, outgoing, closes=closes)
    except ConnectionError:
        return False  # the client has disconnected
    except (EOFError, TimeoutError, Unavailable):
        connection.abort()  # the client sees that the body is shorter than its head declared
    except Exception:  # noqa: BLE001 -- the boundary, as in the dispatcher; the head was sent
        report_fault(head.heading.method, outgoing.protocol, outgoing.request_id)
        connection.abort()
    return False


async def _send(
    connection: HttpConnection, head: MessageHead, outgoing: Response, *, closes: bool
) -> bool:
    reply, backlog = outgoing.reply, connection.shared.limiter.backlog
    if reply.stream is not None:
        return await stream_response(connection, head, outgoing, reply.stream, closes=closes)
    if reply.file is not None:
        await send_file(connection, head, outgoing, reply.file, closes=closes)
    elif head.heading.method == "HEAD":
        connection.write(write_response(head, outgoing, closes=closes))
    elif reply.pieces is not None:
        return await send_pieces(connection, head, outgoing, reply.pieces, backlog, closes=closes)
    else:
        try:
            await backlog.reserve(connection.peer, len(reply.body))
        except Unavailable as error:
            refused = connection.shared.front.reject_overloaded(head.heading, error)
            connection.write(write_response(head, refused, closes=closes))
        else:
            await send_body(connection, head, outgoing, backlog, closes=closes)
    return True
