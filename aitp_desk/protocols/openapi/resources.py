"""Describes the operations that read a site's resources, from their declarations."""

from __future__ import annotations

from collections.abc import Mapping

from aitp_desk.model.calls.resource import ResourceType
from aitp_desk.protocols.base.protocol import JSON
from aitp_desk.protocols.openapi.parts import Item, make_content, make_plain_response, make_ref
from aitp_desk.protocols.openapi.payments import with_payment
from aitp_desk.protocols.openapi.schema_components import list_shapes, make_property


def describe_resource(type_: ResourceType, below: str, refused: Mapping[str, Item]) -> Item:
    """Return the operation that reads a resource of one type.

    Parameters:
        below: the base path of the desk's addresses; empty for the site's own.
        refused: the described refusals.
    """
    name = type_.name if not below else f"{below.strip('/')}.{type_.name}"
    operation: Item = {
        # an action that reads a paid resource has the other id
        "operationId": f"get_{name}" if type_.read_by else f"read_{name}",
        "tags": ["resources"],
        "summary": type_.summary,
        "parameters": [
            {
                "name": variable,
                "in": "path",
                "required": True,
                "schema": make_property(type_.input_schema, variable, _path(type_)),
            }
            for variable in type_.template.names
        ],
        "responses": {
            "200": {"description": "OK", "content": make_content(JSON, make_ref(_name(type_)))},
            "304": make_plain_response(304),
            **refused,
        },
    }
    if type_.description:
        operation["description"] = type_.description
    if type_.open_to != "anyone":
        operation["security"] = [{"bearer": []}]
    return with_payment(operation) if type_.read_by else operation


def resource_schemas(type_: ResourceType) -> dict[str, Item]:
    """Return the schemas of a type of resources by their names in the document."""
    shapes = list_shapes(type_.output_schema, _name(type_))
    if type_.template.names:
        shapes |= list_shapes(type_.input_schema, _path(type_))
    return shapes


def _name(type_: ResourceType) -> str:
    return f"{type_.name}.resource"


def _path(type_: ResourceType) -> str:
    return f"{type_.name}.path"
