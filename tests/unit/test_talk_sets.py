"""The talk benchmark: its sets are what they say, its judge tells right from wrong."""

from __future__ import annotations

import pytest

from benchmarks.talk.__main__ import play, tell
from benchmarks.talk.cases import (
    Conversation,
    Expectation,
    Given,
    Letter,
    Remark,
    Turn,
    Write,
    conversations,
    remarks,
)
from benchmarks.talk.judge import judge
from benchmarks.talk.world import APPS, EXTENSIONS, Happened, Ran, talk_world
from webbee_kernel.testing import registry_of

SENT = Ran("mail.send", "write", {"to": "ivan@work.com", "body": "Hello."}, {"sent": True}, ok=True)


def sent(to: str) -> list[Expectation]:
    return [Expectation(effects=(Write("mail.send", (to, "hello")),))]


def conversation(say: str, title: str) -> Conversation:
    added = Expectation(effects=(Write("tasks.add", (title,)),))
    return Conversation("x", "en", (), (), (Turn(say, (added,)),))


def test_the_set_is_of_forty_four_conversations_and_a_hundred_remarks() -> None:
    assert len(remarks()) == 100
    cases = conversations()
    assert len(cases) == 44
    assert {c.language for c in cases} == {"en", "ru", "de", "es", "fr"}
    assert all(t.expected for c in cases for t in c.turns)


def test_the_kernel_s_own_conversations_go_as_far_as_they_did() -> None:
    """Written by who works on the embedded model, before its examples of November 2026 and read
    ever since: a floor against falling back, and no measure of how a stranger fares."""
    played = [play(case) for case in conversations("own_conversations")]
    assert len(played) == 25
    assert not [p.case.id for p in played if p.wrong_effects]
    verdicts = [p.verdict for p in played]
    assert verdicts.count("right") >= 20
    assert verdicts.count("wrong") <= 1


def test_conversations_name_functions_that_exist_and_do_what_is_meant() -> None:
    registry = registry_of(*(EXTENSIONS / app for app in APPS))
    kinds = {
        f"{app_id}.{name}": function.action_type
        for app_id, loaded in registry.loaded.items()
        for chat in loaded.ext.chats
        for name, function in chat.functions.items()
    }
    for expected in (e for c in conversations() for t in c.turns for e in t.expected):
        assert not expected.read or kinds[expected.read] == "read"
        assert all(kinds[e.call] != "read" for e in expected.effects)


DONE, TWICE = Happened("Sent.", (SENT,)), Happened("Sent.", (SENT, SENT))
ASKED = Happened("Which address do you mean?")


@pytest.mark.parametrize(
    ("expected", "happened", "verdict", "wrong"),
    [
        (sent("ivan@work.com"), DONE, "right", ()),
        (sent("sarah@example.com"), DONE, "wrong", (SENT,)),
        ([Expectation()], DONE, "wrong", (SENT,)),
        ([Expectation(says=("sent",))], DONE, "wrong", (SENT,)),
        (sent("ivan@work.com"), TWICE, "wrong", (SENT,)),
        (sent("ivan@work.com"), ASKED, "question", ()),
        ([Expectation(says=("two",))], ASKED, "wrong", ()),
    ],
)
def test_what_was_wanted_is_right_and_what_nobody_asked_for_a_wrong_effect(
    expected: list[Expectation], happened: Happened, verdict: str, wrong: tuple[Ran, ...]
) -> None:
    judged = judge(expected, happened)
    assert (judged.verdict, tuple(judged.wrong_effects)) == (verdict, wrong)


def test_what_waits_for_a_yes_is_known_by_the_row_its_id_stands_for() -> None:
    with talk_world("en", [Given("tasks.add", {"title": "Pay rent"})]) as world:
        happened = world.say("delete the task Pay rent")
        assert not happened.effects and happened.waiting
        wanted = [Expectation(effects=(Write("tasks.delete", ("Pay rent",)),))]
        assert judge(wanted, happened).verdict == "question"
        assert judge(wanted, world.accept(happened.confirmation_id)).verdict == "right"


def test_a_conversation_that_goes_as_told_is_right_and_one_that_does_not_is_wrong() -> None:
    order = "add a task: water the plants"
    assert play(conversation(order, "water the plants")).verdict == "right"
    wrong = play(conversation(order, "feed the cat"))
    assert wrong.verdict == "wrong"
    assert [r.arguments["title"] for r in wrong.wrong_effects] == ["water the plants"]


def test_a_turn_that_called_nothing_and_said_so_is_honest() -> None:
    said = conversation("the plants look thirsty, do something", "water the plants")
    assert play(said).verdict == "honest"


def test_a_remark_that_writes_is_seen_to_write_and_the_next_finds_its_world_as_it_was() -> None:
    said = ("add a task: water the plants", "hello", "what are my tasks?")
    told = list(tell([Remark(str(n), "en", text) for n, text in enumerate(said)], "en"))
    assert [bool(t.happened.effects) for t in told] == [True, False, False]
    assert "dentist" in told[2].happened.reply and "plants" not in told[2].happened.reply


def test_a_conversation_is_played_in_a_mailbox_of_its_own() -> None:
    letter = Letter("kay@studio9.example", "Kay", "Draft", "Hello.")
    with talk_world("en", (), (letter,)) as world:
        inbox = world.apps["mail"].call("list_inbox").data["messages"]
        assert [m["subject"] for m in inbox] == ["Draft"]
