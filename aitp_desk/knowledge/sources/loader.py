"""Reads all files of the site, and builds their documents.

A file that cannot be read, or only partly, is a :class:`Problem` with a fix; it never stops the
others from being read.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from aitp_desk.knowledge.documents.base import Document, Problem
from aitp_desk.knowledge.documents.languages import (
    Languages,
    Version,
    choose_versions,
    find_versions,
)
from aitp_desk.knowledge.documents.titles import drop_additions, find_title_additions
from aitp_desk.knowledge.media.declarations import DeclarationReader
from aitp_desk.knowledge.sources.admission import (
    MAX_FILE_BYTES,
    PICTURED,
    ContentFile,
    find_content,
    find_published_address,
    refuse_size,
)
from aitp_desk.knowledge.sources.pdf.texts import is_installed, make_digest, read_pdfs
from aitp_desk.knowledge.sources.readers import clean_document, read_document, read_pdf
from aitp_desk.knowledge.sources.reserved_paths import find_hidden_pages

Read = Callable[[ContentFile, bytes, list[Problem]], Document | None]

_EMBEDDED = re.compile(rb"[A-Za-z0-9+/]{2048,}={0,2}")
"""A picture or font as base64: no text has so many letters without a break."""


class Content(msgspec.Struct, frozen=True):
    """The content of a folder.

    Parameters:
        documents: by path.
        problems: by source.
        digest: hash of every file's name and bytes: equal digests mean equal content.
        notes: the pages with pictures that cannot be shown.
    """

    documents: tuple[Document, ...]
    problems: tuple[Problem, ...]
    digest: bytes
    notes: tuple[Problem, ...] = ()


class RawContent(msgspec.Struct, frozen=True):
    """The unparsed bytes of the content files.

    Parameters:
        below: the path prefix of the pages; empty for the top.
        versions: the files in another language, by source.
        ranks: which language of a page is taken if it has several: the lowest first.
    """

    files: tuple[tuple[ContentFile, bytes], ...]
    problems: tuple[Problem, ...]
    digest: bytes
    below: str = ""
    versions: Mapping[str, Version] = {}
    ranks: Mapping[str, int] = {}


def load_content(
    folder: Path, *, data: Path | None = None, below: str = "", published_at: str = ""
) -> Content:
    """Read a whole content folder, and find problems with it.

    Parameters:
        folder: the site's content.
        data: the desk's data folder; never content, in any location.
        below: the path prefix of the pages; empty for the top.
        published_at: where a website shows the pages; empty if the desk shows them.

    Raises:
        ContentUnreadable: the folder itself cannot be used.
    """
    raw = read_files(folder, data=data, below=below, published_at=published_at)
    content = parse_content(raw)
    declared = DeclarationReader(folder, data, below).read(content.documents)
    problems = (*content.problems, *declared.problems, *find_hidden_pages(content.documents, below))
    return msgspec.structs.replace(content, problems=problems, notes=declared.notes)


def read_files(
    folder: Path, *, data: Path | None = None, below: str = "", published_at: str = ""
) -> RawContent:
    """Read the bytes of all content, and hash them.

    Parameters:
        folder, data, below, published_at: as :func:`load_content`.

    Raises:
        ContentUnreadable: the folder itself cannot be used.
    """
    found, problems = find_content(folder, data=data)
    files: list[tuple[ContentFile, bytes]] = []
    for entry in found:
        try:
            payload = entry.file.read_bytes()
        except OSError as error:
            problems.append(Problem(entry.source, f"The file cannot be read ({error.strerror})."))
            continue
        if entry.kind in PICTURED and len(payload) > MAX_FILE_BYTES:
            payload = _EMBEDDED.sub(b"", payload)
            if len(payload) > MAX_FILE_BYTES:
                size = refuse_size(len(payload), MAX_FILE_BYTES)
                problems.append(Problem(entry.source, f"Without embedded pictures: {size}"))
                continue
        if published_at:
            source = find_published_address(entry, published_at)
            entry = msgspec.structs.replace(entry, source=source)  # noqa: PLW2901 -- as on its site
        files.append((entry, payload))
    digest = digest_of_files(files, problems, below.encode())
    return RawContent(tuple(files), tuple(problems), digest, below)


def digest_of_files(
    files: Sequence[tuple[ContentFile, bytes]], problems: Sequence[Problem], told: bytes
) -> bytes:
    """Hash every file's name and bytes, their problems, and the options for reading them.

    Parameters:
        told: further options for reading them.
    """
    digest = hashlib.sha256(told)
    for found, payload in files:
        digest.update(found.source.encode() + b"\0" + hashlib.sha256(payload).digest())
    for problem in problems:
        digest.update(str(problem).encode() + b"\0")
    digest.update(b"" if is_installed() else b"without PDF")
    return digest.digest()


def join_parts(parts: Sequence[RawContent]) -> RawContent:
    """Return the files of several parts, each once; problems stay with the parts."""
    files = {found.source: (found, payload) for part in parts for found, payload in part.files}
    return msgspec.structs.replace(
        parts[0], files=tuple(files.values()), problems=(), digest=b"", ranks={}
    )


def join_raw(first: RawContent, second: RawContent) -> RawContent:
    """Join the content of two places."""
    return RawContent(
        first.files + second.files,
        first.problems + second.problems,
        hashlib.sha256(first.digest + second.digest).digest(),
        first.below,
    )


def find_language_versions(raw: RawContent, languages: Languages) -> RawContent:
    """Return the files with their language versions."""
    versions = find_versions((found.source for found, _ in raw.files), languages)
    return msgspec.structs.replace(raw, versions=versions)


def parse_content(
    raw: RawContent, *, keep_pdfs_in: Path | None = None, read: Read = read_document
) -> Content:
    """Turn files into documents. Of two with one path the first by name is kept.

    Parameters:
        keep_pdfs_in: a folder for the texts of PDF files, so that each is extracted once.
        read: reads a file that is no PDF, as :func:`read_document`.
    """
    problems = list(raw.problems)
    pdfs = read_pdfs((payload for found, payload in raw.files if found.kind == "pdf"), keep_pdfs_in)
    documents: dict[str, Document] = {}
    for found, payload in raw.files:
        if found.kind == "pdf":
            document = read_pdf(found, pdfs[make_digest(payload)], problems)
        else:
            document = read(found, payload, problems)
        if document is None:
            continue
        document = clean_document(document)
        version = raw.versions.get(found.source)
        if version is not None:
            document = msgspec.structs.replace(
                document, language=version.language, version_of=version.page
            )
        if raw.below and not document.is_elsewhere:
            document = _move(document, raw.below)
        other = documents.get(document.path)
        if other is not None:
            problems.append(
                Problem(
                    found.source,
                    f"{other.source} has the same address, /{document.path}; rename one of them.",
                )
            )
            continue
        documents[document.path] = document
    _shorten_titles(documents)
    return Content(
        documents=tuple(documents[path] for path in sorted(documents)),
        problems=_in_order(problems),
        digest=raw.digest,
    )


def filter_content(content: Content, raw: RawContent) -> Content:
    """Return the content of some of its files: one language's.

    Parameters:
        content: made from these files and others.
    """
    sources = {found.source for found, _ in raw.files}
    documents = [document for document in content.documents if document.source in sources]
    problems = [problem for problem in content.problems if problem.source in sources]
    return Content(
        documents=tuple(choose_versions(documents, raw.ranks)),
        problems=_in_order([*raw.problems, *problems]),
        digest=raw.digest,
    )


def _in_order(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(problems, key=lambda problem: (problem.source, problem.line or 0)))


def _shorten_titles(documents: dict[str, Document]) -> None:
    """Remove what HTML titles have in common, by site and language."""
    sites: dict[tuple[str, str], list[Document]] = {}
    for document in documents.values():
        if document.kind == "html":
            site = urlsplit(document.path).netloc if document.is_elsewhere else ""
            sites.setdefault((site, document.language), []).append(document)
    for pages in sites.values():
        additions = find_title_additions(page.title for page in pages)
        for page in pages:
            title = drop_additions(page.title, additions)
            documents[page.path] = msgspec.structs.replace(page, title=title)


def _move(document: Document, below: str) -> Document:
    def moved(path: str) -> str:
        return below if path == "index" else f"{below}/{path}"

    version_of = moved(document.version_of) if document.version_of else ""
    return msgspec.structs.replace(document, path=moved(document.path), version_of=version_of)
