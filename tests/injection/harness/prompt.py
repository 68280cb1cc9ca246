"""The request that a case becomes, made by the prompt alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from aitp_desk.agent.base import Turn
from aitp_desk.agent.generative import prompt
from aitp_desk.agent.generative.passages import Excerpt
from aitp_desk.agent.tools import Tool, ToolCallRecord, ToolResult
from aitp_desk.knowledge.documents.languages import Languages
from aitp_desk.knowledge.editions import open_editions
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.sources.loader import read_files
from aitp_desk.model.conversation.run import ToolCall
from tests.injection.corpus import Case, corpus, twin
from tests.injection.harness.placement import is_on_a_page, plant, topic, write_site

SITE_URL = "https://lamps.example"
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
OFFERED = (
    Tool("look_up_order", "Where an order is.", NOTHING),
    Tool("send_voucher", "Sends a voucher.", NOTHING),
)
Build = Callable[[Case], dict[str, Any]]


def builder(folder: Path) -> Build:
    """What makes the request of a case, or of its twin, as the model is sent it."""
    libraries: dict[bool, Library] = {}
    for harmless in (False, True):
        cases = [twin(case) if harmless else case for case in corpus()]
        write_site(folder / str(harmless), cases, SITE_URL)
        raw = read_files(folder / str(harmless))
        libraries[harmless] = open_editions(raw, folder, {}, Languages()).library

    def built(case: Case) -> dict[str, Any]:
        library = libraries[case not in corpus()]
        turn = plant(case, SITE_URL)
        return request_of(case, turn, library)

    return built


def request_of(case: Case, turn: Turn, library: Library) -> dict[str, Any]:
    turn = msgspec.structs.replace(turn, tools=OFFERED + turn.tools)
    excerpts = _page_of(case, library) if is_on_a_page(case) else ()
    asked = () if case.place == "second_search" else excerpts
    messages = prompt.messages(turn, asked)
    names = prompt.wire_names(turn.tools)
    for step in turn.rounds:
        messages += [
            prompt.call_message(step.text, step.called, names),
            prompt.result_message(step.called, {}),
        ]
    if case.place == "second_search":
        called = ToolCallRecord(ToolCall("toolu_s", prompt.SEARCH_CALL, '{"query": "it"}'))
        messages += [
            prompt.call_message("", [called], names),
            prompt.result_message([called], {"toolu_s": tuple(excerpts)}),
        ]
    if case.place == "tool_result":
        call = ToolCall("toolu_o", "look_up_order", "{}")
        called = ToolCallRecord(call, ToolResult(case.written(SITE_URL)))
        messages += [
            prompt.call_message("", [called], names),
            prompt.result_message([called], {}),
        ]
    return {
        "system": prompt.system(turn.site),
        "messages": messages,
        "tools": prompt.tools(turn.tools),
    }


def _page_of(case: Case, library: Library) -> list[Excerpt]:
    pages = [
        document.path
        for document in library.documents
        if document.source.startswith((f"{case.id}.", f"{topic(case)}. "))
    ]
    assert len(pages) == 1
    return [
        Excerpt(library.passages[number], library.passages[number].text)
        for number in library.numbers(pages[0])
    ]
