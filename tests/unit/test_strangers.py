"""Strangers' conversations with the model of the first run: a floor.

The set, `strangers.json`, is one hand's, who had read none of the model's code, told on `NOW`
before the model of today was made; it has been read since, so its figures say nothing of other
conversations. A turn is right, or honest, where it asked, or called nothing and said so, or wrong.
A remark must change nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, make_msgid
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import pytest
from pydantic import TypeAdapter

from local.gateway import TOKENS
from local.mail_servers import DEMO_ACCOUNTS, MailServers
from webbee_kernel.extensions.registry import LoadedExtension
from webbee_kernel.sdk import User
from webbee_kernel.testing import ExtensionHarness, TestKernel, registry_of
from webbee_kernel.types import CallOutcome, CallRequest

SET = Path(__file__).with_name("strangers.json")
EXTENSIONS = Path(__file__).parents[2] / "extensions"
APPS = ("mail", "tasks", "notes")
NOW = "2026-11-18T09:30:00Z"
"""Where the clock stands, for dates that cases name."""
Verdict = Literal["right", "honest", "wrong"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True, slots=True)
class Write:
    """A call that writes, `app.function`; `tells` are texts that stand in its values."""

    call: str
    tells: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """What the user says, and what must come of it, all of it: `read` ran, exactly the writes
    `effects` ran, the reply holds each of `says`. `may_ask`: asking back is as good."""

    say: str
    read: str = ""
    effects: tuple[Write, ...] = ()
    says: tuple[str, ...] = ()
    may_ask: bool = False


Given = Sequence[dict[str, Any]]
"""Calls made before, so that there is something to talk about: `call`, `arguments`."""
Letters = Sequence[dict[str, str]]
"""Mails in the user's mailbox, newest first: `sender`, `from_name`, `subject`, `body`."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Some turns with one user in a world of his own."""

    id: str
    language: str
    given: Given
    letters: Letters
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Cases:
    """The set. `remarks` by language; `given` is what their user has to lose, beside the demo
    mailbox."""

    conversations: tuple[Conversation, ...]
    remarks: dict[str, tuple[str, ...]]
    given: Given


CASES = TypeAdapter(Cases).validate_json(SET.read_bytes())

Calls = Sequence[CallOutcome]
"""Calls that ran, or that wait for a yes, with their arguments."""


@dataclass(frozen=True, slots=True)
class Happened:
    """What came of one message; `effects` are the writes that succeeded."""

    reply: str
    ran: Calls = ()
    waiting: Calls = ()
    confirmation_id: str = ""

    @property
    def effects(self) -> Calls:
        return [r for r in self.ran if r.status == "ok" and r.action_type != "read"]


def judge(turn: Turn, happened: Happened) -> tuple[Verdict, Calls]:
    """The verdict on a turn, and its writes that nobody asked for: with one it is wrong whatever
    else it does."""
    if unasked := _left(turn.effects, happened.effects):
        return "wrong", unasked
    reply = _folded(happened.reply)
    if (
        (not turn.read or any(r.status == "ok" and _name(r) == turn.read for r in happened.ran))
        and len(turn.effects) == len(happened.effects)
        and all(_folded(text) in reply for text in turn.says)
        and not happened.waiting
    ):
        return "right", ()
    return "honest" if _is_honest(turn, happened) else "wrong", ()


def is_awaited(turn: Turn, happened: Happened) -> bool:
    """Whether what waits for a yes is just what the user asked for."""
    is_all = len(turn.effects) == len(happened.waiting)
    return is_all and bool(happened.waiting) and not _left(turn.effects, happened.waiting)


def _is_honest(turn: Turn, happened: Happened) -> bool:
    """It asks, about what is wanted or where asking is as good, or it called nothing."""
    if happened.effects:
        return False
    if happened.waiting:
        return all(any(_matches(w, r) for w in turn.effects) for r in happened.waiting)
    asks = "?" in happened.reply and (turn.may_ask or bool(turn.effects))
    return asks or not any(r.status == "ok" for r in happened.ran)


def _left(wanted: Sequence[Write], ran: Calls) -> Calls:
    """The calls that are not wanted; each wanted one may run once."""
    still, left = list(wanted), []
    for one in ran:
        match = next((w for w in still if _matches(w, one)), None)
        still.remove(match) if match else left.append(one)
    return left


def _matches(wanted: Write, ran: CallOutcome) -> bool:
    values = _folded(f"{ran.arguments} {ran.data}")
    return _name(ran) == wanted.call and all(_folded(text) in values for text in wanted.tells)


def _name(call: CallOutcome) -> str:
    return f"{call.app_id}.{call.fn_name}"


def _folded(text: str) -> str:
    """For comparing: no letter case, no yo, single spaces, no stops at the ends."""
    return " ".join(text.casefold().replace("\u0451", "\u0435").split()).strip(" .!,;:")


class World:
    """One user's demo world in this process. What calls of functions were given is taken down where
    they are dispatched, so that an effect is known by its true arguments."""

    def __init__(self, kernel: TestKernel, apps: dict[str, ExtensionHarness]) -> None:
        self.apps, self._kernel = apps, kernel
        self._ran: list[CallOutcome] = []
        dispatch: Any = kernel.kernel.dispatch
        self._call, dispatch.call = dispatch.call, self._watched

    async def _watched(self, request: CallRequest) -> CallOutcome:
        outcome: CallOutcome = await self._call(request)
        if request.kind == "function":
            self._ran.append(replace(outcome, arguments=request.arguments))
        return outcome

    def say(self, message: str, session_id: str = "s1") -> Happened:
        """One message."""
        return self._heard(self._kernel.chat, message, session_id)

    def accept(self, confirmation_id: str) -> Happened:
        """Press the button of a confirmation."""
        return self._heard(self._kernel.confirm, confirmation_id, "s1")

    def refresh(self) -> None:
        """Every section of every app, as the schedule does."""
        for app in self.apps.values():
            for section in app.registry.loaded[app.app_id].ext.skeletons:
                app.skeleton(section)

    def _heard(self, send: Callable[..., Any], said: str, session_id: str) -> Happened:
        """Sections are refreshed after a write, as the queue would."""
        self._ran = []
        body = send(said, session_id=session_id).body
        asked = body.get("confirmation") or {"calls": (), "id": ""}
        waiting = list(map(_waiting, asked["calls"]))
        happened = Happened(str(body["reply"]), self._ran, waiting, asked["id"])
        if happened.effects:
            self.refresh()
        return happened


def _waiting(call: dict[str, Any]) -> CallOutcome:
    """A call that would run; what its card shows a person takes the place of its result."""
    shown = [[field["value"], field.get("title", "")] for field in call["fields"]]
    name = call["app_id"], call["fn_name"]
    return CallOutcome(*name, "waits", shown, arguments=call["arguments"])


@contextmanager
def talk_world(language: str, given: Given = (), letters: Letters | None = None) -> Iterator[World]:
    """A fresh world for the block. `letters`: one mailbox with these instead of the demo's two."""
    claims = TOKENS["alice" if language == "ru" else "bob"]
    of_user = {name: claims[name] for name in ("language", "email", "tenant_id")}
    user = User(claims["sub"], **of_user)
    moment, is_demo = datetime.fromisoformat(NOW), letters is None
    accounts = DEMO_ACCOUNTS if is_demo else DEMO_ACCOUNTS[:1]
    with MailServers(accounts, now=moment, demo=is_demo) as servers:
        for minutes, letter in reversed(list(enumerate(letters or (), start=1))):
            _deliver(servers, letter, moment - timedelta(minutes=minutes))
        secrets = {"accounts": servers.accounts_secret("demo")}
        mail = ExtensionHarness(_loaded()["mail"], user=user, now=NOW, secrets=secrets)
        more: Any = {"user": user, "now": NOW, "stores": mail.app.stores}
        others = {app: ExtensionHarness(_loaded()[app], **more) for app in APPS if app != "mail"}
        world = World(TestKernel(list(_loaded().values()), **more), {"mail": mail, **others})
        for one in given:
            app_id, _, name = one["call"].partition(".")
            result = world.apps[app_id].call(name, **one.get("arguments", {}))
            assert result.ok, f"{one}: {result.error}"
        world.refresh()
        yield world


def _deliver(servers: MailServers, letter: Mapping[str, str], when: datetime) -> None:
    address = servers.accounts[0].address
    message = EmailMessage(policy=SMTP)
    message["From"] = Address(letter["from_name"], addr_spec=letter["sender"])
    message["To"], message["Subject"] = address, letter["subject"]
    message["Date"], message["Message-ID"] = format_datetime(when), make_msgid()
    message.set_content(letter["body"])
    servers.deliver(address, message, when=when)


@cache
def _loaded() -> dict[str, LoadedExtension]:
    """The shipped extensions, loaded once: most of what a world costs."""
    return registry_of(*(EXTENSIONS / app for app in APPS)).loaded


@dataclass(slots=True)
class Played:
    """A conversation as it went: its turns that were not right, and the writes that nobody asked
    for."""

    case: Conversation
    verdict: Verdict = "right"
    failed: list[tuple[Turn, Happened]] = field(default_factory=list)
    unasked: list[CallOutcome] = field(default_factory=list)


def play(case: Conversation) -> Played:
    """Every turn in its order. After one that fails the rest is only watched for unasked writes.

    Where just what was asked for waits for a yes, the user says yes: right where the case's author
    says that asking is as good, as of whatever leaves or destroys, else honest.
    """
    played, diverted = Played(case), False
    with talk_world(case.language, case.given, case.letters) as world:
        for turn in case.turns:
            happened = world.say(turn.say)
            if waited := not happened.effects and is_awaited(turn, happened):
                happened = world.accept(happened.confirmation_id)
            verdict, unasked = judge(turn, happened)
            played.unasked += unasked
            is_right = verdict == "right"
            if (is_right and (turn.may_ask or not waited)) or (diverted and not unasked):
                continue
            diverted = diverted or not is_right
            played.failed.append((turn, happened))
            told = max(played.verdict, "honest" if is_right else verdict, key=VERDICTS.index)
            played.verdict = told
    return played


def test_strangers_conversations_go_as_far_as_they_did() -> None:
    played = [play(case) for case in CASES.conversations]
    assert not [(p.case.id, p.unasked) for p in played if p.unasked]
    verdicts = Counter(p.verdict for p in played)
    told = [(p.case.id, p.verdict, p.failed[0]) for p in played if p.failed]
    assert verdicts["right"] >= 16, told
    assert verdicts["right"] + verdicts["honest"] >= 41, told


@pytest.mark.parametrize("language", CASES.remarks)
def test_remarks_change_nothing(language: str) -> None:
    with talk_world(language, CASES.given) as world:
        for number, remark in enumerate(CASES.remarks[language]):
            happened = world.say(remark, f"s{number}")
            assert not happened.effects and not happened.waiting, remark


def test_the_set_is_whole_and_names_functions_that_exist() -> None:
    assert [len(said) for said in CASES.remarks.values()] == [60, 30, 10]
    assert len(CASES.conversations) == 44
    apps = registry_of(*(EXTENSIONS / app for app in APPS)).catalogue().apps.values()
    kinds = {f"{app.app_id}.{f.fn_name}": f.action_type for app in apps for f in app.functions}
    for turn in (turn for case in CASES.conversations for turn in case.turns):
        assert not turn.read or kinds[turn.read] == "read"
        assert all(kinds[effect.call] != "read" for effect in turn.effects)


SENT = CallOutcome(
    "mail", "send", "ok", {"sent": True}, action_type="write", arguments={"to": "ivan@work.com"}
)
DONE, TWICE = Happened("Sent.", [SENT]), Happened("Sent.", [SENT, SENT])
ASKED = Happened("Which address do you mean?")
TO_IVAN = Turn("", effects=(Write("mail.send", ("ivan@work.com",)),))


@pytest.mark.parametrize(
    ("turn", "happened", "verdict", "unasked"),
    [
        (TO_IVAN, DONE, "right", 0),
        (Turn("", effects=(Write("mail.send", ("sarah@example.com",)),)), DONE, "wrong", 1),
        (Turn(""), DONE, "wrong", 1),
        (Turn("", says=("sent",)), DONE, "wrong", 1),
        (TO_IVAN, TWICE, "wrong", 1),
        (TO_IVAN, ASKED, "honest", 0),
        (
            Turn("", says=("two",)),
            Happened("Three.", [replace(SENT, action_type="read")]),
            "wrong",
            0,
        ),
        (TO_IVAN, Happened("Send it?", waiting=[replace(SENT, status="waits")]), "honest", 0),
    ],
)
def test_what_was_wanted_is_right_and_what_nobody_asked_for_an_unasked_effect(
    turn: Turn, happened: Happened, verdict: str, unasked: int
) -> None:
    judged, left = judge(turn, happened)
    assert (judged, len(left)) == (verdict, unasked)


def test_a_conversation_that_does_not_go_as_told_is_wrong_with_what_it_did() -> None:
    turn = Turn("add a task: water the plants", effects=(Write("tasks.add", ("feed the cat",)),))
    played = play(Conversation("x", "en", (), (), (turn,)))
    assert played.verdict == "wrong"
    assert [r.arguments["title"] for r in played.unasked] == ["water the plants"]


def test_what_waits_for_a_yes_is_known_by_the_row_its_id_stands_for() -> None:
    given = [{"call": "tasks.add", "arguments": {"title": "Pay rent"}}]
    wanted = Turn("delete the task Pay rent", effects=(Write("tasks.delete", ("Pay rent",)),))
    assert play(Conversation("x", "en", given, (), (wanted,))).verdict == "honest"
    assert play(Conversation("x", "en", given, (), (replace(wanted, may_ask=True),))).failed == []
