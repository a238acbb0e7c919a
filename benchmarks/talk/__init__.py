"""Talking to the embedded model: conversations and remarks, judged turn by turn.

The sets were written by somebody who had not read the model's code. The `_sealed` halves are for
measuring only: whoever builds the model does not look at them.
"""
