"""Offers the queries of plugins as actions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from aitp_desk.actions.base import ActionResult, Context, OfferedAction
from aitp_desk.capability import Component, Inquiry, Query
from aitp_desk.desk.maintenance.health_checks import HealthChecks
from aitp_desk.desk.plugins.registry import PluginRegistry
from aitp_desk.model.calls.action import DATA, TEXT_ANSWER, Action


def make_plugin_actions(
    capabilities: PluginRegistry, health_checks: HealthChecks
) -> tuple[OfferedAction, ...]:
    """Return the actions of all plugins of a site.

    Parameters:
        health_checks: returns the health of the desk's components.
    """
    return tuple(
        make_plugin_action(query, health_checks.get_components)
        for enabled in capabilities.all
        for query in enabled.queries
    )


def make_plugin_action(
    query: Query, components: Callable[[], Awaitable[Sequence[Component]]]
) -> OfferedAction:
    """Return the action of one query.

    Parameters:
        components: returns the desk's components.

    Raises:
        TypeError: its arguments or its result have a type without a JSON Schema.
    """
    # schema generation is imported only where it is needed
    from aitp_desk.actions.declaration.parts import read_arguments, write_result
    from aitp_desk.actions.schemas.shape import Shape

    takes = Shape(query.arguments, whole="The arguments")
    gives = Shape(query.result, whole="the result")
    action = Action(
        query.name,
        query.summary,
        answer_types=(DATA, TEXT_ANSWER),
        accept_fallback=True,
        input_schema=takes.schema,
        output_schema=gives.schema,
    )

    async def perform(arguments: Any, context: Context) -> ActionResult:
        inquiry = Inquiry(
            now=int(context.now.timestamp()),
            scopes=frozenset(context.caller.scopes),
            components=components,
        )
        result = await query.answer(arguments, inquiry)
        return ActionResult(write_result(query.answer, gives, result), query.as_text(result))

    def read(arguments: Mapping[str, Any]) -> Any:
        return read_arguments(takes, arguments)

    return OfferedAction(action, read=read, perform=perform)
