"""A measure of the grounding check on results of foreign tools, built from what is true and one
known fault at a time.

    PYTHONPATH=layers/webbee_kernel python -m benchmarks.truths [--seed N] [--n 2000] [--show KIND]

The records are what the tools of AgentDojo's four suites and of BFCL's multi-turn APIs answered
(`results.json` names versions and licences). Replies are rendered from them by templates in
English, Russian, German and Spanish, so every value in an honest one is known to be derivable; a
faulty one is an honest one with a single planted fault. Half of the templates, and the apps
travel, posting, vehicle and messages, are never seen with the tuning seed: `--sealed` draws them,
with a seed of its own, and was run once (2026-11-22); the check was built on against it since,
so that neither half is evidence any more. `--words words_other`, `words_third` and `words_fourth`
render with templates that other hands wrote for all of it (2026-11-23, each run once, then read).
`plain_words.json` and its like hold replies written by hand; `--plain FILE` runs any file of that
shape (`plain_words.py` says which). Who wrote all this had not read the check.
"""

from benchmarks.truths.generate import SEALED_SEED, TUNING_SEED, generate
from benchmarks.truths.model import Call, Case, Fault

__all__ = ["SEALED_SEED", "TUNING_SEED", "Call", "Case", "Fault", "generate"]
