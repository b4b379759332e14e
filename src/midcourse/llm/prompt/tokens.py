"""Upper estimate of the tokens of a text, without a tokenizer, since every model has another.

Ordinary English and lists of zones come out at 1.7 to 2.6 times what OpenAI's tokenizers make of them, random letters and
hexadecimal at 1.05 to 1.4 times (`python -m benchmarks.prompt_tokens --estimate`). A lower estimate could not enforce a ceiling: a page may be
written to cost as much as possible.
"""

import re

_PIECES = re.compile(r" ?[A-Za-z]+|\d{1,3}|\s+|[^\x00-\x7f]+|[^\sA-Za-z\d]")
LETTERS = 6
"""Letters of a word to a token."""


def tokens_at_most(text: str) -> int:
    pieces = sum(_count_tokens(piece) for piece in _PIECES.findall(text))
    return max(pieces + pieces // 2, len(text.encode(errors="replace")) // 2)


def _count_tokens(piece: str) -> int:
    if piece.isascii():
        return (len(piece.strip()) + LETTERS - 1) // LETTERS or 1
    return len(piece.encode(errors="replace")) // 2
