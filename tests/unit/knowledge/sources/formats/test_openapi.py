"""OpenAPI descriptions as pages."""

import json
from pathlib import Path

import pytest

from aitp_desk.knowledge.documents.chunks import split_passages
from aitp_desk.knowledge.sources.loader import load_content

YAML = """\
openapi: 3.1.0
info: {title: Doors, description: "All **doors**."}
servers: [{url: "https://doors.example"}]
paths:
  /doors/{id}:
    parameters:
      - {name: id, in: path, required: true, schema: {type: integer}, description: Which one.}
    get:
      summary: Look at a door
      description: Says whether it is open.
      parameters: [{$ref: "#/components/parameters/Lang"}]
      responses:
        "200":
          description: The door.
          content:
            application/json:
              schema: {type: array, items: {$ref: "#/components/schemas/Door"}}
    post:
      deprecated: true
      requestBody:
        content: {application/json: {schema: {$ref: "#/components/schemas/Door"}}}
      responses: {"404": {$ref: "#/components/responses/None"}}
webhooks:
  opened:
    post:
      description: A door was opened.
      requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/Opened"}}}}
components:
  securitySchemes:
    key: {type: apiKey, in: header, name: X-Key, description: Ask the porter for one.}
    bearer: {type: http, scheme: bearer}
  parameters:
    Lang: {name: lang, in: query, schema: {type: string, enum: [en, de], default: en}}
  responses: {None: {description: No door.}}
  schemas:
    Door:
      required: [state]
      properties:
        state: {type: string, description: "open | shut"}
        self: {$ref: "#/components/schemas/Door"}
    Opened:
      allOf: [{$ref: "#/components/schemas/Door"}, {properties: {by: {type: string}}}]
"""


def test_operations_are_sections(tmp_path: Path) -> None:
    tmp_path.joinpath("a.openapi.yaml").write_text(YAML)
    (document,) = load_content(tmp_path).documents
    found = {one.heading: [unit.text for unit in one.units] for one in split_passages(document)}
    assert document.title == "Doors"
    assert found["Doors"] == ["All doors.", "Servers:", "https://doors.example"]
    assert found["Authentication"] == [
        "key: API key, header X-Key, Ask the porter for one.",
        "bearer: HTTP bearer",
    ]
    assert found["POST webhook opened"] == [
        "POST webhook opened",
        "A door was opened.",
        "state – Type: string; Required: yes; Description: open | shut",
        "self – Required: no",
        "by – Type: string; Required: no",
    ]
    assert found["Look at a door"] == [
        "GET /doors/{id}",
        "Says whether it is open.",
        "id – Type: path, integer; Required: yes; Description: Which one.",
        "lang – Type: query, string, one of en, de, default en; Required: no",
        "state – Type: string; Required: yes; Description: open | shut",
        "self – Required: no",
        "Responses:",
        "200: The door.",
    ]
    assert found["POST /doors/{id}"][:3] == [
        "POST /doors/{id} (deprecated)",
        "id – Type: path, integer; Required: yes; Description: Which one.",
        "state – Type: string; Required: yes; Description: open | shut",
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", YAML),
        ("a.yml", "# comment\n'swagger': '2.0'\ninfo: {title: Doors}"),
        ("a.json", '{"info": {"title": "Doors"}, "openapi": "3.0.3"}'),
        ("A.JSON", '\ufeff{"swagger":"2.0","info":{"title":"Doors"}}'),
    ],
)
def test_descriptions_are_found_by_their_key(tmp_path: Path, name: str, text: str) -> None:
    tmp_path.joinpath(name).write_text(text)
    (document,) = load_content(tmp_path).documents
    assert (document.title, document.path.lower()) == ("Doors", "a")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", "services:\n  openapi: 3.1.0\n"),
        ("a.yaml", "openapi: generated\n"),
        ("a.yaml", "swagger: 1.2\n"),
        ("a.json", '{"dependencies": {"openapi": "3.1.0"}}'),
        ("a.json", '["openapi: 3.1.0"]'),
        ("a.json", '{"openapi": "3.1.0"'),
        ("a.json", '{"openapi": "3.1.0", "a": ' + "[" * 100_000),
        ("a.json", '{"openapi": "3.1.0"}' + " " * (4 * 1024 * 1024)),
        ("a.txt.toml", YAML),
    ],
)
def test_other_data_is_no_content_and_no_problem(tmp_path: Path, name: str, text: str) -> None:
    tmp_path.joinpath(name).write_text(text)
    content = load_content(tmp_path)
    assert (content.documents, content.problems) == ((), ())


@pytest.mark.parametrize("place", ["", "content"])
def test_descriptions_of_services_that_actions_call_are_no_content(
    tmp_path: Path, place: str
) -> None:
    folder = tmp_path / place
    folder.mkdir(exist_ok=True)
    for name in ("stock.yaml", "public.yaml", "named.openapi.yaml"):
        (folder / name).write_text(YAML)
    settings = tmp_path / "desk.toml"
    files = [f'[[openapi]]\nfile = "{folder / name}"' for name in ("stock.yaml", "gone.yaml")]
    settings.write_text("\n".join(files))
    found = [one.source for one in load_content(folder).documents]
    assert found == ["named.openapi.yaml", "public.yaml"]
    settings.write_text("[[openapi")
    assert [one.source for one in load_content(folder).documents] == ["named.openapi.yaml"]


def test_a_link_to_a_description_elsewhere_is_a_problem(tmp_path: Path) -> None:
    tmp_path.joinpath("a.yaml").write_text(YAML)
    folder = tmp_path / "content"
    folder.mkdir()
    (folder / "a.yaml").symlink_to(tmp_path / "a.yaml")
    (problem,) = load_content(folder).problems
    assert "leaves the content folder" in problem.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1", "not an OpenAPI description"),
        ("openapi: [", "not YAML"),
        ("{", "not JSON"),
        ("a: &a 1\nb: *a", "aliases"),
        ("openapi: " + "[" * 100 + "]" * 100, "nested deeper"),
        ("#" * (1024 * 1024 + 1), "characters"),
    ],
)
def test_what_cannot_be_read_is_a_problem(tmp_path: Path, text: str, message: str) -> None:
    tmp_path.joinpath("a.openapi.yml").write_text(text)
    (problem,) = load_content(tmp_path).problems
    assert message in problem.message


@pytest.mark.parametrize("value", [None, 1, "a", [1], {"get": 1}, {"get": {"parameters": [1]}}])
def test_members_of_other_types_are_passed_over(tmp_path: Path, value: object) -> None:
    described = {"swagger": "2.0", "info": value, "paths": {"/a": value}, "servers": value}
    tmp_path.joinpath("a.openapi.json").write_text(json.dumps(described))
    assert len(load_content(tmp_path).documents) == 1
