"""The last five turns: what they show to the classifier, and how a turn joins them when two tabs
write at once."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webbee_kernel.channels.fact_ledger import TURN_CAP
from webbee_kernel.errors import BadInput, StorageUnavailable
from webbee_kernel.pii import Masker
from webbee_kernel.stores.codec import turn_from, turn_text
from webbee_kernel.stores.memory import memory_stores
from webbee_kernel.turn.session_memory import (
    MAX_RACES,
    append,
    check_session_id,
    history,
    preview,
    render,
    unmasked_json,
)
from webbee_kernel.values import SessionKey, SessionMemory, ToolCallDigest, Turn, UserKey

KEY = SessionKey(UserKey("t", "alice"), "s1")
LATER = 2_000_000_000


def turn(seq: int = 1, **changes: Any) -> Turn:
    given: dict[str, Any] = {
        "at": "2026-05-15T17:21:04Z",
        "status": "ok",
        "message": "hi",
        "reply": "hello",
        "request_id": f"r{seq}",
    }
    return Turn(seq=seq, **{**given, **changes})


def lines(*turns: Turn, message: str = "next", mask: Any = None) -> list[str]:
    return render(history(SessionMemory(turns), mask), "2026-05-15T18:00:00Z", message).split("\n")


@pytest.mark.parametrize("session_id", ["a", "A-Z_09", "x" * 64])
def test_a_session_id_of_letters_digits_dash_and_underscore_is_taken(session_id: str) -> None:
    assert check_session_id(session_id) == session_id


@pytest.mark.parametrize("session_id", ["", "x" * 65, "a#b", "a b", "сессия", "a\n", None, 5])
def test_any_other_session_id_is_refused_and_the_limit_named(session_id: Any) -> None:
    with pytest.raises(BadInput) as caught:
        check_session_id(session_id)
    assert caught.value.body()["error"]["field"] == "session_id" and caught.value.limit == 64


async def untold(memory: SessionMemory) -> int:
    """Nothing of the session is archived yet."""
    return memory.told


def test_a_new_session_shows_the_message_alone() -> None:
    assert lines(message="привет") == ["[HISTORY]", "[2026-05-15T18:00:00Z user] привет"]


def test_each_turn_has_its_line_and_its_facts_right_under_it() -> None:
    first = turn(
        1,
        apps=("mail", "tasks"),
        digests=(
            ToolCallDigest("mail", "list", '{"n": 1}'),
            ToolCallDigest("tasks", "add", '{"n": 2}'),
        ),
    )
    second = turn(2, status="error", message="again", reply="no")
    assert lines(first, second) == [
        "[HISTORY]",
        "[2026-05-15T17:21:04Z user ok apps=[mail, tasks]] hi → hello",
        'FACTS: app=mail fn=list data={"n": 1}',
        'FACTS: app=tasks fn=add data={"n": 2}',
        "[2026-05-15T17:21:04Z user error apps=[]] again → no",
        "[2026-05-15T18:00:00Z user] next",
    ]


def test_previews_hold_five_hundred_characters() -> None:
    whole = lines(turn(message="m" * 500, reply="r" * 500))[1]
    assert whole.endswith("]] " + "m" * 500 + " → " + "r" * 500)
    cut = lines(turn(message="m" * 501, reply="r" * 501))[1]
    assert cut.endswith("]] " + "m" * 499 + "…" + " → " + "r" * 499 + "…")


def test_the_new_message_is_shown_whole() -> None:
    assert lines(message="x" * 8000)[-1].endswith("x" * 8000)


@pytest.mark.parametrize("message", ["a → b", "a → → b", "a →", "→ a", "→", "a→b", "a\u200b → b"])
def test_an_arrow_in_a_message_cannot_pass_for_the_one_before_the_reply(message: str) -> None:
    shown = lines(turn(message=message, reply="the reply"))[1]
    assert shown.count("→") == 1
    assert shown.partition(" → ")[2] == "the reply"


def test_the_gate_masks_replies_but_not_the_users_own_words() -> None:
    masker = Masker()
    shown = lines(
        turn(message="mail bob@x.com", reply="sent to bob@x.com"),
        message="and bob@x.com",
        mask=masker.mask,
    )
    assert shown[1].endswith("mail bob@x.com → sent to <EMAIL_1>")
    assert shown[2].endswith("and bob@x.com")


def test_a_reply_is_not_cut_inside_a_placeholder() -> None:
    shown = lines(turn(reply="x " * 247 + "bob@example.com and more"), mask=Masker().mask)[1]
    assert shown.endswith("x…")


def test_facts_stored_masked_are_shown_as_stored() -> None:
    digest = ToolCallDigest("mail", "list", '{"from": "<EMAIL_7>"}')
    assert (
        lines(turn(digests=(digest,), masked=True), mask=Masker().mask)[2]
        == 'FACTS: app=mail fn=list data={"from": "<EMAIL_7>"}'
    )


def test_facts_stored_in_the_open_are_masked_once_the_gate_is_closed_and_stay_within_the_cap() -> (
    None
):
    many = ", ".join(f'"{chr(97 + i // 26)}{chr(97 + i % 26)}@b.co"' for i in range(250))
    digest = ToolCallDigest("mail", "list", f'{{"all": [{many}]}}')
    open_turn = turn(digests=(digest,), masked=False)
    assert "aa@b.co" in lines(open_turn)[2]
    facts = [x for x in lines(open_turn, mask=Masker().mask) if x.startswith("FACTS: ")]
    assert "@" not in facts[0] and "<EMAIL_1>" in facts[0]
    assert len("\n".join(facts)) <= TURN_CAP


def test_appending_numbers_turns_and_the_ring_keeps_five() -> None:
    async def story() -> SessionMemory:
        sessions = memory_stores().sessions
        for i in range(1, 8):
            memory = await sessions.read(KEY, now=0.0)
            await append(
                sessions,
                KEY,
                memory,
                lambda m, i=i: turn(m.last_seq + 1, request_id=f"r{i}"),
                untold,
                expires_at=LATER,
                now=0.0,
            )
        return await sessions.read(KEY, now=0.0)

    memory = asyncio.run(story())
    assert [t.seq for t in memory.turns] == [3, 4, 5, 6, 7]
    assert [t.request_id for t in memory.turns] == ["r3", "r4", "r5", "r6", "r7"]


def test_two_tabs_that_read_the_same_memory_both_get_their_turn() -> None:
    async def story() -> tuple[int, int, SessionMemory]:
        sessions = memory_stores().sessions
        stale = await sessions.read(KEY, now=0.0)
        one = await append(
            sessions,
            KEY,
            stale,
            lambda m: turn(m.last_seq + 1, request_id="tab1"),
            untold,
            expires_at=LATER,
            now=0.0,
        )
        two = await append(
            sessions,
            KEY,
            stale,
            lambda m: turn(m.last_seq + 1, request_id="tab2"),
            untold,
            expires_at=LATER,
            now=0.0,
        )
        return one.seq, two.seq, await sessions.read(KEY, now=0.0)

    one, two, memory = asyncio.run(story())
    assert (one, two) == (1, 2)
    assert [t.request_id for t in memory.turns] == ["tab1", "tab2"]


def test_the_same_request_delivered_twice_is_one_turn() -> None:
    async def story() -> tuple[Turn, Turn, SessionMemory]:
        sessions = memory_stores().sessions
        stale = await sessions.read(KEY, now=0.0)
        one = await append(
            sessions,
            KEY,
            stale,
            lambda m: turn(m.last_seq + 1, request_id="same", reply="first"),
            untold,
            expires_at=LATER,
            now=0.0,
        )
        two = await append(
            sessions,
            KEY,
            stale,
            lambda m: turn(m.last_seq + 1, request_id="same", reply="second"),
            untold,
            expires_at=LATER,
            now=0.0,
        )
        return one, two, await sessions.read(KEY, now=0.0)

    one, two, memory = asyncio.run(story())
    assert one == two and two.reply == "first" and len(memory.turns) == 1


def test_a_session_that_never_lets_a_turn_in_ends_in_a_request_to_retry() -> None:
    class Busy:
        tries = 0

        async def append(self, key: SessionKey, turn: Turn, *, expires_at: int, now: float) -> bool:
            self.tries += 1
            return False

        async def read(self, key: SessionKey, *, now: float) -> SessionMemory:
            return SessionMemory((replace(turn(), request_id="another"),))

    busy = Busy()
    with pytest.raises(StorageUnavailable, match="retry"):
        asyncio.run(
            append(
                busy,
                KEY,
                SessionMemory(),
                lambda m: turn(m.last_seq + 1),
                untold,
                expires_at=LATER,
                now=0.0,
            )
        )  # type: ignore[arg-type]
    assert busy.tries == MAX_RACES == 20


def test_arguments_stand_under_the_facts_of_their_call() -> None:
    digests = (
        ToolCallDigest("mail", "send", '{"ok": 1}', '{"to": "a@b.co"}'),
        ToolCallDigest("files", "mkdir", "", '{"name": "x"}'),
    )
    assert lines(turn(digests=digests))[2:5] == [
        'FACTS: app=mail fn=send data={"ok": 1}',
        'ARGS: app=mail fn=send args={"to": "a@b.co"}',
        'ARGS: app=files fn=mkdir args={"name": "x"}',
    ]
    masked = lines(turn(digests=digests, masked=False), mask=Masker().mask)
    assert masked[3] == 'ARGS: app=mail fn=send args={"to": "<EMAIL_1>"}'


def test_calls_come_back_in_order_with_and_without_facts_and_arguments() -> None:
    digests = (
        ToolCallDigest("a", "nothing", "", '{"name": "x"}'),
        ToolCallDigest("a", "list", '{"n": 1}'),
        ToolCallDigest("a", "send", '{"ok": 1}', '{"to": "я"}'),
        ToolCallDigest("a", "last", "", '{"k": 2}'),
    )
    stored = turn_text(turn(digests=digests))
    assert turn_from(stored).digests == digests
    assert stored.partition("\n")[2] == '{"n": 1}{"ok": 1}'


def test_placeholders_become_values_at_any_depth_and_in_keys() -> None:
    masker = Masker()
    shown = masker.mask({"to": ["a@b.co", 1, None, {"b@b.co": True}]})
    assert "@" not in json.dumps(shown)
    assert unmasked_json(json.dumps(shown), masker) == {"to": ["a@b.co", 1, None, {"b@b.co": True}]}
    assert unmasked_json('{"n": [1]}', masker) == {"n": [1]}


LONG = "I would like to tell you about my trip and everything that happened on it. " * 7


def shown_message(message: str) -> str:
    return lines(turn(message=message))[1].partition("]] ")[2].partition(" → ")[0]


def test_data_after_the_cut_of_a_long_message_is_kept() -> None:
    data = [
        "W2378156",
        "certificate_7504069",
        "bob@example.com",
        "https://x.example/a?b=1",
        "report-final.docx",
        "2026-05-11",
        "5 May 2026",
        "$1,250.50",
        "800 EUR",
        '"Status of the project"',
        "«отчёт за май»",
    ]
    head, _, also = shown_message(LONG + " and then ".join(data) + ", thanks!").partition(
        " [also: "
    )
    assert len(head) <= 500 and head.endswith("…")
    assert also.removesuffix("]").split(", ") == data


def test_data_that_is_shown_already_is_not_told_twice() -> None:
    told = shown_message(f"Order A-17, please. {LONG} It is A-17, a-18 and A-18.")
    assert told.endswith("… [also: a-18]")


def test_a_long_message_without_data_ends_at_the_cut() -> None:
    assert shown_message(LONG).endswith("…") and "also" not in shown_message(LONG)


@pytest.mark.parametrize(
    ("before", "also"),
    [(488, ""), (489, " [also: order-12345]"), (499, " [also: order-12345]")],
    ids=["it ends the shown part", "its last letter is cut", "it stands behind"],
)
def test_an_id_at_the_cut_is_told_once_and_whole(before: int, also: str) -> None:
    message = "x" * (before - 1) + " order-12345 and so on"
    assert shown_message(message).partition("…")[2] == also


def test_three_hundred_characters_of_data_are_told_and_no_more() -> None:
    def told(*sizes: int) -> list[int]:
        ids = [f"{n}" * size for n, size in enumerate(sizes, 1)]
        also = shown_message(f"{LONG} {' and '.join(ids)} thanks").partition(" [also: ")[2]
        return [len(i) for i in also.removesuffix("]").split(", ") if i]

    assert told(80, 80, 80, 45) == [80, 80, 80, 45]  # 300 with what stands around them
    assert told(80, 80, 80, 46, 2) == [80, 80, 80]
    assert told(80, 81, 2, 1) == [80, 2]


def test_a_word_cut_in_two_is_told_whole() -> None:
    assert shown_message("x " * 245 + "certificate_7504069").endswith(
        " [also: certificate_7504069]"
    )


@given(st.lists(st.sampled_from([*"0aZ@_/\\\"'«» .,-:$€%", "12", "abc", "[HISTORY]", "→"])))
def test_a_remembered_message_is_bounded_whatever_it_holds(pieces: list[str]) -> None:
    told = preview("".join(pieces) * 40)
    assert (
        len(told) <= 500 + 300 and "\n" not in told and "→" not in told and "[HISTORY]" not in told
    )


@pytest.mark.parametrize("piece", ["x", "1", "1 ", "1,", '"', "a.", "ab "])
def test_a_message_of_eight_thousand_characters_of_one_kind_is_read_in_one_pass(piece: str) -> None:
    assert len(preview(piece * (8000 // len(piece)))) <= 800


def test_older_turns_that_are_not_shown_are_counted() -> None:
    six = [turn(n) for n in range(2, 7)]
    memory = SessionMemory(tuple(six))
    assert memory.older == 1 and SessionMemory().older == 0
    block = render(history(memory), "2026-05-15T18:00:00Z", "next", older=memory.older)
    assert block.split("\n")[1] == "NOTE: 1 older turn of this conversation: not shown."
