"""`webbee models check` against stand-ins that behave as servers do, and `make run`, which notices a
model server of this machine."""

import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from local import models, run
from local.models import PORTS, QUESTION, WEATHER, WORD, offers
from tests.stand_ins.http import Answer, ModelServer, Received
from tests.stand_ins.servers import BedrockServer, ChatServer, error
from tests.stand_ins.service import Reply, Request, served
from webbee_kernel.aws.clients import forget_clients
from webbee_kernel.config import Settings
from webbee_kernel.llm.options import options_of

CALL = Answer(calls=((WEATHER.name, {"city": "Riga"}),))
MODEL_ID = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"


class _Habitual(ModelServer):
    """What a server does: a table of refusals by what a request must hold, and a few switches."""

    window = 1_000_000
    calls = True
    follows = True
    thinks = False
    reasoning: Any = None
    misses = ""

    def __init__(self) -> None:
        super().__init__()
        self.refuses: dict[str, str] = {}

    def refusal(self, received: Received) -> Answer | None:
        said = json.dumps(received.body)
        words = next((words for part, words in self.refuses.items() if part in said), "")
        if self.misses and "tool_call_id" in said and self.misses not in said:
            words = f"Missing {self.misses} field in the assistant message."
        return super().refusal(received) or (self.refused(words) if words else None)

    def refused(self, words: str) -> Answer:
        return Answer(status=400, message=words)

    def _thought(self, received: Received) -> Answer:
        said = json.dumps(received.body, ensure_ascii=False)
        if "Say ok." in said:
            required = '"tool_choice": "required"' in said or '"toolChoice": {"any"' in said
            return CALL if required and self.follows else self.text("ok")
        if "degrees" in said:
            return self.text("17 degrees.")
        if QUESTION in said:
            call = replace(CALL, reasoning=self.reasoning)
            return call if self.calls else self.text("It rains.")
        if "password" in said:
            return self.text(WORD if len(said) // 4 < self.window else "I know of none.")
        return self.text("1 2 3 4 5 6 7 8 9")

    def text(self, text: str) -> Answer:
        return Answer(f"Hm, what now?</think>{text}" if self.thinks else text)


class Chat(_Habitual, ChatServer): ...


class Bedrock(_Habitual, BedrockServer):
    def refused(self, words: str) -> Answer:
        return error("ValidationException", words)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / ".webbee"


@pytest.fixture
def chat() -> Iterator[Chat]:
    with Chat() as server:
        yield server


@pytest.fixture
def bedrock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bedrock]:
    with Bedrock() as server:
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        forget_clients()  # a process keeps them, with the address they were made for
        yield server
    forget_clients()


Command = Callable[..., tuple[str, str]]
Found = dict[str, dict[str, Any]]
Check = Callable[..., Found]


@pytest.fixture
def checked(command: Command) -> Callable[..., Found]:
    """`checked(server)`: the findings by what they are about."""

    def check(server: ModelServer, ends: int = 0) -> Found:
        of_bedrock = isinstance(server, BedrockServer)
        name = f"bedrock:{MODEL_ID}" if of_bedrock else f"openai:{server.url}#llama3"
        told = json.loads(command("models", "check", name, "--json", ends=ends)[0])
        assert (told["model"], told["usable"], server.problems) == (name, ends == 0, [])
        return {finding["about"]: finding for finding in told["findings"]}

    return check


def wrong(found: Found) -> dict[str, str]:
    return {about: finding["found"] for about, finding in found.items() if not finding["ok"]}


@pytest.mark.parametrize("kind", ["chat", "bedrock"])
def test_a_model_that_does_everything_has_nothing_against_it(
    request: pytest.FixtureRequest, checked: Check, kind: str
) -> None:
    found = checked(request.getfixturevalue(kind))
    assert wrong(found) == {}
    assert found["window"]["found"] == "reads 12,000 tokens and maybe more"
    assert {"answers", "streams", "calls a function", "tool_choice"} <= set(found)


@pytest.mark.parametrize(
    ("part", "words", "name"),
    [
        ('"role": "system"', "System role not supported", "system"),
        ('"max_tokens"', "Use 'max_completion_tokens' instead.", "max_tokens"),
        ('"content": null', "content must be a string, not null", "null_content"),
        ('"temperature"', "'temperature' does not support 0.", "temperature"),
        ('"tool_choice"', "tool_choice is not supported", "tool_choice"),
        ('"role": "tool"', "Unknown role: tool", "tool_messages"),
        ('"stream"', "streaming is not supported here", "stream"),
        ("4096", "max_tokens is too large: 4096. It supports at most 2048.", "output_tokens"),
    ],
)
def test_what_a_server_refuses_is_told_with_what_the_kernel_does(
    chat: Chat, checked: Check, part: str, words: str, name: str
) -> None:
    chat.refuses[part] = words
    found = checked(chat)
    if name == "tool_choice":  # which is asked apart
        assert found[name]["found"] == "refused" and found[name]["do"]
    else:
        assert found["refuses"]["found"] == name
        assert "the kernel asks without" in found["refuses"]["do"]


LOST = "of 5,000 the beginning was lost, without a word of it"


@pytest.mark.parametrize(
    ("habits", "against"),
    [
        (
            {"calls": False, "follows": False},
            {"calls a function": "no: it answered in words", "tool_choice": "taken, not followed"},
        ),
        ({"window": 4_096}, {"window": f"reads 2,000 tokens; {LOST}"}),
        ({"window": 8_192}, {}),
        ({"thinks": True}, {"thinks aloud": "yes, without an opening tag"}),
    ],
)
def test_what_a_model_does_otherwise_is_found_out(
    chat: Chat, checked: Check, habits: dict[str, Any], against: dict[str, str]
) -> None:
    vars(chat).update(habits)
    found = checked(chat, ends=int("calls" in habits))
    assert wrong(found) == against
    window = found.get("window", {"found": "", "do": ""})
    assert ("num_ctx" in window["do"]) is (habits.get("window") == 4_096)
    assert window["found"].startswith("reads 5,000 tokens; of 12,000") is (
        habits.get("window") == 8_192
    )


def test_a_name_that_the_server_lacks_is_told(chat: Chat, checked: Check) -> None:
    chat.play(Answer(status=404, code="model_not_found", message="no llama3 here"))
    found = checked(chat, ends=1)
    assert list(found) == ["answers"] and len(chat.requests) == 1
    told = found["answers"]["found"]
    assert "The model server has no model llama3 (HTTP 404 model_not_found)" in told
    assert "no llama3 here" in told


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("openai:http://127.0.0.1:9/v1#llama3", "Nothing listens at 127.0.0.1:9: start the server"),
        ("offline", "openai:<base-url>#<model>"),
        ("llama3", "openai:<base-url>#<model>"),
    ],
)
def test_where_nothing_listens_or_no_model_is_told(command: Command, name: str, told: str) -> None:
    assert told in "".join(command("models", "check", name, ends=1))


@pytest.mark.parametrize(
    ("reasoning", "refuses", "misses", "says"),
    [
        ("details", "", "", "signed or encrypted, and goes back"),
        ("details", "Extra inputs", "", "signed, but refused when it comes back"),
        ("content", "", "", "in clear text, which stays behind"),
        ("content", "", '"reasoning_content"', "wanted back in clear text, and goes back"),
    ],
)
def test_what_becomes_of_reasoning_is_told(
    chat: Chat, checked: Check, reasoning: str, refuses: str, misses: str, says: str
) -> None:
    details = [{"type": "reasoning.encrypted", "data": "ZW5j", "index": 0}]
    field = f"reasoning_{reasoning}"
    chat.reasoning = {field: details if reasoning == "details" else "Hm."}
    chat.misses = misses
    if refuses:
        chat.refuses[f'"{field}"'] = f"messages.2.{field}: {refuses} are not permitted"
    found = checked(chat)["reasoning"]
    assert (found["found"], found["ok"]) == (says, not refuses)


def test_the_table_is_for_people_and_what_was_learned_is_kept_and_printed_as_a_setting(
    chat: Chat, folder: Path, command: Command
) -> None:
    chat.window = 4_096
    chat.refuses['"role": "system"'] = "System role not supported"
    name = f"openai:{chat.url}#own"
    lines = command("models", "check", name)[0].splitlines()
    assert lines[0].split() == ["✓", "answers", "yes"]
    told = next(n for n, line in enumerate(lines) if line.startswith("! window"))
    assert "the prompt is made to fit" in lines[told + 1]
    learned = {"window": 2_048, "refuses": ["system"], "thinks_aloud": False}
    assert json.loads((folder / "models.json").read_text()) == {name: learned}
    group = lines[-1].removeprefix("ModelOptions='").removesuffix("'")
    settings = Settings.from_env({"WEBBEE_MODEL": name, "WEBBEE_MODEL_OPTIONS": group})
    options = options_of(settings, "narrator")
    assert (options.window, options.refuses, options.thinks_aloud) == (2_048, ("system",), False)


def test_a_local_start_learns_once_in_silence_and_takes_it_over(
    chat: Chat, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat.window = 4_096
    name = f"openai:{chat.url}#own"
    monkeypatch.setenv("WEBBEE_MODEL_SETTINGS", json.dumps({name: {"temperature": 0.5}}))
    settings = Settings.from_env({"WEBBEE_MODEL": name})
    said: list[str] = []
    models.learn(name, folder, settings, said.append)
    asked = len(chat.requests)
    assert 0 < asked <= 5 and said == []
    here = json.loads(os.environ["WEBBEE_MODEL_SETTINGS"])[name]
    assert here == {"window": 2_048, "temperature": 0.5, "thinks_aloud": False}
    models.learn(name, folder, settings, said.append)
    models.learn("offline", folder, settings, said.append)
    assert len(chat.requests) == asked
    later = models.variable(name, models.kept(folder)[name])["WEBBEE_MODEL_SETTINGS"]
    assert json.loads(later)[name]["window"] == 2_048


@pytest.mark.parametrize("is_there", [False, True])
def test_a_start_says_of_a_model_that_will_not_do_why_and_asks_again_the_next_time(
    chat: Chat, folder: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    monkeypatch.setenv("WEBBEE_MODEL_SETTINGS", "{}")
    said: list[str] = []
    chat.calls = False
    if not is_there:
        chat.play(Answer(status=404, code="model_not_found", message="no own here"))
    name = f"openai:{chat.url}#own"
    models.learn(name, folder, Settings.from_env({"WEBBEE_MODEL": name}), said.append)
    why = "calls a function: no" if is_there else "answers: The model server has no model own"
    assert len(said) == 1 and said[0].startswith(f"{name}: {why}")
    assert not (folder / "models.json").exists()


# ---- servers that run here


@contextmanager
def server(body: bytes, status: int = 200) -> Iterator[tuple[int, list[Request]]]:
    """A server on a port of its own, and the requests it got."""
    with served(answer=lambda _: Reply(body, status)) as service:
        yield int(service.url.rpartition(":")[2]), service.requests


def listing(*names: str) -> bytes:
    return json.dumps({"object": "list", "data": [{"id": n} for n in names]}).encode()


def test_a_server_that_lists_models_is_offered_with_the_command_that_uses_it() -> None:
    with server(listing("nomic-embed-text", "llama3.1:8b")) as (port, asked):
        (one,) = offers(0, {port: "Ollama"})
    command = f"./webbee dev --model 'openai:http://127.0.0.1:{port}/v1#llama3.1:8b'"
    assert one == f"Ollama runs here. To use it: {command}"
    assert [request.path for request in asked] == ["/v1/models"]
    assert one in run.welcome("http://127.0.0.1:8000", {}, offers=[one])


NO_MODELS = [
    *(b"<html>another program</html>", b'{"data": "none"}', b"[1]"),
    *(listing("x; rm -rf ~"), listing("text-embedding-3")),
]


def test_what_names_no_usable_model_the_own_port_and_what_says_nothing_are_passed_over() -> None:
    for body, status in (*((body, 200) for body in NO_MODELS), (listing("llama3"), 401)):
        with server(body, status) as (port, _):
            assert offers(0, {port: "Ollama"}) == []
    with server(listing("llama3")) as (port, asked):
        assert offers(port, {port: "vLLM"}) == []
    assert asked == []
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert offers(0, {silent.getsockname()[1]: "LM Studio"}) == []
    assert set(PORTS.values()) == {"Ollama", "LM Studio", "vLLM", "llama.cpp"}
    assert set(PORTS) == {11434, 1234, 8000, 8001, 8080}
