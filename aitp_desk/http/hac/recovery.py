"""Recovery hints for refusals: text and requests (HAC 1.0, section 6)."""

from __future__ import annotations

from urllib.parse import quote

import msgspec

from aitp_desk.http.hac.context import ProtocolPaths
from aitp_desk.http.hac.payment_hints import find_payment_hints
from aitp_desk.http.hac.refusal import Refusal
from aitp_desk.http.hac.request_view import HacRequest
from aitp_desk.model.access.scope import covers_scope
from aitp_desk.model.error_kind import ErrorKind
from aitp_desk.model.text import write_count
from aitp_desk.protocols.base.action_affordances import (
    list_callable_actions,
    make_call_affordance,
    make_consent_member,
    may_converse,
)
from aitp_desk.protocols.base.affordances import ADDS, Affordance, InputField

THREADS_PATH = "/v1/threads"
_SAID = frozenset(
    {
        ErrorKind.IDEMPOTENCY_CONFLICT,
        ErrorKind.INTERNAL,
        ErrorKind.REQUEST_TOO_LARGE,
        ErrorKind.WRONG_HOST,
    }
)
"""Kinds for which text is all that helps: their cure."""
_ABOUT_FORM = frozenset(
    {
        ErrorKind.INVALID_REQUEST,
        ErrorKind.MISSING_FIELD,
        ErrorKind.UNKNOWN_VERSION,
        ErrorKind.UNSUPPORTED_TYPE,
    }
)
_NOT_ACCEPTABLE = "Leave out the Accept header, or add application/json;q=0.5 to it."
_LOOK_AROUND = "See the list of addresses."
_NO_SUCH_BODY = "Send the body in a supported media type; most addresses accept application/json."


class RecoveryHints(msgspec.Struct, frozen=True):
    """The hints for one refusal.

    Parameters:
        retry_after: seconds, as in the header.
    """

    description: str = ""
    doings: tuple[Affordance, ...] = ()
    is_retryable: bool = False
    retry_after: int | None = None


class RecoveryFinder:
    """Finds the hints for a refusal.

    Parameters:
        ways: the paths of the site's main desk.
    """

    def __init__(self, ways: ProtocolPaths) -> None:
        self._ways = ways

    def find(self, refused: Refusal, asked: HacRequest) -> RecoveryHints:
        """Return the hints for a refused caller."""
        if refused.kind is ErrorKind.PAYMENT_REQUIRED:
            return RecoveryHints(*find_payment_hints(refused, asked, self._ways.capabilities))
        helping = _RecoveryBuilder(refused, asked, self._ways)
        recovery = refused.recovery
        if recovery is not None:
            return helping.found(recovery.description, *helping.named(recovery.actions))
        return helping.find()


class _RecoveryBuilder(msgspec.Struct, frozen=True):
    """Builds the hints for one refusal."""

    refused: Refusal
    asked: HacRequest
    ways: ProtocolPaths

    @property
    def at(self) -> str:
        return self.asked.desk.base_path

    def found(self, description: str, *doings: Affordance | None) -> RecoveryHints:
        return RecoveryHints(description, tuple(one for one in doings if one is not None))

    def named(self, names: tuple[str, ...]) -> list[Affordance]:
        """Return those of the named actions that the caller may call."""
        if not self.ways.capabilities:
            return []
        return [
            make_call_affordance(self.asked.desk, action)
            for action in list_callable_actions(
                self.asked.desk, self.asked.principal, self.asked.allowance
            )
            if action.name in names
        ]

    def find(self) -> RecoveryHints:
        kind = self.refused.kind
        if kind in _SAID:
            return self.found(kind.cure)
        match kind:
            case ErrorKind.NOT_AUTHENTICATED:
                return self._prove()
            case ErrorKind.FORBIDDEN:
                return self._permit()
            case ErrorKind.PRECONDITION_FAILED:
                return self._agree()
            case ErrorKind.UNKNOWN_ACTION:
                return self.found("Choose one of the listed capabilities.", self._listed())
            case ErrorKind.UNKNOWN_SESSION | ErrorKind.SESSION_LIMIT:
                return self.found("Start a new session: ask without a session_id.", self._ask())
            case ErrorKind.METHOD_NOT_ALLOWED:
                return self._other_method()
            case ErrorKind.NOT_ACCEPTABLE:
                return self.found(_NOT_ACCEPTABLE, self._same())
            case ErrorKind.UNSUPPORTED_MEDIA:
                return self.found(_NO_SUCH_BODY, self._document())
            case _ if kind.is_passing:
                return self._wait()
            case _ if kind in _ABOUT_FORM:
                return self._correct()
            case _:
                return self._look_elsewhere()

    def _correct(self) -> RecoveryHints:
        what = f"Correct {self.refused.param}" if self.refused.param else "Correct the request"
        return self.found(f"{what} as the message says, and send it again.", self._declared())

    def _look_elsewhere(self) -> RecoveryHints:
        kind, thread = self.refused.kind, self._thread()
        match kind:
            case ErrorKind.THREAD_NOT_FOUND:
                begin = Affordance(
                    "create-thread",
                    "POST",
                    f"{self.at}{THREADS_PATH}",
                    "Opens a thread; an empty body opens an empty one.",
                    ADDS,
                    takes=(InputField("messages", "array", "The first message."),),
                )
                return self.found(
                    "Use the id from the response that opened the thread, with the same"
                    " credential, or open a new thread.",
                    begin if may_converse(self.asked.principal, self.asked.allowance) else None,
                )
            case ErrorKind.MESSAGE_NOT_FOUND | ErrorKind.EVENTS_GONE:
                listed = Affordance(
                    "messages", "GET", f"{thread}/messages", "Lists the messages of the thread."
                )
                return self.found("Find the message in the list.", listed if thread else None)
            case ErrorKind.RUN_NOT_FOUND:
                listed = Affordance(
                    "runs", "GET", f"{thread}/runs", "Lists the runs of the thread."
                )
                return self.found("Find the run in the list.", listed if thread else None)
            case ErrorKind.ACTOR_NOT_FOUND:
                listed = Affordance("actors", "GET", f"{thread}/actors", "Lists the participants.")
                return self.found("Look up the participants.", listed if thread else None)
            case ErrorKind.GRANT_NOT_FOUND:
                listed = Affordance("grants", "GET", f"{thread}/grants", "Lists the grants.")
                return self.found("Find the grant in the list.", listed if thread else None)
            case ErrorKind.CALL_NOT_FOUND | ErrorKind.TICKET_NOT_FOUND:
                return self.found(
                    "Use the id from the response to the call, with the same credential.",
                    self._listed(),
                )
            case ErrorKind.AGENT_NOT_FOUND:
                listed = Affordance(
                    "collection", "GET", f"{self.at}/v1/assistants", "Lists the site's agents."
                )
                return self.found("Choose one of the site's agents.", listed)
            case _:
                return self.found(self._templates() or _LOOK_AROUND, self._index())

    def _templates(self) -> str:
        """Describe the resource templates whose base is the requested path; empty for none."""
        desk, path = self.asked.desk, self.asked.path.rstrip("/")
        return " ".join(
            f"{type_.summary} Each is at {self.at}{type_.template}: put the value in braces."
            for type_ in desk.resources.list_types(self.asked.principal)
            if type_.template.names and path == f"{self.at}{type_.template.base}"
        )

    def _prove(self) -> RecoveryHints:
        ways = self.ways
        scope = self.refused.scope or "the scope that the message names"
        if ways.register:
            return self.found(
                "Register as a client, get an access token with its id and secret, and send the"
                " request again with Authorization: Bearer and the token. The token needs"
                f" {scope}.",
                *self._token(),
            )
        if ways.token:
            metadata = Affordance(
                "service-meta", "GET", ways.metadata, "Names the authorization server."
            )
            return self.found(
                "Send a valid API key or access token as Authorization: Bearer. The site's"
                " operators issue keys.",
                metadata,
                self._help(),
            )
        return self.found(
            "Send a valid API key as Authorization: Bearer. The site's operators issue keys.",
            self._help(),
        )

    def _permit(self) -> RecoveryHints:
        scope = self.refused.scope
        if not scope:
            return self.found("Only the owner may do this.")
        if self.ways.register and covers_scope(self.ways.register_scopes, scope):
            return self.found(
                f"Get an access token with the scope {scope}, and send the request again with it.",
                *self._token(scope),
            )
        return self.found(
            f"Ask the site's operators for a credential with the scope {scope}.", self._help()
        )

    def _token(self, scope: str = "") -> tuple[Affordance, ...]:
        ways = self.ways
        scopes = scope or " ".join(ways.register_scopes)
        asked = InputField("scope", "string", f"The scopes, such as: {scopes}.")
        return (
            Affordance(
                "register",
                "POST",
                ways.register,
                "Registers a client; the response has client_id and client_secret. The body is"
                " JSON.",
                ADDS,
                takes=(InputField("client_name", "string", "The client's name."), asked),
            ),
            Affordance(
                "token",
                "POST",
                ways.token,
                "Issues an access token. The body is a form (application/x-www-form-urlencoded).",
                takes=(
                    InputField(
                        "grant_type", "string", is_required=True, values=("client_credentials",)
                    ),
                    InputField(
                        "client_id",
                        "string",
                        "The client_secret of the registration.",
                        is_required=True,
                    ),
                    InputField(
                        "client_secret",
                        "string",
                        "The client_secret of the registration.",
                        is_required=True,
                    ),
                    asked,
                ),
            ),
        )

    def _agree(self) -> RecoveryHints:
        refused, name = self.refused, self.asked.params.get("name", "")
        if not refused.is_for_price:
            return self.found(
                "Nothing was done. Correct what the message names, then send the request again.",
                self._declared(),
            )
        price = refused.price
        for action in self.asked.desk.registry.actions:
            if action.name == name:
                doing = make_call_affordance(self.asked.desk, action)
                takes = [one for one in doing.takes if one.name != refused.param]
                takes.append(make_consent_member(price, is_required=True))
                again = msgspec.structs.replace(doing, cost=price, takes=tuple(takes))
                return self.found(
                    f"It costs {price}. Ask the person you act for; if they agree, send the same"
                    f" arguments again with {refused.param}.",
                    again,
                )
        return self.found(f"It costs {price}. To agree, set the member {refused.param}.")

    def _wait(self) -> RecoveryHints:
        refused = self.refused
        if refused.kind is ErrorKind.RATE_LIMITED and refused.retry_after is None:
            return RecoveryHints(
                "Waiting does not help; start a new session.",
                tuple(one for one in (self._ask(),) if one),
                is_retryable=True,
                retry_after=0,
            )
        seconds = refused.retry_after
        when = f"Wait {write_count(seconds, 'second')}" if seconds is not None else "Wait a moment"
        return RecoveryHints(
            f"{when}, then send the same request again.", (), is_retryable=True, retry_after=seconds
        )

    def _other_method(self) -> RecoveryHints:
        allowed = self.refused.allowed
        doing = self._same() if "GET" in allowed else None
        return self.found(f"Use {', '.join(allowed)} at this address.", doing)

    def _same(self) -> Affordance | None:
        """Return a GET of the same address, for requests that only meant to read."""
        if self.asked.method not in {"GET", "HEAD"} and "GET" not in self.refused.allowed:
            return None
        return Affordance(
            "alternate", "GET", self.asked.path, "Reads the current state of this address."
        )

    def _declared(self) -> Affordance | None:
        """Return the link to the description of what the address takes."""
        name = self.asked.params.get("name", "")
        capabilities = f"{self.at}{self.ways.capabilities}"
        if self.ways.capabilities and name and self.asked.path.startswith(f"{capabilities}/"):
            return Affordance(
                "describedby",
                "GET",
                f"{capabilities}/{quote(name, safe='')}",
                "Describes what it takes.",
            )
        return self._document()

    def _document(self) -> Affordance | None:
        if not self.ways.openapi:
            return None
        href = f"{self.at}{self.ways.openapi}"
        return Affordance(
            "service-desc", "GET", href, "Describes all addresses and their parameters."
        )

    def _listed(self) -> Affordance | None:
        if not self.ways.capabilities:
            return self._index()
        return Affordance(
            "collection", "GET", f"{self.at}{self.ways.capabilities}", "Lists the actions."
        )

    def _index(self) -> Affordance:
        return Affordance(
            "index", "GET", f"{self.at}/", "Lists the addresses, if requested as HAC."
        )

    def _ask(self) -> Affordance | None:
        if not self.ways.converse:
            return None
        return Affordance(
            "converse",
            "POST",
            self.ways.converse,
            "Asks a question, which starts a session.",
            ADDS,
            takes=(
                InputField("capability", "string", "The question.", is_required=True),
                InputField("query", "string", "The question.", is_required=True),
            ),
        )

    def _help(self) -> Affordance | None:
        if not self.ways.help:
            return None
        return Affordance("help", "GET", self.ways.help, "Explains how to get a key.")

    def _thread(self) -> str:
        """Return the address of the thread of the request; empty for none."""
        thread_id = self.asked.params.get("thread_id", "")
        return f"{self.at}{THREADS_PATH}/{quote(thread_id, safe='')}" if thread_id else ""
