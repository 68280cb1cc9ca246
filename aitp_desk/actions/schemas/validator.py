"""Validates values by a JSON Schema that arrived as data.

It is stricter than JSON Schema: undeclared members are refused in arguments and dropped from
results. Declared are ``properties``, and any member if ``additionalProperties`` is present.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aitp_desk.actions.schemas.description import describe_schema
from aitp_desk.actions.schemas.normal_form import SchemaUnusable
from aitp_desk.model.errors import InvalidRequest, MissingField

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, ValidationError

Schema = Mapping[str, Any]
Step = str | int

_MOST_SHOWN = 64
_MOST_MADE_OF = 50
_SAYS_NOTHING = frozenset(
    {"$defs", "$ref", "allOf", "anyOf", "oneOf", "if", "then", "else"}
    | {"title", "description", "default", "deprecated"}
)
_OTHERS = ("additionalProperties", "unevaluatedProperties")


class SchemaValidator:
    """A schema that validates values.

    Parameters:
        schema: a normalised one.
        checks_formats: whether a ``format`` such as ``date`` is enforced.

    Raises:
        SchemaUnusable: it is not a JSON Schema.
    """

    def __init__(self, schema: Schema, *, checks_formats: bool) -> None:
        self.schema = schema
        self._checks_formats = checks_formats
        self._branches: dict[int, Draft202012Validator] = {}
        self._names: dict[str, Draft202012Validator] = {}
        self._validator = self._compile(schema)

    def check(self, value: Any) -> None:
        """Validate arguments.

        Raises:
            InvalidRequest: the message names the rule, ``param`` is the path; MissingField for a
                missing member.
        """
        error = next(self._validator.iter_errors(value), None)
        if error is not None:
            raise self._explain(error)
        for refused in self._undeclared(value, [self.schema], ()):
            raise refused

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return arguments, validated.

        Raises:
            InvalidRequest: as :meth:`check` says.
        """
        plain = dict(given)
        self.check(plain)
        return plain

    def prune(self, value: Any) -> Any:
        """Return the declared part of a result.

        Raises:
            TypeError: the value breaks the schema.
        """
        declared = self._declared(value, [self.schema])
        error = next(self._validator.iter_errors(declared), None)
        if error is not None:
            raise TypeError(self._explain(error).message)
        return declared

    def _compile(self, schema: Any) -> Draft202012Validator:
        from jsonschema_rs import Draft202012Validator, ValidationError

        if isinstance(schema, Mapping) and "$defs" in getattr(self, "schema", {}):
            schema = {**schema, "$defs": self.schema["$defs"]}
        try:
            return Draft202012Validator(
                schema, retriever=_fetch_nothing, validate_formats=self._checks_formats
            )
        except (ValidationError, ValueError) as error:
            reason = str(error).partition("\n")[0]
            raise SchemaUnusable(f"has a schema that is not valid: {reason}") from None

    def _declared(self, value: Any, schemas: Sequence[Any]) -> Any:
        if not isinstance(value, (dict, list)):
            return value
        parts = self._parts(value, schemas)
        if parts is None:
            return value
        if isinstance(value, list):
            return [self._declared(each, _items(parts, at)) for at, each in enumerate(value)]
        found = ((name, each, self._member(parts, name)) for name, each in value.items())
        return {name: self._declared(each, inner) for name, each, inner in found if inner}

    def _undeclared(
        self, value: Any, schemas: Sequence[Any], path: tuple[Step, ...]
    ) -> Iterator[InvalidRequest]:
        parts = self._parts(value, schemas) if isinstance(value, (dict, list)) else None
        if parts is None:
            return
        if isinstance(value, list):
            for at, each in enumerate(value):
                yield from self._undeclared(each, _items(parts, at), (*path, at))
            return
        for name, each in value.items():
            inner = self._member(parts, name)
            if not inner:
                known = dict.fromkeys(key for part in parts for key in part.get("properties", ()))
                yield _unknown(path, name, known)
            yield from self._undeclared(each, inner, (*path, name))

    def _parts(self, value: Any, schemas: Iterable[Any]) -> list[Schema] | None:
        """Return the schemas that describe a value together; None if it may be anything."""
        parts = [part for schema in schemas for part in self._opened(schema, value)]
        return [part for part in parts if part.keys() - _SAYS_NOTHING] or None

    def _opened(self, schema: Any, value: Any, depth: int = 0) -> Iterator[Schema]:
        """Yield a schema and all that apply with it, to a bounded depth."""
        if not isinstance(schema, Mapping) or depth > _MOST_MADE_OF:
            return
        yield schema
        if "$ref" in schema:
            name = schema["$ref"].removeprefix("#/$defs/")
            yield from self._opened(self.schema["$defs"][name], value, depth + 1)
        for part in (*schema.get("allOf", ()), schema.get("then"), schema.get("else")):
            yield from self._opened(part, value, depth + 1)
        for word in ("anyOf", "oneOf"):
            branches = schema.get(word, ())
            fitting = [one for one in branches if self._fits(value, one)]
            for branch in fitting or branches:
                yield from self._opened(branch, value, depth + 1)

    def _fits(self, value: Any, branch: Any) -> bool:
        if id(branch) not in self._branches:
            self._branches[id(branch)] = self._compile(branch)
        return self._branches[id(branch)].is_valid(value)

    def _member(self, parts: Iterable[Schema], name: str) -> list[Any]:
        """Return the schemas of a member; none if it is not declared."""
        found: list[Any] = []
        for part in parts:
            if name in part.get("properties", {}):
                found.append(part["properties"][name])
                continue
            patterns = part.get("patternProperties", {})
            fitting = [
                inner for pattern, inner in patterns.items() if self._is_named(pattern, name)
            ]
            found += fitting or (
                part[word] for word in _OTHERS if part.get(word, False) is not False
            )
        return found

    def _is_named(self, pattern: str, name: str) -> bool:
        if pattern not in self._names:
            self._names[pattern] = self._compile({"pattern": pattern})
        return self._names[pattern].is_valid(name)

    def _explain(self, error: ValidationError) -> InvalidRequest:
        path, rule = tuple(error.instance_path), error.schema_path
        schema: Any = self.schema
        for step in rule[:-1]:
            schema = schema[step]
        kind = error.kind
        if kind.name == "required":
            member = str(getattr(kind, "property", ""))
            name = _name((*path, member))
            inner = schema.get("properties", {}).get(member)
            it_takes = (
                f"; it must be {describe_schema(inner, self.schema)}" if _is_plain(inner) else ""
            )
            return MissingField(f"The member '{name}' is required{it_takes}.", param=name)
        if kind.name in {"additionalProperties", "unevaluatedProperties"}:
            unexpected: Sequence[str] = getattr(kind, "unexpected", ())
            # only the former rule's object names all members
            known = schema.get("properties", {}) if kind.name == "additionalProperties" else {}
            return _unknown(path, unexpected[0], known)
        what = repr(_name(path)) if path else "The value"
        said = describe_schema(schema, self.schema) if _is_plain(schema) else "of another type"
        if said == "of another type":
            return InvalidRequest(
                f"{what} breaks the rule {str(rule[-1])!r} of its schema.",
                param=_name(path) or None,
            )
        return InvalidRequest(f"{what} must be {said}.", param=_name(path) or None)


def _items(parts: Iterable[Schema], at: int) -> list[Any]:
    """Return the schemas of an array's item; one that accepts nothing if there is none."""
    found = []
    for part in parts:
        first = part.get("prefixItems", ())
        if at < len(first):
            found.append(first[at])
        elif "items" in part:
            found.append(part["items"])
    return found or [{"type": []}]


def _is_plain(schema: Any) -> bool:
    return isinstance(schema, Mapping)


def _unknown(path: tuple[Step, ...], name: str, known: Collection[str] = ()) -> InvalidRequest:
    shown = name[:_MOST_SHOWN]
    where = f" of '{_name(path)}'" if path else ""
    there = f"; there {'are' if len(known) > 1 else 'is'} {', '.join(known)}" if known else ""
    return InvalidRequest(
        f"There is no member {shown!r}{where}{there}.", param=_name((*path, shown))
    )


def _name(path: Iterable[Step]) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


def _fetch_nothing(uri: str) -> Any:
    raise ValueError(f"{uri} is not in the same file")
