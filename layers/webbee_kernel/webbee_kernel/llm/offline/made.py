"""Whether a command makes a thing or adds to one there is: "add a note that …", "add milk to that
note"."""

from __future__ import annotations

from collections.abc import Sequence

from .matching import Index, Match, spoken
from .schema import takes
from .speech import Sentence
from .words import Word, has, meaning


def of_what_is_made(sentence: Sentence, fitting: Sequence[Match], index: Index) -> list[Match]:
    """These without what adds to a thing there is, where the thing stands right behind the verb and
    its app has a function that makes one."""
    made = {
        m.tool.app_id
        for m in fitting
        if _writes(m) and not _adds(m) and _is_made(sentence, m, index)
    }
    return [m for m in fitting if not (m.tool.app_id in made and _adds(m))]


def _writes(match: Match) -> bool:
    text = takes(match.tool.input_schema, "text", required=True)
    return text and match.tool.action_type != "read"


def _adds(match: Match) -> bool:
    return _writes(match) and takes(match.tool.input_schema, "id")


def _is_made(sentence: Sentence, match: Match, index: Index) -> bool:
    """Whether nothing before the name of the thing says which one is meant, or leads to it."""
    verb, tag = sentence.verb, sentence.tag
    matter = index.vocabulary[match.tool.name].matter
    behind = [w for w in spoken(sentence.head, tag) if verb and w.start > verb.start]
    at = next((i for i, w in enumerate(behind) if meaning(w, tag) & matter), -1)
    return at >= 0 and not any(_tells_which(word, tag) for word in behind[:at])


def _tells_which(word: Word, tag: str) -> bool:
    """Whether it is "that", or a word like "to", "into"."""
    leads = has(word, tag, "connective") and has(word, tag, "function")
    return has(word, tag, "reference") or (leads and not has(word, tag, "article", "first_person"))
