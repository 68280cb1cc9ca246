"""Event handlers of the OpenAI SDK that record. Imports the SDK: import it in a function."""

from __future__ import annotations

from typing import Any

from openai import AssistantEventHandler, AsyncAssistantEventHandler

from tests.support.clients.openai import exact


class EventRecorder(AssistantEventHandler):
    """Keeps the events of the synchronous client."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.deltas: list[str] = []

    def on_event(self, event: Any) -> None:
        self.names.append(event.event)
        exact(event.data)

    def on_text_delta(self, delta: Any, snapshot: Any) -> None:
        self.deltas.append(delta.value)

    def on_end(self) -> None:
        self.names.append("end")


class AsyncEventRecorder(AsyncAssistantEventHandler):
    """Keeps the events of the asynchronous client."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.deltas: list[str] = []
        self.texts: list[str] = []
        self.messages: list[str] = []

    async def on_event(self, event: Any) -> None:
        self.names.append(event.event)
        exact(event.data)

    async def on_text_delta(self, delta: Any, snapshot: Any) -> None:
        self.deltas.append(delta.value)

    async def on_text_done(self, text: Any) -> None:
        self.texts.append(text.value)

    async def on_message_done(self, message: Any) -> None:
        self.messages.append(message.id)
