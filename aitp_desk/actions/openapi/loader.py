"""Loads the actions of a site's OpenAPI files, once at the start."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping

from aitp_desk.actions.base import OfferedAction
from aitp_desk.actions.openapi.builder import build_action
from aitp_desk.actions.openapi.credentials import Credentials, read_credentials
from aitp_desk.actions.openapi.document import Document, Operation
from aitp_desk.actions.openapi.service import Service
from aitp_desk.actions.schemas.normal_form import SchemaUnusable
from aitp_desk.actions.terms import ALL
from aitp_desk.config import Config, OpenApi, OperationTerms, Problem

_MOST_SHOWN = 20


class Loader:
    """Loads one ``[[openapi]]``.

    Parameters:
        environment: holds the credentials for its service.

    Attributes:
        problems: the faults found so far.
    """

    def __init__(self, config: Config, settings: OpenApi, environment: Mapping[str, str]) -> None:
        self._folder = config.folder
        self._settings = settings
        self._environment = environment
        self.problems: list[Problem] = []

    def load(self) -> tuple[Service, tuple[OfferedAction, ...]]:
        """Return the service and its offered actions; faults are in :attr:`problems`."""
        settings = self._settings
        credentials = read_credentials(settings, self._environment, self._tell)
        service = Service(settings.file, credentials, settings.max_bytes)
        if not settings.file:
            self._tell("has no file; write file, a path relative to the site's folder.")
        elif not self.problems:
            try:
                document = Document.read(self._folder / settings.file)
                return service, tuple(self._offer(document, service, credentials))
            except SchemaUnusable as error:
                self._tell(f"{error.message}.")
        return service, ()

    def _offer(
        self, document: Document, service: Service, credentials: Credentials
    ) -> Iterator[OfferedAction]:
        settings = self._settings
        terms = self._terms()
        kept_back = {name.lower() for name in credentials.headers}
        for operation in self._chosen(document):
            try:
                yield build_action(
                    document,
                    operation,
                    terms.pop(operation.id, OperationTerms()),
                    service,
                    prefix=settings.prefix,
                    base_url=settings.base_url,
                    kept_back=kept_back,
                )
            except SchemaUnusable as error:
                self._tell(f"{error.message}.", operation.id)
        for name in terms:
            self._tell("has terms, but is not one of the offered operations.", name)

    def _terms(self) -> dict[str, OperationTerms]:
        found: dict[str, OperationTerms] = {}
        for one in self._settings.terms:
            if not one.operation:
                self._tell("has terms without the name of an operation.")
            elif one.operation in found:
                self._tell("has terms twice; write one table.", one.operation)
            else:
                found[one.operation] = one
        return found

    def _chosen(self, document: Document) -> Iterator[Operation]:
        known: dict[str, Operation] = {}
        for operation in document.operations():
            if operation.id in known:
                self._tell("is the operationId of two operations; rename one.", operation.id)
            elif operation.id:
                known[operation.id] = operation
            elif ALL in self._settings.operations:
                place = f"{operation.method.upper()} {operation.path}"
                self._tell("has no operationId; give it one.", place)
        chosen = self._settings.operations
        for name in known if chosen == (ALL,) else dict.fromkeys(chosen):
            if name in known:
                yield known[name]
            else:
                self._tell(f"is not in the file; {_listed(name, known)}.", name)

    def _tell(self, message: str, name: str = "") -> None:
        place = f"openapi, {self._settings.file}" if self._settings.file else "openapi"
        self.problems.append(Problem(f"{place}, {name}" if name else place, message))


def _listed(name: str, known: Mapping[str, Operation]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"there is {near[0]}"
    shown = ", ".join(list(known)[:_MOST_SHOWN]) or "none that can be offered"
    return f"there are {shown}"
