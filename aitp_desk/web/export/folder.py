"""Writes an export to its folder: whole or not, never over other files.

A new site is written to a hidden folder next to the old one and replaces it when it is complete. It
holds a list of its files with their digests, by which the next export knows that it may replace
them. Files added or changed by hand are reported, and nothing is replaced.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import file_digest, sha256
from pathlib import Path
from typing import NoReturn

import msgspec

LIST = ".aitp-desk-export.json"
_NAMED = 5
"""How many files a refusal names."""


class ExportError(Exception):
    """Nothing was written; the message says why and what to do."""


class ExportedFiles(msgspec.Struct, frozen=True):
    """The list of files of an export.

    Parameters:
        files: the SHA-256 of each file, in hexadecimal, by its path in the folder.
    """

    files: dict[str, str]


class ExportFolder:
    """The folder of an export in progress.

    Attributes:
        folder: where it is until it is complete.
        digests: of the files written, by path.
        size: of all files, in bytes.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.digests: dict[str, str] = {}
        self.size = 0

    def write(self, path: str, pieces: Iterable[bytes]) -> None:
        """Write a file that does not exist yet.

        Parameters:
            path: relative, joined by ``/``.
            pieces: its content.
        """
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        digest = sha256()
        with file.open("xb") as opened:
            for piece in pieces:
                digest.update(piece)
                self.size += opened.write(piece)
        self.digests[path] = digest.hexdigest()


@contextmanager
def replace_folder(out: Path, *, apart_from: Iterable[Path]) -> Iterator[ExportFolder]:
    """Replace the site in ``out`` when the block ends without an error.

    Parameters:
        out: absent, empty, or an unchanged export.
        apart_from: folders that it may neither contain nor lie in.

    Raises:
        ExportError: ``out`` is another folder than that, or another export is running there.
        OSError: disk space or permission is missing.
    """
    target = Path(os.path.realpath(out))
    _check_apart(target, apart_from)
    _check_replaceable(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    new, old = (target.with_name(f".{target.name}.export{end}") for end in ("", "-replaced"))
    with _growing(new):
        if (old / LIST).is_file() and not target.exists():
            old.rename(target)  # the last export was killed between its two moves
        _clear(old)
        place = ExportFolder(new)
        yield place
        listed = ExportedFiles(dict(sorted(place.digests.items())))
        (new / LIST).write_bytes(msgspec.json.format(msgspec.json.encode(listed)) + b"\n")
        _check_replaceable(target)
        if target.exists():
            target.rename(old)
        new.rename(target)
        _clear(old)


def _check_apart(target: Path, folders: Iterable[Path]) -> None:
    for folder in folders:
        real = Path(os.path.realpath(folder))
        if target == real or target.is_relative_to(real) or real.is_relative_to(target):
            raise ExportError(f"{target} and {real} overlap; export to a separate folder.")


@contextmanager
def _growing(new: Path) -> Iterator[None]:
    """Create and lock the hidden folder; delete it if the block fails."""
    new.mkdir(exist_ok=True)
    handle = os.open(new, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if not _is_locked(handle, new):
            raise ExportError(f"Another export is running in {new}. Wait for it to end.")
        _empty(new)
        (new / LIST).touch()
        try:
            yield
        except BaseException:
            _clear(new)
            raise
    finally:
        os.close(handle)


def _is_locked(handle: int, folder: Path) -> bool:
    """Lock a folder; False where another process has locked or moved it."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(handle), folder.stat())
    except (BlockingIOError, FileNotFoundError):
        return False


def _check_replaceable(folder: Path) -> None:
    """Refuse a folder with any file that no export wrote."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise ExportError(f"{folder} is a file; export to a folder.")
    if folder.is_mount():
        raise ExportError(
            f"{folder} is a mount point, which cannot be replaced. Export to a folder in it."
        )
    listed = _read_list(folder)
    foreign = [path for path in _files(folder) if not _is_listed(folder, path, listed)]
    if foreign:
        named = ", ".join(foreign[:_NAMED])
        more = f" and {len(foreign) - _NAMED} more" if len(foreign) > _NAMED else ""
        raise ExportError(
            f"{folder} has files that no export wrote, or that were changed since: {named}{more}."
            " Move them, or export to another folder."
        )


def _read_list(folder: Path) -> ExportedFiles:
    try:
        return msgspec.json.decode((folder / LIST).read_bytes(), type=ExportedFiles)
    except (OSError, msgspec.MsgspecError):
        return ExportedFiles({})


def _files(folder: Path) -> list[str]:
    """Return all entries below a folder that are no folders, sorted."""
    found: list[str] = []
    for root, folders, files in os.walk(folder, onerror=_raise):
        links = [name for name in folders if Path(root, name).is_symlink()]
        found += (str(Path(root, name).relative_to(folder)) for name in (*files, *links))
    return sorted(found)


def _raise(error: OSError) -> NoReturn:
    """An unreadable folder may hold anything."""
    raise error


def _is_listed(folder: Path, path: str, listed: ExportedFiles) -> bool:
    file = folder / path
    if file.is_symlink() or not file.is_file():
        return False
    if path == LIST:
        return bool(listed.files)
    known = listed.files.get(path)
    if known is None:
        return False
    with file.open("rb") as opened:
        return file_digest(opened, "sha256").hexdigest() == known


def _clear(folder: Path) -> None:
    """Delete a hidden folder of an export, if it exists."""
    if folder.exists():
        _empty(folder)
        (folder / LIST).unlink(missing_ok=True)
        folder.rmdir()


def _empty(folder: Path) -> None:
    """Delete an export's files in a hidden folder; the list, which marks it, stays."""
    entries = [entry for entry in folder.iterdir() if entry.name != LIST]
    if entries and not (folder / LIST).is_file():
        raise ExportError(f"{folder} has files that no export wrote. Move them.")
    for entry in entries:
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
