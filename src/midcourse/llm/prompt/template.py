"""Prompts, their templates, and an estimate of their length.

Templates are files in a syntax like that of Mustache, `roles/ROLE.md` beside the role's code. The first line has the role's name and the template's number; a change of wording gets a new number. `%%` begins a part: the
first is the instruction, the others are the context, from what changes least to what changes most, so that a provider
that caches prompts finds as long a beginning unchanged as possible. `{{name}}` is filled in; `{{#name}}…{{/name}}` is left out
if there is nothing to fill in.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from midcourse.errors import TaskInvalid

_HEAD = re.compile(r"%% (\w+) (\d+)\n")
_BLOCK = re.compile(r"^\{\{#(\w+)\}\}\n(.*?)^\{\{/\1\}\}(?:\n|\Z)", re.DOTALL | re.MULTILINE)
"""An optional part whose marks stand alone on their lines: these lines are not part of the text."""
_INLINE = re.compile(r"\{\{#(\w+)\}\}(.*?)\{\{/\1\}\}", re.DOTALL)
_GAP = re.compile(r"\n{3,}")
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_PIECES = re.compile(r" ?[A-Za-z]+|\d{1,3}|\s+|[^\x00-\x7f]+|[^\sA-Za-z\d]")
LETTERS = 6
"""Letters of a word to a token."""


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """The parts of a prompt. Each part changes more often than the one before it."""

    role: str
    version: int
    instructions: str
    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n\n".join((self.instructions, *self.parts))


@dataclass(frozen=True, kw_only=True)
class Template:
    role: str
    version: int
    instructions: str
    parts: tuple[str, ...]

    def fill(self, values: Mapping[str, str]) -> Prompt:
        """Fill in the placeholders. Empty parts are left out. Values are not searched for placeholders, because they are not trusted."""
        parts = (_fill(part, values) for part in self.parts)
        return Prompt(
            role=self.role,
            version=self.version,
            instructions=_fill(self.instructions, values),
            parts=tuple(part for part in parts if part),
        )


@cache
def load_template(role: str) -> Template:
    return _parse(files("midcourse.llm.roles").joinpath(f"{role}.md").read_text(encoding="utf-8"), role, f"{role}.md")


def _parse(text: str, role: str, where: str) -> Template:
    head = _HEAD.match(text)
    if head is None or head[1] != role:
        raise TaskInvalid(f"{where}: a prompt of this role begins with '%% {role} NUMBER'")
    instructions, *parts = re.split(r"^%%.*\n", text[head.end() :], flags=re.MULTILINE)
    return Template(role=role, version=int(head[2]), instructions=instructions, parts=tuple(parts))


def _fill(text: str, values: Mapping[str, str]) -> str:
    kept = text
    for optional in (_BLOCK, _INLINE):
        kept = optional.sub(lambda found: found[2] if values[found[1]] else "", kept)
    spaced = _GAP.sub("\n\n", kept).strip()
    return _PLACEHOLDER.sub(lambda found: values[found[1]], spaced)


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text from above, without a tokenizer, since every model has another.

    Ordinary English and lists of zones come out at 1.7 to 2.6 times what OpenAI's tokenizers make of them, random letters and
    hexadecimal at 1.05 to 1.4 times (`python -m benchmarks.prompt_tokens --estimate`). A lower estimate could not enforce a ceiling: a
    page may be written to cost as much as possible.
    """
    pieces = sum(_count_tokens(piece) for piece in _PIECES.findall(text))
    return max(pieces + pieces // 2, len(text.encode(errors="replace")) // 2)


def _count_tokens(piece: str) -> int:
    if piece.isascii():
        return (len(piece.strip()) + LETTERS - 1) // LETTERS or 1
    return len(piece.encode(errors="replace")) // 2
