"""Secrets as arguments: what callers are told of them, and that they show themselves nowhere."""

from __future__ import annotations

import copy
import json
import logging
import pickle
from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec
import pytest
from msgspec import Meta

from aitp_desk.actions import Context, Field, Fill, Secret, action, resource
from aitp_desk.actions.base import Caller
from aitp_desk.actions.declaration.action_builder import build_action
from aitp_desk.actions.declaration.resource_builder import build_resource
from aitp_desk.actions.schemas.json_schema import json_schema
from aitp_desk.actions.schemas.types import check_kind
from aitp_desk.agent.slots.filler import fill_arguments
from aitp_desk.agent.slots.replies.confirmation import write_summary
from aitp_desk.desk.dialogue.tools.agent_tools import make_tool
from aitp_desk.model.access.sealed_value import LONGEST_VALUE, make_ref, sealed_as
from aitp_desk.model.errors import InvalidRequest
from tests.support.doubles.agent import NOON

TEXT = "hunter-2-hunter"
CONTEXT = Context("call_1", Caller())


class Login(msgspec.Struct, frozen=True):
    """Who signs in.

    Attributes:
        pins: further ones.
    """

    user: str
    password: (
        Annotated[Secret, Meta(extra_json_schema={"autocomplete": "current-password"})] | None
    ) = None
    pins: tuple[Secret, ...] = ()


@action
def sign_in(login: Login, code: Secret, note: str = "") -> str:
    """Sign a caller in.

    Args:
        code: the one-time code.
    """
    return f"{login.user} {code} {note}"


def offered(declared: Any = sign_in) -> Any:
    wrong: list[str] = []
    made = build_action(declared, wrong.append)
    assert made is not None, wrong
    return made


def test_callers_are_told_that_it_is_written_and_not_read() -> None:
    schema = json_schema(Login)["properties"]
    secret = {"type": "string", "writeOnly": True, "format": "password"}
    assert schema["password"]["anyOf"] == [
        {**secret, "autocomplete": "current-password"},
        {"type": "null"},
    ]
    assert schema["pins"]["items"] == secret
    code = offered().action.input_schema["properties"]["code"]
    assert code == {**secret, "description": "the one-time code."}


def test_it_is_read_from_text_alone_and_refusals_repeat_nothing() -> None:
    read = offered().read
    login = {"user": "aya", "password": TEXT, "pins": [TEXT]}
    value = read({"login": login, "code": TEXT})
    assert value.code == Secret(TEXT) == value.login.password == value.login.pins[0]
    assert value.code.reveal() == TEXT
    for code in (7, None, [TEXT], {"sealed": "sealed_x"}, {"text": TEXT}, TEXT * LONGEST_VALUE):
        with pytest.raises(InvalidRequest, match="'code' must be text") as caught:
            read({"login": login, "code": code})
        assert caught.value.param == "code"
        assert TEXT not in caught.value.message


def test_it_shows_itself_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    secret = Secret(TEXT)
    value = offered().read({"login": {"user": "aya"}, "code": TEXT})
    logging.getLogger("site").warning("%s %r", secret, value)
    shown = [str(secret), repr(secret), f"{secret}", f"{secret:>40}", repr(value), caplog.text]
    shown += [str([secret]), "%s" % secret, str(vars(Login)), str(dir(secret))]  # noqa: UP031
    assert TEXT not in "".join(shown)
    for attempt in (
        lambda: json.dumps(secret),
        lambda: msgspec.json.encode(secret),
        lambda: msgspec.to_builtins(value),
        lambda: pickle.dumps(secret),
        lambda: copy.deepcopy(secret),
        lambda: hash(secret),
    ):
        with pytest.raises(TypeError) as caught:
            attempt()
        assert TEXT not in str(caught.value)
    assert secret != Secret("another")
    assert secret != TEXT


def test_what_a_type_of_the_sites_own_is_still_refused() -> None:
    class Own:
        """Something else."""

    assert check_kind(Secret) is None
    assert "Own has no form in JSON" in (check_kind(Own) or "")


def test_no_action_returns_one() -> None:
    @action
    def tell(user: str) -> Login:
        """Tell who signs in."""
        return Login(user)

    wrong: list[str] = []
    assert build_action(tell, wrong.append) is None
    assert wrong == ["returns a Secret, which callers must not receive; return another value."]


def test_no_resource_is_named_by_one() -> None:
    @resource("/codes/{code}")
    def code(code: Secret) -> str:
        """Tells of a code."""
        return "It is there."

    wrong: list[str] = []
    assert build_resource(code, lambda _name: True, wrong.append) is None
    assert wrong == ["has the Secret 'code' in its path, where others can read it; write str."]


async def test_the_sites_form_for_one_is_sensitive_and_that_is_all_it_learns() -> None:
    seen: list[Any] = []

    @action
    def enter(login: Login, code: Secret) -> str:
        """Enter."""
        return "Entered."

    @enter.asks("code")
    def ask_code(login: Login | None, code: Secret | None) -> Fill | None:
        seen.append((login, code))
        return None if code else Fill(title="Which?", fields=(Field(id="code"),))

    ref = sealed_as(make_ref("call_1", "code"))
    asking = offered(enter).asks["code"]
    asked = await asking.question({"login": {"user": "aya", "password": ref}}, CONTEXT)
    assert asked.fields[0].sensitive
    assert seen[0][0].password == Secret("(sealed)")
    assert await asking.question({"code": ref}, CONTEXT) is None


def test_it_is_retold_that_it_is_there_and_no_more() -> None:
    arguments = {"login": {"user": "aya", "password": TEXT, "pins": [TEXT, TEXT]}, "code": TEXT}
    told = " ".join(write_summary(offered().action, arguments, None))
    assert "code (sealed)" in told
    assert "aya" in told
    assert TEXT not in told


def test_it_is_not_read_from_words() -> None:
    words = f"sign in, user is aya, code is {TEXT}, password is {TEXT}, note is hello"
    filled = fill_arguments(offered().action, words, now=datetime.fromtimestamp(NOON, UTC))
    assert TEXT not in json.dumps(filled.arguments)
    assert TEXT not in json.dumps(filled.memory)
    assert [missing.path for missing in filled.missing] == ["login.user", "code"]


def test_no_model_is_asked_to_write_one() -> None:
    schema = make_tool(offered().action).parameters
    assert list(schema["properties"]) == ["login", "note"]
    assert schema["required"] == ["login"]
