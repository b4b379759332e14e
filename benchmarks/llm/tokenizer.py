"""Counts tokens of OpenAI's o200k_base exactly, with the ranks that npm's js-tiktoken ships.

    npm i --prefix benchmarks/.cache js-tiktoken

tiktoken downloads its vocabulary from a host that many networks do not reach; the package registry is reachable from most.
"""

import base64
import json
from collections.abc import Callable
from functools import cache
from typing import TypeAlias

from benchmarks.harness.environments import CACHE

ENCODING = "o200k_base"
RANKS = CACHE / "node_modules" / "js-tiktoken" / "dist" / "ranks" / f"{ENCODING}.js"
INSTALL = "npm i --prefix benchmarks/.cache js-tiktoken"

Encode: TypeAlias = Callable[[str], list[int]]


def is_installed() -> bool:
    return RANKS.exists()


@cache
def tokenizer() -> Encode:
    """Raises `SystemExit` with what to type if the ranks are not there."""
    import tiktoken

    if not is_installed():
        raise SystemExit(f"The ranks of {ENCODING} are missing. Type: {INSTALL}")
    data = json.loads(RANKS.read_text(encoding="utf-8").removeprefix("export default ").rstrip().removesuffix(";"))
    ranks: dict[bytes, int] = {}
    for line in data["bpe_ranks"].split("\n"):
        _, offset, *tokens = line.split(" ")
        ranks |= {base64.b64decode(token): int(offset) + n for n, token in enumerate(tokens)}
    encoding = tiktoken.Encoding(
        ENCODING, pat_str=data["pat_str"], mergeable_ranks=ranks, special_tokens=data["special_tokens"]
    )
    return lambda text: encoding.encode(text, disallowed_special=())
