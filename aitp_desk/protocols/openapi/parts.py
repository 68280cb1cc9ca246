"""Builds parts of an OpenAPI document."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

Item = dict[str, Any]
"""A JSON object of the document."""


def schema_ref(name: str) -> str:
    """Return the address of a schema within the document."""
    return f"#/components/schemas/{name}"


def make_ref(name: str) -> Item:
    """Return a reference to a schema of the document."""
    return {"$ref": schema_ref(name)}


def make_content(media_type: str, schema: Item) -> Item:
    """Return a body of one media type."""
    return {media_type: {"schema": schema}}


def make_plain_response(status: int) -> Item:
    """Return a response that is described only by its status."""
    return {"description": HTTPStatus(status).phrase}
