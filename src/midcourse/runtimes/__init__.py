"""Runtimes: `local` is one process with a file; `temporal` distributes the same director."""
