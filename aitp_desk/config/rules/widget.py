"""Rules for the settings of the chat component: logo, texts, and questions for pages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final, get_args

from aitp_desk.config.problem import Problem
from aitp_desk.config.sections.widget import Widget, WidgetLanguage
from aitp_desk.config.settings import Config
from aitp_desk.model.web_address import origin_of, web_address

LOGO_TYPES: Final = {
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
}
MAX_LOGO_BYTES: Final = 200_000


def check_widget(config: Config) -> Iterator[Problem]:
    """Yield the faults of logo, texts and paths."""
    if wrong := _find_logo_fault(config):
        yield Problem("widget.logo", wrong)
    yield from _check_texts(config.widget)
    yield from _check_paths(config.widget)


def _find_logo_fault(config: Config) -> str | None:
    logo = config.widget.logo
    if not logo:
        return None
    if address := web_address(logo):
        allowed = (*config.widget.origins, config.site.url)
        if origin_of(address) in allowed:
            return None
        return "is on a site that is neither the desk nor one of widget.origins; add it there."
    if ":" in logo or logo.startswith("/") or not logo.isprintable():
        return "is neither an http(s) URL nor the path of a file in the site's folder."
    file = (config.folder / logo).resolve()
    if file.suffix.lower() not in LOGO_TYPES:
        return "is no picture that the chat shows; it takes a PNG, JPEG, WebP, GIF or SVG file."
    is_published = file.is_relative_to(config.folder) and not file.is_relative_to(config.data)
    # unlike Path.is_file it takes a name that no file can have for none
    if not is_published or not os.path.isfile(file):  # noqa: PTH113
        return f"there is no file {logo!r} in the site's folder."
    if file.stat().st_size > MAX_LOGO_BYTES:
        return f"has more than {MAX_LOGO_BYTES // 1000} kB; save it smaller."
    return None


def _check_texts(widget: Widget) -> Iterator[Problem]:
    spoken = widget.languages or get_args(WidgetLanguage)
    earlier: set[str] = set()
    for table in widget.texts:
        if table.language not in spoken:
            yield Problem(
                "widget.texts.language",
                f"{table.language!r} is none of the chat's languages: {', '.join(spoken)}.",
            )
        elif table.language in earlier:
            yield Problem("widget.texts.language", f"{table.language!r} has two tables. Join them.")
        earlier.add(table.language)


def _check_paths(widget: Widget) -> Iterator[Problem]:
    for number, table in enumerate(widget.paths, 1):
        earlier = [other.path for other in widget.paths[: number - 1]]
        if not table.path or not table.suggestions:
            yield Problem(
                "widget.paths", f"table {number} needs a path and suggestions that can be used."
            )
        elif hiding := next((one for one in earlier if _covers(one, table.path)), None):
            yield Problem(
                "widget.paths.path",
                f"{table.path!r} is never used, because {hiding!r} comes first and fits the same"
                " pages. Move it up.",
            )


def _covers(one: str, other: str) -> bool:
    """Return whether every page of a path is one of another's."""
    return one == other or (one.endswith("*") and other.startswith(one[:-1]))
