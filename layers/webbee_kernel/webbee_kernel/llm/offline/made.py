"""Whether a command makes a thing or adds to one there is: "add a note that …", "add milk to that
note"."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from .matching import Index, Match, spoken
from .schema import takes
from .speech import Sentence
from .words import Word, any_has, has, leads_on, meaning

_NEW = 3  # words of "make me a"


def of_what_is_made(sentence: Sentence, fitting: Sequence[Match], index: Index) -> list[Match]:
    """These without what adds to a thing there is, where the thing stands right behind the verb and
    its app has a function that makes one; without what makes one where it is led to."""
    written = [m for m in fitting if _writes(m)]
    makes = {m.tool.app_id for m in written if not _adds(m) and _is_made(sentence, m, index)}
    led = _led_to(sentence, written, index) - makes
    new = any_has(spoken(sentence.head, sentence.tag)[:_NEW], sentence.tag, "indefinite")
    return [m for m in fitting if not _is_out(m, makes, led, new=new)]


def _is_out(match: Match, makes: Collection[str], led: Collection[str], *, new: bool) -> bool:
    """Whether it does the other of both; where a new one is asked for, whether it changes one."""
    app = match.tool.app_id
    if _adds(match) or (new and takes(match.tool.input_schema, "id")):
        return app in makes
    return _writes(match) and app in led


def _led_to(sentence: Sentence, written: Sequence[Match], index: Index) -> set[str]:
    """The apps that can add to a thing, and to one of whose things the sentence leads."""
    adding = {m.tool.app_id for m in written if _adds(m)}
    mine = [m for m in written if m.tool.app_id in adding]
    return {m.tool.app_id for m in mine if _is_led_to(sentence, m, index)}


def _writes(match: Match) -> bool:
    text = takes(match.tool.input_schema, "text", required=True)
    return text and match.tool.action_type != "read"


def _adds(match: Match) -> bool:
    return _writes(match) and takes(match.tool.input_schema, "id")


def _before(sentence: Sentence, match: Match, index: Index) -> list[Word] | None:
    """What stands between the verb and the name of the thing; None where it is not named."""
    verb, tag = sentence.verb, sentence.tag
    matter = index.vocabulary[match.tool.name].matter
    behind = [w for w in spoken(sentence.head, tag) if verb and w.start > verb.start]
    at = next((i for i, w in enumerate(behind) if meaning(w, tag) & matter), -1)
    return behind[:at] if at >= 0 else None


def _is_made(sentence: Sentence, match: Match, index: Index) -> bool:
    """Whether nothing before the name of the thing says which one is meant, or leads to it."""
    before = _before(sentence, match, index)
    return before is not None and not any(_tells_which(w, sentence.tag) for w in before)


def _is_led_to(sentence: Sentence, match: Match, index: Index) -> bool:
    """Whether one there is is led to: "to that note", no "in a note"."""
    before = _before(sentence, match, index) or []
    new = any_has(before, sentence.tag, "indefinite")
    led = (w for w in before if leads_on(w, sentence.tag))
    return not new and any(not has(w, sentence.tag, "for_me") for w in led)


def _tells_which(word: Word, tag: str) -> bool:
    """Whether it is "that", or a word like "to", "into"."""
    leads = has(word, tag, "connective") and has(word, tag, "function")
    return has(word, tag, "reference") or (leads and not has(word, tag, "article", "for_me"))
