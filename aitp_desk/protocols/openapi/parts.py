"""Pieces of an OpenAPI document."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

Item = dict[str, Any]
"""A JSON object of the document."""


def schema_ref(name: str) -> str:
    """The address of a schema within the document."""
    return f"#/components/schemas/{name}"


def make_ref(name: str) -> Item:
    """A reference to a schema of the document."""
    return {"$ref": schema_ref(name)}


def make_content(media_type: str, schema: Item) -> Item:
    """A body of one media type."""
    return {media_type: {"schema": schema}}


def make_plain_response(status: int) -> Item:
    """A response of which no more is told than what its status means."""
    return {"description": HTTPStatus(status).phrase}
