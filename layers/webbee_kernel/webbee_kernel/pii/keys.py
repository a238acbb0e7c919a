"""What a JSON key says about its value: a person's name, a phone number, neither.

A key is given as the last two keys of its path, `customer.name`; a bare key is one segment. The
words are split at case changes and punctuation, so `fromName`, `from_name` and `FROM-NAME` are one
key.
"""

import re
from collections.abc import Iterable
from enum import IntEnum
from functools import lru_cache

# parents the masker puts in place of a parent that says nothing, judged by the keys beside `name`
PERSON = "person"
THING = "thing"


class NameKey(IntEnum):
    """How sure a key is that its value names a person; each step allows more values."""

    NO = 0  # says nothing: only cues inside the text count
    NEVER = 1  # says what else the value is: `file_name`, `product.name`
    MAYBE = 2  # `name`, `from`, `display_name`: people and things alike
    ROLE = 3  # `sender`, `assignee`, `customer_name`: a person, a company or a mailbox
    SURE = 4  # `first_name`, `фио`: nothing else


_SPLIT = re.compile(r"[^\W_]+")
_PLACEHOLDER = re.compile(
    r"<[A-Z]+_[0-9]+>"
)  # a masked key says nothing: `<PHONE_1>` is not a phone-like key
_CAMEL = re.compile(r"(?<=[a-zа-яё])(?=[A-ZА-ЯЁ])")

_NAME = frozenset({"name", "names", "displayname"})
_PART = frozenset(
    "first last full middle given family surname maiden patronymic real preferred birth christian"
    " forename".split()
)
_SURE = frozenset(
    "fullname firstname lastname middlename givenname familyname surname forename patronymic фио"
    " фамилия фамилию отчество фамилии fio familiya otchestvo".split()
)
_ROLE = frozenset(
    "sender author customer client contact assignee reporter owner attendee participant member"
    " recipient organizer organiser manager employee patient person people signatory payer payee"
    " beneficiary speaker presenter reviewer approver candidate buyer seller student teacher doctor"
    " driver passenger guest applicant interviewer spouse colleague subscriber cardholder holder"
    " lead supervisor respondent requester invitee inviter caller friend relative child parent host"
    " correspondent addressee имя имена отправитель отправители получатель получатели автор авторы"
    " контакт контакты клиент клиенты заказчик заказчики исполнитель исполнители ответственный"
    " ответственные сотрудник сотрудники менеджер участник участники владелец пациент покупатель"
    " продавец руководитель докладчик гость гости адресат начальник директор подписант".split()
)
_ROLE_GENITIVE = frozenset(
    "отправителя получателя автора контакта клиента заказчика исполнителя сотрудника менеджера"
    " участника владельца пациента покупателя руководителя ответственного".split()
)
_BY = frozenset({"by", "to", "with"})
_DONE = frozenset(
    "created updated modified edited assigned signed invited sent approved reviewed requested"
    " submitted reported shared uploaded deleted added closed opened resolved completed booked"
    " delegated written posted commented managed owned".split()
)
_ADDRESS = frozenset("from to cc bcc replyto от кому кого копия".split())
_PLAIN_PARENT = (
    frozenset("from to cc bcc user users account profile me self person individual".split()) | _ROLE
)
_NEVER = frozenset(
    "file folder dir directory path app application tool section product project host domain server"
    " service package module library repo repository branch tag label channel team group company"
    " org organization organisation brand model vendor city country region place street event task"
    " list board column field table key variable env class function fn method type category plan"
    " store item sku status state currency language locale timezone zone bucket queue topic theme"
    " icon font color colour template workflow job build release version space workspace page site"
    " website job role department course game song album movie book drug device browser os bot"
    " agent extension skill panel calendar notebook playlist campaign segment metric report query"
    " index database schema cluster node container image volume network user username login handle"
    " nickname nick screen slug code thing файл файла папка папки проект проекта раздел раздела"
    " товар товара продукт продукта название компания компании организация организации город страна"
    " модель модели таблица таблицы метка канал команда отдел отдела должность услуга услуги"
    " категория приложение приложения логин пользователя".split()
)
_PHONE = frozenset(
    "phone phones telephone telephones tel mobile mobiles cell cellphone cellular fax msisdn"
    " whatsapp viber phonenumber phonenumbers mobilephone homephone workphone тел телефон телефоны"
    " телефона факс факса моб мобильный мобильного сотовый phonework phonehome телефоном".split()
)
_PHONE_TAIL = frozenset(
    "number numbers no num home work main primary secondary raw e164 office business other alt"
    " formatted номер номера".split()
)


@lru_cache(maxsize=2048)
def name_key(key: str) -> NameKey:
    """What `key` (`parent.key` or `key`) says of its value as a name; unknown keys say `NO`."""
    parent, _, last = key.rpartition(".")
    words = _words(last)
    if not words:
        return NameKey.NO
    if any(w in _SURE for w in words) or (
        len(words) > 1 and words[-1] in _NAME and any(w in _PART for w in words)
    ):
        return NameKey.SURE
    if words[-1] in _NAME:
        return _qualified(words[:-1], _words(parent))
    if words[-1] in _ROLE_GENITIVE:
        return NameKey.ROLE if words[0] in _ROLE else NameKey.NO
    if any(w in _NEVER and w not in _ROLE for w in words):
        return NameKey.NEVER if words[-1] in _NEVER else NameKey.NO
    if singular(words[-1]) in _ROLE or _done_by(words):
        return NameKey.ROLE
    return (
        NameKey.MAYBE
        if words == ("reply", "to") or (len(words) == 1 and words[0] in _ADDRESS)
        else NameKey.NO
    )


@lru_cache(maxsize=2048)
def is_phone_key(key: str) -> bool:
    """Whether `key` says that its value is a phone number: `phone`, `mobile_number`, `телефон`; not
    `phone_model`, `phone_id`."""
    words = tuple(w for w in _words(key.rpartition(".")[2]) if not w.isdigit())
    while len(words) > 1 and words[-1] in _PHONE_TAIL:
        words = words[:-1]
    if not words:
        return False
    return words[-1] in _PHONE or (
        len(words) > 1 and words[0] in _PHONE and words[-1] in _ROLE_GENITIVE
    )


def is_bare_name(key: str) -> bool:
    """Whether `key` alone cannot tell a person's name from a thing's, so that the keys beside it
    have to."""
    return name_key(key) is NameKey.MAYBE and _words(key)[-1] in _NAME


_PERSON_BESIDE = frozenset(
    "email emails mail phone phones mobile birthday birthdate gender attendance rsvp salutation"
    " jobtitle".split()
)
_THING_BESIDE = frozenset(
    "path size mime version url color colour price sku ttl currency icon stock unread total"
    " children extension schema items file files members sections enabled handler capabilities"
    " parameters columns fields dependencies".split()
)


def beside(keys: Iterable[object]) -> str:
    """`person`, `thing` or nothing: what the keys of one object say about the `name` among them."""
    words = {w for key in keys if isinstance(key, str) for w in _words(key)}
    if words & _PERSON_BESIDE:
        return PERSON
    return THING if words & _THING_BESIDE else ""


def singular(word: str) -> str:
    """The word less its plural ending, as far as the key lists need: `customers`, `people`,
    `companies`."""
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _qualified(qualifiers: tuple[str, ...], parent: tuple[str, ...]) -> NameKey:
    if qualifiers:
        last = singular(qualifiers[-1])
        if qualifiers[-1] in _ADDRESS or last in _ROLE or _done_by(qualifiers):
            return NameKey.ROLE
        return (
            NameKey.MAYBE
            if last in {"display", "user", "profile", "account", "friendly"}
            else NameKey.NEVER
        )
    if not parent:
        return NameKey.MAYBE
    last = singular(parent[-1])
    if last in _PLAIN_PARENT or parent[-1] in _PLAIN_PARENT or _done_by(parent):
        return NameKey.ROLE
    return NameKey.NEVER if last in _NEVER or parent[-1] in _NEVER else NameKey.MAYBE


def _done_by(words: tuple[str, ...]) -> bool:
    return len(words) > 1 and words[-1] in _BY and words[-2] in _DONE


@lru_cache(maxsize=2048)
def _words(key: str) -> tuple[str, ...]:
    if "<" in key:
        key = _PLACEHOLDER.sub(" ", key)
    return tuple(w.lower() for w in _SPLIT.findall(_CAMEL.sub("_", key)))
