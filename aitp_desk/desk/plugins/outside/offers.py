"""What capabilities tell whoever calls, offered as the site's own actions are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from aitp_desk.actions.base import Context, Done, Offered
from aitp_desk.capability import Component, Inquiry, Query
from aitp_desk.desk.maintenance.health_checks import Checking
from aitp_desk.desk.plugins.registry import Capabilities
from aitp_desk.model.calls.action import DATA, TEXT_ANSWER, Action


def offered_by(capabilities: Capabilities, checking: Checking) -> tuple[Offered, ...]:
    """Make what all capabilities of a site offer.

    Parameters:
        checking: knows how the desk is.
    """
    return tuple(
        offer(query, checking.components)
        for enabled in capabilities.all
        for query in enabled.queries
    )


def offer(query: Query, components: Callable[[], Awaitable[Sequence[Component]]]) -> Offered:
    """Make what one query offers.

    Parameters:
        components: tells how the parts of the desk are.

    Raises:
        TypeError: its arguments or its result have a type that has no JSON Schema.
    """
    # what makes schemas of types is loaded only where something is made of them
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

    async def perform(arguments: Any, context: Context) -> Done:
        inquiry = Inquiry(
            now=int(context.now.timestamp()),
            scopes=frozenset(context.caller.scopes),
            components=components,
        )
        result = await query.answer(arguments, inquiry)
        return Done(write_result(query.answer, gives, result), query.as_text(result))

    def read(arguments: Mapping[str, Any]) -> Any:
        return read_arguments(takes, arguments)

    return Offered(action, read=read, perform=perform)
