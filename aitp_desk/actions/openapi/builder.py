"""Builds an offered action from an operation of an OpenAPI file."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from aitp_desk.actions.base import ActionResult, Context, OfferedAction
from aitp_desk.actions.openapi.answers import AnswerReader
from aitp_desk.actions.openapi.arguments import ArgumentMapping, Request, read_body
from aitp_desk.actions.openapi.document import Document, Operation
from aitp_desk.actions.openapi.parameters import read_parameters
from aitp_desk.actions.openapi.service import Service
from aitp_desk.actions.schemas.normal_form import PlainSchemas, SchemaUnusable
from aitp_desk.actions.schemas.validator import SchemaValidator
from aitp_desk.actions.terms import DescribedAction, make_action
from aitp_desk.config import ActionTerms
from aitp_desk.model.calls.action import Mutability
from aitp_desk.model.web_address import web_address

MUTABILITY: Mapping[str, Mutability] = {
    "get": "read_only",
    "put": "reversible",
    "patch": "reversible",
    "post": "irreversible",
    "delete": "irreversible",
}
"""The mutability of a method (HAC 1.0, section 12.2). The section does not classify POST: the
worst case is assumed."""


def build_action(
    document: Document,
    operation: Operation,
    terms: ActionTerms,
    service: Service,
    *,
    prefix: str,
    base_url: str,
    kept_back: Collection[str],
) -> OfferedAction:
    """Build an action from an operation.

    Parameters:
        terms: the owner's settings for it.
        base_url: the service's base URL; empty for that of the file.
        kept_back: lowercase names of headers that callers cannot set.

    Raises:
        SchemaUnusable: it cannot be offered.
    """
    url = base_url or document.base_url(operation)
    address = web_address(url)
    if address is None or address.query or address.fragment or address.username is not None:
        raise SchemaUnusable(
            "has no usable server; write base_url, an http(s) address without a query"
        )
    schemas = PlainSchemas(document.content, leaves_out="readOnly")
    parameters = read_parameters(document, operation, schemas, kept_back)
    told = operation.body.get("requestBody")
    body = read_body(None if told is None else document.resolve(told), schemas)
    arguments = ArgumentMapping(operation.path, parameters, body, schemas)
    takes = SchemaValidator(arguments.schema, checks_formats=True)
    answers = AnswerReader(document, operation)
    action = make_action(
        DescribedAction(
            id=operation.id,
            summary=str(operation.body.get("summary") or ""),
            description=str(operation.body.get("description") or ""),
            mutability=MUTABILITY[operation.method],
            may_be_query=operation.method in {"get", "post"},
            input_schema=arguments.schema,
            output_schema=answers.schema,
        ),
        terms,
        prefix=prefix,
    )
    method = operation.method.upper()

    def read(given: Mapping[str, Any]) -> Request:
        plain = dict(given)
        arguments.check_flat(plain)
        takes.check(plain)
        return arguments.make_request(plain)

    async def perform(request: Request, context: Context) -> ActionResult:
        told = await service.send(method, url, request, context.call_id)
        return ActionResult(answers.read(told.status, told.media_type, told.body))

    return OfferedAction(action, read=read, perform=perform)
