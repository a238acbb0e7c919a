"""The kernel's own sentences, in the language they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .model import Language


def say(language: Language, key: str, values: Mapping[str, object]) -> str:
    """The sentence `key` filled with `values`; in English where the language lacks it. Raises
    `KeyError` for a key that English lacks, or for a value that the sentence needs and did not
    get."""
    from .files import of

    speaker = language if key in language.sentences else of("en")
    sentence = speaker.sentences[key]
    if isinstance(sentence, str):
        return sentence.format(**values)
    from .formats import plural

    count = values["n"]
    assert isinstance(count, int | float)
    forms = sentence
    return forms.get(plural(count, speaker.tag), forms["other"]).format(**values)
