"""Scripted models, malformed answers and a tokenizer, for the benchmarks of model calls."""
