"""Every message that the specification and its published schemas show, posted on a thread.

The schemas of AITP-02 and 03 have no examples: of each kind of message stand here what they demand
at the least, all that they name at once, and each word of their enumerations.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.doubles.agent import ScriptedAgent
from tests.support.payments import quotes
from tests.support.plugins import decisions, forms, operations
from tests.support.plugins.message_monitor import PACKAGES, SLUGS, faults

pytestmark = pytest.mark.asyncio(loop_scope="module")

SELLER = "https://seller.example"
ENABLED = tuple(
    f"capabilities.{name}={{}}" for name in ("requests", "data", "operations", "payments")
)
NAMES: Mapping[str, tuple[str, ...]] = {
    "aitp_requests": (
        "aitp.dev/requests",
        "https://aitp.dev/v1/requests.schema.json",
        decisions.PUBLISHED,
    ),
    "aitp_data": (
        "aitp.dev/data",
        "https://aitp.dev/v1/data.schema.json",
        forms.PUBLISHED,
    ),
    "aitp_operations": ("aitp.dev/operations", operations.PUBLISHED),
    "aitp_payments": (
        "aitp.dev/payment",
        "https://aitp.dev/v1/payment.schema.json",
        "https://aitp.dev/v1/payments/schema.json",
        "https://aitp.dev/capabilities/aitp-01-payments/v1.0.0/schema.json",
    ),
}
UPSTREAM = {
    "aitp-02-decisions-v1.0.0.json": ("decision", "request_decision"),
    "aitp-03-data-request-v1.0.0.json": ("data", "request_data"),
    "aitp-03-data-request-encrypted-draft.json": ("data", "request_data"),
    "aitp-01-payments-v1.0.0.json": tuple(quotes.KEYS),
    "payments-v1-draft.json": ("quote", "payment_authorization", "payment_result"),
}
FOREIGN = (
    "aitp-04-near-wallet-v1.0.0.json",
    "aitp-05-evm-wallet-v1.0.0.json",
)
FORMATS = {"uri": "https://shop.example/tent", "date-time": "2050-01-01T00:00:00Z"}
POINT = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
DEFAULTS = {"email": "ada@example.com", "tel": "+49 30 901820"}
HEX = {"publicKey": POINT, "ephemeralPublicKey": POINT, "iv": "00" * 12, "mac": "00" * 16}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    """A caller with a key at a desk at which all of them are enabled."""
    async with talking(tmp_path_factory.mktemp("desk"), *ENABLED, agent=ScriptedAgent()) as talker:
        yield await talker.with_key("threads")


def read_schema(shared: Path, name: str) -> Any:
    return json.loads((shared / "schemas" / "aitp" / name).read_text(encoding="utf-8"))


def messages_of(whole: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What a schema allows: the least and the most of each of its messages, and of each word."""
    schemas = whole.get("components", {}).get("schemas", {}).values()
    for one in whole.get("anyOf", schemas):
        if "$schema" not in one.get("properties", {}):
            continue
        for is_full in (False, True):
            for word in range(longest_enum(whole, one) if is_full else 1):
                yield instance(whole, one, is_full, word)


def follow(whole: Any, schema: Any) -> Any:
    while "$ref" in schema:
        found = whole
        for step in schema["$ref"].removeprefix("#/").split("/"):
            found = found[int(step)] if isinstance(found, list) else found[step]
        schema = found
    return schema


def longest_enum(whole: Any, schema: Any) -> int:
    schema = follow(whole, schema)
    below = [*schema.get("properties", {}).values(), schema.get("items"), *schema.get("anyOf", ())]
    return max([len(schema.get("enum", "1"))] + [longest_enum(whole, one) for one in below if one])


def instance(whole: Any, schema: Any, is_full: bool, word: int, path: str = "") -> Any:
    """A value that a schema allows.

    Parameters:
        is_full: with all members that are named, else with those alone that are required.
        word: which one of each enumeration.
        path: the names that lead to the value.
    """
    schema = follow(whole, schema)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][word % len(schema["enum"])]
    for branch in schema.get("anyOf", schema.get("oneOf", ()))[:1]:
        return instance(whole, branch, is_full, word, path)
    kind = schema.get("type", "string")
    match kind if isinstance(kind, str) else kind[0]:
        case "object":
            members = schema.get("properties", {})
            wanted = members if is_full else schema.get("required", ())
            made = {
                one: instance(whole, members[one], is_full, word, f"{path}.{one}") for one in wanted
            }
            # no schema says so, but a default fits its field, and is no secret
            if "encryption" in made:
                made.pop("default_value", None)
                return made
            fitting = DEFAULTS.get(made.get("type", ""))
            return made | ({"default_value": fitting} if fitting else {})
        case "array":
            return [instance(whole, schema["items"], is_full, word, path)]
        case "number" | "integer":
            return 1
        case "boolean":
            return True
        case _:
            return text(schema, path)


def text(schema: Any, path: str) -> str:
    name = path.rpartition(".")[2]
    return HEX.get(name) or FORMATS.get(schema.get("format", "")) or (path if name == "id" else "1")


async def together(desk: Talker, schema: str) -> tuple[Talker, str]:
    """A guest who has declared a schema, and their thread with a seller, who has as well."""
    guest = await desk.with_key("threads")
    declared = {"id": SELLER, "capabilities": [{"schema": schema}]}
    thread = (await desk.open(metadata={"actors": [declared]})).id
    assert guest.key is not None
    joining = {
        "id": "guest",
        "principal": f"key:{guest.key.split('_')[1]}",
        "capabilities": [{"schema": schema}],
    }
    assert (await desk.send("POST", f"{THREADS}/{thread}/actors", joining)).status == 200
    return guest, thread


def shows(told: Any, said: Any) -> bool:
    """Whether what is told has all that was said, and perhaps more.

    An answer to what nobody has asked is marked as one that does not count; what it fills in is
    kept nowhere.
    """
    if isinstance(said, dict):
        if "data" in said:
            rejected = told["rejected_data"]
            named = [{"id": field["id"]} for field in said["data"]["fields"]]
            is_marked = rejected["reason"] == "unknown_request"
            return (
                is_marked and shows(rejected["fields"], named) and '"value"' not in json.dumps(told)
            )
        if "decision" in said:
            rejected = told["rejected_decision"]
            return rejected["reason"] == "unknown_request" and shows(rejected, said["decision"])
        return all(one in told and shows(told[one], said[one]) for one in said)
    if isinstance(said, list):
        return len(told) == len(said) and all(map(shows, told, said))
    return bool(told == said)


def packaged(message: Mapping[str, Any]) -> str:
    (key,) = PACKAGES.keys() & message.keys()
    return PACKAGES[key]


SHOWN: list[dict[str, Any]] = [
    *({"request_decision": one} for one in decisions.REQUESTS),
    *({"decision": one} for one in decisions.DECISIONS),
    *({"request_data": one} for one in forms.REQUESTS if one is not forms.HOSTED),
    *({"data": one} for one in forms.REPLIES),
    *({"healthcheck": one["healthcheck"]} for one in operations.EXAMPLES),
    *quotes.AITP,
    *quotes.DRAFTED,
]


@pytest.mark.requirement("AITP-capabilities-8")
@pytest.mark.parametrize("message", SHOWN, ids=lambda message: str(message)[:50])
async def test_by_each_of_its_names(desk: Talker, message: dict[str, Any]) -> None:
    for name in NAMES[packaged(message)]:
        guest, thread = await together(desk, name)
        whole = {"$schema": name, **message}
        assert faults(whole) == []
        posted = await desk.post(thread, json.dumps(whole), metadata={"actor": SELLER})
        assert shows(json.loads(posted.ok["content"][0]), whole)
        first = (await guest.messages(thread, "?order=asc")).ok["data"][0]
        assert first["content"] == posted.ok["content"]


@pytest.mark.requirement("AITP-capabilities-5")
@pytest.mark.parametrize("schema", UPSTREAM)
async def test_whatever_a_schema_allows(desk: Talker, schema: str, shared_folder: Path) -> None:
    allowed = list(messages_of(read_schema(shared_folder, schema)))
    assert len(allowed) > 4
    assert {key for one in allowed for key in one if key != "$schema"} == set(UPSTREAM[schema])
    for message in allowed:
        name = NAMES[packaged(message)][-1]
        guest, thread = await together(desk, name)
        whole = {**message, "$schema": name}
        assert faults(whole) == []
        posted = await desk.post(thread, json.dumps(whole), metadata={"actor": SELLER})
        if whole.get("request_data", {}).get("form") == {}:
            assert posted.refusal == (400, "invalid_request", "request_data.form")
            continue
        assert posted.status == 200, (whole, posted.body)
        first = (await guest.messages(thread, "?order=asc")).ok["data"][0]
        assert shows(json.loads(first["content"][0]), whole)


@pytest.mark.requirement("AITP-capabilities-8")
@pytest.mark.parametrize("schema", FOREIGN)
async def test_what_is_of_no_capability_here_is_kept_as_it_is(
    desk: Talker, schema: str, shared_folder: Path
) -> None:
    allowed = [json.dumps(one) for one in messages_of(read_schema(shared_folder, schema))]
    assert allowed
    thread = (await desk.open()).id
    for text in allowed:
        assert (await desk.post(thread, text)).ok["content"] == [text]


@pytest.mark.requirement("AITP-capabilities-10")
async def test_the_specifications_example_which_is_no_json_is_words_or_refused_where_it_is_meant(
    desk: Talker, shared_folder: Path, tmp_path: Path
) -> None:
    text = (shared_folder / "specs" / "aitp-0.1.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    (message,) = json.loads(shown)["messages"]
    (content,) = message["content"]
    with pytest.raises(ValueError, match="Expecting"):
        json.loads(content)
    refused = await desk.open(message, actors=["agent1"])
    assert refused.refusal == (400, "invalid_request", "messages[0].content[0]")
    async with talking(tmp_path, agent=ScriptedAgent()) as other:
        opened = await other.open(message, actors=["agent1"])
        assert opened.ok["messages"][0]["content"] == [content]


async def test_every_kind_of_message_is_shown_by_every_slug() -> None:
    assert {key for one in SHOWN for key in one} == PACKAGES.keys() - {"health"}
    assert {names[0] for names in NAMES.values()} == set(SLUGS)
