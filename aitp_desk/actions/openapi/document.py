"""An OpenAPI file and its operations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import yaml

from aitp_desk.actions.schemas.normal_form import PlainSchemas, SchemaUnusable

MAX_BYTES = 8 * 1024 * 1024
"""Maximum size; no maintained file is larger."""
METHODS = ("get", "put", "post", "delete", "patch")
"""The methods whose operations can be offered."""

_VERSION = re.compile(r"3\.[01]\.\d+(?:-.+)?", re.ASCII)
_TRUTH = re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z")


class Operation(msgspec.Struct, frozen=True):
    """An operation of the file.

    Parameters:
        path: a template such as ``/items/{sku}``.
        body: its Operation Object.
        shared: the Path Item Object.
    """

    method: str
    path: str
    body: Mapping[str, Any]
    shared: Mapping[str, Any]

    @property
    def id(self) -> str:
        """Its operationId; empty for none."""
        return str(self.body.get("operationId") or "")


class _Loader(yaml.SafeLoader):
    """Loads YAML like JSON: dates are strings, and only true and false are booleans."""


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, _TRUTH if tag.endswith(":bool") else pattern)
        for tag, pattern in resolvers
        if not tag.endswith(":timestamp")
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


class Document:
    """A parsed OpenAPI file."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.content = content
        self._lookup = PlainSchemas(content)

    @classmethod
    def read(cls, path: Path) -> Document:
        """Read a file, YAML or JSON.

        Raises:
            SchemaUnusable: it cannot be read, or is not an OpenAPI file of a supported version.
        """
        try:
            with path.open("rb") as file:
                raw = file.read(MAX_BYTES + 1)
            if len(raw) > MAX_BYTES:
                raise SchemaUnusable(f"is longer than {MAX_BYTES // 1024 // 1024} MB")
            text = raw.decode("utf-8-sig")
            is_json = text.lstrip().startswith("{")
            content = json.loads(text) if is_json else yaml.load(text, _Loader)  # noqa: S506
        except OSError as error:
            raise SchemaUnusable(f"cannot be read: {error.strerror}") from None
        except UnicodeDecodeError as error:
            raise SchemaUnusable(f"is not UTF-8 (byte {error.start})") from None
        except yaml.MarkedYAMLError as error:
            line = f" in line {error.problem_mark.line + 1}" if error.problem_mark else ""
            raise SchemaUnusable(f"is not YAML: {error.problem}{line}") from None
        except (ValueError, yaml.YAMLError, RecursionError) as error:
            raise SchemaUnusable(f"is neither JSON nor YAML: {error}") from None
        version = content.get("openapi") if isinstance(content, dict) else None
        if not isinstance(version, str) or not _VERSION.fullmatch(version):
            raise SchemaUnusable(
                "is not an OpenAPI file of version 3.0 or 3.1, with a member such as openapi: 3.1.0"
            )
        return cls(content)

    def resolve(self, thing: Any) -> Mapping[str, Any]:
        """Return an object of the file, or the target of its reference.

        Raises:
            SchemaUnusable: the reference leads nowhere, or out of the file.
        """
        return self._lookup.resolve(thing)

    def operations(self) -> Iterator[Operation]:
        """Yield all operations with a supported method, in the order of the file.

        Raises:
            SchemaUnusable: its paths are malformed.
        """
        paths = self.content.get("paths", {})
        if not isinstance(paths, Mapping):
            raise SchemaUnusable("has paths that are not an object")
        for path, item in paths.items():
            shared = self.resolve(item)
            for method in METHODS:
                if isinstance(shared.get(method), Mapping):
                    yield Operation(method, str(path), shared[method], shared)

    def base_url(self, operation: Operation) -> str:
        """Return the server URL of an operation; empty if the file has none."""
        for holder in (operation.body, operation.shared, self.content):
            servers = holder.get("servers")
            if isinstance(servers, list) and servers and isinstance(servers[0], Mapping):
                return _url(servers[0])
        return ""


def _url(server: Mapping[str, Any]) -> str:
    """Return a server's URL with the default values of its variables."""
    url, variables = str(server.get("url", "")), server.get("variables")
    for name, variable in variables.items() if isinstance(variables, Mapping) else ():
        if isinstance(variable, Mapping):
            url = url.replace(f"{{{name}}}", str(variable.get("default", "")))
    return url
