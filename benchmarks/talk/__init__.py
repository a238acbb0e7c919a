"""Talking to the embedded model: conversations and remarks, judged turn by turn.

The sets were written by somebody who had not read the model's code. The `_sealed` halves were run
once unseen, and have been read since: figures on either half say nothing of other conversations.
"""
