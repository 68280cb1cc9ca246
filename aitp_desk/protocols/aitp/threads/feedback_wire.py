"""Reads and writes feedback as JSON. Pure: no I/O, no clock."""

from __future__ import annotations

from aitp_desk.model.conversation.feedback import LONGEST_REASON, FeedbackDraft, Rating
from aitp_desk.model.errors import InvalidRequest, MissingField
from aitp_desk.protocols.aitp.shapes import decode_object
from aitp_desk.protocols.aitp.threads import objects
from aitp_desk.protocols.aitp.wire import encode
from aitp_desk.protocols.base.protocol import Reply


def decode_feedback(body: bytes) -> FeedbackDraft:
    """Decode the body: ``rating``, and ``reason`` if there is one.

    Raises:
        MissingField: there is no rating.
        InvalidRequest: a member has the wrong shape; ``param`` is its path.
    """
    given = decode_object(body)
    if "rating" not in given:
        raise MissingField(
            '`rating` is required: "up", "down", or null to take it back.', param="rating"
        )
    rating, reason = given["rating"], given.get("reason")
    if rating not in (None, "up", "down"):
        raise InvalidRequest("`rating` must be 'up', 'down' or null.", param="rating")
    if reason is not None and not (isinstance(reason, str) and len(reason) <= LONGEST_REASON):
        raise InvalidRequest(
            f"`reason` must be a string of at most {LONGEST_REASON} characters.", param="reason"
        )
    if rating is None:
        return FeedbackDraft(None)
    return FeedbackDraft(Rating(rating), (reason or "").strip())


def encode_feedback(message_id: str, thread_id: str, draft: FeedbackDraft) -> Reply:
    """Encode the feedback as stored."""
    body = objects.Feedback(message_id, thread_id, draft.rating, draft.reason or None)
    return Reply(200, encode(body))
