"""The desk's figures, as its operator's Prometheus reads them."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from aitp_desk.agent.base import Usage
from aitp_desk.agent.generative.budget import DailyBudget
from aitp_desk.desk.calls.invocation import Invocation
from aitp_desk.desk.calls.metrics import call_figures
from aitp_desk.desk.tickets.service import EscalationService
from aitp_desk.http.metrics import RequestMetrics
from aitp_desk.model.access.audit import make_own_auditor
from aitp_desk.model.access.principal import make_anonymous
from aitp_desk.model.calls.action import Action
from aitp_desk.model.conversation.ticket import StoredTicket, TicketKind, TicketState
from aitp_desk.model.errors import PreconditionFailed
from aitp_desk.protocols.metrics.wire import render
from aitp_desk.store.units.jobs.jobs import enqueue_job
from aitp_desk.store.units.tickets.tickets import add_ticket
from tests.docs.tables import metrics
from tests.docs.tables.metrics import Described
from tests.support.access.audit_log import KEYS
from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.desk.jobs import a_job
from tests.support.doubles.agent import Clock
from tests.support.http.raw_client import send
from tests.support.sites.actions import calling, offering
from tests.support.store.valkey_process import valkey_process

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUESTION = {"ahp": "0.1", "capability": "content_search", "query": "What is your return policy?"}
Labels = frozenset[tuple[str, str]]


class Scrape:
    """What was read at once."""

    def __init__(self, text: str) -> None:
        self.described: dict[str, Described] = {}
        self._values: dict[tuple[str, Labels], float] = {}
        for family in text_string_to_metric_families(text):
            name = f"{family.name}_total" if family.type == "counter" else family.name
            labels = {key for sample in family.samples for key in sample.labels} - {"le"}
            self.described[name] = (family.type, frozenset(labels))
            for sample in family.samples:
                # a process next to others has another label
                given = {(key, value) for key, value in sample.labels.items() if key != "worker"}
                self._values[sample.name, frozenset(given)] = sample.value

    def value(self, name: str, **labels: str) -> float:
        return self._values.get((name, frozenset(labels.items())), 0.0)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def operator(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    """The operator of a desk with its limits on, whose Valkey server is away."""
    folder = tmp_path_factory.mktemp("metrics")
    limits = ("limits.enabled=true", "limits.converse_per_minute=1000")
    async with talking(folder, *limits, f"valkey.url=unix://{folder}/nothing.sock") as anybody:
        yield await anybody.with_key("operator")


async def read(operator: Talker, accept: str = "") -> str:
    headers = [*operator.credentials, *([("Accept", accept)] if accept else [])]
    async with operator.http.get("/metrics", headers=headers) as response:
        assert response.status == 200
        return await response.text()


def anybody(operator: Talker, tmp_path: Path) -> Talker:
    return Talker(operator.desk, tmp_path, operator.http)


@pytest.mark.sqlite
async def test_the_report_is_what_the_page_lists(operator: Talker, tmp_path: Path) -> None:
    await read(operator)  # so that a request was counted
    told = Scrape(await read(operator)).described
    day = Scrape(render(DailyBudget(100, lambda: 0.0).figures(), "")[0].decode()).described
    listed = metrics.described()
    assert told.pop("aitp_desk_jobs")[0] == listed.pop("aitp_desk_jobs")[0]  # there are no jobs
    assert {**told, **day, **Scrape(await figures_of_calls(tmp_path)).described} == listed


async def figures_of_calls(folder: Path) -> str:
    """What is reported of two calls, one of which the site's own code refused."""

    async def close_up(_who: str, arguments: Mapping[str, Any]) -> str:
        if "late" in arguments:
            raise PreconditionFailed("It is too late.")
        return "Closed."

    action = offering(Action("close_up", "Closes up.", open_to="anyone"), close_up)
    async with calling(folder, action) as invoking:
        await invoking.invoke(make_anonymous(""), Invocation("close_up", {}, "arguments"))
        with pytest.raises(PreconditionFailed):
            await invoking.invoke(
                make_anonymous(""), Invocation("close_up", {"late": 1}, "arguments")
            )
        return render(call_figures({"": invoking.counts}), "")[0].decode()


async def test_calls_of_actions_are_told_by_how_they_ended(tmp_path: Path) -> None:
    scrape = Scrape(await figures_of_calls(tmp_path))
    of = {"agent": "desk", "action": "close_up"}
    assert scrape.value("aitp_desk_calls_total", **of, state="succeeded") == 1
    assert scrape.value("aitp_desk_calls_total", **of, state="failed") == 1
    assert scrape.value("aitp_desk_call_seconds_count", **of) == 2
    assert scrape.value("aitp_desk_calls_at_work", agent="desk") == 0


async def test_tickets_are_counted_by_kind_whoever_ends_them(tmp_path: Path) -> None:
    clock = Clock()
    async with talking(tmp_path, clock=clock) as anybody:
        store = anybody.desk.store
        for n in range(3):
            ticket = StoredTicket(
                f"ticket_{n}", "", TicketKind.QUESTION, TicketState.OPEN, "Why?", int(clock()) + n
            )
            await store.run(add_ticket, ticket=ticket)
        clock.advance(100)
        people = EscalationService(store, clock)
        by = make_own_auditor(KEYS, int(clock()))
        await people.answer("ticket_0", "Because.", "anna", by)
        await people.take_ticket("ticket_1", "anna", by)
        operator = await anybody.with_key("operator")
        told = Scrape(await read(operator))
        clock.advance(8 * 24 * 3600)
        await people.close("ticket_1", "", "anna", by)
        later = Scrape(await read(operator))

    of = {"kind": "question"}
    assert told.value("aitp_desk_tickets", **of, state="open") == 1
    assert told.value("aitp_desk_tickets", **of, state="taken") == 1
    assert told.value("aitp_desk_tickets_oldest_seconds") == 99
    assert told.value("aitp_desk_tickets_made_total", **of) == 3
    assert told.value("aitp_desk_tickets_ended_total", **of, how="answered") == 1
    assert told.value("aitp_desk_ticket_seconds_sum", **of) == 100
    assert told.value("aitp_desk_ticket_seconds_bucket", **of, le="60.0") == 0
    assert told.value("aitp_desk_ticket_seconds_bucket", **of, le="300.0") == 1
    assert later.value("aitp_desk_tickets_ended_total", **of, how="closed") == 1
    assert later.value("aitp_desk_ticket_seconds_bucket", **of, le="604800.0") == 1
    assert later.value("aitp_desk_ticket_seconds_count", **of) == 2


async def test_requests_are_counted_by_route_and_status_on_both_ways(
    operator: Talker, tmp_path: Path
) -> None:
    visitor = anybody(operator, tmp_path)
    before = Scrape(await read(operator))
    opened = await visitor.open("Do you ship to Canada?", wait=10)
    await visitor.post(opened.id, "And to Mexico?", wait=10)
    assert (await visitor.send("GET", f"{THREADS}/thread_unknown")).status == 404
    assert (await visitor.send("GET", "/v1/nothing/of/the/kind")).status == 404
    for _ in range(3):  # the first opens the way, the others take the fast path
        assert (await visitor.send("POST", "/agent/converse", QUESTION)).status == 200
    url = operator.desk.url
    await send(url, b"BREW", b"/coffee")
    assert (await send(url, b"GET", b"/", [(b"no header", b"at all")])).status == 400
    after = Scrape(text := await read(operator))

    def counted(method: str, route: str, status: int) -> float:
        labels = {"method": method, "route": route, "status": str(status)}
        name = "aitp_desk_requests_total"
        return after.value(name, **labels) - before.value(name, **labels)

    assert counted("POST", THREADS, 200) == 1
    assert counted("POST", f"{THREADS}/{{thread_id}}/messages", 200) == 1
    assert counted("GET", f"{THREADS}/{{thread_id}}", 404) == 1
    assert counted("GET", "/{path:.*}", 404) == 1
    assert counted("POST", "/agent/converse", 200) == 3
    assert counted("other", "other", 400) == 2
    took = "aitp_desk_request_seconds_count"
    labels = {"method": "POST", "route": "/agent/converse"}
    assert after.value(took, **labels) - before.value(took, **labels) == 3
    assert opened.id not in text
    assert "BREW" not in text
    assert "127.0.0.1" not in text


async def test_what_became_of_questions_runs_and_writes_is_counted(
    operator: Talker, tmp_path: Path
) -> None:
    visitor = anybody(operator, tmp_path)
    question = {**QUESTION, "query": "Which stove do you recommend?"}
    before = Scrape(await read(operator))
    for _ in range(2):
        await visitor.send("POST", "/agent/converse", question)
    await visitor.open("How do I wash a jacket?", wait=10)
    await operator.desk.store.settled()
    after = Scrape(await read(operator))

    def grown(name: str, **labels: str) -> float:
        return after.value(name, **labels) - before.value(name, **labels)

    assert grown("aitp_desk_cache_questions_total", agent="desk", outcome="miss") == 1
    assert grown("aitp_desk_cache_questions_total", agent="desk", outcome="hit") == 1
    assert grown("aitp_desk_cache_answers", agent="desk") == 1
    assert grown("aitp_desk_runs_ended_total", how="completed") == 1
    assert grown("aitp_desk_run_seconds_count") == 1
    assert grown("aitp_desk_store_commit_units_count") > 0
    assert grown("aitp_desk_store_commit_units_sum") >= 4
    assert after.value("aitp_desk_store_units_failed_total") == 0
    assert after.value("aitp_desk_requests_under_way") == 1
    assert after.value("aitp_desk_connections") >= 1
    assert after.value("aitp_desk_places_taken") == 1


async def test_jobs_are_told_by_kind_and_how_long_the_first_has_waited(operator: Talker) -> None:
    due = int(time.time()) - 100
    for ref, at in (("one", due), ("other", due + 1000)):
        await operator.desk.store.run(enqueue_job, job=a_job(ref, available_at=at))
    scrape = Scrape(await read(operator))
    assert scrape.value("aitp_desk_jobs", kind="errand", state="queued") == 2
    assert 100 <= scrape.value("aitp_desk_jobs_oldest_seconds") < 200


async def test_open_metrics_are_given_to_who_asks_for_them(operator: Talker) -> None:
    text = await read(operator, "application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
    assert text.endswith("# EOF\n")
    families = openmetrics.text_string_to_metric_families(text)  # type: ignore[no-untyped-call]
    assert "aitp_desk_requests" in {family.name for family in families}


async def test_strangers_and_other_keys_are_refused(operator: Talker, tmp_path: Path) -> None:
    refused = await anybody(operator, tmp_path).send("GET", "/metrics")
    assert refused.refusal[0] == 401
    other = await operator.with_key("threads", "actions")
    told = await other.send("GET", "/metrics")
    assert told.status == 403
    assert 'scope="operator"' in told.headers["WWW-Authenticate"]


async def test_the_bounds_of_how_long_requests_take_hold_all_of_them() -> None:
    meter = RequestMetrics()
    for seconds in (0.0, 0.001, 0.0011, 29.0, 1e6):
        meter.for_route("GET", "/").count(200, seconds)
    scrape = Scrape(render(meter.figures(), "")[0].decode())

    def below(bound: str) -> float:
        return scrape.value("aitp_desk_request_seconds_bucket", method="GET", route="/", le=bound)

    assert [below("0.001"), below("0.0025"), below("30.0"), below("+Inf")] == [2, 3, 4, 5]


@pytest.mark.servers
async def test_a_server_that_goes_away_is_told_and_no_question_is_refused(tmp_path: Path) -> None:
    with valkey_process(tmp_path) as process:
        settings = ("limits.enabled=true", f"valkey.url={process.url}")
        async with talking(tmp_path / "desk", *settings) as anybody:
            operator = await anybody.with_key("operator")
            found = await anybody.send("POST", "/agent/converse", QUESTION)
            assert Scrape(await read(operator)).value("aitp_desk_valkey_up") == 1
            process.kill()
            again = {**QUESTION, "query": "What are your opening hours?"}
            without = await anybody.send("POST", "/agent/converse", again)
            assert (found.status, without.status) == (200, 200)
            assert Scrape(await read(operator)).value("aitp_desk_valkey_up") == 0


async def test_what_models_are_asked_is_counted() -> None:
    day = DailyBudget(1000, lambda: 0.0)
    for _ in range(2):
        day.settle(day.reserve(300), 300, Usage(prompt=60, cached=20, completion=40))
    scrape = Scrape(render(day.figures(), "")[0].decode())
    assert scrape.value("aitp_desk_model_calls_total") == 2
    assert scrape.value("aitp_desk_model_tokens_total", kind="read") == 120
    assert scrape.value("aitp_desk_model_tokens_total", kind="cached") == 40
    assert scrape.value("aitp_desk_model_tokens_total", kind="written") == 80
    assert scrape.value("aitp_desk_model_day_tokens") == 200
    assert scrape.value("aitp_desk_model_day_limit_tokens") == 1000
