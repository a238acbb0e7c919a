"""Measures on work that nobody here wrote: AgentDojo's tasks and attacks, BFCL's conversations.

Run with `make eval`; what is measured and what it does not show stands in `docs/measures.md`.
"""
