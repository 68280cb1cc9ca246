"""The root document: an overview of the desk in HAC (HAC 1.0, section 7)."""

from __future__ import annotations

from collections.abc import Iterator

from aitp_desk import own_version
from aitp_desk.desk.desk import Desk
from aitp_desk.http.hac.context import ProtocolPaths
from aitp_desk.model.calls.resource import ResourceType
from aitp_desk.protocols.base.action_affordances import list_callable_actions, may_converse
from aitp_desk.protocols.base.affordances import Overview, RelatedAddress
from aitp_desk.protocols.base.discovery_links import MANIFEST_PATH
from aitp_desk.protocols.base.protocol import Call, Handler, Reply

_CONTENT_PATH = "/llms.txt"


def make_overview(ways: ProtocolPaths) -> Handler:
    """Make the handler of the root of each desk.

    Parameters:
        ways: the paths of the process's protocols.
    """

    async def answer(desk: Desk, call: Call) -> Reply:
        site = desk.site
        about = (
            f"{site.name} answers questions about its content and offers the actions listed here."
            " Each address describes itself and its current actions if it is requested as"
            " application/vnd.hac+json."
        )
        overview = Overview(
            site.name,
            f"{site.description} {about}".strip(),
            own_version(),
            tuple(_places(ways, desk, call)),
        )
        return Reply(200, seen=overview)

    return answer


def _places(ways: ProtocolPaths, desk: Desk, call: Call) -> Iterator[RelatedAddress]:
    at = desk.base_path
    principal, allowance = call.principal, call.allowance
    if may_converse(principal, allowance):
        text = (
            "Conversations. Open one with your message or question; the response has its id and"
            " the possible next requests."
        )
        yield RelatedAddress("threads", f"{at}/v1/threads", text, ("POST",))
    if ways.capabilities:
        href = f"{at}{ways.capabilities}"
        yield RelatedAddress("capabilities", href, "The list of actions.", ("GET",))
        for action in list_callable_actions(desk, principal, allowance):
            href = f"{at}{ways.capabilities}/{action.name}"
            rel = action.name.replace("_", "-")
            yield RelatedAddress(rel, href, action.summary, ("GET", "POST"))
    for type_ in desk.resources.list_types(principal):
        yield _place_of(type_, at)
    if not desk.name:
        text = "One question, one answer, with the capabilities of the manifest (AHP)."
        yield RelatedAddress("converse", ways.converse, text, ("POST",))
        text = "One line for each page of the site (Markdown)."
        yield RelatedAddress("contents", _CONTENT_PATH, text, ("GET",))
        yield RelatedAddress("ahp-manifest", MANIFEST_PATH, "The AHP manifest.", ("GET",))
        if ways.agents_txt:
            text = "The capabilities for agents."
            yield RelatedAddress("agents-txt", ways.agents_txt, text, ("GET",))
    if ways.openapi:
        text = "The description of every address (OpenAPI)."
        yield RelatedAddress("service-desc", f"{at}{ways.openapi}", text, ("GET",))


def _place_of(type_: ResourceType, at: str) -> RelatedAddress:
    rel, template = type_.name.replace("_", "-"), f"{at}{type_.template}"
    if not type_.template.names:
        return RelatedAddress(rel, template, type_.summary, ("GET",))
    text = f"{type_.summary} Each one is at {template}."
    # the base itself may answer 404, whose recovery names the template
    return RelatedAddress(rel, f"{at}{type_.template.base}", text, (), template)
