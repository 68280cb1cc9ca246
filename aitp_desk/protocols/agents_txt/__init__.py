"""agents.txt and agents.json (agents.txt 1.0): parser, writer, validator and routes.

The parser, the writer and the validator do no I/O and do not depend on the desk: any program may
use them, such as an agent that visits other sites.
"""

from aitp_desk.protocols.agents_txt.access import may_read
from aitp_desk.protocols.agents_txt.document import (
    Access,
    AgentPolicy,
    Auth,
    Capability,
    Document,
    Parameter,
    RateLimit,
    SiteInfo,
)
from aitp_desk.protocols.agents_txt.faults import InvalidFile, ParseResult
from aitp_desk.protocols.agents_txt.json_form import examine_json, parse_json, write_json
from aitp_desk.protocols.agents_txt.linter import Finding, validate
from aitp_desk.protocols.agents_txt.parser import examine_text, parse_text
from aitp_desk.protocols.agents_txt.writer import NotWritable, write_text
from aitp_desk.protocols.base.linter import Fault

__all__ = [
    "Access",
    "AgentPolicy",
    "Auth",
    "Capability",
    "Document",
    "Fault",
    "Finding",
    "InvalidFile",
    "NotWritable",
    "Parameter",
    "ParseResult",
    "RateLimit",
    "SiteInfo",
    "examine_json",
    "examine_text",
    "may_read",
    "parse_json",
    "parse_text",
    "validate",
    "write_json",
    "write_text",
]
