"""Detects which generator made a folder, and what of it the desk reads best.

Built pages have the addresses of the website and contain what the generator adds, so they are
preferred where they exist. Markdown of MkDocs and Zensical has the same addresses, and changes take
effect at once. Configurations are read as data: nothing of the folder is executed.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

MAX_BYTES = 512 * 1024
"""A larger configuration is not read."""
_BUILT = "the built pages, which have the addresses of your site"
_GENERATED = frozenset(
    "mkdocstrings gen-files macros monorepo multirepo include-markdown table-reader".split()
)
"""Plug-ins of MkDocs and Zensical that make text which the Markdown does not contain."""
_SPHINX_FOLDERS = (".", "docs", "doc", "docs/source", "doc/source", "source")
_SPHINX_BUILDS = ("_build/html", "_build/dirhtml", "../build/html", "../_build/html")
_GENERATOR = re.compile(
    rb"""<meta(?=[^>]*\bname=["']?generator\b)[^>]*\bcontent=["']?([A-Za-z][\w.]*)""", re.IGNORECASE
)
_MARKS_OF_BUILT = {"objects.inv": "Sphinx", "_next": "Next.js", "_astro": "Astro"}


class NotBuilt(Exception):
    """The desk can read the pages only once they are built; the message says how."""

    def __init__(self, generator: str, command: str) -> None:
        super().__init__(
            f"{generator} makes the pages, and its output is not here. Build it ({command}) and run"
            " this command again, or read the published site:"
            " --from https://www.example.com/sitemap.xml."
        )


class Generated(msgspec.Struct, frozen=True):
    """What a generator's folder holds.

    Parameters:
        generator: its name.
        mark: what it was recognised by, relative to the folder.
        folder: the content, relative to the folder; empty for the folder itself.
        reason: why this is read, and what follows from it.
        name: the site's name; empty if it is not stated.
        url: the site's public address, as far as it is stated.
        has_addresses: whether the files tell the addresses of their pages on the site.
    """

    generator: str
    mark: str
    folder: str
    reason: str
    name: str = ""
    url: str = ""
    has_addresses: bool = True


def detect(root: Path) -> Generated | None:
    """Return what made a folder; None for a folder of plain pages, or an empty one.

    Raises:
        NotBuilt: its pages do not exist yet.
    """
    found = (find(root) for find in _FINDERS)
    return next((one for one in found if one is not None), None)


def _find_mkdocs(root: Path) -> Generated | None:
    mark = _first(root, "zensical.toml", "mkdocs.yml", "mkdocs.yaml")
    if mark is None:
        return None
    generator, said = "MkDocs", _read_data(mark)
    if mark.suffix == ".toml":
        project = said.get("project")
        generator, said = "Zensical", project if isinstance(project, dict) else {}
    source, built = _text(said, "docs_dir", "docs"), _text(said, "site_dir", "site")
    made = sorted(_GENERATED & {*map(str, _plugins(said))})
    folder, reason = source, "its Markdown: changes take effect at once"
    if made and _has_home(root / built):
        folder, reason = built, f"{_BUILT} and the text of {', '.join(made)}"
    elif made:
        reason = f"its Markdown, without the text that {', '.join(made)} adds to built pages"
    if not (root / folder).is_dir():
        raise NotBuilt(generator, f"{generator.lower()} build")
    name, url = _text(said, "site_name"), _text(said, "site_url")
    return Generated(generator, mark.name, folder, reason, name, url)


def _find_docusaurus(root: Path) -> Generated | None:
    mark = _first(root, *(f"docusaurus.config.{ending}" for ending in ("js", "ts", "mjs", "cjs")))
    if mark is None:
        return None
    return _choose(root, "Docusaurus", mark, ("build",), ("docs",), "npm run build")


def _find_astro(root: Path) -> Generated | None:
    mark = _first(root, *(f"astro.config.{ending}" for ending in ("mjs", "ts", "js", "cjs")))
    if mark is None:
        return None
    sources = ("src/content/docs", "src/content")
    return _choose(root, "Astro", mark, ("dist",), sources, "npm run build")


def _find_next(root: Path) -> Generated | None:
    mark = _first(root, *(f"next.config.{ending}" for ending in ("js", "mjs", "ts")))
    if mark is None:
        return None
    return _choose(root, "Next.js", mark, ("out",), (), "next build, with output: 'export'")


def _find_hugo(root: Path) -> Generated | None:
    own = [f"hugo.{ending}" for ending in ("toml", "yaml", "yml", "json")]
    mark = _first(root, *own, *(name.replace("hugo", "config") for name in own))
    if mark is None or not (root / "content").is_dir():
        return None
    said = {key.lower(): value for key, value in _read_data(mark).items()}
    if mark.stem == "config" and "baseurl" not in said:
        return None
    built = _text(said, "publishdir", "public")
    found = _choose(root, "Hugo", mark, (built,), ("content",), "hugo")
    return msgspec.structs.replace(found, name=_text(said, "title"), url=_text(said, "baseurl"))


def _find_jekyll(root: Path) -> Generated | None:
    mark = _first(root, "_config.yml", "_config.yaml")
    if mark is None:
        return None
    said = _read_yaml(mark)
    built = _text(said, "destination", "_site")
    found = _choose(root, "Jekyll", mark, (built,), (), "bundle exec jekyll build")
    url = _text(said, "url") + _text(said, "baseurl")
    return msgspec.structs.replace(found, name=_text(said, "title"), url=url)


def _find_sphinx(root: Path) -> Generated | None:
    for place in _SPHINX_FOLDERS:
        mark = root / place / "conf.py"
        said = _read_assignments(mark)
        if "project" not in said and "extensions" not in said:
            continue
        name, url = _text(said, "project"), _text(said, "html_baseurl")
        shown = mark.relative_to(root).as_posix()
        for build in _SPHINX_BUILDS:
            built = (root / place / build).resolve()
            if (built / "objects.inv").is_file() and built.is_relative_to(root.resolve()):
                folder = built.relative_to(root.resolve()).as_posix()
                reason = f"{_BUILT} and the text from program code"
                return Generated("Sphinx", shown, folder, reason, name, url)
        reason = "its sources. Text from program code and included files are only in built pages"
        return Generated("Sphinx", shown, "" if place == "." else place, reason, name, url)
    return None


def _find_built(root: Path) -> Generated | None:
    """Recognise a folder of built pages by what generators leave in them."""
    home = root / "index.html"
    if not home.is_file():
        return None
    for mark, generator in _MARKS_OF_BUILT.items():
        if (root / mark).exists():
            return Generated(generator, mark, "", _BUILT)
    told = _GENERATOR.search(_read(home).encode())
    return Generated(told[1].decode(), home.name, "", _BUILT) if told else None


_FINDERS = (
    *(_find_mkdocs, _find_docusaurus, _find_astro, _find_next),
    *(_find_hugo, _find_jekyll, _find_sphinx, _find_built),
)


def _choose(
    root: Path,
    generator: str,
    mark: Path,
    built: tuple[str, ...],
    sources: tuple[str, ...],
    command: str,
) -> Generated:
    """Choose the built pages, else the sources that the desk can read.

    Raises:
        NotBuilt: there are neither.
    """
    said = _read(mark) if mark.suffix in {".js", ".ts", ".mjs", ".cjs"} else ""
    name = _literal(said, "title")
    url = _literal(said, "site" if generator == "Astro" else "url") + _literal(said, "baseUrl")
    for folder in built:
        if _has_home(root / folder):
            return Generated(generator, mark.name, folder, _BUILT, name, url)
    for folder in sources:
        if (root / folder).is_dir():
            reason = (
                "its sources, whose addresses may differ from those of your site. To read the built"
                f" pages, build it ({command}) and set content.folder to {built[0]}"
            )
            return Generated(generator, mark.name, folder, reason, name, url, has_addresses=False)
    raise NotBuilt(generator, command)


def _has_home(folder: Path) -> bool:
    return (folder / "index.html").is_file()


def _first(root: Path, *names: str) -> Path | None:
    return next((root / name for name in names if (root / name).is_file()), None)


def _read(file: Path) -> str:
    """Return the beginning of a file; empty if it cannot be read."""
    try:
        with file.open("rb") as opened:
            return opened.read(MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _read_data(file: Path) -> Mapping[str, Any]:
    readers = {".toml": tomllib.loads, ".json": json.loads}
    if file.suffix not in readers:
        return _read_yaml(file)
    try:
        return dict(readers[file.suffix](_read(file)))
    except (ValueError, TypeError, RecursionError):
        return {}


def _read_yaml(file: Path) -> Mapping[str, Any]:
    """Read YAML whose tags name functions, as MkDocs has them: they are read as nothing."""
    import yaml

    class Loader(yaml.SafeLoader):
        """A safe loader that ignores unknown tags."""

    Loader.add_multi_constructor("", lambda _loader, _tag, _node: None)
    try:
        said = yaml.load(_read(file), Loader)  # noqa: S506 -- it is a safe loader
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _read_assignments(file: Path) -> Mapping[str, Any]:
    """Return the literal values that a Python file assigns; it is not executed."""
    found: dict[str, Any] = {}
    try:
        body = ast.parse(_read(file)).body if file.is_file() else []
    except (SyntaxError, ValueError, RecursionError):
        return found
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                try:
                    found[name] = ast.literal_eval(value)
                except (ValueError, TypeError, MemoryError, RecursionError):
                    found[name] = None
            case _:
                pass
    return found


def _literal(script: str, key: str) -> str:
    """Return the first text that a script gives a key; empty if there is none."""
    found = re.search(rf"""(?<![\w.]){key}\s*:\s*(["'])([^"'\\\n]{{1,200}})\1""", script)
    return found[2] if found else ""


def _text(said: Mapping[str, Any], key: str, default: str = "") -> str:
    value = said.get(key)
    return value.strip() if isinstance(value, str) and value.strip() else default


def _plugins(said: Mapping[str, Any]) -> list[object]:
    """Return the names of MkDocs' plug-ins, from a list or a table."""
    listed = said.get("plugins")
    if isinstance(listed, dict):
        return list(listed)
    entries = listed if isinstance(listed, list) else []
    return [next(iter(one), "") if isinstance(one, dict) else one for one in entries]
