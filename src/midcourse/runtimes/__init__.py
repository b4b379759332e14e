"""Where runs live: `local` is one process with a file; others distribute the same director."""
