"""Whatever is said, the model gets the same instructions, and all that is said stays data."""

from __future__ import annotations

import json

import pytest

from tests.injection.corpus import corpus, twin
from tests.injection.harness.model import obey
from tests.injection.harness.prompt import Build, builder
from tests.injection.harness.structure import skeleton

HARMLESS_CALLS = {"call:look_up_order"}
"""What the visitor asks for, so that a tool has a result."""


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """The request of a case, or of its twin, as the model is sent it."""
    return builder(tmp_path_factory.mktemp("injected"))


def test_every_case_leaves_the_request_as_a_harmless_text_in_its_place_does(build: Build) -> None:
    for case in corpus():
        injected, harmless = build(case), build(twin(case))
        assert json.dumps(injected["system"]) == json.dumps(harmless["system"]), case.id
        assert skeleton(injected) == skeleton(harmless), case.id


def test_every_case_is_read_by_the_obeying_model_but_those_that_do_not_arrive(
    build: Build,
) -> None:
    tried = {case.id: obey(build(case)).tried - HARMLESS_CALLS for case in corpus()}
    missed = {case.id: set(case.tries) - tried[case.id] for case in corpus()}
    assert {id_: missing for id_, missing in missed.items() if missing} == {}
    assert {case.id for case in corpus() if not tried[case.id]} == {
        case.id for case in corpus() if not case.arrives
    }


def test_a_harmless_text_makes_the_obeying_model_do_nothing(build: Build) -> None:
    tried = {case.id: obey(build(twin(case))).tried - HARMLESS_CALLS for case in corpus()}
    assert {id_: done for id_, done in tried.items() if done} == {}


def test_the_tools_are_those_that_the_caller_may_call(build: Build) -> None:
    for case in corpus():
        names = [tool["name"] for tool in build(case)["tools"]]
        own = ["search_site", "ask_visitor", "site_look_up_order", "site_send_voucher"]
        callers = ["caller_get_weather"] if case.place.startswith("caller_") else []
        assert names == own + callers, case.id
