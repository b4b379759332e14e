"""A run that spans two processes, as an OTLP receiver on loopback gets it: one trace, and no secret."""

from pathlib import Path

import pytest

from midcourse.telemetry import make_root
from tests.forked import PATIENCE, PROCESSES
from tests.telemetry.receiver import SECRETS, drive, receive, secret_value
from tests.test_redact import ENCODINGS

KILLED = -9


@pytest.mark.slow
def test_two_processes_write_one_trace_without_secrets(tmp_path: Path) -> None:
    with receive() as receiver:
        for dies in (True, False):
            arguments = (str(tmp_path), receiver.url, "door-1")
            process = PROCESSES.Process(target=drive, args=arguments, kwargs={"dies": dies})
            process.start()
            process.join(PATIENCE)
            assert process.exitcode == (KILLED if dies else 0)
        spans = receiver.spans()
        root = make_root("door-1")
        assert {span.trace_id for _, span in spans} == {root.trace_id.to_bytes(16, "big")}
        assert {span.parent_span_id for _, span in spans} == {root.span_id.to_bytes(8, "big")}
        assert len({process for process, _ in spans}) == 2
        names = [span.name for _, span in spans]
        assert names[0] == "invoke_agent midcourse"
        assert names[-1] == "end_agent midcourse"
        assert names.count("execute_tool say") == 49
        assert {"plan midcourse", "request_approval", "approval", "verify enter"} <= set(names)
        assert {record.trace_id for record in receiver.logs()} == {root.trace_id.to_bytes(16, "big")}
        everything = [body for bodies in receiver.bodies.values() for body in bodies]
        assert all(receiver.bodies.values())
        assert b"<secret secret_7>" in b"".join(everything)
        found = [
            (name, way)
            for name in SECRETS
            for way, encode in ENCODINGS.items()
            if any(encode(secret_value(name)).encode() in body for body in everything)
        ]
        assert found == []
