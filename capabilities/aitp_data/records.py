"""Requests for data as they are kept."""

from __future__ import annotations

from aitp_data.messages import Data, FormField, RequestData
from aitp_desk.capability import Asked, Book, one_line


class AskedForm(Asked[RequestData, Data], frozen=True, omit_defaults=True):
    """A request for data as it is kept, its answer with references in place of what is sealed.

    Parameters:
        fields: what is to be filled in: the request's own, or what was fetched; none before that.
        waits: whether words may be its answer.
        remembers: whether who answers can have the values kept for the next form.
    """

    fields: tuple[FormField, ...] = ()
    waits: bool = False
    remembers: bool = False


BOOK = Book(AskedForm, request="request_data", answer="data", named="request_data_id")
"""All requests for data."""


def called(request: RequestData) -> str:
    """A request in few words, for sentences about it."""
    title = one_line(request.title) or one_line(request.description)
    return f"“{title}”" if title else "this request"
