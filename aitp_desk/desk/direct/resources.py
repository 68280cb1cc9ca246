"""Reads the site's resources, with the actions that are open to the reader.

Every protocol reads the same way:

    address → permit → the site's own function, under a deadline → audit log → open actions

An action is included if the reader may call it, the site's code declares it open in this state, and
its preconditions are met, as far as its arguments are known.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import structlog

from aitp_desk.actions.base import Context, OfferedResource
from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.access.scopes import check_access
from aitp_desk.desk.calls.invoker import ActionInvoker
from aitp_desk.model.access.audit import AuditAction, ObjectKind, Outcome, make_auditor
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.action import Action, Related, is_open
from aitp_desk.model.calls.resource import NOTHING_HERE, Affordance, Resource, ResourceType, expand
from aitp_desk.model.errors import (
    DeskError,
    InvalidRequest,
    MissingField,
    NotAuthenticated,
    ResourceNotFound,
    ScopeMissing,
    UnknownAction,
)
from aitp_desk.model.ids import new_id
from aitp_desk.model.money import Money
from aitp_desk.store.units.audit import keep_audit

_log = structlog.get_logger()


class OpenAction(msgspec.Struct, frozen=True):
    """An action that is open on a resource now (HAC 1.0, section 4).

    Parameters:
        action: with its safety, and the schema of its arguments.
        arguments: those that follow from the resource; the caller gives the others.
        cost: of the call with these arguments. None if it is free, or if
            :attr:`~aitp_desk.model.calls.action.Action.has_price` and the other arguments decide
            it.
    """

    action: Action
    arguments: Mapping[str, Any]
    cost: Money | None = None


class ResourceView(msgspec.Struct, frozen=True):
    """A resource as a caller sees it.

    Parameters:
        path: its address on the site, percent-encoded and normalized.
        data: as JSON has it, cut to its type's ``output_schema``.
        actions: what the caller may do with it now, in the order of their declaration.
        related: links, without those whose targets do not exist or are resources that the caller
            may not read.
        is_paid: whether it was paid for, and so is visible to its reader only.
        receipt: the payer's receipt; empty for none.
    """

    type: ResourceType
    path: str
    data: Any
    actions: tuple[OpenAction, ...] = ()
    related: tuple[Related, ...] = ()
    is_paid: bool = False
    receipt: Mapping[str, Any] = {}


class Resources:
    """Reads resources within the caller's access.

    Parameters:
        offered: the offered resource types; no two share an address.
        invoker: the action invoker of the same desk, which knows what a caller may call.
    """

    def __init__(
        self,
        context: DeskContext,
        offered: Sequence[OfferedResource],
        invoker: ActionInvoker,
    ) -> None:
        self._offered = tuple(offered)
        self._invoker = invoker
        self._store = context.store
        self._audit = context.audit
        self._clock = context.clock

    @property
    def all_types(self) -> tuple[ResourceType, ...]:
        """The types of all resources, whatever access they need."""
        return tuple(one.type for one in self._offered)

    def list_types(self, principal: Principal) -> tuple[ResourceType, ...]:
        """Return the resource types that a caller may read, in declaration order."""
        return tuple(one.type for one in self._offered if _may_read(principal, one.type))

    def find_paid_query(self, path: str) -> tuple[str, Mapping[str, Any]] | None:
        """Return the query that reads a paid resource, and its arguments.

        None for other resources.

        Raises:
            ResourceNotFound, InvalidRequest: as :meth:`read`.
        """
        offered, variables = self._find(path)
        if not offered.type.read_by:
            return None
        return offered.type.read_by, offered.arguments(variables)

    def describe_address(self, path: str) -> ResourceView:
        """Return what is known of a resource from its address alone."""
        offered, variables = self._find(path)
        return ResourceView(
            offered.type, expand(str(offered.type.template), variables) or path, None
        )

    async def read(self, principal: Principal, path: str, *, is_paid: bool = False) -> ResourceView:
        """Read a resource. The audit log records it before any of it is returned.

        Parameters:
            path: as in a request: percent-encoded, without a query.
            is_paid: whether it was paid for, if its type requires that.

        Raises:
            ResourceNotFound: there is none at this address, for this caller.
            NotAuthenticated: it is not open to callers without a credential.
            ScopeMissing: the caller's credential does not open it.
            InvalidRequest: a variable of the path has the wrong type; ``param`` names it.
            Unavailable: it could not be read within its deadline, or not now.
            InternalError: the site's own code failed.
        """
        offered, variables = self._find(path)
        type_ = offered.type
        if type_.read_by and not is_paid:
            raise ValueError(f"{type_.name} must be read with the paid action {type_.read_by}.")
        check_access(principal, type_.open_to, type_.name, str(type_.template))
        performing = self._invoker.executor
        context = performing.make_context_for(principal, new_id("read", self._clock()))
        try:
            found = await performing.read_resource(offered, variables, context)
        except InvalidRequest:
            raise
        except DeskError:
            address = expand(str(type_.template), variables) or path
            await self._note(principal, address, Outcome.FAILED)
            raise
        await self._note(principal, found.path, Outcome.DONE)
        looks = (self._look(principal, type_, found, one, context) for one in found.affordances)
        actions = await asyncio.gather(*looks)
        return ResourceView(
            type_,
            found.path,
            found.data,
            tuple(one for one in actions if one is not None),
            tuple(link for link in found.related if self._may_follow(principal, link)),
        )

    def _find(self, path: str) -> tuple[OfferedResource, Mapping[str, str]]:
        for offered in self._offered:
            variables = offered.type.template.match(path)
            if variables is not None:
                return offered, variables
        raise ResourceNotFound(NOTHING_HERE)

    async def _look(
        self,
        principal: Principal,
        type_: ResourceType,
        found: Resource,
        affordance: Affordance,
        context: Context,
    ) -> OpenAction | None:
        """Return an action if it is open to the caller, otherwise None."""
        try:
            offered = self._invoker.find(principal, affordance.action)
        except (UnknownAction, NotAuthenticated, ScopeMissing):
            return None
        action = offered.action
        takes = action.input_schema.get("properties", {})
        known = {name: value for name, value in found.variables.items() if name in takes}
        arguments = {**known, **affordance.arguments}
        try:
            value = offered.read(arguments)
        except MissingField:
            return OpenAction(action, arguments, action.cost)
        except InvalidRequest as error:
            _log.warning(
                "affordance_unfit", resource=type_.name, action=action.name, reason=error.message
            )
            return None
        try:
            price = await self._invoker.executor.check_call(offered, value, context)
        except DeskError:
            return None
        return OpenAction(action, arguments, price)

    def _may_follow(self, principal: Principal, link: Related) -> bool:
        """Return whether a link leads to no resource that the caller may not read."""
        try:
            offered, _ = self._find(link.href)
        except ResourceNotFound:
            return True
        return _may_read(principal, offered.type)

    async def _note(self, principal: Principal, path: str, outcome: Outcome) -> None:
        await self._store.run(
            keep_audit,
            by=make_auditor(self._audit, principal, int(self._clock())),
            action=AuditAction.RESOURCE_READ,
            kind=ObjectKind.RESOURCE,
            id_=path,
            outcome=outcome,
        )


def _may_read(principal: Principal, type_: ResourceType) -> bool:
    return is_open(principal.scopes, type_.open_to, type_.name)
