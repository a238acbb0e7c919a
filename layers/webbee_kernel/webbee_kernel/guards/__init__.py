"""Guards: whether a call may run, and what a person is asked before it does. Pure.

- `arguments`   every scalar among a call's arguments, with the part of the schema that describes it
- `field_names` what a field's name says: an id, a secret, where to something goes
- `ids`         no invented id and no placeholder reaches a handler (I-AH-1)
- `sinks`       which functions carry something outwards, and which arguments say where to
- `addresses`   the forms of addresses, and how two are compared
- `user_words`  whether a text consists of the user's own words
- `result_records` the objects with an id in what calls gave
- `references`  which records a message names, and which the last reply showed
- `consent`     the table: what runs at once and what is proposed
- `proposals`   the card: every effect of a turn as the person reads it

May import: what stands below it, down from `stores`. Entrance: `consent.why_asked`,
`proposals.card`.
"""
