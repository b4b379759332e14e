"""The choice among several hosts: spread over all, and the same for a run as long as its host is there."""

from collections import Counter

from midcourse.fleet.ports import choose_host

HOSTS = ["a.json", "b.json", "c.json"]
KEYS = [f"acme/run-{number}" for number in range(3000)]


def test_runs_are_spread_over_all_hosts() -> None:
    chosen = Counter(choose_host(HOSTS, key) for key in KEYS)
    assert set(chosen) == set(HOSTS)
    assert min(chosen.values()) > 900


def test_the_order_of_the_files_does_not_matter() -> None:
    assert all(choose_host(HOSTS, key) == choose_host(HOSTS[::-1], key) for key in KEYS)


def test_only_runs_of_a_host_that_is_gone_get_another() -> None:
    before = {key: choose_host(HOSTS, key) for key in KEYS}
    after = {key: choose_host(HOSTS[:2], key) for key in KEYS}
    assert {key for key in KEYS if before[key] != after[key]} == {key for key in KEYS if before[key] == "c.json"}
