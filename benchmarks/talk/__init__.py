"""Talking to the embedded model: conversations and remarks, judged turn by turn.

The set was written by somebody who had not read the model's code, before the model of today was
made; it has been read since, so its figures say nothing of other conversations.
`own_conversations.json` was written by who works on the model: a floor for tests, no measure.
"""
