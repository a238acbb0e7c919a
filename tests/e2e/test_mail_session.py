"""A mail session in Russian on real mail servers: the address is used, and with the gate closed no
model ever reads one."""

import re
import sys
from dataclasses import replace

from local.mail_servers import MailServers
from local.project import child_environment
from local.stack import ROOT, local_stack
from tests.functions.support import ALICE, Person, functions, settle
from tests.processes import ran
from webbee_kernel.llm.embedded import EmbeddedModel
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse

ADDRESS = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+")
SARAH = {**ALICE, "sub": "sarah", "tenant_id": "local", "role": "developer", "language": "ru"}
SARAH["email"] = "sarah@work.com"
OWN_WORDS = "colleague@example.net"
SESSION = (
    "покажи письма за сегодня",
    "отправь на тот же адрес «статус по проекту»",
    "прочитай первое письмо",
    f"отправь «и вам тоже» на {OWN_WORDS}",
    "найди письма от Сары",
    "сколько у меня непрочитанных писем?",
    "что написано в этом письме?",
)


class Recorder:
    """The embedded model, and all it was ever asked."""

    name = "recorder"

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []
        self._model = EmbeddedModel()

    async def complete(self, request: ModelRequest) -> ModelResponse:
        self.requests.append(request)
        return await self._model.complete(request)

    def addresses(self) -> set[str]:
        """Every address in what a model read as prompt; the catalogue's examples are the
        developer's."""
        return {a for r in self.requests for a in ADDRESS.findall(f"{r.system}\n{r.prompt}")}


def said(person: Person, message: str) -> str:
    """What a message comes to: a mail leaves after a yes."""
    answer = person.chat(message)
    if answer["status"] == "confirmation":
        answer = person.chat("да")
    return str(answer["reply"])


def test_with_the_gate_closed_mail_arrives_and_a_model_reads_the_users_own_words_alone() -> None:
    model = Recorder()
    with MailServers() as mail, local_stack() as stack:
        stack = replace(stack, handlers=functions(model=model))
        accounts = {"value": mail.accounts_secret("demo")}
        stack.ask("PUT", "/v1/extensions/mail/secrets/accounts", SARAH, accounts)
        sarah = Person(stack, SARAH)
        for app in ("mail", "tasks", "notes"):
            sarah.install(app)
        stack.tick()
        settle(stack.drain)
        replies = [said(sarah, message) for message in SESSION]
    sent = [(m.envelope_to, m.subject or m.text) for m in mail.received]
    assert sent[0][0] == ("sarah@example.com",)
    assert "статус по проекту" in f"{mail.received[0].subject} {mail.received[0].text}"
    assert sent[1][0] == (OWN_WORDS,)

    assert {r.role for r in model.requests} == {"classifier", "narrator"}
    assert any("<EMAIL_" in r.prompt for r in model.requests)
    assert model.addresses() == {OWN_WORDS}

    assert "sarah@example.com" in replies[1]
    assert not [r for r in replies if re.search(r"<(EMAIL|PHONE|NAME)_\d+>", r)]


DEEDS = [
    "mail.list_inbox",
    "mail.send",
    "tasks.add",
    "tasks.complete",
    "notes.write",
    "notes.delete",
]


def test_the_demo_plays_to_its_end_and_the_mail_arrives() -> None:
    plainly = {"PYTHONUTF8": "1", "COLUMNS": "400", "NO_COLOR": "1"}
    env = {**child_environment(), **plainly, "WEBBEE_CALL_SECONDS": "120"}  # a busy machine's
    played = ran(sys.executable, "-m", "local.demo", cwd=ROOT, env=env, timeout=600)
    assert played.returncode == 0, played.stderr[-2000:]
    told = " ".join(played.stdout.split())
    assert "The SMTP server received “статус по проекту” for sarah@example.com" in told
    assert "The end." in told
    assert re.findall(r"^ *✓ ([\w.]+)", played.stdout, re.MULTILINE) == DEEDS
    assert "Traceback" not in played.stderr
    read = [line for line in played.stdout.splitlines() if line.lstrip().startswith("│")]
    assert read
    assert not [line for line in read if ADDRESS.search(line)]
