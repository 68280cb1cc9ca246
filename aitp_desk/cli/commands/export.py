"""``aitp-desk export``: the site as files for a static host."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.arguments import data_folder, fail, mistakes_told, overrides, site_folder

if TYPE_CHECKING:
    from aitp_desk.knowledge.documents.base import Document

MOST_LINKS = 10
"""The most dead links that are listed."""


@click.command()
@site_folder
@click.argument("out", type=click.Path(path_type=Path))
@data_folder
@overrides
def export(folder: Path, out: Path, data: Path | None, overrides: tuple[str, ...]) -> None:
    """Write the site in FOLDER as static files to OUT (AHP's MODE1).

    OUT is replaced after all files are written. It must be absent, empty, or an unchanged export.
    """
    with mistakes_told():
        from aitp_desk.config import load_config

        # without a port the site has an address only if site.url is set
        config = load_config(folder, overrides, port=0, data=data)

        from aitp_desk.web.export.folder import ExportError
        from aitp_desk.web.export.site import export_site

        try:
            written = export_site(config, out, progress=_bar)
        except ExportError as error:
            fail([str(error)])
        except OSError as error:
            fail([f"{error.filename or out} cannot be written: {error.strerror}."])
    for problem in (*written.problems, *written.dead_links[:MOST_LINKS]):
        click.echo(problem, err=True)
    if (more := len(written.dead_links) - MOST_LINKS) > 0:
        click.echo(f"And {more:,} more links lead to pages that are not exported.", err=True)
    linked = f", {written.elsewhere} more linked" if written.elsewhere else ""
    pages = f"{written.pages:,} {'page' if written.pages == 1 else 'pages'}"
    click.echo(
        f"Wrote {pages} as HTML and Markdown{linked}: {written.files:,} files,"
        f" {written.size / 1e6:.1f} MB in {out}."
    )
    if not config.site.url:
        click.echo("site.url is not set: links are paths, and there is no sitemap.xml.")


def _bar(pages: Sequence[Document]) -> AbstractContextManager[Iterable[Document]]:
    """Return a progress bar on a terminal, and nothing elsewhere."""
    if not sys.stderr.isatty():
        return nullcontext(pages)
    return click.progressbar(pages, label="Pages", file=sys.stderr)
