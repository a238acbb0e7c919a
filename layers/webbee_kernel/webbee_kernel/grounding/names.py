"""Capitalised words that claim a person, a product or a place.

A run of capitalised words is a claim, except its first word where a sentence begins. A single one is a claim only where its
language makes it one: in Russian, and in English (German capitalises every noun). What a reply says of its own accord is in
`ORDINARY`. Each word of a claim must stand in the evidence: as it is, inflected (the first `max(3, len - 3)` letters agree both
ways; Cyrillic only), or spelled in the other script; and the words of one name must stand near each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .evidence import Evidence, fold

NEAR = 4  #: words of one name stand at most this many words apart in the evidence

_NAME = r"[A-ZА-ЯЁÀ-ÖØ-Þ][^\W\d_]+(?:['’-][^\W\d_]+)*"
_RUN = re.compile(rf"(?<![\w'’\0-])({_NAME})(?:(?:[ \u00a0]| (?:of|the|von|van|de) ){_NAME})*")
_ONE = re.compile(r"[^\W\d_]+")
_HEADING = re.compile(
    r"^[ \t]*(?:#{1,6} .*|\*\*[^*\n]+\*\*:?[ \t]*)$|^[ \t]*\|.*\|[ \t]*\n[ \t]*\|[ :|-]+\|", re.M
)
_ENGLISH = re.compile(
    r"\b(?:the|you|your|you're|is|are|have|has|from|with|and|of|to|this|that|it|it's|i|at|on|for|by)\b",
    re.I,
)
_PERSON_LABEL = re.compile(
    r"(?i)(?:from|to|by|cc|sender|author|assignee|owner|contact|name|customer|client|organi[sz]er|attendees|participants|vip|vips|vacation"
    r"|от|кому|автор|отправитель|исполнитель|клиент|организатор|участники|имя|контакт|заказчик)\W*:\W*$"
)
_TITLE = re.compile(r"(?:Mr|Mrs|Ms|Dr|Prof|St|г|ул|им|тов)\.\s*$")
_ACTS = re.compile(
    r"['’]s\s|\s+(?:also|тоже|также)\s+[^\W\d_]+|\s+(?:(?:also|just|already|has|had|тоже|уже|также)\s+)*(?:wrote|sent|asked|replied|says|said|invited|emailed|called|shared|reports|wants"
    r"|assigned|commented|написала?|прислала?|просит|пригласила?|ответила?|сообщила?|пишет|спрашивает|предлагает|звонила?)(?!\w)"
)
_CALLED = re.compile(r",\s+(?:у вас|вам|вы|ваш|you|your|here)", re.I)
_CLITIC = re.compile(r"['’](?:s|ve|re|ll|d|m|t)?(?!\w)")

ORDINARY = frozenset(
    """i i'm i've i'll i'd ok okay yes no not a an the this that these those here there it its it's he she they we you your my our their who what when
    where why how which let please sure done great thanks thank sorry unfortunately also and but or so if then now today tomorrow yesterday tonight
    of in on at to from by for with as is are was were has have had do does did can could will would shall should may might must all any some each
    every both none nothing everything everyone someone anyone other others another more most only just still next first last second third total
    subject sender date time name title status priority amount due number sum type id note notes task tasks event events mail email emails e-mail
    inbox sent drafts archive trash spam calendar contact contacts invoice invoices file files folder folders reminder list page item items
    description location place size owner author link details summary customer order reply message messages meeting attendees unread read new
    open closed high low medium urgent overdue pending completed confirmed cancelled active value url api pdf csv json html http https vat usd
    eur gbp rub chf jpy pln kzt uah msk cet ip dns utc gmt am pm faq cpu ram gb mb kb tv sms vip re fwd cc bcc rsvp eta asap fyi st saint christmas eve easter halloween thanksgiving english russian german internet webbee total
    january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec
    вы вас вам вами ваш ваша ваше ваши вашего вашей вашему вашим вашими ваших вашу ндс инн кпп смс ок да нет id итого тема дата время имя сумма
    статус приоритет срок отправитель автор название описание место размер почта календарь задачи заметки контакты файлы входящие отправленные
    черновики архив корзина спам готово всего предмет оценка""".split()
)
_OPENERS = frozenset(
    """here there that what who how it let today everything nothing one someone да нет конечно хорошо пожалуйста готово отлично понял поняла спасибо
    кстати извините простите итак здравствуйте привет увы может значит хм ага угу эх ой видимо короче смотрите вижу нашел нашла yes no sure okay ok well done great thanks sorry right also hello hi perfect however otherwise
    unfortunately congratulations currently overall additionally first finally so then congrats again actually возможно например наверное жаль ладно
    понятно безусловно разумеется вероятно похоже кажется напоминаю судя ура здорово супер окей ясно сожалению также кроме всего сейчас сегодня завтра вчера это он она они кто что все всё""".split()
)

_VOWELS = re.compile(r"(?<!^)[aeiou]")
_MUTE = re.compile(r"(?<=[aeou])h(?=[bdfgklmnprst]|$)")
_SOUNDS = {
    "а": "a", "б": "b", "в": "v", "г": "g", "д": "d", "е": "e", "ё": "e", "ж": "zh", "з": "z", "и": "i", "й": "y", "к": "k", "л": "l", "м": "m",
    "н": "n", "о": "o", "п": "p", "р": "r", "с": "s", "т": "t", "у": "u", "ф": "f", "х": "kh", "ц": "ts", "ч": "ch", "ш": "sh", "щ": "sh",
    "ъ": "", "ы": "y", "ь": "", "э": "e", "ю": "yu", "я": "ya",
}  # fmt: skip
_ALIKE = (
    ("ph", "f"),
    ("ck", "k"),
    ("ch", "h"),
    ("kh", "h"),
    ("th", "t"),
    ("sh", "s"),
    ("zh", "s"),
    ("c", "k"),
    ("q", "k"),
    ("w", "v"),
    ("x", "ks"),
    ("yu", "u"),
    ("ya", "a"),
    ("j", "y"),
    ("y", "i"),
    ("h", "g"),
)


def ungrounded(rest: str, evidence: Evidence) -> Iterator[tuple[int, str]]:
    """Yield `(position, name)` for every name in `rest`, a reply with its other claims masked, that the evidence does not hold."""
    headings = [match.span() for match in _HEADING.finditer(rest)]
    english = len(_ENGLISH.findall(rest)) * 8 >= len(_ONE.findall(rest))
    for match in _RUN.finditer(rest):
        if any(start <= match.start() < end for start, end in headings):
            continue
        words = _claimed(match, rest, english, evidence)
        if words and not known(words, evidence):
            yield match.start(), match.group()


def known(words: list[str], evidence: Evidence) -> bool:
    """Tell whether the words of one name stand in the evidence, near each other."""
    places: list[int] | None = None
    for word in words:
        found = _places(word, evidence)
        if not found:
            return False
        places = (
            found
            if places is None
            else [p for p in found if any(abs(p - q) <= NEAR for q in places)]
        )
        if not places:
            return False
    return True


def _claimed(match: re.Match[str], rest: str, english: bool, evidence: Evidence) -> list[str]:
    """Return the words of a run that are claimed as a name; empty for ordinary vocabulary."""
    words = [
        word
        for word in _ONE.findall(_CLITIC.sub("", match.group()))
        if len(word) > 1 and word[0].isupper()
    ]
    before = rest[max(0, match.start() - 80) : match.start()].rstrip(" *_~\u00a0")
    if before.endswith("\0") and match.group().isupper() and len(match.group()) < 3:
        return []  # a unit behind its number
    if _starts_sentence(before) and not _PERSON_LABEL.search(before):
        if len(words) == 1 and not _speaks(match, rest, words[0]):
            return []
        if len(words) > 1 and not (english and _forename(words, evidence)):
            words = words[1:]
    elif len(words) == 1 and not english and not _cyrillic(rest):
        return []
    return [
        word
        for word in words
        if _bare(word) not in ORDINARY and word.lower() not in ("of", "the", "von", "van", "de")
    ]


def _forename(words: list[str], evidence: Evidence) -> bool:
    """Tell whether a sentence's first word stands for a forename: the next one is a surname in the evidence ("Marco Ricci", "Sofia Ricci")."""
    if words[0].lower() in _OPENERS or _bare(words[0]) in ORDINARY or not words[1].isascii():
        return False
    return bool(re.search(rf"(?<!\w)[A-Z][^\W\d_]+ {words[1]}(?!\w)", evidence.raw))


def _bare(word: str) -> str:
    """Return the word as `ORDINARY` has it: lower case, an acronym without its plural."""
    return word[:-1].lower() if word[-1] == "s" and word[:-1].isupper() else word.lower()


def _speaks(match: re.Match[str], rest: str, word: str) -> bool:
    """Tell whether a sentence's first word acts like a name: it writes, owns something, or is addressed."""
    if (
        word.lower() in _OPENERS
        or word.lower() in ORDINARY
        or word.endswith(("ly", "ите", "йте", "ьте"))
    ):
        return False  # an adverb, or a polite Russian imperative
    if not rest[: match.start()].strip(" *_") and re.match(
        r",\s+\w", rest[match.end() : match.end() + 4]
    ):
        return True
    genitive = match.group().endswith(("'s", "’s"))
    return genitive or bool(_ACTS.match(rest, match.end()) or _CALLED.match(rest, match.end()))


def _starts_sentence(before: str) -> bool:
    if not before:
        return True
    last = before[-1]
    if last == "." and _TITLE.search(before):
        return False
    return not (last.isalnum() or last in ",'’&/\0)—–-%€$₽>]") or (
        last in "-—–" and _bullet(before)
    )


def _bullet(before: str) -> bool:
    line = before[before.rfind("\n") + 1 :].strip()
    return len(line) <= 1


def _cyrillic(text: str) -> bool:
    return any("а" <= c <= "я" for c in text.lower())


def _places(word: str, evidence: Evidence) -> list[int]:
    lowered = fold(word)
    exact = evidence.words.get(lowered)
    if exact:
        return exact
    cyrillic = "а" <= lowered[0] <= "я"
    places: list[int] = []
    sounded = sound(lowered)
    for other, positions in evidence.words.items():
        same_script = cyrillic == ("а" <= other[0] <= "я")
        if same_script:
            alike = cyrillic and agree(lowered, other)
        else:
            heard = sound(other) if sounded[:1] == sound(other[:2])[:1] else ""
            alike = bool(heard) and (
                agree(sounded, heard, half=True)
                or _VOWELS.sub("", sounded) == _VOWELS.sub("", heard)
            )
        if alike:
            places += positions
    return places


def agree(a: str, b: str, *, half: bool = False) -> bool:
    """Tell whether two words can be forms of one: each one's first `max(3, len - 3)` letters are shared, or `half` of them
    (between scripts, where one name has several spellings)."""
    if abs(len(a) - len(b)) > 4:
        return False
    shared = 0
    for left, right in zip(a, b, strict=False):
        if left != right:
            break
        shared += 1
    longer = max(len(a), len(b))
    return shared >= max(3, (longer + 1) // 2 if half else longer - 3)


def sound(word: str) -> str:
    """Spell a word roughly as it sounds, the same from Latin and from Cyrillic."""
    latin = _MUTE.sub("", "".join(_SOUNDS.get(c, c) for c in word))
    for written, heard in _ALIKE:
        latin = latin.replace(written, heard)
    return re.sub(r"(.)\1", r"\1", latin)
