"""Meanings: words of several languages that stand for the same thing, for finding a function whose
description is written in another language than the message.

One line a meaning, `english words: words of the language`, in base form; a file a language, English
in all of them, so that any two meet there. Written for this project from common words of office,
money, trade, travel, media, software and home; not a translation. What no line has is bridged by
its sound where it is a cognate (`turn/relevance.py`), else not at all.
"""
