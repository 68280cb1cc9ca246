"""Decides which files of the site's folder are content, and which never are.

Content is text written for visitors. The list of possible content is short, and what lies next to
it in a working folder (settings, keys, programs, databases, the desk's data) is excluded even if it
is named like a page. Nothing else in the desk decides this.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

import msgspec

from aitp_desk.knowledge.documents.base import Problem, SourceKind
from aitp_desk.knowledge.sources.file_state import FileState, make_state, read_state
from aitp_desk.knowledge.sources.formats.openapi import is_openapi

KINDS: dict[str, SourceKind] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".mdx": "markdown",
    ".txt": "text",
    ".html": "html",
    ".htm": "html",
    ".pdf": "pdf",
    ".rst": "rst",
    ".rest": "rst",
    ".ipynb": "notebook",
    ".rss": "feed",
    ".atom": "feed",
    ".openapi.json": "openapi",
    ".openapi.yaml": "openapi",
    ".openapi.yml": "openapi",
}
"""The extensions of content, and their formats."""

_SETTINGS = "desk.toml"
_DATA = frozenset({".json", ".yaml", ".yml"})
"""The extensions of data: content only if it is an OpenAPI description, and not of a service that
``desk.toml`` names for its operations.
"""

MAX_FILE_BYTES = 4 * 1024 * 1024
"""A larger file is reported and excluded."""

MAX_PICTURED_BYTES = 32 * 1024 * 1024
"""The same for a PDF, and for a page before the pictures embedded in it are taken out."""

PICTURED: frozenset[SourceKind] = frozenset({"html", "markdown", "notebook"})
"""Formats whose pages may hold pictures and fonts as base64."""

MAX_DEPTH = 32
"""How deep content folders may nest."""

_NEVER_FILES = {
    "robots.txt",
    "llms.txt",
    "llms-full.txt",
    "agents.txt",
    "ads.txt",
    "enriched.jsonl",
}
_NEVER_FOLDERS = {"node_modules", "__pycache__", "site-packages", "_sources", "_static"}
_NEVER_ENDINGS = (
    "py|pyc|pem|key|p12|pfx|jks|kdbx|ppk|gpg|asc|env|sqlite|sqlite3|db|"
    "sqlite-wal|sqlite-shm|db-wal|db-shm|crt|cer|der|htpasswd|netrc|pgpass"
)
_NEVER = re.compile(
    rf"^\.|^desk\.toml|\.({_NEVER_ENDINGS})(\.|$)|^(id_(rsa|dsa|ecdsa|ed25519)|authorized_keys)",
    re.IGNORECASE,
)
_ERROR_PAGE = re.compile(
    r"(?:[a-z]{2}(?:[-_][a-z]{2,4})?/)?(?:4(?:0\d|1\d|2\d|51|xx)|5(?:0\d|0x|1[01]|xx)|not[-_]?found)"
    r"(?:/index)?(?:\.[a-z]{2}(?:-[a-z]{2,4})?)?\.\w+",
    re.IGNORECASE,
)
"""Error pages of web servers, at the top or in the folder of a language."""
_UNREAD = frozenset(
    ".adoc .asciidoc .docx .doc .odt .rtf .org .tex .textile .epub"
    " .qmd .rmd .wiki .mediawiki .creole .pod .typ .xhtml .mhtml .pages .pptx .xlsx".split()
)
"""The extensions of texts that the desk cannot read."""
_MARKS_OF_PAGES = frozenset({"searchindex.js", "objects.inv", "_static", "_sources"})
_INDEXES = re.compile(r"(?:search|genindex(?:-.+)?|(?:py-|rust-)?modindex)\.html")
_TOOLS = frozenset({"_build", "_templates", "_themes", "_ext"})
"""Folders next to the pages and sources of Sphinx that are no content."""
_MARKS_OF_A_DATA_FOLDER = ("master.key", "serving.lock")
"""The key file is missing if the key is in the environment."""


KEY_MATERIAL = ("-----BEGIN ", "PuTTY-User-Key-File-", "AGE-SECRET-KEY-")
"""The beginnings of files with keys in them."""
MAX_DECLARED_BYTES = 4 * 1024 * 1024 * 1024
"""A larger file must be served elsewhere."""


class ContentUnreadable(Exception):
    """The content folder cannot be used at all; the message says how to fix it."""


class FileRefused(Exception):
    """A declared file is not served; the message says why and how to fix it."""


class ContentFile(msgspec.Struct, frozen=True):
    """A file that is content.

    Parameters:
        source: relative to the content folder, joined by ``/``.
        file: its path with links resolved.
        state: reveals changes; None for copies of external pages.
    """

    source: str
    file: Path
    kind: SourceKind
    state: FileState | None = None


_ADDRESS_ENDINGS: dict[SourceKind, str] = {"markdown": "", "notebook": "", "rst": ".html"}
"""How generators end the address of a page; other files keep their ending."""
_HOMES = re.compile(r"(?:(?<=/)|^)(?:index|readme)(?:\.html?)?$", re.IGNORECASE)

NO_CONTENT = "has no content; add Markdown (.md), text (.txt), HTML (.html) or PDF (.pdf) files."


def is_never_content(name: str) -> bool:
    """Return whether a file or folder of this name is always excluded.

    These are names beginning with a dot or with ``desk.toml``, programs, keys, certificates and
    databases (also before a second extension, as in ``server.key.txt``), and the files for
    crawlers.
    """
    lower = name.lower()
    return lower in _NEVER_FILES or lower in _NEVER_FOLDERS or _NEVER.search(lower) is not None


def find_published_address(found: ContentFile, site: str) -> str:
    """Return the address of a file's page on the website of the folder.

    Parameters:
        site: the address of the folder itself.
    """
    ending = _ADDRESS_ENDINGS.get(found.kind)
    path = found.source if ending is None else found.source.rpartition(".")[0] + ending
    return f"{site.rstrip('/')}/{quote(_HOMES.sub('', path))}"


def find_content(
    folder: Path, *, data: Path | None = None
) -> tuple[list[ContentFile], list[Problem]]:
    """List a folder's content, sorted by source, and the problems with other files.

    Parameters:
        folder: the site's content.
        data: the desk's data folder, which is excluded in any location.

    Raises:
        ContentUnreadable: there is no such folder, it cannot be listed, or it is in ``data``.
    """
    try:
        root = _resolved(folder)
        private = _identities(data)
        inside = any(_identity(place) in private for place in (root, *root.parents))
    except OSError as error:
        raise ContentUnreadable(
            f"The content folder {folder} cannot be read ({error.strerror})."
            " Name an existing folder that the desk may list."
        ) from error
    if not root.is_dir():
        raise ContentUnreadable(f"{folder} is a file; the content folder must be a folder.")
    if inside:
        raise ContentUnreadable(
            f"The content folder {folder} is in the data folder {data}, which is"
            " never published. Move one of them."
        )
    walk = _Walk(root, private)
    found = sorted(walk.files(root, ""), key=lambda entry: entry.source)
    return found, walk.problems


def has_content(folder: Path) -> bool:
    """Return whether a folder has any content; it is listed up to the first page."""
    try:
        walk = _Walk(_resolved(folder), set())
        return next(walk.files(walk.root, ""), None) is not None
    except (OSError, ContentUnreadable):
        return False


def describe_unread(folder: Path, *, data: Path | None = None) -> str:
    """Describe the unread texts of a folder: ``12 files are not read: 9 .rst, 3 .mdx``.

    Parameters:
        folder, data: as :func:`find_content`.

    Returns:
        Empty if all are read, or if the folder cannot be.
    """
    try:
        walk = _Walk(_resolved(folder), _identities(data))
        for _ in walk.files(walk.root, ""):
            pass
    except (OSError, ContentUnreadable):
        return ""  # reported by what reads it
    count = walk.unread.total()
    if not count:
        return ""
    endings = ", ".join(f"{number} {ending}" for ending, number in walk.unread.most_common())
    return f"{count} {'file is' if count == 1 else 'files are'} not read: {endings}"


def admit_declared(
    folder: Path, source: str, *, data: Path | None = None
) -> tuple[Path, os.stat_result]:
    """Decide whether a file that a page declares may be served. The rules are those of all content.

    Parameters:
        folder: the site's content.
        source: the file, relative to the content folder, joined by ``/``.
        data: the desk's data folder, which is never served.

    Returns:
        The file's path, links resolved, and its state.

    Raises:
        FileRefused: it does not exist, or is never content.
    """
    names = source.split("/")
    if ".." in names or any(is_never_content(name) for name in names):
        raise FileRefused(f"{source} is outside the content folder or never published; move it.")
    try:
        root = _resolved(folder)
        target = _resolved(root / source)
        if not target.is_relative_to(root):
            raise FileRefused(f"{source} is a link that leaves the content folder; copy the file.")
        private = _identities(data)
        above = [place for place in target.parents if place.is_relative_to(root)]
        hidden = any(
            _identity(place) in private
            or any((place / mark).exists() for mark in _MARKS_OF_A_DATA_FOLDER)
            for place in above
        )
        if hidden or any(is_never_content(name) for name in target.relative_to(root).parts):
            raise FileRefused(f"{source} leads to a file that is never published; move it.")
        status = target.stat()
        if not stat.S_ISREG(status.st_mode):
            raise FileRefused(f"{source} is not a regular file.")
        if status.st_size > MAX_DECLARED_BYTES:
            most = MAX_DECLARED_BYTES
            raise FileRefused(
                f"{source} has {status.st_size} bytes; at most {most} are served."
                " Publish it elsewhere, and use its address."
            )
        with target.open("rb") as opened:
            beginning = opened.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not a file name"
        raise FileRefused(
            f"The file {source} cannot be read ({reason}); it must be next to the page or, with a /"
            " before its name, in the content folder."
        ) from error
    if beginning.startswith(tuple(mark.encode() for mark in KEY_MATERIAL)):
        raise FileRefused(f"{source} contains a key and is never published; move it away.")
    return target, status


class _Walk:
    """One pass over the folder; collects problems on its way."""

    def __init__(self, root: Path, private: set[tuple[int, int]]) -> None:
        self.root = root
        self.private = private
        self.problems: list[Problem] = []
        self.unread: Counter[str] = Counter()
        self._services = _services_beside(root)

    def files(self, folder: Path, prefix: str) -> Iterator[ContentFile]:
        if prefix.count("/") > MAX_DEPTH:
            self._refuse(prefix, f"Folders are read {MAX_DEPTH} levels deep; move it up.")
            return
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            if not prefix:
                raise ContentUnreadable(
                    f"The content folder {folder} cannot be listed ({error.strerror}); "
                    "let the desk's user read it."
                ) from error
            self._refuse(prefix, f"The folder cannot be listed ({error.strerror}).")
            return
        if prefix and any(entry.name in _MARKS_OF_A_DATA_FOLDER for entry in entries):
            return
        left_out = _made_by_sphinx({entry.name for entry in entries})
        for entry in entries:
            if not (is_never_content(entry.name) or left_out(entry.name)):
                yield from self._entry(entry, prefix + entry.name)

    def _entry(self, entry: os.DirEntry[str], source: str) -> Iterator[ContentFile]:
        kind = _kind_of(entry.name)
        try:
            source.encode()
            kind = kind or self._kind_of_data(Path(entry.path))
            if entry.is_symlink():
                found = self._linked(Path(entry.path), source, kind)
            elif entry.is_dir():
                if _identity(Path(entry.path)) not in self.private:
                    yield from self.files(Path(entry.path), source + "/")
                return
            else:
                found = self._plain(Path(entry.path), source, kind)
        except UnicodeEncodeError:
            if kind or entry.is_dir(follow_symlinks=False):
                name = os.fsencode(source).decode(errors="backslashreplace")
                self._refuse(name, "The name is not UTF-8; rename it.")
        except OSError as error:
            if kind and error.errno == errno.ELOOP:
                self._refuse(source, "The link is part of a circle; remove it.")
            elif kind:
                self._refuse(source, f"The file cannot be read ({error.strerror}).")
        else:
            if found:
                yield found

    def _linked(self, link: Path, source: str, kind: SourceKind | None) -> ContentFile | None:
        """Admit a link if it points to content of the same folder."""
        target = _resolved(link)
        if target.is_dir():
            self._refuse(source, "A link to a folder is not followed; copy the folder.")
            return None
        if kind is None:
            return None
        if not target.is_relative_to(self.root):
            self._refuse(source, "The link leaves the content folder; copy the file instead.")
            return None
        names = target.relative_to(self.root).parts
        hidden = any(_identity(place) in self.private for place in target.parents)
        if hidden or any(is_never_content(name) for name in names):
            self._refuse(source, "The link points to a file that is never published; remove it.")
            return None
        return self._plain(target, source, kind)

    def _plain(self, file: Path, source: str, kind: SourceKind | None) -> ContentFile | None:
        if kind is None:
            ending = file.suffix.lower()
            self.unread.update([ending] if ending in _UNREAD else ())
            return None
        if _ERROR_PAGE.fullmatch(source):
            return None
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):
            self._refuse(source, "It is not a regular file.")
            return None
        most = MAX_PICTURED_BYTES if kind == "pdf" or kind in PICTURED else MAX_FILE_BYTES
        if status.st_size > most:
            self._refuse(source, refuse_size(status.st_size, most))
            return None
        return ContentFile(source, file, kind, make_state(status))

    def _kind_of_data(self, file: Path) -> SourceKind | None:
        if file.suffix.lower() not in _DATA or self._services is None:
            return None
        status = file.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE_BYTES:
            return None
        if (status.st_dev, status.st_ino) in self._services:
            return None
        return "openapi" if _is_openapi(file, make_state(status)) else None

    def _refuse(self, source: str, message: str) -> None:
        self.problems.append(Problem(source, message))


def refuse_size(size: int, most: int) -> str:
    """Say that a file is larger than is read."""
    return f"It has {size} bytes; at most {most} are read. Split it."


def _made_by_sphinx(names: set[str]) -> Callable[[str], object]:
    """Return a test for the names of Sphinx's indexes or tools.

    In a folder that Sphinx did not make, no name passes.

    Parameters:
        names: of everything in it.
    """
    if not _MARKS_OF_PAGES.isdisjoint(names):
        return _INDEXES.fullmatch
    return _TOOLS.__contains__ if "conf.py" in names else lambda _: False


def _kind_of(name: str) -> SourceKind | None:
    endings = Path(name.lower()).suffixes[-2:]
    return KINDS.get("".join(endings)) or KINDS.get("".join(endings[-1:]))


def _services_beside(root: Path) -> Collection[tuple[int, int]] | None:
    """Return the descriptions that the site's desk.toml names: of services that may be private.

    Returns:
        None if the desk.toml cannot be read, and any description may be one.
    """
    for place in (root, *root.parents):
        if (state := read_state(place / _SETTINGS)) is not None:
            named = _named_in(place / _SETTINGS, state)
            return None if named is None else {_identity(file) for file in named if file.exists()}
    return set()


@lru_cache(maxsize=64)
def _named_in(settings: Path, state: FileState) -> list[Path] | None:  # noqa: ARG001 -- as below
    try:
        given = tomllib.loads(settings.read_text("utf-8"))
        return [settings.parent / str(one["file"]) for one in given.get("openapi", ())]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


@lru_cache(maxsize=4096)
def _is_openapi(file: Path, state: FileState) -> bool:  # noqa: ARG001 -- a changed file is read again
    return is_openapi(file.read_bytes())


def _resolved(place: Path) -> Path:
    """Resolve the links of a path; unlike with ``Path.resolve`` a cycle is an ``OSError``."""
    return Path(os.path.realpath(place, strict=True))


def _identity(place: Path) -> tuple[int, int]:
    status = place.stat()
    return status.st_dev, status.st_ino


def _identities(data: Path | None) -> set[tuple[int, int]]:
    """Return the data folder's inode: no spelling of a path, link or mount hides it."""
    if data is None or not data.exists():
        return set()
    return {_identity(data)}
