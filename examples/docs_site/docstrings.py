"""Docstrings as Markdown: the roles of Sphinx become code, terms of lists become paragraphs.

A Struct gets the `__init__` that msgspec makes of its fields, so that its parameters have types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import griffe

_ROLE = re.compile(r":(?:class|meth|func|data|attr|mod|exc):`~?(?:[\w.]*\.)??([\w.]+?)`")
_STRUCT = "msgspec.Struct"
_TERM = re.compile(r"^(?=\S)([^\n:]{1,40})\n((?:    \S[^\n]*\n?)+)", re.MULTILINE)


class Docstrings(griffe.Extension):
    """Changes each docstring before it is read."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of an object that was loaded."""
        if obj.docstring:
            text = _ROLE.sub(r"`\1`", obj.docstring.value)
            obj.docstring.value = _TERM.sub(_paragraph, text)

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Add what msgspec makes; only now the bases of all classes are known."""
        for made in _list_structs(pkg):
            fields = {name: field for one in _lineage(made) for name, field in _list_fields(one)}
            parameters = griffe.Parameters(griffe.Parameter("self"), *fields.values())
            init = griffe.Function("__init__", parent=made, parameters=parameters, returns="None")
            made.set_member("__init__", init)


def _paragraph(found: re.Match[str]) -> str:
    text = "\n".join(line.strip() for line in found[2].splitlines())
    return f"\n**{found[1]}.** {text}\n"


def _list_structs(place: griffe.Object) -> Iterator[griffe.Class]:
    for member in place.members.values():
        if isinstance(member, griffe.Module):
            yield from _list_structs(member)
        elif isinstance(member, griffe.Class):
            bases = [base for one in _lineage(member) for base in one.bases]
            if any(getattr(base, "canonical_path", base) == _STRUCT for base in bases):
                yield member
            yield from _list_structs(member)


def _lineage(made: griffe.Class) -> list[griffe.Class]:
    """Return a class after those that it derives from, as far as they are of the package."""
    try:
        return [*reversed(made.mro()), made]
    except ValueError:
        return [made]


def _list_fields(made: griffe.Class) -> Iterator[tuple[str, griffe.Parameter]]:
    for name, member in made.members.items():
        if not isinstance(member, griffe.Attribute) or member.annotation is None:
            continue
        if "instance-attribute" in member.labels:  # no property, no variable of the class
            yield name, griffe.Parameter(name, annotation=member.annotation, default=member.value)
