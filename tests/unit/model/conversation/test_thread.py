"""Limits of drafts, and who speaks."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aitp_desk.model.conversation.thread import (
    MAX_ACTORS,
    MAX_ATTACHMENTS,
    MAX_CAPABILITIES,
    MAX_CONTENT_BYTES,
    MAX_ID_LENGTH,
    MAX_PARTS,
    MAX_THREAD_MESSAGES,
    METADATA_KEY_LENGTH,
    METADATA_KEYS,
    METADATA_VALUE_LENGTH,
    Actor,
    Attachment,
    Draft,
    ThreadDraft,
    check_draft,
    check_metadata,
    check_thread_draft,
    resolve_speaker,
)
from aitp_desk.model.errors import Forbidden, InvalidRequest, MissingField, RequestTooLarge

HELLO = Draft("user", ("Hello",))
OWN, DESK, OTHER = "https://own.example", "https://desk.example", "https://other.example"


def speak(role: str, actor: str | None = None) -> tuple[str, str]:
    draft = Draft(role, ("Hello",), actor=actor)
    return resolve_speaker(draft, brought=[OWN], default="visitor", others=[DESK, OTHER])


class TestDraft:
    @pytest.mark.parametrize("content", [(), ("",), (" \n\t", "")])
    def test_a_message_needs_content(self, content: tuple[str, ...]) -> None:
        with pytest.raises(MissingField) as refused:
            check_draft(Draft("user", content))
        assert refused.value.param == "content"

    def test_a_message_within_its_limits_is_returned(self) -> None:
        largest = Draft(
            "user",
            ("x" * (MAX_CONTENT_BYTES - MAX_PARTS + 1), *("y" for _ in range(MAX_PARTS - 1))),
            tuple(Attachment(f"file_{n}") for n in range(MAX_ATTACHMENTS)),
            metadata={
                f"{n:0{METADATA_KEY_LENGTH}}": "v" * METADATA_VALUE_LENGTH
                for n in range(METADATA_KEYS)
            },
        )
        assert check_draft(largest) is largest

    def test_too_many_parts_are_refused(self) -> None:
        with pytest.raises(InvalidRequest, match="100 parts"):
            check_draft(Draft("user", ("x",) * (MAX_PARTS + 1)))

    def test_too_many_attachments_are_refused(self) -> None:
        with pytest.raises(InvalidRequest, match="20 files"):
            check_draft(Draft("user", ("x",), (Attachment("f"),) * (MAX_ATTACHMENTS + 1)))

    @given(st.integers(min_value=1, max_value=4))
    def test_content_is_measured_in_bytes(self, bytes_each: int) -> None:
        letter = {1: "x", 2: "é", 3: "€", 4: "🏕"}[bytes_each]
        fits = MAX_CONTENT_BYTES // bytes_each
        check_draft(Draft("user", (letter * fits,)))
        with pytest.raises(RequestTooLarge):
            check_draft(Draft("user", (letter * fits, letter)))


class TestMetadata:
    def test_too_many_keys_are_refused(self) -> None:
        with pytest.raises(InvalidRequest, match="16 keys"):
            check_metadata({str(n): "" for n in range(METADATA_KEYS + 1)})

    @pytest.mark.parametrize("key", ["", "k" * (METADATA_KEY_LENGTH + 1)])
    def test_a_key_has_1_to_64_characters(self, key: str) -> None:
        with pytest.raises(InvalidRequest, match="1 to 64"):
            check_metadata({key: "v"})

    def test_a_value_that_is_too_long_is_named_by_its_key(self) -> None:
        with pytest.raises(InvalidRequest) as refused:
            check_metadata({"fine": "v", "long": "v" * (METADATA_VALUE_LENGTH + 1)})
        assert refused.value.param == "metadata.long"


class TestThreadDraft:
    def test_a_thread_within_its_limits_is_returned(self) -> None:
        largest = ThreadDraft(
            (HELLO,) * MAX_THREAD_MESSAGES,
            tuple(
                Actor(f"{n:0{MAX_ID_LENGTH}}", ("s",) * MAX_CAPABILITIES) for n in range(MAX_ACTORS)
            ),
        )
        assert check_thread_draft(largest) is largest

    @pytest.mark.parametrize(
        ("draft", "param"),
        [
            (ThreadDraft((HELLO,) * (MAX_THREAD_MESSAGES + 1)), "messages"),
            (ThreadDraft((HELLO, Draft("user", ()))), "messages[1].content"),
            (
                ThreadDraft(actors=tuple(Actor(str(n)) for n in range(MAX_ACTORS + 1))),
                "metadata.actors",
            ),
            (ThreadDraft(actors=(Actor("a"), Actor("a"))), "metadata.actors"),
            (ThreadDraft(actors=(Actor(" "),)), "metadata.actors"),
            (ThreadDraft(actors=(Actor("a" * (MAX_ID_LENGTH + 1)),)), "metadata.actors"),
            (ThreadDraft(actors=(Actor("a", ("",)),)), "metadata.actors"),
            (
                ThreadDraft(actors=(Actor("a", ("s",) * (MAX_CAPABILITIES + 1)),)),
                "metadata.actors",
            ),
            (ThreadDraft(metadata={"": "v"}), "metadata"),
        ],
    )
    def test_a_thread_past_a_limit_is_refused_by_name(self, draft: ThreadDraft, param: str) -> None:
        with pytest.raises(InvalidRequest) as refused:
            check_thread_draft(draft)
        assert refused.value.param == param


class TestSpeaker:
    def test_the_default_is_stamped_where_none_is_named(self) -> None:
        assert speak("user") == ("user", "visitor")
        assert speak("assistant") == ("assistant", "visitor")

    def test_an_actor_that_the_caller_brought_speaks(self) -> None:
        assert speak("user", OWN) == ("user", OWN)
        assert speak("assistant", OWN) == ("assistant", OWN)
        assert speak("user", "visitor") == ("user", "visitor")

    def test_a_role_that_is_an_actors_id_reads_as_user(self) -> None:
        assert speak(OWN) == speak(OWN, OWN) == ("user", OWN)

    def test_role_and_actor_may_not_differ(self) -> None:
        with pytest.raises(InvalidRequest) as refused:
            speak(OWN, "visitor")
        assert refused.value.param == "role"

    @pytest.mark.parametrize(("role", "actor"), [("user", DESK), ("user", OTHER), (DESK, None)])
    def test_no_caller_speaks_as_another_callers_actor(self, role: str, actor: str | None) -> None:
        with pytest.raises(Forbidden) as refused:
            speak(role, actor)
        assert refused.value.param == "metadata.actor"

    @given(st.text(max_size=30))
    def test_an_unknown_role_or_actor_is_refused_by_name(self, name: str) -> None:
        assume(name not in {OWN, DESK, OTHER, "visitor", "user", "assistant"})
        with pytest.raises(InvalidRequest) as refused:
            speak(name)
        assert refused.value.param == "role"
        with pytest.raises(InvalidRequest) as refused:
            speak("user", name)
        assert refused.value.param == "metadata.actor"
