"""Dovecot: a real IMAP server with one mailbox."""

from __future__ import annotations

import imaplib
import os
import pwd
import shutil
import ssl
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.desk.processes import free_port
from tests.support.servers.certificates import Authority
from tests.support.servers.parent_watch import ended_with_parent

USER, PASSWORD = "desk", "a password of the mailbox"
SECONDS = 30
SETTINGS = """
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/log
protocols = imap
listen = 127.0.0.1
{users}
first_valid_uid = 1
mail_location = maildir:{folder}/mail
ssl = required
ssl_cert = <{certificate}
ssl_key = <{key}
passdb {{
  driver = passwd-file
  args = scheme=PLAIN {folder}/users
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={folder}/mail
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {plain_port}
  }}
  inet_listener imaps {{
    port = {tls_port}
    ssl = yes
  }}
}}
service anvil {{
  chroot =
}}
"""


class Dovecot:
    """A running server.

    Attributes:
        authority: that has signed its certificate, for ``localhost``.
        tls_port: where connections are encrypted from their first byte.
        plain_port: where they become so by STARTTLS.
    """

    def __init__(self, authority: Authority, tls_port: int, plain_port: int) -> None:
        self.authority = authority
        self.tls_port = tls_port
        self.plain_port = plain_port

    def open(self, folder: str = "INBOX") -> imaplib.IMAP4_SSL:
        """Open a folder of the mailbox, as its owner's program does."""
        tls = ssl.create_default_context(cafile=str(self.authority.file))
        client = imaplib.IMAP4_SSL("localhost", self.tls_port, ssl_context=tls, timeout=SECONDS)
        client.login(USER, PASSWORD)
        client.select(folder)
        return client

    def put(self, mail: bytes) -> None:
        """Put a mail into the inbox."""
        with self.open() as client:
            status, _ = client.append("INBOX", "", "", mail)
            assert status == "OK"

    def count(self, *search: str, folder: str = "INBOX") -> int:
        """How many mails of a folder a search finds."""
        with self.open(folder) as client:
            return len(client.search(None, *search)[1][0].split())

    def make_folder(self, name: str) -> None:
        """Make a folder, by its name in modified UTF-7."""
        with self.open() as client:
            assert client.create(f'"{name}"')[0] == "OK"


@contextmanager
def dovecot() -> Iterator[Dovecot]:
    """Run it with an empty mailbox."""
    program = shutil.which("dovecot", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        pytest.skip("dovecot is not installed")
    folder = Path(tempfile.mkdtemp(prefix="aitp-dovecot-", dir="/tmp"))
    folder.chmod(0o755)
    is_root = os.geteuid() == 0
    name = pwd.getpwuid(os.geteuid()).pw_name
    owner = pwd.getpwnam("nobody" if is_root else name)
    (folder / "mail").mkdir()
    os.chown(folder / "mail", owner.pw_uid, owner.pw_gid)
    (folder / "users").write_text(f"{USER}:{{PLAIN}}{PASSWORD}\n")
    roles = ("default_internal_user", "default_login_user", "default_internal_group")
    authority = Authority(folder, "authority")
    certificate, key = authority.sign("localhost")
    ports = free_port(), free_port()
    settings = folder / "dovecot.conf"
    settings.write_text(
        SETTINGS.format(
            folder=folder,
            users="" if is_root else "\n".join(f"{role} = {name}" for role in roles),
            certificate=certificate,
            key=key,
            uid=owner.pw_uid,
            gid=owner.pw_gid,
            tls_port=ports[0],
            plain_port=ports[1],
        )
    )
    process = subprocess.Popen([program, "-F", "-c", settings])
    try:
        with ended_with_parent("kill", str(process.pid)):
            server = Dovecot(authority, *ports)
            _wait_for(server, process)
            yield server
    finally:
        process.terminate()
        process.wait(SECONDS)
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(server: Dovecot, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + SECONDS
    while True:
        try:
            server.count("ALL")
        except OSError:
            assert process.poll() is None, "dovecot did not start"
            assert time.monotonic() < until, "dovecot does not answer"
            time.sleep(0.05)
        else:
            return
