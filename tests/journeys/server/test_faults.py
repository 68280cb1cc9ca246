"""What a fault of the desk shows to whom: an id to the caller, the traceback to the log."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NoReturn

import msgspec
import pytest
import structlog

from aitp_desk.agent.base import Answer, Outcome, Turn
from aitp_desk.config import Log
from aitp_desk.desk.conversations.service import ConversationService
from aitp_desk.desk.maintenance.readiness import ReadinessReport
from aitp_desk.desk.threads.creation import ThreadCreation
from aitp_desk.desk.threads.messages import MessageService
from aitp_desk.desk.threads.reader import ThreadReader
from aitp_desk.observability.logs import set_up_logs
from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.doubles.agent import ScriptedAgent

DETAIL = "a detail that nobody outside may read"
ID = re.compile(r"\b[0-9a-f]{16}\b")


class Logged:
    """What the desk has logged since the test began."""

    def __init__(self) -> None:
        self._stream = io.StringIO()

    def begin(self, form: Literal["json", "console"], monkeypatch: pytest.MonkeyPatch) -> None:
        """Set up the logs as a serving desk does, down to the last detail."""
        monkeypatch.setattr("sys.stderr", self._stream)
        set_up_logs(Log(format=form, level="debug"))

    @property
    def text(self) -> str:
        return self._stream.getvalue()

    @property
    def faults(self) -> list[dict[str, Any]]:
        """The lines of faults, logged as JSON."""
        lines = [json.loads(line) for line in self.text.splitlines()]
        return [line for line in lines if line["event"] == "fault"]


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> Iterator[Logged]:
    """The log of this test alone; what others logged to is put back."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield Logged()
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)


async def break_down(*_what: object, **_more: object) -> NoReturn:
    """Stand in for any method of the desk that has a fault."""
    raise RuntimeError(DETAIL)


def check_told(said: str, logged: Logged, door: str) -> None:
    """The caller was told an id and nothing else; the log has the traceback under it."""
    assert DETAIL not in said
    assert "Traceback" not in said
    assert "RuntimeError" not in said
    (line,) = logged.faults
    assert line["request_id"] in ID.findall(said)
    assert (line["level"], line["protocol"]) == ("error", door)
    assert f"RuntimeError: {DETAIL}" in line["exception"]


@pytest.mark.parametrize(
    ("method", "path", "broken", "door", "code"),
    [
        ("GET", f"{THREADS}/thread_1", (ThreadReader, "read_thread"), "aitp", "internal"),
        ("POST", THREADS, (ThreadCreation, "open_thread"), "aitp", "internal"),
        (
            "POST",
            f"{THREADS}/thread_1/messages",
            (MessageService, "post_message"),
            "aitp",
            "internal",
        ),
        ("POST", "/agent/converse", (ConversationService, "ask"), "ahp", "concierge_error"),
        ("GET", "/ready", (ReadinessReport, "check"), "health", "internal"),
    ],
)
async def test_a_fault_in_a_handler_is_an_id_outside_and_a_traceback_inside(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    logged: Logged,
    method: str,
    path: str,
    broken: tuple[type, str],
    door: str,
    code: str,
) -> None:
    monkeypatch.setattr(*broken, break_down)
    async with talking(tmp_path) as talker:
        logged.begin("json", monkeypatch)
        body = {"content": "Hello.", "messages": ["Hello."]} if method == "POST" else None
        if door == "ahp":
            body = {"capability": "contact", "query": "Hello."}
        told = await talker.send(method, path, body)
        assert told.status == 500
        assert (told.body.get("error") or told.body)["code"] == code
        check_told(json.dumps(told.body), logged, door)
        assert (await talker.send("GET", "/health")).ok == {"status": "ok"}


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
async def test_a_fault_of_a_page_is_rendered_as_a_page_or_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, logged: Logged, accept: str
) -> None:
    async with talking(tmp_path) as talker:

        class Broken:
            @property
            def editions(self) -> NoReturn:
                raise RuntimeError(DETAIL)

        msgspec.structs.force_setattr(talker.desk.desk, "knowledge", Broken())
        logged.begin("json", monkeypatch)
        async with talker.http.get("/about", headers={"Accept": accept}) as response:
            assert response.status == 500
            assert response.content_type == accept
            check_told(await response.text(), logged, "pages")


async def test_a_fault_of_the_agent_fails_its_run_and_says_nothing_of_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, logged: Logged
) -> None:
    async with talking(tmp_path, agent=ScriptedAgent(break_down)) as talker:
        logged.begin("json", monkeypatch)
        opened = await talker.open("Hello.", wait=10)
        assert opened.ok["run"]["status"] == "failed"
        assert DETAIL not in json.dumps(opened.body)
        (line,) = logged.faults
        assert line["run"] == opened.ok["run"]["id"]
        assert f"RuntimeError: {DETAIL}" in line["exception"]


@pytest.mark.parametrize("form", ["json", "console"])
async def test_no_message_credential_or_id_that_opens_something_is_ever_logged(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    logged: Logged,
    form: Literal["json", "console"],
) -> None:
    async def answer(turn: Turn) -> Outcome:
        if "break" in turn.question:
            raise RuntimeError
        return Answer("the-words-of-the-answer")

    async with talking(tmp_path, agent=ScriptedAgent(answer)) as talker:
        known = await talker.with_key("threads")
        worthless = f"desk_{'ab' * 8}_{'cd' * 32}"
        nobody = Talker(talker.desk, tmp_path, talker.http, worthless)
        logged.begin(form, monkeypatch)

        once = [("Idempotency-Key", "the-key-of-the-request")]
        opened = await talker.open("the-words-of-the-visitor", wait=10, headers=once)
        secrets = [opened.id]
        await talker.post(opened.id, "break the-words-of-the-visitor", wait=10)
        await talker.post(opened.id, "the-words-of-the-visitor", role="nobody")
        await talker.read(opened.id + "x")
        await nobody.open("the-words-of-the-visitor")
        owned = await known.open("the-words-of-the-visitor", metadata={"k": "the-words-of-notes"})
        secrets.append(owned.id)
        question = {"capability": "content_search", "query": "the-words-of-the-visitor"}
        asked = await talker.send("POST", "/agent/converse", question)
        secrets.append(asked.ok["session_id"])
        question["query"] = "break the-words-of-the-visitor"
        broken = await talker.send("POST", "/agent/converse", question)
        assert broken.status == 500
        with monkeypatch.context() as patch:
            patch.setattr(MessageService, "post_message", break_down)
            assert (await talker.post(opened.id, "the-words-of-the-visitor")).status == 500
            patch.setattr(ThreadReader, "read_thread", break_down)
            assert (await known.read(owned.id)).status == 500
        secrets += [str(known.key), worthless, worthless[-64:], str(known.key)[-64:]]
    assert logged.text.count("fault") >= 4
    assert "Traceback" in logged.text
    for secret in (*secrets, "the-words-of", "the-key-of-the-request"):
        assert secret not in logged.text
