"""Extensions written for other SDKs, run unchanged: one package an SDK.

May import: extensions/context, sdk and what is below them; imported only where
one of its extensions loads.
Entrance: `imperal.adopt`.
"""
