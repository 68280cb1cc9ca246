"""Schedules the periodic work of plugins."""

from __future__ import annotations

from functools import partial

from aitp_desk.capability import Retry, Round, Send
from aitp_desk.desk.jobs.scheduler import Schedule, Scheduler, ScheduleSkipped
from aitp_desk.desk.plugins.registry import PluginRegistry


def register_rounds(capabilities: PluginRegistry, schedules: Scheduler, send: Send) -> None:
    """Schedule the periodic work of all plugins.

    Parameters:
        send: sends HTTP requests for plugins.
    """
    for enabled in capabilities.all:
        for name, one in enabled.rounds.items():
            work = partial(_go, one, send)
            schedule = Schedule(
                f"{enabled.slug}.{name}", one.every, work, at_start=True, is_remembered=True
            )
            schedules.add(schedule)


async def _go(one: Round, send: Send) -> int:
    try:
        await one.do(send)
    except Retry as error:
        raise ScheduleSkipped(error.reason) from None
    return 1
