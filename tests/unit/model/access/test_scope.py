"""Scopes: which there are, and what they hold."""

from __future__ import annotations

import pytest

from aitp_desk.model.access.scope import (
    check_scopes,
    covers_scope,
    is_open_scope,
    is_operator_scope,
    is_scope,
    opens_action,
    opens_threads,
)
from aitp_desk.model.errors import InvalidRequest


def test_scopes_are_kept_once_in_their_order() -> None:
    scopes = ["operator", "actions:get_quote", "operator", "threads"]
    assert check_scopes(scopes) == ("operator", "actions:get_quote", "threads")


@pytest.mark.parametrize(
    "scope", ["", "thread", "ADMIN", "actions:", "actions:Get", "actions:a-b", "actions:a\n"]
)
def test_a_scope_that_does_not_exist_is_refused(scope: str) -> None:
    with pytest.raises(InvalidRequest, match="the scopes are threads, actions") as caught:
        check_scopes(["threads", scope])
    assert caught.value.param == "scope"


def test_a_credential_without_any_scope_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="needs at least one scope"):
        check_scopes([])


def test_actions_hold_every_single_action_and_nothing_else() -> None:
    assert covers_scope(("actions",), "actions:get_quote")
    assert not covers_scope(("actions:get_quote",), "actions")
    assert not covers_scope(("actions:get_quote",), "actions:get_quotes")
    assert not covers_scope(("admin", "operator"), "threads")


def test_who_runs_the_desk_may_all_that_scopes_open() -> None:
    for scope in ("operator", "admin"):
        assert is_operator_scope({scope})
        assert opens_threads({scope})
        assert opens_action({scope}, "get_quote")
        assert is_scope(scope)
        assert not is_open_scope(scope)


def test_a_scope_opens_what_it_names_alone() -> None:
    assert opens_threads({"threads"})
    assert not opens_threads({"actions", "actions:get_quote"})
    assert opens_action({"actions"}, "get_quote")
    assert opens_action({"actions:get_quote"}, "get_quote")
    assert not opens_action({"threads", "actions:contact"}, "get_quote")
    assert not is_operator_scope({"threads", "actions"})
