"""Deterministic grounding of a reply in what the turn's tools returned
(I-NARRATOR-NO-FABRICATED-CONTENT-CLAIMS).

`check` is pure: no I/O, no clock, no model. One module per noun:

- `claims`    what a text asserts: numbers, dates, times, addresses, ids, quotes, in the order they
  stand
- `numbers`   numerals and number words, English and Russian
- `dates`     dates, months, weekdays and times of day
- `evidence`  the haystack: everything data, summaries and message show, built once per check
- `derive`    the plain derivations of that data, and the caps that keep them plain
- `names`     capitalised words that claim a person, a product or a place
- `actions`   verbs that claim something was done
- `support`   one claim against the evidence
- `verdict`   `check`, which sets the one against the other

What it cannot see: a true token paired with the wrong subject, a denial ("you have no tasks"), a
claim made of ordinary lower-case words only, a date counted from today ("in three days"), a time
moved to another time zone.
"""

from .verdict import Verdict, check

__all__ = ["Verdict", "check"]
