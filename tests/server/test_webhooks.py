"""Webhooks: signed, retried with the same id, kept over a restart, never sent to a private address unless that is allowed."""

import base64
import hmac
import json
import time
from hashlib import sha256
from pathlib import Path

import pytest

from midcourse.cli.main import main
from midcourse.errors import TaskInvalid
from midcourse.server.webhooks.config import Webhook, read_webhooks
from midcourse.server.webhooks.notifier import RETRIES, Notifier
from midcourse.server.webhooks.outbox import Outbox
from midcourse.server.webhooks.sender import is_public, send, sign
from midcourse.tenants.tenants import Tenants
from tests.server.receiver import SECRET, Received, Receiver, run_receiver
from tests.server.serving import decide, run_server, start, start_run_that_asks, wait_for_end, wait_until

QUICK = (0.1,) * 3000
ORIGIN = "https://console.example"


def make_notifier(home: Path, *hooks: Webhook):
    def notify(served: Tenants) -> Notifier:
        outbox = Outbox(home / "server")
        return Notifier(hooks, served, outbox, ORIGIN, retries=QUICK, timeout_seconds=2.0)

    return notify


def find_messages(receiver: Receiver, kind: str) -> list[Received]:
    return [one for one in list(receiver.received) if json.loads(one.body)["type"] == kind]


def test_the_signature_is_that_of_the_specification() -> None:
    secret = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    signature = sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.slow
def test_failures_delays_and_redirects_are_retried_until_it_is_accepted(tmp_path: Path) -> None:
    with (
        run_receiver(500, 5.0, 302, 404) as receiver,
        run_server(tmp_path, notify=make_notifier(tmp_path, receiver.make_hook(events=("question.asked",)))) as server,
    ):
        question = start_run_that_asks(server.client("operator"), "lamp")
        start_run_that_asks(server.client("operator", "umbrella"), "theirs")
        admin = server.client("admin")
        wait_until(lambda: admin.get("/webhooks").json()[0]["delivered"] == 1)
        assert server.client("admin", "umbrella").get("/webhooks").json() == []
        decide(server.client("approver"), question)
        wait_for_end(admin, "lamp")
    attempts = receiver.received
    assert len(attempts) == 5, "500, no answer in time, a redirect, 404, accepted"
    assert {one.path for one in attempts} == {"/hooks?from=midcourse"}, "the redirect was not followed"
    assert len({one.headers["webhook-id"] for one in attempts}) == 1
    assert len({one.body for one in attempts}) == 1
    for one in attempts:
        signed = f"{one.headers['webhook-id']}.{one.headers['webhook-timestamp']}.".encode() + one.body
        expected = base64.b64encode(hmac.new(SECRET, signed, sha256).digest()).decode()
        assert one.headers["webhook-signature"] == f"v1,{expected}"
        assert abs(int(one.headers["webhook-timestamp"]) - time.time()) < 600
    message = json.loads(attempts[0].body)
    assert message["type"] == "question.asked"
    assert message["data"]["url"] == f"{ORIGIN}/#/inbox?run=lamp"
    assert "Harbour" not in attempts[0].body.decode(), "values are behind the link"


@pytest.mark.slow
def test_a_restart_loses_no_message_and_repeats_none(tmp_path: Path) -> None:
    with run_receiver() as closed:
        port = closed.port
    down = Receiver(port=port).make_hook()
    with run_server(tmp_path, notify=make_notifier(tmp_path, down.model_copy(update={"name": "ops"}))) as server:
        operator = server.client("operator")
        start(server.client(), "told-late", settings={"approvals": "never"})
        wait_for_end(operator, "told-late")
        start_run_that_asks(operator, "asks-late")
        wait_until(lambda: server.client("admin").get("/webhooks").json()[0]["waiting"] == 2)
        assert "refused" in wait_until(lambda: server.client("admin").get("/webhooks").json()[0]["problem"]).lower()
    assert main(["run", "notepad", "--run-id", "elsewhere", "--set", f"home={tmp_path / 'acme'}", "--quiet"]) == 0
    with (
        run_receiver(port=port) as receiver,
        run_server(tmp_path, notify=make_notifier(tmp_path, receiver.make_hook())) as server,
    ):
        wait_until(lambda: len(receiver.received) >= 3)
        wait_until(lambda: server.client("admin").get("/webhooks").json()[0]["delivered"] == 3)
        start(server.client(), "last", settings={"approvals": "never"})
        wait_until(lambda: len(receiver.received) >= 4)
        runs = [json.loads(one.body)["data"]["run"] for one in find_messages(receiver, "run.ended")]
    assert sorted(runs) == ["elsewhere", "last", "told-late"]
    assert [json.loads(one.body)["data"]["run"] for one in find_messages(receiver, "question.asked")] == ["asks-late"]


def test_retries_take_about_three_days() -> None:
    assert 2 * 86400 < sum(RETRIES) < 4 * 86400


# --- addresses


@pytest.mark.parametrize(
    "address",
    [
        *(
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
        ),
        *("::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1"),
        *("64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "255.255.255.255"),
    ],
)
def test_private_addresses_are_recognised(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "2606:4700:4700::1111", "::ffff:1.1.1.1"])
def test_public_addresses_are_recognised(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0x7f.1"])
async def test_nothing_is_sent_to_a_private_address(host: str) -> None:
    with run_receiver() as receiver:
        answer = await send(receiver.make_hook(host=host, allow_private=False), "msg_1", b"{}")
        assert not answer.ok
        assert "not public" in answer.problem
        assert receiver.connections == 0


# --- the file


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('url = "http://hooks.example.org/"', "unencrypted"),
        ('url = "ftp://hooks.example.org/"', "write it as https"),
        ('url = "https://user:password@hooks.example.org/"', "write it as https"),
        ('url = "https://hooks.example.org/"\nevents = ["everything"]', "events"),
        ('url = "https://hooks.example.org/"\nsecret_file = "short"', "shorter"),
        ('url = "https://hooks.example.org/"\nsecret_file = "missing"', "base64"),
        ('url = "https://hooks.example.org/"\nallow = 1', "allow"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(tmp_path: Path, line: str, problem: str) -> None:
    (tmp_path / "secret").write_text("whsec_" + base64.b64encode(SECRET).decode())
    (tmp_path / "short").write_text("whsec_" + base64.b64encode(b"short").decode())
    secret = "" if "secret_file" in line else 'secret_file = "secret"\n'
    path = tmp_path / "webhooks.toml"
    path.write_text(f'[[webhook]]\nname = "ops"\n{secret}{line}\n')
    with pytest.raises(TaskInvalid, match=problem):
        read_webhooks(path, "local")


def test_a_file_of_webhooks_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("whsec_" + base64.b64encode(SECRET).decode() + "\n")
    path = tmp_path / "webhooks.toml"
    path.write_text('[[webhook]]\nname = "ops"\nurl = "https://hooks.example.org/x"\nsecret_file = "secret"\n')
    (hook,) = read_webhooks(path, "local")
    assert isinstance(hook, Webhook)
    assert (hook.secret, hook.tenant, hook.allow_private) == (SECRET, "local", False)
    assert "secret" not in repr(hook)
