"""Groups the operations of an OpenAPI document by what a reader wants to do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec


class Operation(msgspec.Struct, frozen=True):
    """An operation with its method and its path.

    Parameters:
        item: as the document has it.
    """

    method: str
    path: str
    item: Mapping[str, Any]

    @property
    def id(self) -> str:
        """Its id on the page, which is that of the document."""
        return str(self.item["operationId"])


class Task(msgspec.Struct, frozen=True):
    """A group of operations.

    Parameters:
        tags: of its operations.
        paths: a pattern that finds its paths, whatever their tags; empty for none.
    """

    id: str
    title: str
    tags: frozenset[str]
    paths: str = ""

    def has(self, operation: Operation) -> bool:
        """Return whether an operation belongs to it by its path."""
        return bool(self.paths) and re.search(self.paths, operation.path) is not None


def _task(id_: str, title: str, tags: str = "", paths: str = "") -> Task:
    return Task(id_, title, frozenset(tags.split()), paths)


TASKS = (
    _task("actions", "Call the site's actions", "capabilities", r"/capabilities($|/\{)"),
    _task("records", "Read the site's records", "resources"),
    _task("questions", "Ask a question", "ahp nlweb", r"/v1/(chat|responses)"),
    _task("threads", "Converse on a thread", "aitp"),
    _task("runs", "Run an agent of the site", "", r"/runs|/v1/(assistants|models)"),
    _task("files", "Exchange files", "", r"/v1/(files|sealed)"),
    _task("agents", "Call tools and give tasks", "mcp a2a peers"),
    _task("credentials", "Get a credential", "oauth"),
    _task(
        "discovery",
        "Find out what is served",
        "agents.txt discovery content key openapi schemas",
    ),
    _task("pages", "Read and search the pages", "pages search widget"),
    _task("health", "Watch the desk", "health metrics"),
    _task("console", "Work as an operator", "console"),
)
"""The groups in the order of the page; an operation belongs to the first that has its path, else
to the first that has its tag."""


def group_operations(operations: Iterable[Operation]) -> dict[Task, list[Operation]]:
    """Return the operations by their tasks: what is declared first, a tag unknown as a task."""
    found: dict[Task, list[Operation]] = {task: [] for task in TASKS}
    for operation in operations:
        found.setdefault(_find_task(operation), []).append(operation)
    found[TASKS[0]].sort(key=lambda one: one.item["tags"] != ["capabilities"])
    return {task: members for task, members in found.items() if members}


def _find_task(operation: Operation) -> Task:
    tag = str(operation.item["tags"][0])
    by_path = (task for task in TASKS if task.has(operation))
    by_tag = (task for task in TASKS if tag in task.tags)
    return next(by_path, None) or next(by_tag, None) or Task(tag, tag, frozenset({tag}))
