"""The tables in `docs/protocols/errors.md`, written from the code.

    python -m tests.docs.error_catalogue

rewrites what stands between the two markers of that page.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence

from aitp_desk.model import errors
from aitp_desk.model.error_kind import CataloguedCode, ErrorKind, FailureCode
from aitp_desk.model.errors import DeskError
from aitp_desk.protocols.a2a.errors_wire import find_refusal
from aitp_desk.protocols.ahp.error_wire import render_error as render_ahp
from aitp_desk.protocols.aitp.wire import render_error as render_aitp
from aitp_desk.protocols.base.errors import find_status
from aitp_desk.protocols.mcp.routes import render_error as render_mcp
from aitp_desk.protocols.oauth.wire import render_error as render_oauth
from aitp_desk.web.pages.blocks.texts import ENGLISH, find_texts
from aitp_desk.web.pages.wire import get_text_key
from tests.docs.tables.errors import BEGIN, END, PAGE
from tests.support.protocols.refusals import CLASSES, make_error

_MESSAGE = "It is wrong."


def with_catalogue(page: str) -> str:
    """The page with the present tables between its markers."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    tables = "\n\n".join((_causes(), _names(), _further_names(), _failures()))
    return f"{before}{BEGIN}\n\n{tables}\n\n{END}{after}"


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(cells)} |".replace("|  |", "| |") for cells in (head, *rows)]
    while any("|  |" in line for line in lines):
        lines = [line.replace("|  |", "| |") for line in lines]
    return "\n".join((f"## {title}\n", lines[0], f"|{' --- |' * len(head)}", *lines[1:]))


def _explained(code: CataloguedCode) -> tuple[str, str, str]:
    return code.meaning, code.cause, code.cure


def _causes() -> str:
    rows = [
        (f"`{kind.value}`", str(find_status(kind)), *_explained(kind), _again(kind))
        for kind in ErrorKind
    ]
    head = ("Kind", "Status", "What it means", "Likely cause", "What to do", "Retry helps")
    return _table("Causes and cures", head, rows)


def _again(kind: ErrorKind) -> str:
    return "yes" if kind.is_passing else ""


def _names() -> str:
    head = (
        "Kind",
        "Threads: `type`",
        "AHP: `code`",
        "AHP: `detail`",
        "MCP",
        "A2A",
        "A2A: reason",
        "OAuth",
        "Page",
    )
    texts = find_texts(ENGLISH)
    rows = []
    for kind in ErrorKind:
        error = make_error(_base(kind), _MESSAGE)
        ahp = json.loads(render_ahp(error, {}).body)
        refusal = find_refusal(error)
        codes = (
            kind.value,
            json.loads(render_aitp(error, {}).body)["error"]["type"],
            ahp["code"],
            ahp.get("detail", ""),
            json.loads(render_mcp(error, {}).body)["error"]["code"],
            refusal.code,
            refusal.reason,
            _oauth(error),
        )
        rows.append((*(_code(one) for one in codes), texts.say(get_text_key(kind))))
    return _table("The name of each kind", head, rows)


def _further_names() -> str:
    """What a protocol calls by a name of its own, where its kind has another."""
    rows = []
    response_type = errors.UnsupportedGrant(_MESSAGE, param="response_type")
    for error in (*(make_error(made, _MESSAGE) for made in CLASSES), response_type):
        made, base = type(error), make_error(_base(error.kind), _MESSAGE)
        meaning = inspect.cleandoc(made.__doc__ or "").partition("\n")[0].removesuffix(".")
        if (code := _oauth(error)) != _oauth(base):
            rows.append((_code(code), "OAuth", _code(made.kind.value), meaning))
        if (refusal := find_refusal(error)) != find_refusal(base):
            name = f"{_code(refusal.code)} {_code(refusal.reason)}"
            rows.append((name, "A2A", _code(made.kind.value), meaning))
    return _table("Further names", ("Name", "Protocol", "Kind", "What it means"), rows)


def _failures() -> str:
    rows = [(f"`{code.value}`", *_explained(code)) for code in FailureCode]
    head = ("Code", "What it means", "Likely cause", "What to do")
    return _table("Failures of calls and runs", head, rows)


def _code(name: object) -> str:
    return "" if name == "" else f"`{name}`"


def _oauth(error: DeskError) -> str:
    return str(json.loads(render_oauth(error, {}).body)["error"])


def _base(kind: ErrorKind) -> type[DeskError]:
    """The most general error of a kind."""
    return min((made for made in CLASSES if made.kind is kind), key=lambda made: len(made.mro()))


if __name__ == "__main__":
    PAGE.write_text(with_catalogue(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
