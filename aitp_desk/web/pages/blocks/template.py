"""HTML from templates, where no value can break out of its place.

A template is an HTML file with ``$name`` where a value goes, inside an element's text or inside a
double-quoted attribute, nowhere else. A plain string is escaped on its way in; :class:`Markup` is
HTML already and goes in as it is. Nothing turns a string into Markup by accident: it comes from
:func:`fill_template` and :func:`join_markup`, and from the one place that cleans the site's own
content.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from string import Template


class Markup(str):
    """HTML that may stand in a page as it is."""

    __slots__ = ()


def fill_template(template: str, /, **values: str) -> Markup:
    """Put values into a template.

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
    """Put pieces of HTML one after the other; the separator is escaped as any string."""
    return Markup(_safe(separator).join(parts))


def _safe(value: str) -> str:
    return value if isinstance(value, Markup) else escape(value, quote=True)
