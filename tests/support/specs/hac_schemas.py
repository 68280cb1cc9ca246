"""The published JSON Schemas of HAC 1.0, as the tests hold what is served to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

_BASE = "https://hac.example/schema"


class HacSchemas:
    """The three schemas.

    Parameters:
        shared: the folder of outside reference data.
    """

    def __init__(self, shared: Path) -> None:
        registry: Registry[Any] = Registry()
        for file in sorted((shared / "schemas" / "hac").glob("*.json")):
            registry = Resource.from_contents(json.loads(file.read_text("utf-8"))) @ registry
        self._of = {
            name: Draft202012Validator(
                {"$ref": f"{_BASE}/hac-{name}.schema.json"}, registry=registry
            )
            for name in ("envelope", "error", "discovery")
        }

    def takes(self, document: Any) -> bool:
        """Whether a document fits the schema that its members select."""
        return bool(self._chosen(document).is_valid(document))

    def check(self, document: Any) -> None:
        """Raise `jsonschema.ValidationError` where a document breaks the schema of its kind."""
        self._chosen(document).validate(document)

    def _chosen(self, document: Any) -> Draft202012Validator:
        if "error" in document:
            return self._of["error"]
        return self._of["envelope" if "data" in document else "discovery"]
