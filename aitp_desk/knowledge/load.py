"""Reading the site's files: Markdown with front matter, text, the main content of HTML, PDF.

A file that cannot be read, or not wholly, is a :class:`Problem` with what would be right; it never
stops the others from being read.
"""

from __future__ import annotations

import datetime
import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

import msgspec
import yaml

from aitp_desk.knowledge.admit import KEY_MATERIAL, Found, find_content
from aitp_desk.knowledge.base import PAGE_BREAK, Document, Problem, address_of, is_elsewhere
from aitp_desk.knowledge.declare import Declaring
from aitp_desk.knowledge.depth import MAX_DEPTH, flatten
from aitp_desk.knowledge.html import read_html
from aitp_desk.knowledge.languages import Languages, Version, find_versions, prefer
from aitp_desk.knowledge.markdown import first_heading
from aitp_desk.knowledge.pdf.texts import PdfText, digest_of, is_installed, read_pdfs
from aitp_desk.knowledge.titles import site_endings, without_ending

MAX_FRONT_BYTES = 64 * 1024
"""A larger front matter is a mistake: a missing closing line."""
MAX_FRONT_DEPTH = 16

_HALF_A_CHARACTER = re.compile("[\ud800-\udfff]")
_FRONT_NAME = re.compile(r"[\w-]+:(\s|$)")


class Content(msgspec.Struct, frozen=True):
    """All that was read from a folder.

    Parameters:
        documents: by path.
        problems: by source.
        digest: hash of every file's name and bytes: equal digests mean equal content.
    """

    documents: tuple[Document, ...]
    problems: tuple[Problem, ...]
    digest: bytes


class Raw(msgspec.Struct, frozen=True):
    """The bytes of the content files, before anything of them is understood.

    Parameters:
        below: the path below which the pages stand; empty for the top.
        versions: the files that are in a language of their own, by source.
        ranks: where pages are there in several languages, which are taken: the lowest first.
    """

    files: tuple[tuple[Found, bytes], ...]
    problems: tuple[Problem, ...]
    digest: bytes
    below: str = ""
    versions: Mapping[str, Version] = {}
    ranks: Mapping[str, int] = {}


def load_content(folder: Path, *, data: Path | None = None) -> Content:
    """Read a whole content folder.

    Parameters:
        folder: the site's content.
        data: the desk's data folder; never content, wherever it lies.

    Raises:
        ContentUnreadable: the folder itself cannot be used.
    """
    content = understand(read_files(folder, data=data))
    declared = Declaring(folder, data).read(content.documents)
    return msgspec.structs.replace(content, problems=content.problems + declared.problems)


def read_files(folder: Path, *, data: Path | None = None, below: str = "") -> Raw:
    """Read the bytes of all content, and hash them.

    Parameters:
        folder, data: as :func:`load_content`.
        below: the path below which the pages stand; empty for the top.

    Raises:
        ContentUnreadable: the folder itself cannot be used.
    """
    found, problems = find_content(folder, data=data)
    files: list[tuple[Found, bytes]] = []
    for entry in found:
        try:
            payload = entry.file.read_bytes()
        except OSError as error:
            problems.append(Problem(entry.source, f"The file cannot be read ({error.strerror})."))
            continue
        files.append((entry, payload))
    digest = digest_of_files(files, problems, below.encode())
    return Raw(tuple(files), tuple(problems), digest, below)


def digest_of_files(
    files: Sequence[tuple[Found, bytes]], problems: Sequence[Problem], told: bytes
) -> bytes:
    """Hash of every file's name and bytes, of what is wrong with them, and of how they are read.

    Parameters:
        told: what else is said of how to read them.
    """
    digest = hashlib.sha256(told)
    for found, payload in files:
        digest.update(found.source.encode() + b"\0" + hashlib.sha256(payload).digest())
    for problem in problems:
        digest.update(str(problem).encode() + b"\0")
    digest.update(b"" if is_installed() else b"without PDF")
    return digest.digest()


def join_parts(parts: Sequence[Raw]) -> Raw:
    """The files that are in any of several parts, each once; what is wrong stays with the parts."""
    files = {found.source: (found, payload) for part in parts for found, payload in part.files}
    return msgspec.structs.replace(
        parts[0], files=tuple(files.values()), problems=(), digest=b"", ranks={}
    )


def join_raw(first: Raw, second: Raw) -> Raw:
    """What two places hold, as one."""
    return Raw(
        first.files + second.files,
        first.problems + second.problems,
        hashlib.sha256(first.digest + second.digest).digest(),
        first.below,
    )


def with_versions(raw: Raw, languages: Languages) -> Raw:
    """The same files, and which of them are in a language of their own."""
    versions = find_versions((found.source for found, _ in raw.files), languages)
    return msgspec.structs.replace(raw, versions=versions)


def understand(raw: Raw, *, keep_pdfs_in: Path | None = None) -> Content:
    """Turn files into documents. Of two with one path the first by name is kept.

    Parameters:
        keep_pdfs_in: a folder for the texts of PDF files, so that each is read once.
    """
    problems = list(raw.problems)
    pdfs = read_pdfs((payload for found, payload in raw.files if found.kind == "pdf"), keep_pdfs_in)
    documents: dict[str, Document] = {}
    for found, payload in raw.files:
        if found.kind == "pdf":
            document = _read_pdf(found, pdfs[digest_of(payload)], problems)
        else:
            document = _read(found, payload, problems)
        if document is None:
            continue
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


def share_of(content: Content, raw: Raw) -> Content:
    """What of the content some of its files hold: one language's.

    Parameters:
        content: made from these files and others.
    """
    sources = {found.source for found, _ in raw.files}
    documents = [document for document in content.documents if document.source in sources]
    problems = [problem for problem in content.problems if problem.source in sources]
    return Content(
        documents=tuple(prefer(documents, raw.ranks)),
        problems=_in_order([*raw.problems, *problems]),
        digest=raw.digest,
    )


def _in_order(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(problems, key=lambda problem: (problem.source, problem.line or 0)))


def _shorten_titles(documents: dict[str, Document]) -> None:
    """Take from the titles of HTML pages what all those of their site and language end with."""
    sites: dict[tuple[str, str], list[Document]] = {}
    for document in documents.values():
        if document.kind == "html":
            site = urlsplit(document.path).netloc if document.is_elsewhere else ""
            sites.setdefault((site, document.language), []).append(document)
    for pages in sites.values():
        endings = site_endings(page.title for page in pages)
        for page in pages:
            title = without_ending(page.title, endings)
            documents[page.path] = msgspec.structs.replace(page, title=title)


def _move(document: Document, below: str) -> Document:
    def moved(path: str) -> str:
        return below if path == "index" else f"{below}/{path}"

    version_of = moved(document.version_of) if document.version_of else ""
    return msgspec.structs.replace(document, path=moved(document.path), version_of=version_of)


def _read(found: Found, payload: bytes, problems: list[Problem]) -> Document | None:
    try:
        text = payload.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = payload.count(b"\n", 0, error.start) + 1
        problems.append(
            Problem(found.source, "The file is not UTF-8 here; save it as UTF-8.", line)
        )
        return None
    if "\0" in text:
        problems.append(Problem(found.source, "The file holds NUL characters: it is not text."))
        return None
    if text.lstrip().startswith(KEY_MATERIAL):
        problems.append(
            Problem(found.source, "The file holds a key and is never content; move it away.")
        )
        return None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    document: Document | None
    if found.kind == "html":
        document = _read_html(found, text, problems)
    elif found.kind == "markdown":
        document = _read_markdown(found, text, problems)
    else:
        document = Document(
            path=address_of(found.source),
            source=found.source,
            title=_title_of_name(found.source),
            description="",
            kind="text",
            body=text,
        )
    if document is not None and not document.body.strip():
        problems.append(Problem(found.source, "The file holds no text; write some or remove it."))
        return None
    return document


def _read_html(found: Found, text: str, problems: list[Problem]) -> Document:
    text, too_deep = flatten(text)
    if too_deep is not None:
        problems.append(
            Problem(
                found.source,
                f"From here on elements lie more than {MAX_DEPTH} deep in each other and are read"
                " as text; close what is left open.",
                too_deep,
            )
        )
    page = read_html(text, rendered_here=not is_elsewhere(found.source))
    return Document(
        path=address_of(found.source),
        source=found.source,
        title=page.title or _title_of_name(found.source),
        description=page.description,
        kind="html",
        body=page.body,
    )


def _read_markdown(found: Found, text: str, problems: list[Problem]) -> Document | None:
    front, body = _split_front(found.source, text, problems)
    if front.get("draft") is True:
        return None
    title = _line(front.get("title")) or first_heading(body) or _title_of_name(found.source)
    dates = (front.get(key) for key in ("updated", "last_updated", "modified", "date"))
    return Document(
        path=address_of(found.source),
        source=found.source,
        title=title,
        description=_line(front.get("description")),
        kind="markdown",
        body=body,
        front=front,
        updated=next((str(date) for date in dates if isinstance(date, str) and date), None),
    )


def _read_pdf(found: Found, text: PdfText, problems: list[Problem]) -> Document | None:
    if text.problem:
        problems.append(Problem(found.source, text.problem))
        return None
    if len(text.pages) < text.count:
        read, count = len(text.pages), text.count
        problems.append(
            Problem(found.source, f"Of its {count} pages the first {read} are read; split it.")
        )
    if not any(map(str.strip, text.pages)):
        problems.append(
            Problem(found.source, "The PDF holds no text, only pictures of it; recognise the text.")
        )
        return None
    return Document(
        path=address_of(found.source),
        source=found.source,
        title=_line(text.title) or _title_of_name(found.source),
        description="",
        kind="pdf",
        body=PAGE_BREAK.join(text.pages),
    )


def _split_front(source: str, text: str, problems: list[Problem]) -> tuple[dict[str, Any], str]:
    """Split off YAML front matter: from a first line ``---`` to the next ``---`` or ``...``.

    A page may also begin with a horizontal rule, which is ``---`` too.
    """
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return {}, text
    ends = (at for at, line in enumerate(lines) if at and line.rstrip() in {"---", "..."})
    end = next(ends, None)
    if end is None:
        if len(lines) > 1 and _FRONT_NAME.match(lines[1]):
            message = "The front matter never ends and is shown as text; close it with a line ---."
            problems.append(Problem(source, message, 1))
        return {}, text
    block, body = "\n".join(lines[1:end]), "\n".join(lines[end + 1 :])
    try:
        return _parse_front(block), body
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line_number = mark.line + 2 if mark else 1
        reason = error.problem or "it is not YAML"
        message = f"The front matter is not read: {reason}. Mend it; quote texts that hold a colon."
        problems.append(Problem(source, message, line_number))
    except (yaml.YAMLError, ValueError) as error:
        problems.append(Problem(source, f"The front matter is not read: {error}.", 1))
    return {}, body


def _parse_front(block: str) -> dict[str, Any]:
    if len(block.encode()) > MAX_FRONT_BYTES:
        raise ValueError(f"it is longer than {MAX_FRONT_BYTES} bytes")
    depth = 0
    for event in yaml.parse(block, Loader=yaml.SafeLoader):
        # a handful of aliases can stand for gigabytes
        if isinstance(event, yaml.AliasEvent):
            raise ValueError("aliases (*name) are not allowed")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_FRONT_DEPTH:
            raise ValueError(f"it nests deeper than {MAX_FRONT_DEPTH}")
    front = yaml.safe_load(block)
    if front is None:
        return {}
    if not isinstance(front, dict):
        raise ValueError("it must be a list of names and values, such as title: Returns")
    return {_plain(str(key)): _plain(value) for key, value in front.items()}


def _plain(value: Any) -> Any:
    """The value in JSON's types, dates as ISO 8601.

    Raises:
        ValueError: nothing can keep it: a number of too many digits, half a character.
    """
    if isinstance(value, dict):
        return {_plain(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_plain(item) for item in value]
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError("a number has too many digits; put it in quotes")
    if isinstance(value, str) and _HALF_A_CHARACTER.search(value):
        raise ValueError("a text holds half a character (\\ud800 to \\udfff)")
    return value


def _line(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _title_of_name(source: str) -> str:
    place = PurePosixPath(source)
    name = place.parent.name if place.stem.lower() == "index" and place.parent.name else place.stem
    words = name.replace("_", " ").replace("-", " ").split()
    title = " ".join(words) or name
    return title[:1].upper() + title[1:]
