"""The talk benchmark: its sets are what they say, its judge tells right from wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.talk.__main__ import play, tell
from benchmarks.talk.cases import (
    Call,
    Conversation,
    Expectation,
    Given,
    Remark,
    path_of,
)
from benchmarks.talk.judge import judge
from benchmarks.talk.sets import conversations, remarks
from benchmarks.talk.world import APPS, EXTENSIONS, Happened, Ran, talk_world
from webbee_kernel.testing import registry_of

SEND = Ran("mail.send", "write", {"to": "ivan@work.com", "body": "Hello."}, {"sent": True}, ok=True)


def wants(**expectation: object) -> list[Expectation]:
    return [Expectation.model_validate(expectation)]


def sent(to: str) -> dict[str, object]:
    return {"call": "mail.send", "arguments_contain": {"to": to, "body": "hello"}}


def test_the_set_is_of_forty_four_conversations_and_a_hundred_remarks() -> None:
    assert len(remarks(path_of("remarks"))) == 100
    cases = conversations(path_of("conversations"))
    assert len(cases) == 44
    assert {c.language for c in cases} == {"en", "ru", "de", "es", "fr"}
    assert all(t.expected for c in cases for t in c.turns)


def test_the_kernel_s_own_conversations_go_as_far_as_they_did() -> None:
    """Written by who works on the embedded model, before its examples of November 2026 and read
    ever since: a floor against falling back, and no measure of how a stranger fares."""
    played = [play(case) for case in conversations(path_of("own_conversations"))]
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
    for expected in (
        e for c in conversations(path_of("conversations")) for t in c.turns for e in t.expected
    ):
        assert not expected.call or kinds[expected.call] == "read"
        assert all(kinds[e.call] != "read" for e in expected.effect)
        assert expected.asks is None or kinds[expected.asks.call] == "destructive"


def test_a_write_as_wanted_is_right() -> None:
    assert judge(wants(effect=sent("ivan@work.com")), Happened("Sent.", (SEND,))).verdict == "right"


@pytest.mark.parametrize(
    "expected",
    [
        wants(effect=sent("sarah@example.com")),
        wants(no_effect=True),
        wants(answer_contains=["sent"]),
    ],
)
def test_a_write_to_somebody_else_or_not_asked_for_is_a_wrong_effect(
    expected: list[Expectation],
) -> None:
    judged = judge(expected, Happened("Sent.", (SEND,)))
    assert (judged.verdict, judged.wrong_effects) == ("wrong", (SEND,))


def test_the_same_write_twice_is_a_wrong_effect() -> None:
    assert judge(
        wants(effect=sent("ivan@work.com")), Happened("Sent.", (SEND, SEND))
    ).wrong_effects == (SEND,)


def test_asking_back_instead_of_a_write_is_a_question_and_instead_of_an_answer_is_wrong() -> None:
    asked = Happened("Which address do you mean?")
    assert judge(wants(effect=sent("ivan@work.com")), asked).verdict == "question"
    assert judge(wants(answer_contains=["two|2"]), asked).verdict == "wrong"


def test_a_number_is_not_found_inside_another_number() -> None:
    assert judge(wants(answer_contains=["two|2"]), Happened("There are 12.")).verdict == "wrong"
    assert judge(wants(answer_contains=["two|2"]), Happened("There are 2.")).verdict == "right"


def test_a_word_is_not_found_inside_another_word_unless_its_beginning_is_meant() -> None:
    assert judge(wants(answer_contains=["no"]), Happened("I do not know.")).verdict == "wrong"
    assert judge(wants(answer_contains=["task*"]), Happened("Your tasks.")).verdict == "right"


def test_what_waits_for_a_yes_is_known_by_the_row_its_id_stands_for() -> None:
    with talk_world("en", [Given(call="tasks.add", arguments={"title": "Pay rent"})]) as world:
        happened = world.say("delete the task Pay rent")
        assert not happened.effects
        wanted = Call(call="tasks.delete", arguments_contain={"title": "Pay rent"})
        assert judge([Expectation(asks=wanted)], happened).verdict == "right"
        assert (
            judge([Expectation(effect=(wanted,))], world.accept(happened.confirmation_id)).verdict
            == "right"
        )


def test_a_conversation_that_goes_as_told_is_right_and_one_that_does_not_is_wrong() -> None:
    def told(title: str) -> Conversation:
        added = {"call": "tasks.add", "arguments_contain": {"title": title}}
        turns = [{"say": "add a task: water the plants", "expect": {"effect": added}}]
        return Conversation.model_validate(
            {"id": "x", "language": "en", "about": "", "turns": turns}
        )

    assert play(told("water the plants")).verdict == "right"
    wrong = play(told("feed the cat"))
    assert (wrong.verdict, [r.arguments["title"] for r in wrong.wrong_effects]) == (
        "wrong",
        ["water the plants"],
    )


def test_a_turn_that_called_nothing_and_said_so_is_honest() -> None:
    expect = {"effect": {"call": "tasks.add", "arguments_contain": {"title": "water the plants"}}}
    turns = [{"say": "the plants look thirsty, do something", "expect": expect}]
    case = {"id": "x", "language": "en", "about": "", "turns": turns}
    assert play(Conversation.model_validate(case)).verdict == "honest"


def test_a_remark_that_writes_is_seen_to_write_and_its_context_does_not_count() -> None:
    order = "add a task: water the plants"
    cases = [
        Remark(id="a", language="en", kind="", message=order),
        Remark(id="b", language="en", kind="", message="hello", after=(order,)),
    ]
    assert [bool(t.happened.effects) for t in tell(cases, "en")] == [True, False]


def test_an_id_that_stands_twice_is_refused(tmp_path: Path) -> None:
    row = '{"id": "x", "language": "en", "kind": "half", "message": "send"}'
    (tmp_path / "remarks.json").write_text(f"[{row}, {row}]", "utf-8")
    with pytest.raises(ValueError, match="stand twice: x"):
        remarks(tmp_path / "remarks.json")


def test_a_conversation_told_in_words_is_played_in_a_mailbox_of_its_own(tmp_path: Path) -> None:
    mail = {"from": "kay@studio9.example", "from_name": "Kay", "subject": "Draft", "body": "Hello."}
    task = {"title": "Sell old bike", "due": None, "done": True}
    expect = {"calls": ["tasks.add 'buy milk'"], "or_question": False, "reply_contains": []}
    row = {
        "id": "x",
        "language": "en",
        "given": {"mails": [mail], "tasks": [task], "notes": []},
        "turns": [{"say": "add a task: buy milk", "expect": expect}],
    }
    (tmp_path / "talk.json").write_text(json.dumps([row]), "utf-8")
    [case] = conversations(tmp_path / "talk.json")
    assert play(case).verdict == "right"
    with talk_world("en", case.given, case.letters) as world:
        inbox = world.apps["mail"].call("list_inbox").data["messages"]
        assert [m["subject"] for m in inbox] == ["Draft"]
