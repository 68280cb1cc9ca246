"""The settings in `docs/run/configuration.md`, written from the Structs that define them.

    python -m tests.docs.settings_table

rewrites what stands between the two markers of that page: the sections, by topic.
"""

from collections.abc import Iterator
from pathlib import Path

from aitp_desk.config.catalogue import Section, sections

PAGE = Path(__file__).parents[2] / "docs/run/configuration.md"
BEGIN = "<!-- settings: written by `python -m tests.docs.settings_table` -->"
END = "<!-- end of settings -->"

TOPICS = {
    "The site and its content": "site content",
    "Models and answers": "content.meaning model enrich cache",
    "The chat": "widget",
    "Addresses and other servers": "server cors egress callbacks",
    "Limits for visitors": "limits agent_limits tiers concurrency",
    "Conversations and files": "threads events sessions files retention",
    "People who answer": "console tickets notify",
    "Actions and partner sites": "actions openapi mcp peers",
    "Who is calling": "oauth issuers signed_requests signatures signature_agents",
    "Protocols": "ahp a2a agents_txt hac mcp_server nlweb rest",
    "Several agents": "agents",
    "Running": "store valkey log tracing",
}
"""The sections of each topic; a section is with its outer one, unless it is named itself."""


def with_settings(page: str) -> str:
    """The page with the present settings between its markers."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    tables = "\n".join(_tables())
    return f"{before}{BEGIN}\n\n{tables}\n{END}{after}"


def group_sections() -> dict[str, list[Section]]:
    """The sections of each topic, in the order of the topics."""
    topic_of = {name: topic for topic, named in TOPICS.items() for name in named.split()}
    grouped: dict[str, list[Section]] = {topic: [] for topic in TOPICS}
    for section in sections():
        name = section.heading.strip("[]")
        topic = topic_of.get(name) or topic_of[name.partition(".")[0]]
        grouped[topic].append(section)
    return grouped


def _tables() -> Iterator[str]:
    grouped = group_sections()
    for topic, found in grouped.items():
        names = ", ".join(f"`{section.heading}`" for section in found)
        yield f"- [{topic}](#{topic.lower().replace(' ', '-')}): {names}"
    for topic, found in grouped.items():
        yield f"\n### {topic}\n"
        yield "\n".join(map(_table, found))


def _table(section: Section) -> str:
    rows = [
        f"| `{setting.key}` | {setting.takes} | `{setting.default}` | {setting.sentence} |"
        for setting in section.settings
    ]
    head = ["| Setting | Takes | Default | |", "| --- | --- | --- | --- |"]
    return "\n".join([f"#### `{section.heading}`\n", f"{section.sentence}\n", *head, *rows, ""])


if __name__ == "__main__":
    PAGE.write_text(with_settings(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
