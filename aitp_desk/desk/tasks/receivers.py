"""The receivers of a task's push notifications: set, list and delete them."""

from __future__ import annotations

from aitp_desk.desk.tasks.access import TaskAccess
from aitp_desk.desk.tasks.push import PushNotifications
from aitp_desk.model.access.credential import CredentialMark
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.task import Push


class TaskReceivers:
    """Manages the receivers of tasks.

    Every method raises TaskNotFound if the task does not exist, or is not the caller's.
    """

    def __init__(self, access: TaskAccess, push: PushNotifications) -> None:
        self._access = access
        self._push = push

    async def set_receiver(self, principal: Principal, push: Push, mark: CredentialMark) -> Push:
        """Set a receiver of a task's push notifications.

        Parameters:
            mark: of the credential with which it is set.

        Raises:
            Forbidden: another caller has set one with the same id.
            InvalidRequest: the desk does not send to this address.
            PreconditionFailed: the task has the maximum number of receivers.
        """
        self._push.check(push)
        task = await self._access.get_writable_task(principal, push.task_id)
        push = self._push.with_id(push, task.id)
        is_managed = await self._access.can_manage(principal, task.thread_id)
        await self._push.set_receiver(principal, task, push, mark, is_managed=is_managed)
        return push

    async def list_receivers(self, principal: Principal, task_id: str) -> tuple[Push, ...]:
        """Return a task's receivers: the caller's own, or all if it manages the thread."""
        task = await self._access.get_writable_task(principal, task_id)
        is_managed = await self._access.can_manage(principal, task.thread_id)
        return await self._push.list_receivers(principal, task_id, is_managed=is_managed)

    async def delete_receiver(self, principal: Principal, task_id: str, push_id: str) -> bool:
        """Delete a receiver; return whether it existed."""
        known = await self.list_receivers(principal, task_id)
        task = await self._access.get_task(principal, task_id)
        is_known = any(push.id == push_id for push in known)
        return is_known and await self._push.delete_receiver(task, push_id)
