"""Writes of foreign tools and the words for them: object, subject, verb forms, causes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.truths.model import JSON, Call, UnfitError
from benchmarks.truths.words import HELD_OUT_APPS, Draw, load

SEPARABLE = (
    "hinzu",
    "frei",
    "ab",
    "an",
    "ein",
    "auf",
    "vor",
    "aus",
)  #: prefixes of the German verbs in `words/writes.json`
PREDICATE_OBJECTS = frozenset(
    {
        "add_user_to_channel",
        "add_to_watchlist",
        "remove_stock_from_watchlist",
        "add_contact",
        "cp",
        "mv",
        "share_file",
    }
)


@dataclass(frozen=True)
class Write:
    """One write of a foreign tool, with its words in the draw's language; `subject` says whether
    the object can open a passive sentence.
    """

    call: Call
    words: Mapping[str, str]
    subject: bool


def draw_write(draw: Draw, besides: str = "") -> Write:
    """Draw a write that succeeded, of an allowed app, not of the function `besides`."""
    known = load("writes")
    entries = [
        w
        for w in load("results")["writes"]
        if f"{w['app_id']}.{w['fn_name']}" in known and w["fn_name"] != besides
    ]
    entries = [w for w in entries if draw.app_allowed(w["app_id"])]
    if draw.sealed and draw.rng.random() < 0.5:
        entries = [w for w in entries if w["app_id"] in HELD_OUT_APPS]
    functions = sorted({w["fn_name"] for w in entries})
    name = draw.rng.choice(functions)
    entry = draw.rng.choice([w for w in entries if w["fn_name"] == name])
    data: JSON = entry["data"]
    summary = (
        draw.rng.choice(["", str(data["message"])])
        if isinstance(data, dict) and "message" in data
        else ""
    )
    destructive = name.startswith(("delete", "cancel", "rm", "remove"))
    call = Call(
        entry["app_id"],
        name,
        "destructive" if destructive else "write",
        entry["arguments"],
        data=data,
        summary=summary,
    )
    words = worded(known[f"{call.app_id}.{name}"][draw.language], draw.language, call.arguments)
    return Write(call, words, name not in PREDICATE_OBJECTS)


def worded(entry: str, language: str, arguments: Mapping[str, JSON]) -> dict[str, str]:
    """The parts of speech of a write: `obj`, `subj`, `pp`, `ppp` (agreeing), `past`, `base`,
    German `zu`, capitalised ones beside.
    """
    parts = entry.format(**arguments).split("|")
    if language == "en":
        obj, pp, base = parts
        words = {
            "obj": obj,
            "subj": obj,
            "pp": pp,
            "ppp": pp,
            "past": {"withdrawn": "withdrew"}.get(pp, pp),
            "base": base,
        }
    elif language == "de":
        obj, subj, pp, base = parts
        words = {
            "obj": obj,
            "subj": subj,
            "pp": pp,
            "ppp": pp,
            "past": pp,
            "base": base,
            "zu": with_zu(base),
        }
    else:
        obj, past, ppp, base = parts
        words = {
            "obj": obj,
            "subj": obj.removeprefix("a "),
            "pp": past,
            "ppp": ppp,
            "past": past,
            "base": base,
        }
    return words | {k.capitalize(): v[:1].upper() + v[1:] for k, v in words.items()}


def with_zu(base: str) -> str:
    """The German infinitive with "zu": "abzusagen", "zu senden"."""
    prefix = next((p for p in SEPARABLE if base.startswith(p)), "")
    return f"{prefix}zu{base[len(prefix) :]}" if prefix else f"zu {base}"


def say(draw: Draw, construct: str, write: Write, **more: str) -> str:
    """Fill a template; one that needs a subject is only drawn for a write that has one."""
    for _ in range(30):
        template = draw.pick(construct, "effects")
        if write.subject or ("{Subj}" not in template and "{subj}" not in template):
            text = template.format(**write.words, **more)
            return text[:1].upper() + text[1:]
    raise UnfitError


def failed(draw: Draw, write: Write) -> tuple[Call, dict[str, str]]:
    """The same write as a failed call, and the cause that fits, in words of the draw's half."""
    causes = [
        c
        for c in load("effects")["causes"]
        if c.get("apps", write.call.app_id) == write.call.app_id
    ]
    cause = draw.rng.choice(causes)
    call = Call(
        write.call.app_id,
        write.call.fn_name,
        write.call.action_type,
        write.call.arguments,
        "error",
        cause["error"],
    )
    return call, cause


def cause_words(draw: Draw, cause: Mapping[str, str]) -> str:
    return cause[draw.language].split("|")[int(draw.sealed)]
