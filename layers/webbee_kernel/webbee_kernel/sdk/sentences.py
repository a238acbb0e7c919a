"""`Sentences`: what an app tells people, each in his language."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from .context import Context


class Sentences:
    """What an app tells people, from a JSON file: `{key: {language: sentence}}`.

    A sentence that counts something is an object by CLDR's plural forms (`one few many other`; what
    a form lacks is said in `other`), with `none` for no thing at all where that has its own words.
    """

    def __init__(self, module: str, name: str = "sentences.json") -> None:
        """The file `name` in the folder of a module: `Sentences(__file__)`."""
        self._texts: dict[str, dict[str, Any]] = json.loads(
            Path(module).with_name(name).read_text("utf-8")
        )

    def say(self, reader: Context | str, key: str, n: int = 0, **values: object) -> str:
        """The sentence `key` in the language of a call's user, or of a BCP 47 tag, with its
        `{values}` filled in; in English where that language has none. `n`, a value too, chooses
        the plural form. KeyError for an unknown key."""
        texts = self._texts[key]
        told = reader if isinstance(reader, str) else reader.user.language
        tag = re.split("[-_]", told.lower(), maxsplit=1)[0]
        tag = tag if tag in texts else "en" if "en" in texts else next(iter(texts))
        text = texts[tag]
        if not isinstance(text, str):
            form = "none" if n == 0 and "none" in text else _plural(tag, n)
            text = text.get(form, text["other"])
        return str(text.format(n=n, **values))


def _plural(tag: str, n: int) -> str:
    """CLDR's plural form; `other` in a language that is not installed with the kernel."""
    from babel import Locale, UnknownLocaleError  # 6 ms, for who counts

    try:
        return str(Locale.parse(tag).plural_form(n))
    except (UnknownLocaleError, ValueError):
        return "other"
