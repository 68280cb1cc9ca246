"""Where a connection of Socket Mode may lead, and what is read from it."""

from __future__ import annotations

import pytest

from aitp_desk.transports.slack.connection import decode_envelope, is_socket_url

SLACK = "https://slack.com/api/"


@pytest.mark.parametrize(
    ("url", "api_url"),
    [
        ("wss://wss-primary.slack.com/link/?ticket=1", SLACK),
        ("wss://wss-primary.slack-gov.com/link/?ticket=1", "https://slack-gov.com/api/"),
        ("wss://proxy.example/link/", "https://proxy.example/slack/"),
        ("ws://127.0.0.1:8000/link/", "http://127.0.0.1:9000/api/"),
    ],
)
def test_slack_and_the_apis_own_host_are_connected_to(url: str, api_url: str) -> None:
    assert is_socket_url(url, api_url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ws://wss-primary.slack.com/",
        "https://wss-primary.slack.com/",
        "wss://slack.com.evil.example/",
        "wss://evilslack.com/",
        "wss://wss-primary.slack.com@evil.example/",
        "wss://[",
    ],
)
def test_nothing_else_is_connected_to(url: str) -> None:
    assert not is_socket_url(url, SLACK)


@pytest.mark.parametrize(
    "data", ["", "{", "[]", "null", '{"type": 1}', "\ud800", b"\xff", "[" * 9999]
)
def test_what_is_no_envelope_is_skipped(data: str | bytes) -> None:
    assert decode_envelope(data) is None
