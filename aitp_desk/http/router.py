"""Maps a method and a path to a route.

The routes of all protocols form one table when the desk starts; a path claimed twice is a fault of
the program and refused there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from urllib.parse import unquote

import msgspec

from aitp_desk.desk.desk import Desk
from aitp_desk.protocols.base.protocol import ProtocolRoutes, Route

RouteMatch = tuple[ProtocolRoutes, Route, Mapping[str, str]]
_TAKES_ALL = ":.*}"
_PARAMETER = re.compile(r"\{(\w+)(:\.\*)?\}")


class DuplicateRoute(Exception):
    """Two routes have the same method and path."""


class Router:
    """Holds the routes of all protocols.

    Parameters:
        has_faces: whether HAC representations are enabled.
    """

    def __init__(self, protocols: Iterable[ProtocolRoutes], *, has_faces: bool = True) -> None:
        self._fixed: dict[str, dict[str, tuple[ProtocolRoutes, Route]]] = {}
        self._templates: dict[str, _Template] = {}
        self._owners: list[tuple[str, ProtocolRoutes]] = []
        for protocol in protocols:
            self._owners.extend((prefix, protocol) for prefix in protocol.owns)
            for route in protocol.routes:
                shown = route if has_faces else msgspec.structs.replace(route, second=None)
                self._add(protocol, shown)
        self._owners.sort(key=lambda owner: len(owner[0]), reverse=True)

    @property
    def routes(self) -> tuple[tuple[ProtocolRoutes, Route], ...]:
        """All routes, with their protocols."""
        fixed = (row for methods in self._fixed.values() for row in methods.values())
        others = (row for one in self._templates.values() for row in one.methods.values())
        return (*fixed, *others)

    def find(self, method: str, path: str) -> RouteMatch | None:
        """Return the route for a request; a HEAD request takes the GET route.

        A path belongs to the route that spells it out, else to the first template that matches. A
        method that this one does not serve falls through to no later template, such as the
        catch-all.

        Parameters:
            path: as it was requested, percent-encoded, without the query.
        """
        method = "GET" if method == "HEAD" else method
        row = self._fixed.get(path)
        if row is not None:
            return (*row[method], {}) if method in row else None
        for template in self._templates.values():
            if not path.startswith(template.beginning):
                continue
            match = template.pattern.fullmatch(path)
            if match is not None:
                if method not in template.methods:
                    return None
                protocol, route = template.methods[method]
                # a catch-all refuses in the format of the protocol that owns the path
                protocol = self.owner(path) if template.takes_all else protocol
                return protocol, route, {k: unquote(v) for k, v in match.groupdict().items()}
        return None

    def methods(self, path: str, desk: Desk) -> tuple[str, ...]:
        """Return the allowed methods of a path; a catch-all's only if it serves this.

        Parameters:
            path: as :meth:`find` takes it.
            desk: the site's main one.
        """
        found = set(self._fixed.get(path, ()))
        for template in self._templates.values():
            if path.startswith(template.beginning) and template.pattern.fullmatch(path):
                for method, (protocol, route) in template.methods.items():
                    stands = route.gives_at and route.gives_at(protocol.desk or desk, path)
                    if not template.takes_all or stands:
                        found.add(method)
        if "GET" in found:
            found.add("HEAD")
        return tuple(sorted(found))

    def owner(self, path: str) -> ProtocolRoutes:
        """Return the protocol that refuses an unknown path: the longest prefix decides.

        A target that is no path (``OPTIONS *``, ``CONNECT host:port``) falls to the shortest.
        """
        owners = (protocol for prefix, protocol in self._owners if path.startswith(prefix))
        return next(owners, self._owners[-1][1])

    def _add(self, protocol: ProtocolRoutes, route: Route) -> None:
        if "{" not in route.path:
            methods = self._fixed.setdefault(route.path, {})
        else:
            if route.path not in self._templates:
                self._templates[route.path] = _Template(route.path)
            methods = self._templates[route.path].methods
        if route.method in methods:
            raise DuplicateRoute(f"{route.method} {route.path} is defined twice.")
        methods[route.method] = (protocol, route)


class _Template:
    """A path template, and its routes.

    Attributes:
        methods: the routes, by their methods.
        takes_all: whether its last parameter includes slashes.
        beginning: the literal text before its first parameter.
    """

    def __init__(self, path: str) -> None:
        self.methods: dict[str, tuple[ProtocolRoutes, Route]] = {}
        self.takes_all = path.endswith(_TAKES_ALL)
        self._path = path
        self.beginning = path.partition("{")[0]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Its regular expression; compiled on first use, for most templates are never requested."""
        return _expression(self._path)


def _expression(template: str) -> re.Pattern[str]:
    parts: list[str] = []
    end = 0
    for parameter in _PARAMETER.finditer(template):
        parts.append(re.escape(template[end : parameter.start()]))
        parts.append(f"(?P<{parameter[1]}>{'.*' if parameter[2] else '[^/]+'})")
        end = parameter.end()
    parts.append(re.escape(template[end:]))
    return re.compile("".join(parts), re.DOTALL)
