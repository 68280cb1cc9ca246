"""The published JSON Schemas of AHP 0.1, as the tests hold what is said over the wire to them.

The response schema cannot be satisfied as a whole (a success with a session's id matches two
branches of its ``oneOf``), so a response is held to the definition that its status selects.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft7Validator
from referencing import Registry, Resource

_BASE = "https://agenthandshake.dev/schema/0.1"
_DEFINITIONS = {
    "success": "success_response",
    "clarification_needed": "clarification_response",
    "accepted": "accepted_response",
    "pending": "pending_response",
    "failed": "pending_response",
    "expired": "pending_response",
    "error": "error_response",
}


class AhpSchemas:
    """The three schemas.

    Parameters:
        shared: the folder of outside reference data.
    """

    def __init__(self, shared: Path) -> None:
        registry: Registry[Any] = Registry()
        for file in sorted((shared / "schemas" / "ahp").glob("*.json")):
            registry = Resource.from_contents(json.loads(file.read_text("utf-8"))) @ registry
        self._manifest = Draft7Validator({"$ref": f"{_BASE}/manifest.json"}, registry=registry)
        self._request = Draft7Validator({"$ref": f"{_BASE}/request.json"}, registry=registry)
        self._responses = {
            status: Draft7Validator(
                {"$ref": f"{_BASE}/response.json#/definitions/{name}"}, registry=registry
            )
            for status, name in _DEFINITIONS.items()
        }

    def check_manifest(self, manifest: Any) -> None:
        """Raise `jsonschema.ValidationError` where a manifest breaks the schema."""
        self._manifest.validate(manifest)

    def takes_manifest(self, manifest: Any) -> bool:
        """Whether a manifest fits the schema."""
        return bool(self._manifest.is_valid(manifest))

    def takes_request(self, body: Any) -> bool:
        """Whether a body of a question fits the schema."""
        return bool(self._request.is_valid(body))

    def check_request(self, body: Any) -> None:
        """Raise `jsonschema.ValidationError` where a question breaks the schema."""
        self._request.validate(body)

    def check_response(self, body: Any) -> None:
        """Raise `jsonschema.ValidationError` where a response breaks its definition."""
        self._responses[body["status"]].validate(body)
