"""Reads the media that pages declare in their front matter.

That is ``video``, ``audio``, ``images``, ``downloads``, ``data``, and one payload of a
site-specific content type; and which of these types a page documents. An error is a
:class:`Problem` with the line of the file; the page is served all the same, and so are its other
declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import msgspec

from aitp_desk.knowledge.documents.base import Document, Problem
from aitp_desk.knowledge.media.downloads import read_download
from aitp_desk.knowledge.media.fields import FieldError, FieldLines, FieldReader, list_items
from aitp_desk.knowledge.media.fields import Path as Way
from aitp_desk.knowledge.media.payloads import (
    ContentTypeText,
    Data,
    Image,
    Images,
    LocalFile,
    Resource,
)
from aitp_desk.knowledge.media.places import MediaPlace, PlaceFinder, read_picture_size
from aitp_desk.knowledge.media.recordings import WHERE, Find, find_place, read_audio, read_video
from aitp_desk.knowledge.media.records import check_records, read_records
from aitp_desk.knowledge.sources.file_digests import FileDigests
from aitp_desk.knowledge.sources.file_state import FileState, read_state
from aitp_desk.model.calls.action import AUDIO, DATA, DOWNLOAD, EXTENSION_TYPE, IMAGE, VIDEO

_Read = Callable[[object, Way, Find, Document], Resource]
_DECLARED = ("video", "audio", "images", "downloads", "data")
_SAID = ("title", "description", "alt", "file", "filename")
_MOST_NAMED = 3
"""How many pictures of a page that cannot be shown are named."""
_DATA_MEMBERS = ("file", "schema", "title", "description")


class DeclaredMedia(msgspec.Struct, frozen=True):
    """The media of all pages.

    Parameters:
        files: the served ones, by their addresses.
        described: site-specific content types by name, if a page documents them.
        digest: equal digests mean equal media.
        notes: the pages with pictures that cannot be shown.
    """

    resources: tuple[Resource, ...] = ()
    files: dict[str, LocalFile] = {}
    described: dict[str, ContentTypeText] = {}
    problems: tuple[Problem, ...] = ()
    digest: str = ""
    notes: tuple[Problem, ...] = ()


NO_MEDIA = DeclaredMedia()
"""The media of content without declarations."""


class DeclarationReader:
    """Reads the declarations of pages, and detects when they change.

    Parameters:
        folder: the site's content.
        data: the desk's data folder, which is never served.
        below: the path prefix of the pages, for a further site agent.
        keep_in: where the digests of files are cached for the next start; None for nowhere.
    """

    def __init__(
        self,
        folder: Path,
        data: Path | None = None,
        below: str = "",
        *,
        keep_in: Path | None = None,
    ) -> None:
        self._folder = folder
        self._data = data
        self._below = below
        self._measures = FileDigests(keep_in)
        self._looked_at: dict[str, FileState | None] = {}

    def begin(self) -> None:
        """Reset: forget what was read before."""
        self._looked_at = {}

    def read(self, documents: Iterable[Document]) -> DeclaredMedia:
        """Read the declarations of pages; external pages have none here."""
        places = PlaceFinder(self._folder, self._data, self._below)
        page = _Page(self._folder, places, self._measures)
        shown: list[Document] = []
        for document in documents:
            if document.front and not document.is_elsewhere:
                page.read(document)
            if document.pictures and not document.is_elsewhere:
                shown.append(document)
        notes = tuple(note for document in shown for note in _find_pictures(document, places))
        self._looked_at |= places.looked_at
        self._measures.save()
        stamps = [(file.url, file.state) for file in places.files.values()]
        read = (page.resources, page.described, stamps)
        return DeclaredMedia(
            tuple(page.resources),
            places.files,
            page.described,
            tuple(page.problems),
            sha256(msgspec.json.encode(read)).hexdigest(),
            notes,
        )

    def is_stale(self) -> bool:
        """Return whether a declared file was added, removed or changed since it was read."""
        return any(
            read_state(self._folder / name) != seen for name, seen in self._looked_at.items()
        )


def _find_pictures(document: Document, places: PlaceFinder) -> Iterator[Problem]:
    """Register the pictures of a page to be served; problems with them are one note."""
    found = (places.find_picture(said, document.source) for said in document.pictures)
    wrong = [message for message in found if message is not None]
    if wrong:
        more = len(wrong) - _MOST_NAMED
        rest = f" {more} more pictures cannot be shown either." if more > 0 else ""
        yield Problem(document.source, " ".join(wrong[:_MOST_NAMED]) + rest)


def list_declared_words(document: Document) -> Iterator[str]:
    """Yield the words of a page's declarations, by which it can also be found."""
    for name in _DECLARED:
        for _, item in list_items(document.front.get(name), (name,)):
            said = item if isinstance(item, dict) else {"file": item}
            yield from (str(said[member]) for member in _SAID if member in said)


class _Page:
    """Reads page after page; collects their media and problems."""

    def __init__(self, folder: Path, places: PlaceFinder, measures: FileDigests) -> None:
        self.resources: list[Resource] = []
        self.described: dict[str, ContentTypeText] = {}
        self.problems: list[Problem] = []
        self._folder = folder
        self._places = places
        self._measures = measures

    def read(self, document: Document) -> None:
        """Read all declarations of one page."""
        wrong: list[FieldError] = []

        def find(said: str, way: Way) -> MediaPlace:
            return self._places.find(said, way, document.source)

        self._read_each("video", _read_video, document, find, wrong)
        self._read_each("audio", _read_audio, document, find, wrong)
        self._read_pictures(document, find, wrong)
        self._read_each("downloads", self._read_download, document, find, wrong)
        self._read_each("data", _read_data, document, find, wrong)
        self._read_own(document, find, wrong)
        self._describe(document, wrong)
        if wrong:
            self.problems += self._told(document, wrong)

    def _read_each(
        self, name: str, read: _Read, document: Document, find: Find, wrong: list[FieldError]
    ) -> None:
        for way, item in list_items(document.front.get(name), (name,)):
            with _noting(wrong):
                self.resources.append(read(item, way, find, document))

    def _read_pictures(self, document: Document, find: Find, wrong: list[FieldError]) -> None:
        images = read_images(document.front.get("images"), ("images",), find, wrong)
        if images is not None:
            told = " ".join(f"{image.alt} {image.title or ''}" for image in images.images)
            found = _resource(IMAGE, document, images, document.title, document.description)
            self.resources.append(msgspec.structs.replace(found, told=told))

    def _read_download(self, item: object, way: Way, find: Find, page: Document) -> Resource:
        title, download = read_download(item, way, find, self._measures)
        found = _resource(DOWNLOAD, page, download, title or page.title, download.description)
        return msgspec.structs.replace(found, name=download.filename)

    def _read_own(self, document: Document, find: Find, wrong: list[FieldError]) -> None:
        """Read a payload of a site-specific content type (AHP 0.1, appendix C.3)."""
        kind, payload = document.front.get("content_type"), document.front.get("payload")
        is_own = isinstance(kind, str) and kind.startswith("x-")
        if not is_own and (kind is None or payload is None):  # front matter for another program
            return
        with _noting(wrong):
            kind = _own_type(kind, ("content_type",))
            way = ("payload",)
            if isinstance(payload, str):
                payload = read_records(find(payload, way), way)
            if not isinstance(payload, dict):
                message = f"{kind} needs 'payload': a mapping, or a JSON, TOML or CSV file."
                raise FieldError(way, message)
            check_records(payload, way)
            self.resources.append(
                Resource(kind, document.path, document.title, payload, document.description)
            )

    def _describe(self, document: Document, wrong: list[FieldError]) -> None:
        """Record which site-specific types a page documents (AHP 0.1, appendix C.3)."""
        said = document.front.get("describes")
        told = said if isinstance(said, dict) else {}
        for kind in told or [item for _, item in list_items(said, ())]:
            if not isinstance(kind, str) or not kind.startswith("x-"):
                continue  # front matter for another program
            way, about = ("describes", kind), told.get(kind) or document.description
            with _noting(wrong):
                if not isinstance(about, str):
                    raise FieldError(way, f"The description of {kind} must be one line of text.")
                about = " ".join((about or document.title).split())
                page = ContentTypeText(document.url, document.markdown_url, about)
                first = self.described.setdefault(_own_type(kind, way), page)
                if first.url != page.url:
                    raise FieldError(way, f"{kind} is already described by {first.url}.")

    def _told(self, document: Document, wrong: Iterable[FieldError]) -> Iterator[Problem]:
        try:
            lines = FieldLines((self._folder / document.source).read_text("utf-8-sig"))
        except (OSError, UnicodeDecodeError):  # it has changed since it was read
            lines = None
        for one in wrong:
            line = None if lines is None else lines.line_of(one.path)
            yield Problem(document.source, one.message, line)


def _read_video(item: object, way: Way, find: Find, page: Document) -> Resource:
    video = read_video(item, way, find, page)
    return _resource(VIDEO, page, video, video.title, video.description)


def _read_audio(item: object, way: Way, find: Find, page: Document) -> Resource:
    audio = read_audio(item, way, find, page)
    return _resource(AUDIO, page, audio, audio.title, audio.description)


def _read_data(item: object, way: Way, find: Find, page: Document) -> Resource:
    short = {"file": item, "schema": page.front.get("schema")}
    fields = FieldReader(short if isinstance(item, str) else item, way, _DATA_MEMBERS)
    _, said = fields.get_required_place(("file",), "a JSON, TOML or CSV file next to the page.")
    at = fields.at("file")
    place = find(said, at)
    data = Data(schema=fields.get_text("schema"), data=read_records(place, at))
    title = fields.get_text("title") or page.title
    found = _resource(DATA, page, data, title, fields.get_text("description") or page.description)
    return msgspec.structs.replace(found, name=place.name)


@contextmanager
def _noting(wrong: list[FieldError]) -> Iterator[None]:
    """Record an error in one declaration, and continue with the next."""
    try:
        yield
    except FieldError as error:
        wrong.append(error)


def _own_type(said: object, way: Way) -> str:
    if not isinstance(said, str) or not EXTENSION_TYPE.fullmatch(said):
        raise FieldError(way, f"{way[0]} must have the form x-vendor/type, in lower case.")
    return said


def _resource(
    kind: str, document: Document, payload: msgspec.Struct, title: str, description: str | None
) -> Resource:
    return Resource(kind, document.path, title, msgspec.to_builtins(payload), description or "")


_IMAGE = (*WHERE, "alt", "title", "width", "height", "format")


def read_images(value: object, way: Way, find: Find, wrong: list[FieldError]) -> Images | None:
    """Read the pictures of a page; errors in single ones are added to ``wrong``."""
    images: list[Image] = []
    for where, item in list_items(value, way):
        try:
            images.append(_read(item, where, find))
        except FieldError as error:
            wrong.append(error)
    if not images:
        return None
    return Images(images=tuple(images), layout="single" if len(images) == 1 else "gallery")


def _read(item: object, way: Way, find: Find) -> Image:
    fields = FieldReader({"file": item} if isinstance(item, str) else item, way, _IMAGE)
    alt = fields.get_required_text("alt", "a text for people who cannot see the picture.")
    place = find_place(fields, find)
    width, height = fields.get_integer("width"), fields.get_integer("height")
    if not width or not height:
        size = read_picture_size(place.local) if place.local is not None else None
        if size is None:
            message = (
                f"{fields.name} needs 'width' and 'height' in pixels: the file does not tell them."
            )
            raise FieldError(way, message)
        width, height = size
    return Image(
        url=place.url,
        alt=alt,
        width=width,
        height=height,
        format=fields.get_text("format")
        or place.format
        or fields.get_required_text("format", "such as png."),
        title=fields.get_text("title"),
    )
