"""Requests for data as stored."""

from __future__ import annotations

from aitp_data.messages import Data, FormField, RequestData
from aitp_desk.capability import Asked, Book, one_line


class AskedForm(Asked[RequestData, Data], frozen=True, omit_defaults=True):
    """A stored request for data. Its answer has references in place of sealed values.

    Parameters:
        fields: the request's own fields, or the fetched ones; empty before that.
        waits: whether text may be its answer.
        remembers: whether the answering caller can have the values stored for the next form.
    """

    fields: tuple[FormField, ...] = ()
    waits: bool = False
    remembers: bool = False


BOOK = Book(AskedForm, request="request_data", answer="data", named="request_data_id")
"""All requests for data."""


def called(request: RequestData) -> str:
    """Return a request's title in quotes, for sentences about it."""
    title = one_line(request.title) or one_line(request.description)
    return f"“{title}”" if title else "this request"
