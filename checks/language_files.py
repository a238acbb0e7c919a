"""The schema of a language's file, `language/xx.json`. What reads the files at run time does not
validate them: that is done here, once, by `make test`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, create_model

from webbee_kernel.language.model import Calendar, Numerals, People, Role, WordList, Words, concepts
from webbee_kernel.language.resources import contents

_STRICT = ConfigDict(extra="forbid", frozen=True)
_TYPES: dict[str, Any] = {
    "str": WordList,
    "bool": bool,
    "_Forms": dict[Annotated[str, Field(pattern=r"^\d+$")], WordList],
    "Mapping[str, str]": dict[str, WordList],
    "tuple[str, ...]": list[str],
}
"""What a file has for a field of these types."""


def _optional(types: dict[str, Any], name: str) -> TypeAdapter[Any]:
    given: dict[str, Any] = {key: (kind, None) for key, kind in types.items()}
    return TypeAdapter(create_model(name, __config__=_STRICT, **given))


def _part(kind: type) -> Any:
    """A part of a file by the named tuple that it is read as."""
    known = _optional(
        {name: _TYPES[said.__forward_arg__] for name, said in kind.__annotations__.items()},
        kind.__name__,
    )
    return Annotated[dict[str, Any], AfterValidator(known.validate_python)]


ROLES = {name: r.made for name, r in vars(Words).items() if isinstance(r, Role)}
"""The roles of words that there are, each with what makes it."""
_ROLES = _optional(
    {r: dict[str, WordList] if made is concepts else WordList for r, made in ROLES.items()},
    "Words",
)


class LanguageFile(BaseModel):
    """One language. What a field means stands in `model`, a role of `words` in `words`; a sentence
    that counts something is a mapping by plural form. `reviewed`: read by a speaker."""

    model_config = _STRICT

    tag: str = Field(pattern="^[a-z]{2}$")
    reviewed: bool
    stemmer: str
    script: str = "latin"
    letters: str = ""
    regions: str
    currencies: dict[str, WordList] = {}
    words: Annotated[dict[str, Any], AfterValidator(_ROLES.validate_python)]
    numerals: _part(Numerals) = {}  # type: ignore[valid-type]
    calendar: _part(Calendar) = {}  # type: ignore[valid-type]
    people: _part(People) = {}  # type: ignore[valid-type]
    sentences: dict[str, str | dict[str, str]]
    causes: dict[str, str]
    meanings: list[Annotated[str, Field(pattern="^[^:]+: [^:]+$")]] = []


def valid_file(tag: str) -> LanguageFile:
    """The file of a language. Raises `ValidationError` where it is not as it must be."""
    return LanguageFile.model_validate(contents(tag))
