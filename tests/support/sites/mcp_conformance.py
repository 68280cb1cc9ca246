"""A site that has, as far as a desk can, what the MCP conformance suite calls by name."""

from __future__ import annotations

from aitp_desk.actions import InvalidRequest, action


@action(kind="query", open_to="anyone")
def test_simple_text() -> str:
    """Says a simple text."""
    return "This is a simple text response for testing."


@action(kind="query", open_to="anyone")
def test_error_handling() -> str:
    """Fails always."""
    raise InvalidRequest("This tool intentionally returns an error for testing.")


@action(kind="query", open_to="anyone")
def test_input_required_result_tampered_state(name: str) -> str:
    """Greets a person.

    Parameters:
        name: of whom.
    """
    return f"Hello, {name}!"
