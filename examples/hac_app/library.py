"""A lending library's API with HAC: plain aiohttp handlers with their descriptions.

    python3 examples/hac_app/library.py

It needs aiohttp and msgspec, but no desk. Readers without a key see the books. The librarian, who
has a key, also sees the members and the actions for them.
"""

from __future__ import annotations

import hmac
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any

import msgspec
from aiohttp import web

from aitp_desk.protocols.hac import (
    Action,
    Context,
    Cost,
    Field,
    HacError,
    Recovery,
    Related,
    Resource,
    Safety,
)
from aitp_desk.protocols.hac.middleware import described, hac_middleware, refused


@dataclass
class Loan:
    """A book that a member has at home."""

    id: int
    member: int
    book: str
    renewed: int = 0


@dataclass
class Library:
    """The books, the members, and the librarian's key."""

    key: str
    books: list[str] = field(default_factory=lambda: ["Emma", "Persuasion", "Sanditon"])
    members: dict[int, str] = field(default_factory=lambda: {7: "Ada", 8: "Grace"})
    loans: dict[int, Loan] = field(
        default_factory=lambda: {1: Loan(1, 7, "Emma"), 2: Loan(2, 7, "Sanditon")}
    )

    def taken_by(self, member: int) -> list[Loan]:
        """Return the books that a member has now."""
        return [loan for loan in self.loans.values() if loan.member == member]


LIBRARY = web.AppKey("library", Library)
MOST_RENEWALS = 2


def is_librarian(request: web.Request) -> bool:
    """Return whether a request has the librarian's key."""
    shown = request.headers.get("Authorization", "").encode()
    return hmac.compare_digest(shown, f"Bearer {request.app[LIBRARY].key}".encode())


def demand_librarian(request: web.Request) -> Library:
    """Refuse callers other than the librarian.

    Raises:
        aiohttp.web.HTTPUnauthorized: the request has no key, or another one.
    """
    if is_librarian(request):
        return request.app[LIBRARY]
    told = refused(
        web.HTTPUnauthorized,
        HacError(
            code="librarians_only",
            message="Only the librarian may see members and loans.",
            recovery=Recovery(
                description="Ask your user for the librarian's key and send it as a bearer token."
                " Without it the books can be read.",
                actions=[Action(rel="collection", method="GET", href="/books")],
            ),
        ),
    )
    told.headers["WWW-Authenticate"] = 'Bearer realm="library"'
    raise told


def find_member(request: web.Request) -> int:
    """Return the member in a request's path.

    Raises:
        aiohttp.web.HTTPNotFound: there is none.
    """
    library = demand_librarian(request)
    number = int(request.match_info["member"])
    if number not in library.members:
        raise web.HTTPNotFound(text=f"There is no member {number}.")
    return number


def find_loan(request: web.Request) -> Loan:
    """Return the loan in a request's path.

    Raises:
        aiohttp.web.HTTPNotFound: there is none, or the book has been returned.
    """
    library = demand_librarian(request)
    number = int(request.match_info["loan"])
    if number not in library.loans:
        raise web.HTTPNotFound(text=f"There is no loan {number}; the book may be back.")
    return library.loans[number]


def tell_of_books(request: web.Request, _payload: Any) -> Context:
    """Describe the link to the members, for the librarian only."""
    members = Related(rel="members", href="/members", description="Who borrows books.")
    return Context(
        description="The titles that this library lends. Reading them changes nothing.",
        related=[members] if is_librarian(request) else [],
    )


@described(tell_of_books)
async def list_books(request: web.Request) -> web.Response:
    """List the books that the library lends."""
    return web.json_response(request.app[LIBRARY].books)


@described(
    lambda _request, _payload: Context(
        description="All members who borrow books, by number.",
        related=[
            Related(rel="item", href="/members/{id}", description="One member, by the id listed.")
        ],
    )
)
async def list_members(request: web.Request) -> web.Response:
    """List the members."""
    library = demand_librarian(request)
    members = [{"id": number, "name": name} for number, name in library.members.items()]
    return web.json_response(members)


def tell_of_member(_request: web.Request, member: Any) -> Context:
    """Describe the actions on a member."""
    here = f"/members/{member['id']}"
    rename = Action(
        rel="edit",
        method="PATCH",
        href=here,
        description="Change the member's name. It is seen at once; to undo it, send the old name.",
        safety=Safety(mutability="reversible", blast_radius="self"),
        fields=[
            Field(name="name", type="string", required=True, description="1 to 80 characters.")
        ],
    )
    remove = Action(
        rel="delete",
        method="DELETE",
        href=here,
        description="Remove this member for good. Cannot be undone. Fails with 409 while the"
        " member still has a book.",
        safety=Safety(
            mutability="irreversible", blast_radius="self", confirmation_recommended=True
        ),
        preconditions=["The member has returned every book."],
    )
    return Context(
        description=f"A member of the library who has {member['loans']} books at home.",
        actions=[rename, remove],
        related=[
            Related(
                rel="loans",
                href=f"{here}/loans",
                description="The books that this member has at home.",
                extra={"count": member["loans"]},
            ),
            Related(rel="collection", href="/members"),
        ],
    )


def as_json(library: Library, number: int) -> web.Response:
    """Convert a member to the API's JSON object."""
    loans = len(library.taken_by(number))
    return web.json_response({"id": number, "name": library.members[number], "loans": loans})


@described(tell_of_member)
async def show_member(request: web.Request) -> web.Response:
    """Return one member."""
    number = find_member(request)
    return as_json(request.app[LIBRARY], number)


@described(tell_of_member)
async def rename_member(request: web.Request) -> web.Response:
    """Rename a member."""
    number, library = find_member(request), request.app[LIBRARY]
    try:
        name = msgspec.json.decode(await request.read())["name"]
    except (msgspec.DecodeError, TypeError, KeyError):
        name = None
    if not isinstance(name, str) or not 0 < len(name) <= 80:
        raise web.HTTPBadRequest(text='Send {"name": …} with 1 to 80 characters.')
    library.members[number] = name
    return as_json(library, number)


@described()
async def remove_member(request: web.Request) -> web.Response:
    """Remove a member without books at home."""
    number, library = find_member(request), request.app[LIBRARY]
    taken = library.taken_by(number)
    if taken:
        raise refused(
            web.HTTPConflict,
            HacError(
                code="books_at_home",
                message=f"The member still has {len(taken)} books.",
                recovery=Recovery(
                    description="Return every book of the member, then send this again. Ask the"
                    " user first whether the books are back.",
                    actions=[returning(taken)],
                ),
            ),
        )
    del library.members[number]
    return web.Response(status=204)


def returning(taken: list[Loan]) -> Action:
    """Describe the return of one of several books."""
    return Action(
        rel="return",
        method="POST",
        href="/loans/{loan}/return",
        description=(
            "Record that the book was returned. Cannot be undone: lending it again is a new loan."
        ),
        safety=Safety(
            mutability="irreversible", blast_radius="self", confirmation_recommended=True
        ),
        fields=[
            Field(
                name="loan",
                type="integer",
                required=True,
                description="The number of the loan.",
                enum=[loan.id for loan in taken],
            )
        ],
    )


def renewing(taken: list[Loan]) -> Action:
    """Describe the renewal of one of several loans."""
    return Action(
        rel="renew",
        method="POST",
        href="/loans/{loan}/renew",
        description="Let the member keep the book for four weeks more. The fee is due at once.",
        safety=Safety(
            mutability="reversible",
            reversible_within="P1D",
            blast_radius="self",
            cost=Cost(amount=Decimal("0.50"), currency="EUR", description="The fee of one renewal"),
        ),
        fields=[
            Field(name="loan", type="integer", required=True, enum=[loan.id for loan in taken])
        ],
        preconditions=[f"The loan was renewed less than {MOST_RENEWALS} times."],
    )


def tell_of_loans(request: web.Request, _payload: Any) -> Context:
    """Describe the actions on a member's loans that are possible now."""
    member = int(request.match_info["member"])
    taken = request.app[LIBRARY].taken_by(member)
    may_stay = [loan for loan in taken if loan.renewed < MOST_RENEWALS]
    actions = [returning(taken)] if taken else []
    return Context(
        description="The books that the member has at home.",
        actions=[*actions, *([renewing(may_stay)] if may_stay else [])],
        related=[Related(rel="up", href=f"/members/{member}", description="The member.")],
    )


@described(tell_of_loans)
async def list_loans(request: web.Request) -> web.Response:
    """List a member's loans."""
    taken = request.app[LIBRARY].taken_by(find_member(request))
    return web.json_response([asdict(loan) for loan in taken])


def tell_of_loan(_request: web.Request, loan: Any) -> Context:
    """Describe the links of a loan to the member's other loans."""
    others = f"/members/{loan['member']}/loans"
    return Context(
        description=f"The loan of {loan['book']}, after your request.",
        related=[Related(rel="collection", href=others, description="The books still at home.")],
    )


@described(tell_of_loan)
async def return_book(request: web.Request) -> web.Response:
    """Record a returned book."""
    loan = find_loan(request)
    del request.app[LIBRARY].loans[loan.id]
    return web.json_response(asdict(loan))


@described(tell_of_loan)
async def renew_loan(request: web.Request) -> web.Response:
    """Renew a loan."""
    loan = find_loan(request)
    if loan.renewed >= MOST_RENEWALS:
        raise refused(
            web.HTTPConflict,
            HacError(
                code="renewed_too_often",
                message=f"The loan was already renewed {loan.renewed} times.",
                recovery=Recovery(
                    description="The book must be returned.", actions=[returning([loan])]
                ),
            ),
        )
    loan.renewed += 1
    return web.json_response(asdict(loan))


def resources_for(request: web.Request) -> list[Resource]:
    """Return the API's entry points for this caller."""
    books = Resource(
        rel="books", href="/books", description="The books that are lent.", methods=["GET"]
    )
    members = Resource(
        rel="members", href="/members", description="The members and their loans.", methods=["GET"]
    )
    return [books, members] if is_librarian(request) else [books]


def make_app(library: Library) -> web.Application:
    """Make the application, ready to serve."""
    hac = hac_middleware(
        name="Lending library",
        description="Books, their borrowers, and the actions on both.",
        version="1",
        resources=resources_for,
    )
    app = web.Application(middlewares=[hac])
    app[LIBRARY] = library
    app.router.add_get("/books", list_books)
    app.router.add_get("/members", list_members)
    app.router.add_get(r"/members/{member:\d{1,9}}", show_member)
    app.router.add_patch(r"/members/{member:\d{1,9}}", rename_member)
    app.router.add_delete(r"/members/{member:\d{1,9}}", remove_member)
    app.router.add_get(r"/members/{member:\d{1,9}}/loans", list_loans)
    app.router.add_post(r"/loans/{loan:\d{1,9}}/return", return_book)
    app.router.add_post(r"/loans/{loan:\d{1,9}}/renew", renew_loan)
    return app


if __name__ == "__main__":
    web.run_app(make_app(Library(key="librarian")), host="127.0.0.1", port=8090)
