"""Guards: whether a call may run, and what the user is asked before it does. Pure.

- `arguments`   every scalar argument of a call, with its schema
- `field_names` what a field's name implies: an id, a secret, a destination
- `ids`         rejects fabricated ids and placeholders (I-AH-1)
- `sinks`       what a call does: its effect, and the arguments that hold its destination
- `addresses`   recognises and compares addresses
- `user_words`  whether a text consists of the user's own words
- `result_records` the objects with an id in results, and their titles
- `references`  the records that a message names, and those that the last reply showed
- `consent`     the policy: what runs at once and what is proposed
- `proposals`   the card: the effects of a turn, for the user

May import: the layers from `stores` downwards. Entrance: `consent.needs_consent`,
`proposals.card`.
"""
