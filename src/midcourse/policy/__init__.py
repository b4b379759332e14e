"""Judgement, each module a question. Pure: the same arguments get the same answer."""
