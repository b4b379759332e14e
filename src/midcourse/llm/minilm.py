"""A local embedder: sentence encoders of the BERT family, such as all-MiniLM-L6-v2, from a folder, with numpy and no more.

The folder has what sentence-transformers writes: `config.json`, `tokenizer.json` and `model.safetensors`. A message takes about
10 ms, so a library of two gigabytes is not needed to compare a few failures.
"""

import asyncio
import json
import math
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file  # pyright: ignore[reportUnknownVariableType]
from tokenizers import Tokenizer

from midcourse.domain.records.lesson import Embedding
from midcourse.errors import TaskInvalid

MOST_TOKENS = 256
"""What these models were trained on. A message says early what it is about."""

Array = NDArray[np.float32]


class MiniLM:
    """Reads the weights when it is first asked. Mean pooling, unit length."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        missing = [
            name
            for name in ("config.json", "tokenizer.json", "model.safetensors")
            if not (self.folder / name).is_file()
        ]
        if missing:
            raise TaskInvalid(
                f"embedder {self.folder} has no {missing[0]}: it has to be the folder of a sentence encoder"
            )
        self._config: dict[str, Any] = json.loads((self.folder / "config.json").read_text(encoding="utf-8"))
        if self._config.get("model_type") != "bert":
            raise TaskInvalid(f"embedder {self.folder} is a {self._config.get('model_type')}, not a bert")

    async def embed(self, text: str) -> Embedding:
        values = await asyncio.to_thread(self.point, text)
        return Embedding(model=f"folder:{self.folder.name}", values=tuple(values.tolist()))

    def point(self, text: str) -> Array:
        ids = np.array(self._tokenizer.encode(text).ids, dtype=np.int64)
        hidden = self._embedded(ids)
        for layer in range(self._config["num_hidden_layers"]):
            hidden = self._layer(hidden, f"encoder.layer.{layer}.")
        mean = hidden.mean(axis=0)
        return (mean / np.linalg.norm(mean)).astype(np.float32)

    @cached_property
    def _weights(self) -> dict[str, Array]:
        weights: dict[str, Array] = load_file(self.folder / "model.safetensors")
        return {name: values.astype(np.float32) for name, values in weights.items()}

    @cached_property
    def _tokenizer(self) -> Any:
        tokenizer: Any = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(MOST_TOKENS)
        return tokenizer

    def _embedded(self, ids: NDArray[np.int64]) -> Array:
        weights = self._weights
        words = weights["embeddings.word_embeddings.weight"][ids]
        places = weights["embeddings.position_embeddings.weight"][: len(ids)]
        kind = weights["embeddings.token_type_embeddings.weight"][0]
        return self._normed(words + places + kind, "embeddings.LayerNorm.")

    def _layer(self, hidden: Array, at: str) -> Array:
        attended = self._dense(self._attention(hidden, f"{at}attention.self."), f"{at}attention.output.dense.")
        hidden = self._normed(attended + hidden, f"{at}attention.output.LayerNorm.")
        inner = _gelu(self._dense(hidden, f"{at}intermediate.dense."))
        return self._normed(self._dense(inner, f"{at}output.dense.") + hidden, f"{at}output.LayerNorm.")

    def _attention(self, hidden: Array, at: str) -> Array:
        heads = self._config["num_attention_heads"]

        def split(name: str) -> Array:
            return self._dense(hidden, f"{at}{name}.").reshape(len(hidden), heads, -1).transpose(1, 0, 2)

        query, key, value = split("query"), split("key"), split("value")
        weights = _softmax(query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1]))
        return (weights @ value).transpose(1, 0, 2).reshape(len(hidden), -1)

    def _dense(self, hidden: Array, at: str) -> Array:
        return hidden @ self._weights[f"{at}weight"].T + self._weights[f"{at}bias"]

    def _normed(self, hidden: Array, at: str) -> Array:
        centred = hidden - hidden.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + self._config["layer_norm_eps"])
        return centred / spread * self._weights[f"{at}weight"] + self._weights[f"{at}bias"]


def _softmax(scores: Array) -> Array:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _gelu(hidden: Array) -> Array:
    """With the error function to 1.5e-7 (Abramowitz and Stegun 7.1.26): numpy has none of its own."""
    scaled = hidden / math.sqrt(2.0)
    t = 1.0 / (1.0 + 0.3275911 * np.abs(scaled))
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return (hidden * 0.5 * (1.0 + np.sign(scaled) * (1.0 - series * np.exp(-(scaled**2))))).astype(np.float32)
