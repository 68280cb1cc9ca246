"""Checks of a desk on its own machine: settings, mail, webhook, disk, secrets, backups."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from urllib.parse import urlsplit

from aitp_desk.agent.generative.providers.chain import describe_obstacle
from aitp_desk.app.transports import load_for_check
from aitp_desk.auth.keys.master_key import KEY_FILE, MASTER_KEY
from aitp_desk.cli.commands.site.examination.connection import SECONDS
from aitp_desk.cli.commands.site.examination.findings import Findings
from aitp_desk.cli.commands.site.published_folder import find_published
from aitp_desk.config import MAIL, Config, check_public
from aitp_desk.egress import Egress, EgressError
from aitp_desk.model.web_address import is_loopback

LEAST_BYTES = 1024**3
"""With less, a database that grows fills the disk within days."""
LAST_BYTES = 100 * 1024**2
"""With less, the desk soon refuses what it would have to store."""
BACKUP_HOURS = 48
"""An older newest backup means that a daily one was missed."""
_OTHERS = 0o077
_SECRETS = (".env", ".pem", ".key", ".p12")
"""How the names of files with secrets end."""


async def check_folder(config: Config, backups: Path | None, findings: Findings) -> None:
    """Check what cannot be seen from outside.

    Parameters:
        backups: the folder of the backups, if it is known.

    Raises:
        ConfigError: the settings of a transport are not usable.
    """
    _check_settings(config, findings)
    await _check_mail(config, findings)
    await _check_webhook(config, findings)
    _check_disk(config, findings)
    _check_place(config, findings)
    _check_secrets(config, findings)
    _check_backups(backups, findings)


def _check_settings(config: Config, findings: Findings) -> None:
    """Check what the checklist of docs/run/security.md asks of the settings."""
    for problem in check_public(config):
        findings.fault("settings", problem.key, problem.message)
    is_public = not is_loopback(urlsplit(config.site.url).hostname or "")
    if is_public and not config.server.trusted_proxies:
        findings.warn(
            "settings",
            "server.trusted_proxies is empty, so all visitors share the limits of one",
            'name the web server, such as ["127.0.0.1"]',
        )
    if config.limits.enabled:
        findings.approve("settings", "limits are on")
    else:
        findings.fault("settings", "limits.enabled is false", "switch the limits on")
    is_paid = any(
        one.key_variable and describe_obstacle(one, os.environ) is None
        for one in config.model.chain
    )
    if is_paid and not config.model.day_tokens:
        what = "a model answers, and model.day_tokens sets no limit"
        findings.warn("settings", what, "limit the tokens of a day")
    if not config.retention.threads_days:
        what = "retention.threads_days is 0: conversations are kept for ever"
        findings.warn("settings", what, "set the days after which they are deleted")


async def _check_mail(config: Config, findings: Findings) -> None:
    """Connect to the mail server; nothing is sent."""
    for one in load_for_check(config, os.environ):
        if one.name != MAIL:
            continue
        steps = one.transport.check()
        step = await anext(steps)
        if isinstance(steps, AsyncGenerator):
            await steps.aclose()
        if step.is_done:
            findings.approve("mail", f"{step.what} {step.detail}")
        else:
            findings.fault("mail", step.what, step.detail)


async def _check_webhook(config: Config, findings: Findings) -> None:
    """See whether the receiver of notifications answers; it is sent none."""
    if not config.notify.webhook:
        return
    host = urlsplit(config.notify.webhook).hostname
    async with Egress(allow_loopback=config.egress.allow_loopback) as egress:
        try:
            found = await egress.preview(config.notify.webhook, seconds=SECONDS)
        except EgressError as error:
            advice = "start the receiver, or correct notify.webhook"
            findings.fault("webhook", str(error), advice)
            return
    if found.status in {404, 410} or found.status >= 500:
        advice = "correct notify.webhook, or see the receiver's log"
        findings.fault("webhook", f"{host} answers with status {found.status}", advice)
    else:
        findings.approve("webhook", f"{host} answers")


def _check_disk(config: Config, findings: Findings) -> None:
    place = next(one for one in (config.data, *config.data.parents) if one.exists())
    free = shutil.disk_usage(place).free
    what = f"{free / 1024**3:.1f} GiB are free for {config.data}"
    if free < LAST_BYTES:
        findings.fault("disk", what, "free some now: the desk soon cannot store anything")
    elif free < LEAST_BYTES:
        findings.warn("disk", what, "free some, or set retention")
    else:
        findings.approve("disk", what)


def _check_place(config: Config, findings: Findings) -> None:
    """Find a data folder among pages, which some web server may publish with them."""
    if (published := find_published(config.data)) is not None:
        findings.warn(
            "data",
            f"{config.data} lies in {published}, a folder of pages",
            "stop the desk, move it next to these pages, and name it: store.data",
        )


def _check_secrets(config: Config, findings: Findings) -> None:
    """Find secrets that other accounts of this machine may read."""
    files = [config.data / KEY_FILE]
    if named := os.environ.get(f"{MASTER_KEY}_FILE"):
        files.append(Path(named))
    files += sorted(one for one in config.folder.iterdir() if one.name.endswith(_SECRETS))
    exposed = [one for one in files if one.is_file() and one.stat().st_mode & _OTHERS]
    for one in exposed:
        findings.fault("secrets", f"{one} is readable by others", f"chmod 600 {one}")
    if config.data.is_dir() and config.data.stat().st_mode & _OTHERS:
        findings.fault(
            "secrets",
            f"{config.data}, which holds conversations, is open to others",
            f"chmod 700 {config.data}",
        )
    elif not exposed:
        findings.approve("secrets", "only the desk's account can read them")


def _check_backups(folder: Path | None, findings: Findings) -> None:
    if folder is None:
        findings.warn("backups", "not checked", "name their folder: --backups FOLDER")
        return
    states = [one.stat() for one in folder.iterdir() if one.is_file()]
    if not states:
        advice = "let a timer run aitp-desk store backup daily"
        findings.fault("backups", f"{folder} has none", advice)
        return
    hours = (time.time() - max(one.st_mtime for one in states)) / 3600
    what = f"the newest is {hours:.0f} hours old"
    if hours > BACKUP_HOURS:
        findings.fault("backups", what, "see why the daily backup does not run")
    else:
        findings.approve("backups", what)
    if any(one.st_mode & _OTHERS for one in states):
        findings.fault("backups", "others can read one", f"chmod 600 {folder}/*")
