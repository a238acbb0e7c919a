"""Guards: whether a call may run, and what a person is asked before it does. Pure.

- `sinks`       which functions carry something outwards, and which arguments say where to
- `words`       whether a text consists of the user's own words
- `references`  which records a message names, and which the last reply showed
- `consent`     the table: what runs at once and what is proposed
- `proposals`   the card: every effect of a turn as the person reads it

The other guards of a call stand in `turn/calls.py` and `arguments/`.

May import: what stands below it, down from `arguments`. Entrance: `consent.why_asked`,
`proposals.card`.
"""
