"""From a method and a path to a row of a door's table.

Every door's routes are put into one table when the desk starts; a path that two doors claim is a
fault of the program and refused there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from urllib.parse import unquote

import msgspec

from aitp_desk.desk.desk import Desk
from aitp_desk.protocols.reply import Door, Route

Found = tuple[Door, Route, Mapping[str, str]]
_TAKES_ALL = ":.*}"
_PARAMETER = re.compile(r"\{(\w+)(:\.\*)?\}")


class RouteClaimedTwice(Exception):
    """Two routes have the same method and path."""


class RoutingTable:
    """All routes of all doors.

    Parameters:
        has_faces: whether any has a second face.
    """

    def __init__(self, doors: Iterable[Door], *, has_faces: bool = True) -> None:
        self._fixed: dict[str, dict[str, tuple[Door, Route]]] = {}
        self._patterns: dict[str, tuple[re.Pattern[str], dict[str, tuple[Door, Route]]]] = {}
        self._owners: list[tuple[str, Door]] = []
        for door in doors:
            self._owners.extend((prefix, door) for prefix in door.owns)
            for route in door.routes:
                shown = route if has_faces else msgspec.structs.replace(route, second=None)
                self._add(door, shown)
        self._owners.sort(key=lambda owner: len(owner[0]), reverse=True)

    @property
    def routes(self) -> tuple[tuple[Door, Route], ...]:
        """All rows, with their doors."""
        fixed = (row for methods in self._fixed.values() for row in methods.values())
        patterns = (row for _, methods in self._patterns.values() for row in methods.values())
        return (*fixed, *patterns)

    def find(self, method: str, path: str) -> Found | None:
        """The route for a request; a HEAD request takes the GET route.

        A path belongs to the route that spells it out, else to the first template that fits: what
        that does not serve, no later one does, such as the one that takes every path.

        Parameters:
            path: as it was requested, percent-encoded, without the query.
        """
        method = "GET" if method == "HEAD" else method
        row = self._fixed.get(path)
        if row is not None:
            return (*row[method], {}) if method in row else None
        for template, (pattern, methods) in self._patterns.items():
            match = pattern.fullmatch(path)
            if match is not None:
                if method not in methods:
                    return None
                door, route = methods[method]
                # what takes every path refuses in the form of whoever owns that one
                door = self.owner(path) if template.endswith(_TAKES_ALL) else door
                return door, route, {k: unquote(v) for k, v in match.groupdict().items()}
        return None

    def methods(self, path: str, desk: Desk) -> tuple[str, ...]:
        """The methods that a path takes; those for every path where something stands at this one.

        Parameters:
            path: as :meth:`find` takes it.
            desk: the site's own.
        """
        found = set(self._fixed.get(path, ()))
        for template, (pattern, methods) in self._patterns.items():
            if pattern.fullmatch(path):
                takes_all = template.endswith(_TAKES_ALL)
                for method, (door, route) in methods.items():
                    stands = route.gives_at and route.gives_at(door.desk or desk, path)
                    if not takes_all or stands:
                        found.add(method)
        if "GET" in found:
            found.add("HEAD")
        return tuple(sorted(found))

    def owner(self, path: str) -> Door:
        """The door in whose form an unknown address is refused: the longest prefix decides.

        What is no path (``OPTIONS *``, ``CONNECT host:port``) falls to the shortest.
        """
        owners = (door for prefix, door in self._owners if path.startswith(prefix))
        return next(owners, self._owners[-1][1])

    def _add(self, door: Door, route: Route) -> None:
        if "{" not in route.path:
            methods = self._fixed.setdefault(route.path, {})
        else:
            expression = _expression(route.path)
            _, methods = self._patterns.setdefault(route.path, (expression, {}))
        if route.method in methods:
            raise RouteClaimedTwice(f"{route.method} {route.path} is claimed twice.")
        methods[route.method] = (door, route)


def _expression(template: str) -> re.Pattern[str]:
    parts: list[str] = []
    end = 0
    for parameter in _PARAMETER.finditer(template):
        parts.append(re.escape(template[end : parameter.start()]))
        parts.append(f"(?P<{parameter[1]}>{'.*' if parameter[2] else '[^/]+'})")
        end = parameter.end()
    parts.append(re.escape(template[end:]))
    return re.compile("".join(parts), re.DOTALL)
