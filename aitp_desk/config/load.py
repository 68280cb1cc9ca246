"""Loads a checked :class:`Config` from ``desk.toml`` and the command line.

Loading does not stop at the first fault: a wrong setting keeps its default while the rest is
checked, and all problems are raised together.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from aitp_desk.config.catalogue import as_toml, is_section, names, repeated_section, takes
from aitp_desk.config.former_names import current_path, current_value, rename_former
from aitp_desk.config.problem import Problem
from aitp_desk.config.rules.settings_rules import check_rules, default_url
from aitp_desk.config.settings import DATA_FOLDER, DESK_FILE, Config, real_path

S = TypeVar("S", bound=msgspec.Struct)
Tables = dict[str, Any]

_SECRET = re.compile(r"secret|passw|token|credential|(api|private|master)_?key", re.IGNORECASE)


class ConfigError(Exception):
    """The configuration is not usable.

    Parameters:
        problems: all its faults.
        config: the configuration with defaults in place of wrong settings; None if the site's
            folder is missing.
    """

    def __init__(self, problems: Iterable[Problem], config: Config | None = None) -> None:
        self.problems = tuple(problems)
        self.config = config
        super().__init__("\n".join(map(str, self.problems)))


def load_config(
    folder: Path,
    overrides: Sequence[str] = (),
    *,
    host: str | None = None,
    port: int | None = None,
    data: Path | None = None,
) -> Config:
    """Load a site's configuration. Without a ``desk.toml`` every setting has its default.

    Parameters:
        folder: the site's folder.
        overrides: ``section.key=value`` each, which override the file; the value is parsed as TOML,
            else taken as a string.
        host: overrides ``server.host``.
        port: overrides ``server.port``.
        data: the data folder; ``store.data`` if None.

    Raises:
        ConfigError: with all problems.
    """
    if not folder.is_dir():
        raise ConfigError([Problem(str(folder), "there is no such folder.")])
    problems: list[Problem] = []
    tables = _read_file(folder / DESK_FILE, problems)
    notes = tuple(rename_former(tables))
    for override in overrides:
        _override(tables, override, problems)
    if host is not None:
        _put(tables, ("server", "host"), host)
    if port is not None:
        _put(tables, ("server", "port"), port)
    folder = folder.resolve()
    config = _build(Config, tables, problems, folder=folder, data=folder, notes=notes)
    wished = data or folder / config.store.data
    config = msgspec.structs.replace(config, data=real_path(wished))
    if os.path.lexists(config.data) and not config.data.is_dir():
        problems.append(
            Problem(
                str(wished),
                "is not a folder; --data takes a folder, or a path where it can be created.",
            )
        )
    if data is None and config.data == folder:
        alone = f"is the site's folder; name one for the desk alone, such as {DATA_FOLDER}."
        problems.append(Problem("store.data", alone))
    problems += check_rules(config)
    if problems:
        raise ConfigError(problems, config)
    return _complete(config)


def _read_file(path: Path, problems: list[Problem]) -> Tables:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        problems.append(Problem(path.name, f"cannot be read: {error.strerror}."))
    except UnicodeDecodeError as error:
        problems.append(Problem(path.name, f"is not UTF-8 (byte {error.start}); save it as UTF-8."))
    except tomllib.TOMLDecodeError as error:
        problems.append(Problem(path.name, f"is not valid TOML: {error}."))
    except RecursionError:
        problems.append(Problem(path.name, "is not valid TOML: it is nested too deeply."))
    return {}


def _override(tables: Tables, override: str, problems: list[Problem]) -> None:
    key, given, text = override.partition("=")
    path = tuple(part.strip() for part in key.split("."))
    if not given or len(path) < 2 or not all(path):
        problems.append(Problem("--set", f"{key!r} is not a setting; it takes section.key=value."))
        return
    path = current_path(path)
    _put(tables, path, current_value(path, _toml_value(text)))


def _toml_value(text: str) -> Any:
    try:
        read = tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):
        return text
    return read["value"] if len(read) == 1 else text


def _put(tables: Tables, path: Sequence[str], value: Any) -> None:
    *outer, last = path
    table: Any = tables
    for part in outer:
        table = table.setdefault(part, {})
        if not isinstance(table, dict):
            return  # a value in place of a section is reported elsewhere
    table[last] = value


def _build(
    kind: type[S], table: Tables, problems: list[Problem], prefix: str = "", **values: Any
) -> S:
    fields = {name: type_ for name, type_ in _field_types(kind).items() if name not in values}
    for key, value in table.items():
        name = prefix + key
        if key not in fields:
            problems.append(_unknown(name, value))
        elif (repeated := repeated_section(fields[key])) is not None:
            values[key] = _build_each(repeated, value, problems, name)
        elif not is_section(fields[key]):
            try:
                values[key] = msgspec.convert(value, fields[key])
            except msgspec.ValidationError:
                problems.append(_unfit(name, value, takes(fields[key])))
        elif isinstance(value, dict):
            values[key] = _build(fields[key], value, problems, f"{name}.")
        else:
            problems.append(_unfit(name, value, f"a section: [{name}] and its settings below"))
    return kind(**values)


@cache
def _field_types(kind: type[msgspec.Struct]) -> dict[str, Any]:
    return {field.name: field.type for field in msgspec.structs.fields(kind)}


def _build_each(kind: type[S], tables: Any, problems: list[Problem], name: str) -> tuple[S, ...]:
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        problems.append(_unfit(name, tables, f"tables, each with the header [[{name}]]"))
        return ()
    return tuple(_build(kind, table, problems, f"{name}.") for table in tables)


def _unfit(name: str, value: Any, takes: str) -> Problem:
    shown = as_toml(value)
    if "@" in shown:
        shown = "an unknown value"  # it may be a URL with a password
    elif len(shown) > 60:
        shown = f"{shown[:57]}…"
    return Problem(name, f"is {shown}; it takes {takes}.")


def _unknown(name: str, value: Any) -> Problem:
    what = "section" if isinstance(value, dict) else "setting"
    message = f"there is no such {what}"
    if _SECRET.search(name):
        return Problem(
            name, f"{message}, and {DESK_FILE} must not contain a secret. Remove it from the file."
        )
    known = tuple(names())
    by_last = {key.rpartition(".")[2]: key for key in reversed(known)}
    last = name.rpartition(".")[2]
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.75) or [
        by_last[match] for match in difflib.get_close_matches(last, by_last, n=1, cutoff=0.75)
    ]
    return Problem(name, f"{message}; did you mean {near[0]}?" if near else f"{message}.")


def _complete(config: Config) -> Config:
    url = config.site.url.rstrip("/")
    if not url and config.server.port:
        url = default_url(config.server)
    site = msgspec.structs.replace(config.site, url=url)
    return msgspec.structs.replace(config, site=site)
