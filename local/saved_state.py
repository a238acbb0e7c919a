"""What outlives a local run: tables, secrets and mail in one file of a folder, `.webbee` say.

The file holds secrets as they are: it is readable by its owner only, and belongs into no
repository.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import boto3

from .mail_servers import Mail, MailServers
from .terminal import CliError

FILE = "state.json"
LOCK = "lock"
ELSEWHERE = "stop that one first, or keep this one's data elsewhere (KEEP=…, --keep …)"
TABLES = "WEBBEE_TABLE_"
BYTES = "__bytes__"
KEY = "WEBBEE_WEBHOOK_KEY"

State = dict[str, Any]


class StateFile:
    """Puts a run's state back, and writes it down."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE
        self.state: State = {}
        if self._file.exists():
            try:
                self.state = json.loads(self._file.read_text("utf-8"), object_hook=_unbytes)
            except ValueError as error:
                told = f"{self._file} cannot be read ({error}): remove it to start anew"
                raise CliError(told) from None

    @classmethod
    @contextmanager
    def exclusive(cls, folder: Path) -> Iterator[StateFile]:
        """A folder's keeper, whose folder is nobody else's until the block ends. CliError where
        another process has it: two would write over each other."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (folder / LOCK).open("a+", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                lock.seek(0)
                who = f"process {lock.read().strip() or 'unknown'}"
                told = f"{folder} is in use by another run ({who}): {ELSEWHERE}"
                raise CliError(told) from None
            lock.truncate(0)
            lock.write(str(os.getpid()))
            lock.flush()
            yield cls(folder)

    @property
    def has_mail(self) -> bool:
        """Whether mail of an earlier run is kept: the demo's is not delivered again."""
        return "mails" in self.state

    def settings(self) -> dict[str, str]:
        """Variables that a later run has again: the key of webhooks' addresses, so that those that
        other services were given stay good."""
        return {KEY: self.state[KEY]} if KEY in self.state else {}

    def restore(self, env: Mapping[str, str], mail: MailServers) -> None:
        """Fill empty tables, secrets and mailboxes with what was kept."""
        dynamodb, ssm = boto3.client("dynamodb"), boto3.client("ssm")
        tables = _tables(env)
        for noun, items in self.state.get("tables", {}).items():
            for item in items if noun in tables else ():
                dynamodb.put_item(TableName=tables[noun], Item=item)
        for name, value in self.state.get("secrets", {}).items():
            if name.endswith("/mail/accounts"):  # the demo's mailboxes listen elsewhere now
                for kind, was in self.state["ports"].items():
                    now = rf"\g<1>{_ports(mail)[kind]}"
                    value = re.sub(rf'("{kind}":\s*){was}\b', now, value)
            ssm.put_parameter(Name=name, Value=value, Type="SecureString", Overwrite=True)
        mail.restore([Mail(**m) for m in self.state.get("mails", [])])

    def save(self, env: Mapping[str, str], mail: MailServers) -> None:
        """Write everything down, at once or not at all."""
        scan = boto3.client("dynamodb").get_paginator("scan")
        scanned = {noun: scan.paginate(TableName=name) for noun, name in _tables(env).items()}
        found = boto3.client("ssm").get_paginator("get_parameters_by_path")
        below = found.paginate(
            Path=env["WEBBEE_SECRETS_PREFIX"], Recursive=True, WithDecryption=True
        )
        parameters = below.build_full_result()["Parameters"]
        self.state = {
            "tables": {noun: pages.build_full_result()["Items"] for noun, pages in scanned.items()},
            "secrets": {p["Name"]: p["Value"] for p in parameters},
            "mails": [asdict(m) for m in mail.kept()],
            "ports": _ports(mail),
            KEY: env[KEY],
        }
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = self._file.with_suffix(".new")
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
            json.dump(self.state, out, default=_bytes, ensure_ascii=False)
        fresh.replace(self._file)


def _ports(mail: MailServers) -> dict[str, int]:
    return {"imap_port": mail.imap_port, "smtp_port": mail.smtp_port}


def _tables(env: Mapping[str, str]) -> dict[str, str]:
    return {k.removeprefix(TABLES): v for k, v in env.items() if k.startswith(TABLES)}


def _bytes(value: object) -> dict[str, str]:
    if isinstance(value, bytes | bytearray):
        return {BYTES: base64.b64encode(value).decode()}
    raise TypeError(type(value).__name__)


def _unbytes(found: dict[str, Any]) -> Any:
    return base64.b64decode(found[BYTES]) if set(found) == {BYTES} else found
