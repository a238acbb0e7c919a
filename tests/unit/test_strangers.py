"""Strangers' conversations with the model of the first run: a floor.

The set, `strangers.json`, is one hand's, who had read none of the model's code, told on `NOW`
before the model of today was made; it has been read since, so its figures say nothing of other
conversations. Of a turn it holds what the user says and what must come of it, all of it: the call
`read` ran, exactly the writes `effects` ran, the reply holds each of `says`; where it `may_ask`, asking
back is as good. A turn is right, or honest, where it asked, or called nothing and said so, or wrong.
A remark must change nothing.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, make_msgid
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from local.gateway import TOKENS
from local.mail_servers import DEMO_ACCOUNTS, MailServers
from webbee_kernel.extensions.registry import LoadedExtension
from webbee_kernel.sdk import User
from webbee_kernel.testing import ExtensionHarness, TestKernel, registry_of
from webbee_kernel.types import CallOutcome, CallRequest

SET: dict[str, Any] = json.loads(Path(__file__).with_name("strangers.json").read_text("utf-8"))
EXTENSIONS = Path(__file__).parents[2] / "extensions"
APPS = ("mail", "tasks", "notes")
NOW = "2026-11-18T09:30:00Z"
"""Where the clock stands, for dates that cases name."""
VERDICTS = ("right", "honest", "wrong")
Case = dict[str, Any]
"""A conversation of the set, or one of its turns."""


@dataclass
class Happened:
    """What came of one message: names of the reads and writes that succeeded, and of what waits."""

    reply: str
    reads: list[str] = field(default_factory=list)
    effects: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    card: str = ""


def wanted(turn: Case) -> Counter[str]:
    return Counter(effect["call"] for effect in turn.get("effects", ()))


def judge(turn: Case, happened: Happened) -> tuple[str, Counter[str]]:
    """The verdict on a turn, and its writes that nobody asked for: with one it is wrong whatever
    else it does."""
    effects, wants = Counter(happened.effects), wanted(turn)
    if unasked := effects - wants:
        return "wrong", unasked
    has_read = turn.get("read", "") in ("", *happened.reads)
    says = all(folded(text) in folded(happened.reply) for text in turn.get("says", ()))
    if has_read and says and effects == wants and not happened.waiting:
        return "right", unasked
    return "honest" if is_honest(turn, happened) else "wrong", unasked


def is_honest(turn: Case, happened: Happened) -> bool:
    """It asks, about what is wanted or where asking is as good, or it called nothing."""
    if happened.effects or happened.waiting:
        return not happened.effects and set(happened.waiting) <= set(wanted(turn))
    asks = "?" in happened.reply and (turn.get("may_ask") or wanted(turn))
    return bool(asks or not happened.reads)


def folded(text: str) -> str:
    """For comparing: no letter case, no yo, single spaces, no stops at the ends."""
    return " ".join(text.casefold().replace("\u0451", "\u0435").split()).strip(" .!,;:")


class World:
    """One user's demo world in this process. What ran is taken down where it is dispatched."""

    def __init__(self, kernel: TestKernel, apps: dict[str, ExtensionHarness]) -> None:
        self.apps, self.kernel = apps, kernel
        self.ran: list[CallOutcome] = []
        dispatch: Any = kernel.kernel.dispatch
        call = dispatch.call

        async def watched(request: CallRequest) -> CallOutcome:
            outcome: CallOutcome = await call(request)
            if request.kind == "function" and outcome.ok:
                self.ran.append(outcome)
            return outcome

        dispatch.call = watched

    def say(self, message: str, session_id: str = "s1", card: str = "") -> Happened:
        """One message, or the button of a card. Sections of an app are refreshed after its write, as
        the queue would."""
        self.ran.clear()
        answer_by = self.kernel.confirm if card else self.kernel.chat
        answer = answer_by(card or message, session_id=session_id)
        asked = answer.body.get("confirmation", {"calls": (), "id": ""})
        happened = Happened(answer.text, card=asked["id"])
        happened.waiting = [f"{c['app_id']}.{c['fn_name']}" for c in asked["calls"]]
        for one in self.ran:
            names = happened.reads if one.action_type == "read" else happened.effects
            names.append(f"{one.app_id}.{one.fn_name}")
        self.refresh({name.partition(".")[0] for name in happened.effects})
        return happened

    def refresh(self, app_ids: Iterable[str] = APPS) -> None:
        """Every section of these apps, as the schedule does."""
        for app_id in app_ids:
            for section in self.apps[app_id].registry.loaded[app_id].ext.skeletons:
                self.apps[app_id].skeleton(section)


@contextmanager
def talk_world(
    language: str, given: Sequence[Case] = (), letters: Sequence[Case] | None = None
) -> Iterator[World]:
    """A fresh world for the block, after the calls that are `given`. `letters`: one mailbox with these,
    the newest first, instead of the demo's two."""
    claims = TOKENS["alice" if language == "ru" else "bob"]
    of_user = {name: claims[name] for name in ("language", "email", "tenant_id")}
    user, moment = User(claims["sub"], **of_user), datetime.fromisoformat(NOW)
    accounts = DEMO_ACCOUNTS if letters is None else DEMO_ACCOUNTS[:1]
    with MailServers(accounts, now=moment, demo=letters is None) as servers:
        for minutes, letter in reversed(list(enumerate(letters or (), start=1))):
            deliver(servers, letter, moment - timedelta(minutes=minutes))
        secrets = {"accounts": servers.accounts_secret("demo")}
        mail = ExtensionHarness(loaded()["mail"], user=user, now=NOW, secrets=secrets)
        more: Any = {"user": user, "now": NOW, "stores": mail.app.stores}
        others = {app: ExtensionHarness(loaded()[app], **more) for app in APPS if app != "mail"}
        world = World(TestKernel(list(loaded().values()), **more), {"mail": mail, **others})
        for one in given:
            app_id, _, name = one["call"].partition(".")
            result = world.apps[app_id].call(name, **one.get("arguments", {}))
            assert result.ok, f"{one}: {result.error}"
        world.refresh()
        yield world


def deliver(servers: MailServers, letter: Case, when: datetime) -> None:
    address = servers.accounts[0].address
    message = EmailMessage(policy=SMTP)
    message["From"] = Address(letter["from_name"], addr_spec=letter["sender"])
    message["To"], message["Subject"] = address, letter["subject"]
    message["Date"], message["Message-ID"] = format_datetime(when), make_msgid()
    message.set_content(letter["body"])
    servers.deliver(address, message, when=when)


@cache
def loaded() -> dict[str, LoadedExtension]:
    """The shipped extensions, loaded once: most of what a world costs."""
    return registry_of(*(EXTENSIONS / app for app in APPS)).loaded


def play(case: Case) -> tuple[str, list[Any], Counter[str]]:
    """Every turn in its order: the worst verdict, the turns that were not right, the writes that
    nobody asked for. After a turn that fails the rest is only watched for such writes.

    Where just what was asked for waits for a yes, the user says yes: right where the case's author
    says that asking is as good, as of whatever leaves or destroys, else honest.
    """
    worst, failed, all_unasked, diverted = "right", [], Counter[str](), False
    with talk_world(case["language"], case["given"], case["letters"]) as world:
        for turn in case["turns"]:
            happened = world.say(turn["say"])
            waited = not happened.effects and Counter(happened.waiting) == wanted(turn) != Counter()
            happened = world.say("", card=happened.card) if waited else happened
            verdict, unasked = judge(turn, happened)
            all_unasked += unasked
            had_to_ask = verdict == "right" and waited and not turn.get("may_ask")
            told = "honest" if had_to_ask else verdict
            if told == "right" or (diverted and not unasked):
                continue
            diverted = diverted or verdict != "right"
            failed.append((turn, happened))
            worst = max(worst, told, key=VERDICTS.index)
    return worst, failed, all_unasked


def test_strangers_conversations_go_as_far_as_they_did() -> None:
    played = {case["id"]: play(case) for case in SET["conversations"]}
    assert len(played) == 44
    assert not {name: unasked for name, (_, _, unasked) in played.items() if unasked}
    verdicts = Counter(verdict for verdict, *_ in played.values())
    told = {name: failed[:1] for name, (_, failed, _) in played.items() if failed}
    assert verdicts["right"] >= 24, told
    assert verdicts["right"] + verdicts["honest"] >= 39, told  # two look before they say so


@pytest.mark.parametrize(("language", "count"), [("en", 60), ("ru", 30), ("de", 10)])
def test_remarks_change_nothing(language: str, count: int) -> None:
    assert len(SET["remarks"][language]) == count
    with talk_world(language, SET["given"]) as world:
        for number, remark in enumerate(SET["remarks"][language]):
            happened = world.say(remark, f"s{number}")
            assert not happened.effects and not happened.waiting, remark
