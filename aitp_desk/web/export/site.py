"""Writes the files of an exported site.

A page is ``policies/returns/index.html``, which every static server serves at ``/policies/returns``
(by a redirect to ``/policies/returns/``), and ``policies/returns.md``. The output depends on the
content and the settings only: two exports of the same have the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import msgspec

from aitp_desk.config import Config
from aitp_desk.knowledge.documents.base import Document, Problem
from aitp_desk.knowledge.documents.languages import Languages, drop_duplicates_by_language
from aitp_desk.knowledge.documents.titles import site_name
from aitp_desk.knowledge.media.declarations import DeclarationReader
from aitp_desk.knowledge.media.payloads import LocalFile
from aitp_desk.knowledge.sources.loader import (
    Content,
    find_language_versions,
    join_raw,
    parse_content,
    read_files,
)
from aitp_desk.knowledge.web.copies import PageCopies
from aitp_desk.protocols.ahp.content import FULL_CONTENT_PATH, write_llms_full_txt, write_llms_txt
from aitp_desk.protocols.ahp.manifest import CONTENT_PATH, encode_static_manifest
from aitp_desk.protocols.base.discovery_links import MANIFEST_PATH
from aitp_desk.web.discovery.crawlers import (
    ROBOTS_PATH,
    SITEMAP_PATH,
    write_robots,
    write_sitemap,
)
from aitp_desk.web.export.folder import ExportError, ExportFolder, replace_folder
from aitp_desk.web.export.hosts import write_headers, write_vercel
from aitp_desk.web.export.pages import render_index, render_missing, static_frame
from aitp_desk.web.export.proof import check_export
from aitp_desk.web.pages.assets import ICON, STYLE
from aitp_desk.web.pages.blocks.texts import find_texts
from aitp_desk.web.pages.full.markdown import write_markdown
from aitp_desk.web.pages.renderer import make_page_index, render_page

Progress = Callable[[Sequence[Document]], AbstractContextManager[Iterable[Document]]]

_CHUNK = 1024 * 1024
_LINK_ON_SITE = re.compile(r'href="(/(?!/)[^"#?]*)')


class ExportResult(msgspec.Struct, frozen=True):
    """The summary of an export.

    Parameters:
        pages: how many pages of the content there are, each as HTML and as Markdown.
        elsewhere: how many pages of other servers are linked to.
        files: how many files there are in all.
        size: of them all, in bytes.
        problems: what could not be read or written.
        dead_links: links of pages that lead to nothing on the exported site, each once.
    """

    pages: int
    elsewhere: int
    files: int
    size: int
    problems: tuple[Problem, ...]
    dead_links: tuple[Problem, ...]


def export_site(config: Config, out: Path, *, progress: Progress = nullcontext) -> ExportResult:
    """Write the site as static files; see :func:`aitp_desk.web.export.folder.replace_folder`.

    Parameters:
        config: as for serving it; without ``site.url`` addresses are paths, and there is no
            sitemap, which needs absolute ones.
        out: the target folder.
        progress: receives the pages and passes them on, as they are written.

    Raises:
        ExportError: nothing was written; the message says why.
        ContentUnreadable: the content folder cannot be used.
        OSError: the files cannot be written.
    """
    with replace_folder(out, apart_from=(config.content_folder, config.data)) as place:
        content = _read(config)
        own = [document for document in content.documents if not document.is_elsewhere]
        if not content.documents:
            raise ExportError(f"{config.content_folder} has no content to export.")
        declared = DeclarationReader(config.content_folder, config.data).read(own)
        site = _Site(config, content, place, declared.files)
        site.write_desk_files()
        with progress(own) as pages:
            written = [page for page in pages if site.write_page(page)]
        for file in declared.files.values():
            site.write_file(file)
        site.write_lists(written)
        elsewhere = {page.url for page in content.documents if page.is_elsewhere}
        check_export(place.folder, config.site.url, pages=site.html, elsewhere=elsewhere)
        return ExportResult(
            pages=len(written),
            elsewhere=len(content.documents) - len(own),
            files=len(place.digests),
            size=place.size,
            problems=(*content.problems, *declared.problems, *site.problems),
            dead_links=tuple(site.dead_links()),
        )


def _read(config: Config) -> Content:
    """Read the content; of pages from elsewhere, the desk's last copies."""
    web, published_at = config.content.web, config.content.published_at
    raw = read_files(config.content_folder, data=config.data, published_at=published_at)
    if web.lists:
        raw = join_raw(raw, PageCopies(config.data, {*web.urls, *web.sitemaps}).raw())
    languages = Languages(config.site.language, config.site.languages)
    return parse_content(find_language_versions(raw, languages))


class _Site:
    """An export in progress.

    Attributes:
        html: the HTML files that it has rendered.
        problems: what could not be written.
    """

    def __init__(
        self, config: Config, content: Content, place: ExportFolder, files: Collection[str]
    ) -> None:
        self._files = files
        self._site = config.site.named(site_name(content.documents))
        self._signals = config.content.signals
        self._documents = content.documents
        self._neighbours = make_page_index(self._site, content.documents)
        self._place = place
        self._claimed: set[str] = set()
        self._folders: set[str] = set()
        self._links: dict[str, str] = {}
        self.html: list[str] = []
        self.problems: list[Problem] = []

    def write_desk_files(self) -> None:
        """Write the desk's own files, whose paths no page may take."""
        self._write(MANIFEST_PATH[1:], encode_static_manifest(self._site, self._signals))
        for asset in (STYLE, ICON):
            self._write(asset.url[1:], asset.body)
        self._write_html("404.html", render_missing(self._site))
        self._write(ROBOTS_PATH[1:], write_robots(self._site, self._signals).encode())
        self._write("_headers", write_headers().encode())
        self._write("vercel.json", write_vercel().encode())
        self._write(".nojekyll", b"")
        for reserved in ("/index.html", CONTENT_PATH, FULL_CONTENT_PATH, SITEMAP_PATH):
            self._claim(reserved[1:])

    def write_page(self, document: Document) -> bool:
        """Write a page as HTML and Markdown; False where a path is taken."""
        name = unquote(document.path)
        taken = self._taken(f"{name}/index.html") or self._taken(f"{name}.md")
        if taken:
            message = f"/{document.path} cannot be written next to /{taken}; rename the file."
            self.problems.append(Problem(document.source, message))
            return False
        frame = static_frame(find_texts(self._site.language))
        html = render_page(
            self._site, document, self._neighbours, None, frame, pictures=self._files
        )
        markdown = write_markdown(self._site, document, self._neighbours.urls)
        self._write_html(f"{name}/index.html", html)
        self._write(f"{name}.md", markdown.encode())
        for address in _LINK_ON_SITE.findall(html.decode()):
            self._links.setdefault(unescape(address), document.source)
        return True

    def write_file(self, file: LocalFile) -> None:
        """Write a file that a page declares, unchanged, at its address."""
        path = unquote(file.url[1:])
        if taken := self._taken(path):
            message = f"{file.url} cannot be written next to /{taken}; rename the file."
            self.problems.append(Problem(path, message))
            return
        self._claim(path)
        with file.file.open("rb") as opened:
            self._place.write(path, iter(partial(opened.read, _CHUNK), b""))

    def write_lists(self, pages: Sequence[Document]) -> None:
        """Write the home page, the content documents and the sitemap."""
        place, site = self._place, self._site
        there = {page.path for page in pages}
        linked = tuple(page for page in self._documents if page.is_elsewhere or page.path in there)
        self._write_html("index.html", render_index(site, drop_duplicates_by_language(linked)))
        place.write(CONTENT_PATH[1:], [write_llms_txt(site, linked, asks=False).encode()])
        texts = (
            (place.folder / f"{unquote(page.path)}.md").read_text(encoding="utf-8")
            for page in pages
        )
        pieces = (piece.encode() for piece in write_llms_full_txt(site, texts))
        place.write(FULL_CONTENT_PATH[1:], pieces)
        if site.url:
            place.write(SITEMAP_PATH[1:], [write_sitemap(site, pages, suffix="/").encode()])

    def dead_links(self) -> Iterator[Problem]:
        """Yield the links that lead to nothing on the exported site, each once."""
        for address, source in sorted(self._links.items()):
            path = unquote(address).strip("/")
            if path not in self._claimed and f"{path}/index.html".lstrip("/") not in self._claimed:
                yield Problem(source, f"It links to {address}, which is not exported.")

    def _write_html(self, path: str, body: bytes) -> None:
        self._write(path, body)
        self.html.append(path)

    def _write(self, path: str, body: bytes) -> None:
        self._claim(path)
        self._place.write(path, [body])

    def _claim(self, path: str) -> None:
        self._claimed.add(path)
        self._folders.update(_above(path))

    def _taken(self, path: str) -> str | None:
        """Return the file or folder that is in the way of a path."""
        if path in self._claimed or path in self._folders:
            return path
        return next((above for above in _above(path) if above in self._claimed), None)


def _above(path: str) -> Iterator[str]:
    """Yield the folders that contain a file."""
    return (path[:at] for at, sign in enumerate(path) if sign == "/")
