"""Claims that something was done: "I've sent it", "the task was deleted", «удалил», «письмо отправлено».

Fine are denials, questions, offers, plans and conditions, what another subject did ("Sarah sent you…"), what the data says of
itself (a status, the same words), and a state with a date of its own ("was sent on May 3").
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from .claims import MASK
from .evidence import Evidence, fold, stem


class _Lemma(NamedTuple):
    """An action: English past forms, Russian past stems, Russian short participles' stems, and prefixes that show it in the data."""

    english: str
    past: str
    participle: str
    signs: str


_LEMMAS = (
    _Lemma(
        "sent|emailed|e-mailed|mailed|forwarded|replied|messaged|notified|texted|called|redirected|contacted|invited",
        "отправи|посла|пересла|ответи|уведоми|разосла|написа|переадресова|пригласи|позвони|связа",
        "отправлен|переслан|уведомлен|разослан|послан|переадресован",
        "sent shipped delivered forward notif отправл dispatched",
    ),
    _Lemma(
        "deleted|removed|erased|revoked|trashed|purged|cleaned up|cleared|emptied",
        "удали|стер|очисти|убра|вычисти|отозва",
        "удален|стерт|очищен|убран",
        "delet remov clear purged удал очищ",
    ),
    _Lemma(
        "created|added|made|set up|drafted|generated|registered|set",
        "созда|записа|внес|добави|заве|оформи|подготови|зарегистрирова|состави|постави|установи",
        "создан|записан|внесен|добавлен|заведен|оформлен|установлен|поставлен|зарегистрирован",
        "creat added register созда добавл",
    ),
    _Lemma(
        "updated|changed|edited|modified|granted|assigned|renamed|corrected|replaced|merged|restarted|rebooted|deployed|fixed|"
        "increased|decreased|extended|raised|lowered|adjusted|turned (?:on|off|up|down)|started|stopped|reset|restored|"
        "converted",
        "обнови|измени|переименова|исправи|замени|отредактирова|перезапусти|поправи|увеличи|уменьши|продли|запусти|останови|"
        "восстанови|сброси|настрои",
        "обновлен|изменен|переименован|исправлен|заменен|перезапущен|отредактирован|увеличен|уменьшен|продлен|восстановлен|"
        "остановлен|запущен",
        "updat chang edit modif renam merged deployed fixed обновл измен restart",
    ),
    _Lemma(
        "moved|archived|rescheduled|transferred|postponed",
        "перенес|перемести|архивирова|заархивирова|переве|перевё|отложи|сдвину",
        "перенесен|перемещен|архивирован|заархивирован|переведен|отложен|сдвинут",
        "moved archiv resched transfer перенес перемещ архив",
    ),
    _Lemma(
        "saved|uploaded|published|posted|stored|shared|copied|exported|imported",
        "сохрани|загрузи|опубликова|поделилс|скопирова|экспортирова|выложи",
        "сохранен|загружен|опубликован|скопирован|экспортирован",
        "saved upload publish posted stored shared copied export import submit сохран загруж опублик",
    ),
    _Lemma(
        "scheduled|booked|reserved|arranged|planned",
        "запланирова|назначи|заброниро|забронирова",
        "запланирован|назначен|забронирован",
        "schedul book reserv confirmed planned заплан назнач брон",
    ),
    _Lemma(
        "cancelled|canceled|closed|completed|finished|resolved|approved|accepted|declined|rejected|marked|unsubscribed|"
        "disabled|enabled|blocked",
        "отмени|закры|заверши|выполни|одобри|отклони|отмети|пометила|пометил|отписа|отключи|включи|заблокирова",
        "отменен|закрыт|завершен|выполнен|одобрен|отклонен|отмечен|помечен|отключен|включен|заблокирован",
        "cancel clos complet done finish resolv approv accept declin reject mark disab enab block отмен закры заверш выполн",
    ),
    _Lemma(
        "paid|refunded|charged|purchased|bought|sold|ordered|reordered|downloaded|renewed|subscribed|signed|submitted",
        "оплати|верну|купи|прода|заказа|списа|подписа|пода",
        "оплачен|возвращен|куплен|продан|заказан|списан|подписан|подан",
        "paid refund charg purchas order bought sold renew submit sign оплач",
    ),
)
REACH = 300  #: characters of a sentence that are read before and after a verb
_DELETE, _SCHEDULE = 1, 6
_EN = "|".join(lemma.english for lemma in _LEMMAS)
_EN_WORDS = frozenset(re.findall(r"[a-z]+", _EN)) - {"up", "e"}
_RU_PAST = "(?:" + "|".join(lemma.past for lemma in _LEMMAS) + ")(?:л|ла|лся|лась|)"
_RU_DONE = "(?:" + "|".join(lemma.participle for lemma in _LEMMAS) + ")[аоы]?"
_THING = (
    r"(?:e-?mails?|messages?|mails?|tasks?|notes?|reminders?|events?|meetings?|invoices?|files?|folders?|reply|replies|invitations?|invites?|drafts?|documents?"
    r"|records?|contacts?|appointments?|payments?|tickets?|report|everything|all|items?|it)"
)
_OBJECT = r"(?:письм\w+|сообщени\w+|задач\w+|заметк\w+|встреч\w+|событи\w+|напоминани\w+|приглашени\w+|файл\w*|сч[её]т\w*|документ\w*|черновик\w*|отч[её]т\w*|ответ\w*|его|е[её]|их|вс[её])"
_LEAD = r"(?:just|also|already|now|then|finally|successfully|gone ahead and|went ahead and|have|and|it|both|automatically|\w+ly)"
_ADVERB = r"(?:уже|только что|успешно|также|ещё|тоже|сразу|теперь|и|всё|сам|сама|вам|для вас|ваш\w*|готово|да|хорошо|конечно|отлично)"
_START = r"(?:^|(?<=[.!?:;✅✔☑👍🎉()\n]))[ \t*_>\-–—•✅✔☑️]{0,12}"
_FINISH = rf"(?=\s+(?:the|a|an|your|it|them|all|this|that|those|these|both|new|to|{_THING}|\d|\0|\w+ and)|\s*[.!✅,—–-]|\s*$|\s+\**[A-ZА-Я])"

_FIRST_PERSON = re.compile(rf"\b(?:I|We|we)(?:['’]ve|\s+have)?(?:\s+{_LEAD}){{0,4}}\s+({_EN})\b")
#: Past forms of the first person that tell what was looked at or meant, not what was done.
_MENTAL = frozenset(
    """checked looked searched reviewed listed noticed received tried attempted included summarized summarised gathered compared counted identified
    highlighted scanned loaded retrieved fetched analyzed analysed verified been need noted translated sorted filtered grouped learned wanted needed failed
    liked hoped expected assumed believed loved enjoyed answered talked explained described mentioned showed skipped ignored missed used figured realized
    realised asked stayed limited detected matched examined inspected pulled queried read collected indeed""".split()
)
_DID = re.compile(
    rf"\bI(?:['’]ve|\s+have)?(?:\s+{_LEAD}){{0,4}}\s+([a-z]{{2,}}ed|sold|bought|sent|put|gave|told|took|rang|withdrew)\b"
)
_SAW = re.compile(
    r"(?:провер|посмотр|просмотр|наш|увид|прочит|понял|поняла|собр|посчит|подсчит|замет|получил|показ|сравн|изуч|попроб|пытал|смог|мог|был|хотел|думал|реш|иска|поиск"
    r"|узна|вывел|переч|уче|услыш|забы|ошиб|постара|предполож|говор|сказа|имел|счита)"
)
_AND_ALSO = re.compile(
    rf"\b(?:I|[Ww]e|(?i:{_EN}))\b[^.!?\n]{{0,80}}?(?:\band|,)\s+(?:(?:also|then|now|just|\w+ly)\s+)?({_EN})\b(?!\s+(?:by|on|at|in)\b)"
)
_HEADLINE = re.compile(
    rf"{_START}(?:(?i:(?:all )?(?:done|ok|okay|sure|great|perfect)\b\W*)?)(?:(?i:successfully|also|and)\s+)?((?i:{_EN}))\b{_FINISH}"
    rf"|(?:{_START}|[—–:,]\s+)(?:(?i:(?:the|your|all)\s+))?(?:[\w-]+\s+)?(?i:{_THING})\s+(?:(?i:successfully|already|now)\s+)?({_EN})\b"
    rf"(?!\s*(?:{MASK}|on\b|by\b|at\b|in\b|since|before|after|between|this|last|yesterday|you|:|is\b|are\b|was\b|were\b))",
    re.M,
)
_PASSIVE = re.compile(
    rf"\b(has been|have been|['’]s been|was|were|is|are|got|been)\s+(?:(?:now|just|already|also|successfully|all|both|\w+ly)\s+)*({_EN})\b",
    re.I,
)
_DID_RU = re.compile(
    rf"(?<!\w)я\s(?:{_ADVERB}\s){{0,4}}([а-яё]{{2,}}(?:[аиеуяы]л|н[её]с|ш[её]л)(?:а|ся|ась)?)(?!\w)",
    re.I,
)
_RU_ACTIVE = re.compile(
    rf"(?:{_START}|(?<!\w)я\s|(?<=[,—–])\s*(?:я\s)?|(?<!\w)и\s)(?:{_ADVERB}[\s,]{{1,3}}){{0,4}}({_RU_PAST})(?!\w)|(?<!\w){_OBJECT}\s(?:[\w«»\0]+\s)?({_RU_PAST})(?!\w)",
    re.I | re.M,
)
_RU_PASSIVE = re.compile(rf"(?<!\w)({_RU_DONE})(?!\w)", re.I)
_DENIED = re.compile(
    r"\b(?:not|never|nothing|no|none|cannot|without|unable|failed|before|neither)\b|n['’]t\b|(?<!\w)(?:не|ни|ничего|нет|никто|нельзя)(?!\w)",
    re.I,
)
_PLANNED = re.compile(
    r"\b(?:will|would|can|could|should|shall|may|might|must|if|once|when|unless|until|to be|be|being|as soon as|after|whether|before)\b|['’]ll\b"
    r"|(?<!\w)(?:будет|будут|может|могут|если|когда|чтобы|после|должн\w+|можно|нужно|был бы|бы|как только|нужн\w+|пока)(?!\w)",
    re.I,
)
_OTHERS = re.compile(
    r"\b(?:you|he|she|they|who|which|that)\b\s*(?:have\s|has\s|had\s)?$|(?<!\w)(?:вы|он|она|они|кто|котор\w+)\s+$",
    re.I,
)
_AGENT = re.compile(r"[\s\0]*(?:\w+\s)?(?:by(?! me\b)|from|службой)\b", re.I)
_DATED = re.compile(
    r"\b(?:ago|last (?:week|month|year)|yesterday|earlier)\b|(?<!\w)(?:вчера|назад|ранее)(?!\w)",
    re.I,
)
_FOR = re.compile(r"(?:\bfor|\buntil|(?<!\w)на)\s+(?:\w+,?\s+)?$", re.I)
_ASKS = re.compile(
    r"^\W*(?:has|have|was|were|is|are|did|do|does|should|shall|would|can|could|what|who|when|which|хотите|нужно)\b|\bли\b",
    re.I,
)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$|[*_✅🎉])|\n|;")


def ungrounded(
    rest: str, evidence: Evidence, done: Collection[str], dated: Collection[tuple[int, int]]
) -> Iterator[tuple[int, str]]:
    """Yield `(position, verb)` for every action claimed in `rest` that no successful call accounts for.

    `rest` is the reply with its other claims masked, `dated` the spans of its dates and times. With a successful write anything
    may be claimed but a deletion; that takes a destructive call, or data or a summary that speaks of it.
    """
    if "destructive" in done:
        return
    seen: set[int] = set()
    original, rest = rest, rest.replace("ё", "е").replace("Ё", "Е")
    for pattern, active in _patterns(rest):
        for match in pattern.finditer(rest):
            group = match.lastindex or 0
            start, verb = match.start(group), original[match.start(group) : match.end(group)]
            if start in seen or fold(verb) in _MENTAL or _SAW.match(fold(verb)):
                continue
            if _told(rest, start, evidence):
                continue
            if not _excused(rest, match, start, verb, active, dated) and not _shown(
                verb, match.group(), evidence, done, active
            ):
                seen.add(start)
                yield start, verb


def _told(rest: str, start: int, evidence: Evidence) -> bool:
    """Tell whether a tool's own summary says so: the verb and the word behind it, as «отправил список» of a list function."""
    words = re.match(r"[^\W\d_]+\s+[^\W\d_]+", rest[start : start + 80])
    return words is not None and " ".join(fold(words.group()).split()) in evidence.told


def _patterns(rest: str) -> list[tuple[re.Pattern[str], bool]]:
    """Return the patterns that can match at all, each with whether it is the active voice."""
    chosen = [(_DID, True), (_DID_RU, True)]
    if not _EN_WORDS.isdisjoint(re.findall(r"[a-z]+", rest.lower())):
        chosen += [(_FIRST_PERSON, True), (_AND_ALSO, True), (_HEADLINE, True), (_PASSIVE, False)]
    if not rest.isascii():
        chosen += [(_RU_ACTIVE, True), (_RU_PASSIVE, False)]
    return chosen


def _excused(
    rest: str,
    match: re.Match[str],
    start: int,
    verb: str,
    active: bool,
    dated: Collection[tuple[int, int]],
) -> bool:
    """Tell whether the sentence takes the claim back: a denial, a plan, a question, another's deed, a state with a date of its own."""
    begin, end = _sentence(rest, start)
    before, after = rest[begin:start], rest[start + len(verb) : end]
    clause = re.split(r"[,—–:]\s", before)[-1] if active else before
    near = " ".join(clause.split()[-6:])
    if _DENIED.search(near) or (
        _PLANNED.search(near) and not re.search(r"has been|have been|['’]ve", match.group())
    ):
        return True
    if _OTHERS.search(before) or (
        rest[end : end + 1] == "?" and (_ASKS.search(rest[begin:end]) or not after.strip())
    ):
        return True
    if active:
        return after.lstrip(" *_").startswith(":")
    perfect = "been" in match.group().lower()
    planned = _lemma(verb) == _SCHEDULE
    own_date = not perfect and (
        any(begin <= at < end and (planned or not _FOR.search(rest, begin, at)) for at, _ in dated)
        or bool(_DATED.search(rest[begin:end]))
    )
    return own_date or bool(_AGENT.match(after))


def _sentence(rest: str, at: int) -> tuple[int, int]:
    """Return where the sentence around a position begins and ends; at most `REACH` characters either way, which keeps the check linear."""
    begin, last = max(0, at - REACH), min(len(rest), at + REACH)
    for match in _SENTENCE_END.finditer(rest, begin, last):
        if match.start() >= at:
            return begin, match.start()
        begin = match.end()
    return begin, last


def _shown(verb: str, phrase: str, evidence: Evidence, done: Collection[str], active: bool) -> bool:
    """Tell whether the calls or the data account for the verb."""
    lemma = _lemma(verb)
    signs = _LEMMAS[lemma].signs.split()
    if "write" in done:
        return lemma != _DELETE or any(sign in evidence.text for sign in signs)
    if evidence.has_phrase(phrase.strip(" .!*_-—–:,\n\0")) and len(phrase.split()) > 1:
        return True
    if active:
        return False
    signs.append(stem(verb))
    return any(line.startswith(sign) for line in evidence.states for sign in signs) or any(
        sign in truth for truth in evidence.truths for sign in signs
    )


def _lemma(verb: str) -> int:
    word = fold(verb)
    for number, (english, past, participle, _signs) in enumerate(_LEMMAS):
        if word in english.split("|") or any(
            word.startswith(fold(stem)) for stem in f"{past}|{participle}".split("|")
        ):
            return number
    return 0
