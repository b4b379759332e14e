"""PostgreSQL's full text search over the same messages: any shared word counts, ranked."""

from pathlib import Path

import numpy as np
import psycopg
from numpy.typing import NDArray

from midcourse.store.postgres import development

SETUP = """CREATE TEMP TABLE said AS SELECT n - 1 AS n, to_tsvector('english', message) AS words,
    replace(plainto_tsquery('english', message)::text, '&', '|')::tsquery AS query
FROM unnest(%s::text[]) WITH ORDINALITY AS given (message, n)"""

RANKS = "SELECT asked.n, found.n, ts_rank(found.words, asked.query, 1) FROM said AS asked JOIN said AS found ON found.words @@ asked.query"


def full_text_scores(texts: list[str], folder: Path) -> NDArray[np.float32]:
    """Row: who is asked for. Column: who is found."""
    scores = np.zeros((len(texts), len(texts)), dtype=np.float32)
    try:
        with psycopg.connect(development.start(folder / "postgres")) as connection:
            connection.execute(SETUP, (texts,))
            for asked, found, rank in connection.execute(RANKS):
                scores[asked, found] = rank
    finally:
        development.remove(folder / "postgres")
    return scores
