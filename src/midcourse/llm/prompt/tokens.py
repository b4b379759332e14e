"""How many tokens can this text be? An upper estimate without a tokenizer: no two models have the same.

Ordinary English and lists of zones come out at 1.7 to 2.6 times what OpenAI's tokenizers make of them, letter salad and
hexadecimal at 1.05 to 1.4 times (`python -m benchmarks.prompt_tokens --estimate`). Nobody can do with less and still hold a ceiling: a page may
be written so that it costs as much as it can.
"""

import re

_PIECES = re.compile(r" ?[A-Za-z]+|\d{1,3}|\s+|[^\x00-\x7f]+|[^\sA-Za-z\d]")
LETTERS = 6
"""Letters of a word to a token."""


def tokens_at_most(text: str) -> int:
    pieces = sum(_tokens(piece) for piece in _PIECES.findall(text))
    return max(pieces + pieces // 2, len(text.encode(errors="replace")) // 2)


def _tokens(piece: str) -> int:
    if piece.isascii():
        return (len(piece.strip()) + LETTERS - 1) // LETTERS or 1
    return len(piece.encode(errors="replace")) // 2
