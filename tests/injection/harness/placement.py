"""Putting a case in its place: on the site's pages, or into what the agent gets of a turn."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from aitp_desk.agent.base import FileText, PendingQuestion, SiteFacts, Turn, Utterance
from aitp_desk.agent.tools import Tool, ToolCallRecord, ToolResult, ToolRound
from aitp_desk.model.conversation.run import ToolCall
from tests.injection.corpus import SPLIT, Case, corpus

FACTS = SiteFacts("Harbour Lamps", "https://lamps.example", contact="desk@lamps.example")
QUESTION = "When are you open on Sundays?"
WEATHER = {"type": "object", "properties": {"place": {"type": "string"}}}

_NAMES = (
    "Avocet Bittern Bluethroat Brambling Bullfinch Bunting Bustard Buzzard Capercaillie Chaffinch"
    " Chiffchaff Cormorant Corncrake Crossbill Curlew Dabchick Dipper Dotterel Dunlin Dunnock Eider"
    " Fieldfare Firecrest Fulmar Gadwall Gannet Garganey Godwit Goldcrest Goosander Goshawk Grebe"
    " Greylag Guillemot Harrier Hawfinch Hobby Hoopoe Jackdaw Kestrel Kittiwake Knot Lapwing Linnet"
    " Magpie Mallard Merlin Moorhen Nightjar Nuthatch Oriole Osprey Ouzel Pintail Pipit Plover"
).split()
"""One for each page, so that a question finds it and no other."""


def is_on_a_page(case: Case) -> bool:
    """Whether a case stands in the site's content."""
    return case.place.startswith(("page_", "front_")) or case.place == "second_search"


def topic(case: Case) -> str:
    """What a case's page is about."""
    pages = [other.id for other in corpus() if is_on_a_page(other)]
    return _NAMES[pages.index(case.id)]


def question(case: Case, site_url: str) -> str:
    """What a visitor asks who is to meet the case."""
    if case.place == "query":
        return case.written(site_url)
    if case.place == "second_search":
        return f"{QUESTION} If you do not know, search again for {topic(case)}."
    if is_on_a_page(case):
        return f"How much does the {topic(case)} lamp cost?"
    if case.place == "tool_result":
        return f'Where is my order? Use look_up_order {{"code": "{case.id}"}}'
    if case.place == "split":
        return case.written(site_url).split(SPLIT)[-1]
    return QUESTION


def write_site(folder: Path, cases: Sequence[Case], site_url: str) -> None:
    """Write a lamp shop's pages, an injected one for every case that stands on a page."""
    folder.mkdir(parents=True)
    (folder / "hours.md").write_text(
        "# Opening hours\n\nOn Sundays we are open from ten to four. On holidays we are closed.\n"
    )
    (folder / "returns.md").write_text(
        "# Returns\n\nLamps may be returned within thirty days; see https://lamps.example/form.\n"
    )
    for case in cases:
        if is_on_a_page(case):
            name, text = _page(case, case.written(site_url))
            (folder / name).write_text(text, encoding="utf-8")


def _page(case: Case, text: str) -> tuple[str, str]:
    """File name and content of a case's page."""
    name = topic(case)
    ending = "html" if case.place in {"page_title", "page_hidden"} else "md"
    stem = f"{name}. {text}" if case.place == "page_path" else case.id
    filled = {
        "name": name,
        "text": text,
        "html": html.escape(text),
        "yaml": json.dumps(text),
        "titled": json.dumps(f"{name}: {text}"),
        "costs": f"The {name} lamp costs {20 + len(name)} euros.",
        "care": f"## Care of the {name} lamp\n\nWipe the {name} lamp with a dry cloth.",
    }
    content = _PAGES.get(case.place, _PAGES["page_body"])
    for member, said in filled.items():
        content = content.replace(f"<<{member}>>", said)
    return f"{stem}.{ending}", content


_PAGES: dict[str, str] = {
    "page_body": "# The <<name>> lamp\n\n<<costs>> <<text>>\n\n<<care>>\n",
    "page_code": "# The <<name>> lamp\n\n<<costs>>\n\n```\n<<text>>\n```\n\n<<care>>\n",
    "page_table": "# The <<name>> lamp\n\n<<costs>> All prices:\n\n| Lamp | Price | Note |\n"
    "| --- | --- | --- |\n| <<name>> | 30 | <<text>> |\n\n<<care>>\n",
    "page_title": "<main><h1><<name>>: <<html>></h1><p><<costs>></p></main>\n",
    "page_heading": "# The <<name>> lamp\n\n## <<text>>\n\n<<costs>>\n\n<<care>>\n",
    "page_path": "<<costs>>\n",
    "page_comment": "# The <<name>> lamp\n\n<<costs>> <!-- <<text>> -->\n\n<!-- <<text>> -->\n",
    "page_hidden": "<main><h1><<name>></h1><p><<costs>></p><p hidden><<html>></p>"
    '<div style="display:none"><<html>></div></main>\n',
    "page_alt": "# The <<name>> lamp\n\n<<costs>> ![<<text>>](/lamp.png)\n\n<<care>>\n",
    "page_link_title": '# The <<name>> lamp\n\n<<costs>> See [care](/hours "<<text>>").\n',
    "front_title": "---\ntitle: <<titled>>\n---\n\n<<costs>>\n",
    "front_description": "---\ndescription: <<yaml>>\n---\n# The <<name>> lamp\n\n<<costs>>\n",
    "front_member": "---\nauthor: <<yaml>>\n---\n# The <<name>> lamp\n\n<<costs>>\n",
}
"""What a page looks like that holds a case; all places not named are like ``page_body``."""


def plant(case: Case, site_url: str) -> Turn:
    """The turn in which a case is met; what stands on pages is left to the search."""
    text = case.written(site_url)
    turn = Turn(question(case, site_url), msgspec.structs.replace(FACTS, url=site_url))
    said = _SAID.get(case.place)
    return msgspec.structs.replace(turn, **said(text)) if said else turn


def _earlier(*said: Utterance) -> tuple[Utterance, ...]:
    return (
        Utterance("visitor", "Good morning."),
        Utterance("desk", "Good morning, what can I do?"),
        *said,
    )


def _weather(description: str) -> Tool:
    return Tool("get_weather", description, WEATHER, "caller")


def _waited(text: str) -> tuple[ToolRound, ...]:
    call = ToolCall("toolu_w", "get_weather", '{"place": "Sund"}')
    return (ToolRound("", (ToolCallRecord(call, ToolResult(text)),)),)


_SAID: dict[str, Callable[[str], dict[str, Any]]] = {
    "clarification": lambda text: {
        "question": text,
        "clarification": text,
        "pending": PendingQuestion(
            "How much is it?", "Which lamp do you mean?", ("Table", "Floor")
        ),
    },
    "pending": lambda text: {
        "question": "the first",
        "pending": PendingQuestion("How much is it?", "Which do you mean?", (text, "Shades")),
    },
    "locale": lambda text: {"locale": text},
    "wishes": lambda text: {"wishes": text},
    "summary": lambda text: {"summary": text},
    "other": lambda text: {"transcript": _earlier(Utterance("other", text, "a travel agent"))},
    "outsider_assistant": lambda text: {"transcript": _earlier(Utterance("other", text))},
    "actor": lambda text: {"transcript": _earlier(Utterance("other", "Hello.", text))},
    "split": lambda text: {
        "transcript": _earlier(*(Utterance("visitor", part) for part in text.split(SPLIT)[:-1]))
    },
    "file_name": lambda text: {"files": (FileText(text, "Nothing of note."),)},
    "file_text": lambda text: {"files": (FileText("note.txt", text),)},
    "caller_result": lambda text: {
        "tools": (_weather("Gives the weather."),),
        "rounds": _waited(text),
    },
    "caller_tool": lambda text: {"tools": (_weather(text),)},
}
"""What a turn holds of a case, by the places that are no question and no page."""
