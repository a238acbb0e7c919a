"""How long a reader waits for the first checked sentence, against the whole reply.

The narrator is a chat-completions server on this machine that writes 50 tokens a second, over
HTTP; the replies below are the repository's own, 100 words and more, prose and lists. Two of them
hold a claim that the data does not, one early and one late.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from typing import Any

from tests.stand_ins.servers import Answer, ChatServer
from webbee_kernel.llm.openai_compatible import OpenAICompatibleModel
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse, ToolCall
from webbee_kernel.llm.streaming import Hear
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import TestKernel
from webbee_kernel.turn.following import Follower

TOKENS_A_SECOND = 50
BAR = 0.40

ROWS = [
    {"id": f"t-{n}", "title": title, "status": status, "assignee": who}
    for n, (title, status, who) in enumerate(
        [
            ("Draft the lease", "open", "Sarah"),
            ("Call the plumber", "done", "Tom"),
            ("Order the chairs", "open", "Maria"),
            ("Paint the hall", "open", "Tom"),
            ("Pay the deposit", "done", "Sarah"),
            ("Book the movers", "open", "Maria"),
        ],
        start=1,
    )
]
PROSE = (
    "You have 6 tasks, and 4 of them are open. Sarah still has to draft the lease, which is the"
    " first task of the list. Maria has two open ones: she orders the chairs, and she books the"
    " movers. Tom has one open task as well, and that is to paint the hall. Two tasks are done"
    " already. Tom has called the plumber, so nothing is left to do there. Sarah has paid the"
    " deposit, and that task is closed too. If you like, I can tell you more about any one of these"
    " tasks, or I can mark one of them as done for you. Just say which one it is, and what should"
    " happen with it."
)
LIST = "Here are your 6 tasks, as they stand in the list:\n" + "\n".join(
    f"- {row['title']} ({row['id']}): the status of this task is {row['status']}, and the person"
    f" who takes care of it is {row['assignee']}."
    for row in ROWS
)
REPLIES = {
    "prose": [PROSE],
    "list": [LIST],
    "late claim": [PROSE + " Another 36 tasks wait elsewhere.", "Just say a word."],
    "early claim": [PROSE.replace("Sarah still", "Of 36 in all, Sarah still"), PROSE],
}


@dataclass(frozen=True, slots=True)
class Waited:
    """Seconds from the request to the first checked sentence and to the whole reply."""

    first: float
    whole: float

    @property
    def share(self) -> float:
        """The first as a share of the whole."""
        return self.first / self.whole


class Models:
    """A classifier that answers at once, and a narrator over HTTP."""

    name = "paced"

    def __init__(self, narrator: OpenAICompatibleModel) -> None:
        self._narrator = narrator

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """The classifier's plan."""
        return ModelResponse(tool_calls=(ToolCall("tasks__list", {}),))

    async def stream(self, request: ModelRequest, hear: Hear) -> ModelResponse:
        """The narrator's reply."""
        return await self._narrator.stream(request, hear)


def tasks() -> Extension:
    """An app with a list."""
    ext = Extension("tasks", display_name="Tasks")
    chat = ChatExtension(ext)

    @chat.function("list", "List tasks", action_type="read")
    async def list_tasks(ctx: Context) -> ActionResult:
        return ActionResult.success({"tasks": ROWS}, "6 tasks.")

    return ext


def waited(replies: list[str], *, expose: str = "true") -> Waited:
    """One followed turn whose narrator writes these replies."""
    with ChatServer() as server:
        server.play(*(Answer(text, pace_s=1 / TOKENS_A_SECOND) for text in replies))
        model: Any = Models(OpenAICompatibleModel(server.url, "paced"))
        kernel = TestKernel([tasks()], model=model, env={"IMPERAL_FACT_LEDGER_EXPOSE_PII": expose})
        shown: list[float] = []

        def tell(frame: dict[str, Any]) -> None:
            if frame["type"] == "text":
                shown.append(time.perf_counter())

        ask = replace(kernel.ask("show my tasks"), follower=Follower("r", tell))
        started = time.perf_counter()
        kernel.run(kernel.kernel.turn(ask))
        ended = time.perf_counter()
        kernel.run(asyncio.sleep(0))
    return Waited(shown[0] - started, ended - started)


def main() -> int:
    """Print a row a reply; 1 where a reply without a claim misses the bar."""
    missed = False
    print(f"{'reply':12} {'words':>5} {'first, s':>9} {'whole, s':>9} {'share':>6}")
    for name, replies in REPLIES.items():
        found = waited(replies)
        missed |= found.share > BAR
        words = len(replies[0].split())
        print(f"{name:12} {words:5} {found.first:9.2f} {found.whole:9.2f} {found.share:6.0%}")
    return int(missed)


if __name__ == "__main__":
    raise SystemExit(main())
