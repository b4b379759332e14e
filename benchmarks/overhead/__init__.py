"""The arms of `engine_overhead.py`: the same work on the bare engine, on Midcourse, on LangGraph and on DBOS."""
