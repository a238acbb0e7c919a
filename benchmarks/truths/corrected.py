"""What becomes of flagged replies when the model that wrote them is asked again.

`python -m benchmarks.truths.corrected SET ask FILE` writes the second requests for the replies of a
set (a file or a name that `--plain` takes) that the check flags, as a narrator would get them:
`[{id, system, prompt}]`. A model, or a person in its place, answers them: `[{id, text}]`. Then
`… SET judge ANSWERS` tells what the user would read: of honest replies, whether the kernel leaves
something out of the second one and whether the flagged words still stand in it; of faulty ones,
whether the planted words do.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.truths.model import Case
from benchmarks.truths.plain_words import plain_words
from webbee_kernel.grounding import Call, Evidence, Verdict, check, defences, undefended
from webbee_kernel.turn.narrator import SYSTEM, problems
from webbee_kernel.turn.results_block import results_block
from webbee_kernel.values import CallOutcome


def evidence(case: Case) -> Evidence:
    """What the replies of a case are held against."""
    calls = tuple(Call(**asdict(call)) for call in case.calls)
    return Evidence(calls, case.message, language=case.language, now=case.now, policy=case.policy)


def flagged(cases: Sequence[Case]) -> list[tuple[Case, Verdict]]:
    """The replies after calls that the check flags, and how."""
    checked = ((case, check(case.reply, evidence=evidence(case))) for case in cases if case.calls)
    return [(case, verdict) for case, verdict in checked if not verdict.grounded]


def second_request(case: Case, verdict: Verdict) -> dict[str, str]:
    """What the narrator is asked behind a flagged reply."""
    outcomes = {
        n: CallOutcome(
            call.app_id,
            call.fn_name,
            "ok" if call.status == "ok" else "error",
            data=call.data,
            summary=call.summary,
            error=f"{call.status}: {call.error}" if call.status != "ok" else "",
            action_type=call.action_type,
            arguments=dict(call.arguments),
        )
        for n, call in enumerate(case.calls)
    }
    policy = f"\n[POLICY]\n{case.policy}" if case.policy else ""
    told = f"[MESSAGE]\n{case.message}\n{results_block(outcomes)}"
    again = problems(case.reply, verdict.ungrounded, "")
    return {"id": case.id, "system": f"{SYSTEM} It is {case.now}.{policy}", "prompt": told + again}


def outcome(case: Case, first: Verdict, answer: str) -> str:
    """What becomes of a flagged reply, in a word or two."""
    text = undefended(answer)
    verdict = check(text, evidence=evidence(case), defended=defences(answer))
    if case.fault:
        span, right = case.fault.span, case.fault.right
        left = verdict.kept.replace(right, "") if right else verdict.kept
        return "fault: still read" if span in left else "fault: gone"
    if not verdict.grounded:
        return "honest: something left out"
    kept = all(word in text for word in first.ungrounded)
    return "honest: flagged words stand" if kept else "honest: told otherwise by the model"


def judged(cases: Sequence[Case], answers: Mapping[str, str]) -> Counter[str]:
    """How many replies became what; those without an answer lose their flagged sentences."""
    return Counter(outcome(c, v, answers.get(c.id, c.reply)) for c, v in flagged(cases))


def main(name: str, command: str, file: str) -> None:
    """Write the requests, or judge their answers."""
    cases, path = plain_words(name), Path(file)
    if command == "ask":
        asked = [second_request(*pair) for pair in flagged(cases)]
        path.write_text(json.dumps(asked, ensure_ascii=False, indent=1), encoding="utf-8")
        print(f"{len(asked)} requests in {path}")
        return
    answers = {a["id"]: a["text"] for a in json.loads(path.read_text(encoding="utf-8"))}
    called = Counter("faulty" if c.fault else "honest" for c in cases if c.calls)
    print(f"replies after calls: {dict(called)}")
    for what, count in sorted(judged(cases, answers).items()):
        print(f"{count:4}  {what}")


if __name__ == "__main__":
    main(*sys.argv[1:])
