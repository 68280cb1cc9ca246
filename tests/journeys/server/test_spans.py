"""Spans, as OpenTelemetry collects them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
import pytest_asyncio
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from aitp_desk.agent.base import Turn
from aitp_desk.agent.generative.budget import DailyBudget, ReplyBudget
from aitp_desk.config import Model
from aitp_desk.desk.calls.metrics import CallMetrics
from aitp_desk.model.calls.action import Action
from aitp_desk.model.errors import Unavailable
from aitp_desk.observability.tracing import begin_span, is_wanted, tracing
from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.doubles.agent import ScriptedAgent

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROXY_TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
SECRET = "what nobody else may read"
COLLECTED = InMemorySpanExporter()
QUESTION = {"ahp": "0.1", "capability": "content_search", "query": "What is your return policy?"}


async def be_busy(_turn: Turn) -> NoReturn:
    raise Unavailable(SECRET)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def talker(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    """A caller who talks to a desk that makes spans; they are collected in this process."""
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(COLLECTED))
    trace.set_tracer_provider(provider)
    settings = ("tracing.enabled=true", "server.trusted_proxies=['127.0.0.1']")
    folder = tmp_path_factory.mktemp("spans")
    async with talking(folder, *settings) as somebody:
        yield somebody


@pytest.fixture(autouse=True)
def _nothing_yet() -> None:
    COLLECTED.clear()


def collected(name: str) -> list[ReadableSpan]:
    return [span for span in COLLECTED.get_finished_spans() if span.name == name]


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


async def test_a_request_is_a_span_by_the_template_of_its_route(talker: Talker) -> None:
    opened = await talker.open("Do you ship to Canada?", wait=10)
    await talker.send("GET", f"{THREADS}/{opened.id}", headers=[("X-Request-Id", "edge-7")])
    (span,) = collected(f"GET {THREADS}/{{thread_id}}")
    assert span.kind is trace.SpanKind.SERVER
    assert span.parent is None
    assert span.status.status_code is trace.StatusCode.UNSET
    assert attributes(span) == {
        "http.request.method": "GET",
        "http.route": f"{THREADS}/{{thread_id}}",
        "http.response.status_code": 200,
        "url.scheme": "http",
        "server.address": "127.0.0.1",
        "aitp_desk.request_id": "edge-7",
    }
    (run,) = collected("run")
    assert attributes(run) == {"aitp_desk.agent": "desk"}
    told = "".join(span.to_json() for span in COLLECTED.get_finished_spans())
    assert opened.id not in told
    assert "Canada" not in told


async def test_a_trusted_proxys_trace_goes_on(talker: Talker) -> None:
    traceparent = ("traceparent", f"00-{PROXY_TRACE}-{PARENT}-01")
    for _ in range(2):
        await talker.send("POST", "/agent/converse", QUESTION, headers=[traceparent])
    for span in collected("POST /agent/converse"):
        assert span.parent is not None
        assert f"{span.context.trace_id:032x}" == PROXY_TRACE
        assert f"{span.parent.span_id:016x}" == PARENT
    assert len(collected("POST /agent/converse")) == 2


async def test_a_fault_is_a_failed_span_without_its_words(
    talker: Talker, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def break_down(*_what: object, **_more: object) -> NoReturn:
        raise RuntimeError(SECRET)

    monkeypatch.setattr("aitp_desk.desk.maintenance.readiness.ReadinessReport.check", break_down)
    assert (await talker.send("GET", "/ready")).status == 500
    (span,) = collected("GET /ready")
    assert span.status.status_code is trace.StatusCode.ERROR
    assert attributes(span)["error.type"] == "500"
    assert SECRET not in span.to_json()


async def test_what_is_not_served_and_unknown_methods_have_no_names_of_their_own(
    talker: Talker,
) -> None:
    async with talker.http.request("PURGE", f"/{'x' * 40}") as response:
        assert response.status >= 400
    (span,) = COLLECTED.get_finished_spans()
    assert span.name == "HTTP"
    assert attributes(span)["http.request.method"] == "_OTHER"
    assert "xxx" not in span.to_json()


async def test_a_run_that_fails_says_how(tmp_path: Path, talker: Talker) -> None:
    async with talking(tmp_path, "tracing.enabled=true", agent=ScriptedAgent(be_busy)) as other:
        await other.open("Are you busy?", wait=10)
    (run,) = collected("run")
    assert run.status.status_code is trace.StatusCode.ERROR
    assert attributes(run)["error.type"] == "unavailable"
    assert SECRET not in run.to_json()


async def test_a_call_of_a_model_is_a_client_span_of_what_asks(talker: Talker) -> None:
    tracer = trace.get_tracer("test")
    settings = Model()
    with tracing(True), tracer.start_as_current_span("asks") as asks:
        call = ReplyBudget(settings, DailyBudget(0, lambda: 0.0)).begin(500, 100, settings)
        call.end()
    (span,) = collected(f"chat {settings.name}")
    assert span.kind is trace.SpanKind.CLIENT
    assert span.parent is not None
    assert span.parent.span_id == asks.get_span_context().span_id
    assert attributes(span) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": settings.name,
        "gen_ai.request.max_tokens": 100,
        "gen_ai.usage.input_tokens": 0,
        "gen_ai.usage.output_tokens": 0,
    }


async def test_what_an_action_does_is_a_span_by_its_name(talker: Talker) -> None:
    action = Action("open_till", "Opens the till.")
    with tracing(True), CallMetrics().measure_call(action):
        pass
    with tracing(True), pytest.raises(Unavailable), CallMetrics().measure_call(action):
        raise Unavailable(SECRET)
    done, refused = collected("call open_till")
    assert attributes(done) == {"aitp_desk.action": "open_till"}
    assert attributes(refused)["error.type"] == "Unavailable"
    assert SECRET not in refused.to_json()


async def test_without_the_setting_no_span_is_made(tmp_path: Path, talker: Talker) -> None:
    with tracing(False):  # as a desk without it in a separate process
        begin_span("chat").end()
    assert COLLECTED.get_finished_spans() == ()


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, False),
        ({"HOME": "/"}, False),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_SDK_DISABLED": "True"}, False),
        ({"OTEL_SDK_DISABLED": "false", "OTEL_SERVICE_NAME": "desk"}, True),
    ],
)
async def test_the_environment_says_whether_spans_are_collected(
    environment: dict[str, str], wanted: bool
) -> None:
    assert is_wanted(environment) is wanted
