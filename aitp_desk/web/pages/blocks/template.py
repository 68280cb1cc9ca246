"""HTML templates in which no value can break out of its place.

A template is an HTML file with ``$name`` for a value, inside an element's text or inside a
double-quoted attribute, nowhere else. A plain string is escaped; :class:`Markup` is HTML already
and is inserted unchanged. Nothing turns a string into Markup by accident: it comes from
:func:`fill_template` and :func:`join_markup`, and from the one place that cleans the site's own
content.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from string import Template


class Markup(str):
    """HTML that is inserted into a page unchanged."""

    __slots__ = ()


def fill_template(template: str, /, **values: str) -> Markup:
    """Insert values into a template.

    Parameters:
        template: HTML with ``$name`` for each value.
        values: one for each name of the template, and no more.

    Raises:
        KeyError: the template names a value that is not given.
        ValueError: a value is given that the template does not name.
    """
    form = Template(template)
    if surplus := values.keys() - set(form.get_identifiers()):
        raise ValueError(f"The template has no place for {', '.join(sorted(surplus))}.")
    return Markup(form.substitute({name: _safe(value) for name, value in values.items()}))


def join_markup(parts: Iterable[Markup], separator: str = "\n") -> Markup:
    """Join pieces of HTML; the separator is escaped like any string."""
    return Markup(_safe(separator).join(parts))


def _safe(value: str) -> str:
    return value if isinstance(value, Markup) else escape(value, quote=True)
