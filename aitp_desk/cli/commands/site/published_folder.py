"""Recognises folders of pages that a web server may publish."""

from __future__ import annotations

import os
from pathlib import Path

from aitp_desk.config.settings import DATA_FOLDER

_HOMES = ("index.html", "index.htm", "index.php")
"""What a web server sends for a folder."""


def find_published(place: Path) -> Path | None:
    """Return the outermost folder of pages that holds a place; None if there is none.

    A home page shows such a folder: generators write one, and so does a hand-made site.
    """
    place = place.resolve()
    holding = (one for one in (place, *place.parents) if one.name)
    return next(
        (one for one in reversed([*holding]) if any((one / home).is_file() for home in _HOMES)),
        None,
    )


def choose_data(folder: Path) -> str:
    """Return the data folder of a new site, relative to it: next to published pages.

    A data folder that exists already is kept: a desk without its database forgets everything.
    """
    site = folder.resolve()
    published = find_published(site)
    if published is None or (site / DATA_FOLDER).exists():
        return DATA_FOLDER
    name = "-".join((published.name, *site.relative_to(published).parts))
    return os.path.relpath(published.with_name(f"{name}{DATA_FOLDER}"), site)
