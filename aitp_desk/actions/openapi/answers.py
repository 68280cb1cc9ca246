"""The successful responses of an operation: read from its file, and parsed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from aitp_desk.actions.openapi.arguments import is_json
from aitp_desk.actions.openapi.document import Document, Operation
from aitp_desk.actions.schemas.normal_form import PlainSchemas, Schema, SchemaUnusable
from aitp_desk.actions.schemas.validator import SchemaValidator

_NOTHING: Schema = {"type": "null"}


class AnswerReader:
    """Parses the successful responses of an operation, by status.

    Raises:
        SchemaUnusable: one of them is not JSON, or has no schema.
    """

    def __init__(self, document: Document, operation: Operation) -> None:
        schemas = PlainSchemas(document.content, leaves_out="writeOnly")
        declared = operation.body.get("responses", {})
        if not isinstance(declared, Mapping):
            raise SchemaUnusable("has responses that are not an object")
        answers = {str(status): each for status, each in declared.items()}
        by_status: dict[str, Schema | None] = {
            status: _schema(document.resolve(each), schemas)
            for status, each in answers.items()
            if status.startswith("2")
        }
        if not by_status and "default" in answers:
            by_status["2XX"] = _schema(document.resolve(answers["default"]), schemas)
        self._held = {
            status.upper(): None
            if schema is None
            else SchemaValidator(schemas.whole(schema), checks_formats=False)
            for status, schema in by_status.items()
        }
        several = [_NOTHING if each is None else each for each in by_status.values()] or [_NOTHING]
        distinct = [each for at, each in enumerate(several) if each not in several[:at]]
        self.schema = schemas.whole(distinct[0] if len(distinct) == 1 else {"anyOf": distinct})

    def read(self, status: int, media_type: str, body: bytes) -> Any:
        """Parse a response; return its declared members alone.

        Raises:
            TypeError, ValueError: it does not conform to the file.
        """
        held = self._held.get(str(status), self._held.get("2XX"))
        if held is None:
            return None
        if not is_json(media_type):
            raise TypeError("the response of the service is not JSON")
        return held.prune(msgspec.json.decode(body))


def _schema(declared: Mapping[str, Any], schemas: PlainSchemas) -> Schema | None:
    content = declared.get("content")
    if not isinstance(content, Mapping) or not content:
        return None
    inner = next((each for name, each in content.items() if is_json(str(name))), None)
    if not isinstance(inner, Mapping):
        raise SchemaUnusable(
            f"has responses of {', '.join(map(str, content))}, which is not supported; only JSON is"
        )
    if "schema" not in inner:
        raise SchemaUnusable("has a response without a schema; write one")
    return schemas.make(inner["schema"])
