"""The Helm chart: rendered by helm, valid for Kubernetes, and its commands start a fleet in which a run succeeds."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from base64 import b64encode
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
import pytest
import yaml
from sqlalchemy import make_url

from midcourse.codec import decode
from midcourse.store.postgres.migrate import migrate
from midcourse.worlds.host.wire import Ready
from tests.deploy.deployment import ROOT, Deployment

kubernetes_validate = pytest.importorskip("kubernetes_validate", reason="type: just setup")
DOCKERFILE = (ROOT / "Dockerfile").read_text()
IN_KUBERNETES = (ROOT / "docs" / "deploy.md").read_text().partition("## In Kubernetes")[2].partition("\n## ")[0]
CHART = ROOT / "deploy" / "helm" / "midcourse"
HELM = shutil.which("helm", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(HELM is None, reason="helm is installed with the lock on Linux and x86-64; elsewhere by you"),
]
VERSIONS = ("1.28.0", "1.37.0")
LEAST = {
    "existingSecret": "midcourse",
    "temporal": {"address": "temporal:7233"},
    "migrate": {"existingSecret": "midcourse-owner"},
    "server": {"origin": "https://console.example"},
    "host": {"tls": {"existingSecret": "host-tls"}},
}
EGRESS = {"to": [{"ipBlock": {"cidr": "10.1.2.3/32"}}], "ports": [{"protocol": "TCP", "port": 443}]}
MORE: dict[str, Any] = {
    "envFrom": [{"secretRef": {"name": "more"}}],
    "extraVolumes": [{"name": "more", "secret": {"secretName": "more"}}],
    "extraVolumeMounts": [{"name": "more", "mountPath": "/run/more", "readOnly": True}],
}
VALUES: dict[str, dict[str, Any]] = {
    "least": LEAST,
    "without a host": {**LEAST, "host": {"enabled": False}, "migrate": {"enabled": False}},
    "most": {
        **LEAST,
        "image": {"repository": "registry.example/midcourse", "tag": "1", "pullPolicy": "Always"},
        "imagePullSecrets": [{"name": "pull"}],
        "temporal": {"profile": "cloud", "existingSecret": "temporal"},
        "settings": {"MIDCOURSE_BLOBS": "s3://bucket"},
        "migrate": {
            "existingSecret": "midcourse-owner",
            **{name: MORE[name] for name in ("extraVolumes", "extraVolumeMounts")},
        },
        "server": {
            "origin": "https://console.example:8443",
            "tasksConfigMap": "tasks",
            "args": ["--oidc=/run/more/oidc.toml"],
            **MORE,
        },
        "worker": {"args": ["--tenants=acme,globex"], **MORE},
        "host": {
            "args": ["--park=60"],
            **MORE,
            "tls": {"elsewhere": True},
            "seccompProfile": {"type": "Localhost", "localhostProfile": "chromium.json"},
            "storage": {"size": "9Gi", "className": "fast"},
            "networkPolicy": {"egress": [EGRESS]},
        },
    },
}


def helm(*words: str, values: dict[str, Any]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(HELM), *words, str(CHART), "--values", "-"], input=json.dumps(values), capture_output=True, text=True
    )


def rendered(values: dict[str, Any]) -> list[dict[str, Any]]:
    done = helm("template", "fleet", values=values)
    assert done.returncode == 0, done.stderr
    return [one for one in yaml.safe_load_all(done.stdout) if one]


def pods(manifests: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The pod of each part."""
    found = [one["spec"]["template"] for one in manifests if "template" in one["spec"]]
    return {one["metadata"]["labels"]["app.kubernetes.io/component"]: one["spec"] for one in found}


def containers(pod: dict[str, Any]) -> list[dict[str, Any]]:
    return [*pod["containers"], *(pod.get("initContainers") or [])]


@pytest.mark.parametrize("name", VALUES)
def test_chart_renders_what_kubernetes_accepts(name: str) -> None:
    done = helm("lint", "--strict", values=VALUES[name])
    assert done.returncode == 0, done.stdout + done.stderr
    manifests = rendered(VALUES[name])
    for manifest in manifests:
        for version in VERSIONS:
            kubernetes_validate.validate(manifest, version, strict=True)
    for pod in pods(manifests).values():
        assert pod["securityContext"]["runAsNonRoot"]
        assert pod["automountServiceAccountToken"] is False
        volumes = {volume["name"] for volume in pod["volumes"]}
        for container in containers(pod):
            assert container["securityContext"]["readOnlyRootFilesystem"]
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            assert container["resources"]["requests"].keys() == {"cpu", "memory"}
            claimed = {"home"} if container["name"] == "host" else set[str]()  # by the claim of the stateful set
            assert {mount["name"] for mount in container["volumeMounts"]} <= volumes | claimed


def test_chart_is_of_the_version_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert (chart["version"], chart["appVersion"]) == (project, project)


def test_state_of_the_server_is_on_a_volume_that_one_pod_has_at_a_time() -> None:
    manifests = {one["kind"]: one for one in rendered(LEAST) if one["metadata"]["name"] == "fleet-midcourse-server"}
    deployment, claim = manifests["Deployment"]["spec"], manifests["PersistentVolumeClaim"]
    assert (deployment["replicas"], deployment["strategy"]) == (1, {"type": "Recreate"})
    pod = deployment["template"]["spec"]
    (home,) = (one for one in pod["containers"][0]["volumeMounts"] if one["name"] == "home")
    assert f"MIDCOURSE_HOME={home['mountPath']}\n" in DOCKERFILE
    (volume,) = (one for one in pod["volumes"] if one["name"] == "home")
    assert volume["persistentVolumeClaim"] == {"claimName": claim["metadata"]["name"]}
    assert claim["spec"]["resources"]["requests"] == {"storage": "1Gi"}
    assert "storageClassName" not in claim["spec"]
    without = {**LEAST, "server": {**LEAST["server"], "storage": {"enabled": False}}}
    assert {"name": "home", "emptyDir": {}} in pods(rendered(without))["server"]["volumes"]


def test_examples_of_the_page_are_values_of_the_chart(tmp_path: Path) -> None:
    examples = re.findall(r"^```yaml\n(.*?)^```", IN_KUBERNETES, re.DOTALL | re.MULTILINE)
    assert len(examples) >= 4
    words = list[str]()
    for number, example in enumerate(examples):  # the first is complete, the others are added to it
        (tmp_path / f"{number}.yaml").write_text(example)
        words = [str(HELM), "template", "fleet", str(CHART)]
        words += [f"--values={tmp_path / f'{which}.yaml'}" for which in sorted({0, number})]
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        names = {one["metadata"]["name"] for one in yaml.safe_load_all(done.stdout) if one}
        assert set(re.findall(r"fleet-midcourse-\w+", IN_KUBERNETES)) <= names


def test_roles_of_the_page_are_enough_for_the_migration_and_for_workers(postgres_server: str) -> None:
    (statements,) = re.findall(r"^```sql\n(.*?)^```", IN_KUBERNETES, re.DOTALL | re.MULTILINE)
    names = {name: f"{name}_{uuid4().hex[:8]}" for name in ("owner", "fleet", "midcourse_app", "midcourse")}
    for name, unique in names.items():  # roles belong to the whole server, which other tests use
        statements = re.sub(rf"\b{name}\b", unique, re.sub("--.*", "", statements))

    def login(user: str) -> str:
        chosen = make_url(postgres_server).set(username=names[user], password="…", database=names["midcourse"])
        return chosen.render_as_string(hide_password=False)

    with psycopg.connect(postgres_server, autocommit=True) as administrator:
        for statement in filter(None, map(str.strip, statements.split(";"))):
            administrator.execute(statement.encode())
        migrate(login("owner"), role=names["midcourse_app"])
        with psycopg.connect(login("fleet")) as worker:
            worker.execute(f"SET ROLE {names['midcourse_app']}".encode())
            assert worker.execute("SELECT count(*) FROM midcourse.runs").fetchone() == (0,)
        administrator.execute(f"DROP DATABASE {names.pop('midcourse')} WITH (FORCE)".encode())
        administrator.execute(f"DROP ROLE {', '.join(names.values())}".encode())


@pytest.mark.parametrize("part", ["server", "worker", "host"])
def test_values_add_options_variables_and_volumes_to_each_part(part: str) -> None:
    usual, pod = (pods(rendered(values))[part] for values in (VALUES["least"], VALUES["most"]))
    container = pod["containers"][0]
    assert container["args"][-1:] == VALUES["most"][part]["args"]
    assert container["envFrom"] == MORE["envFrom"]
    assert container["volumeMounts"][-1:] == MORE["extraVolumeMounts"]
    assert pod["volumes"][-1:] == MORE["extraVolumes"]
    assert "envFrom" not in usual["containers"][0]


def test_only_the_migration_gets_the_password_of_the_owner() -> None:
    parts = pods(rendered(LEAST))
    assert [name for name, pod in parts.items() if "midcourse-owner" in json.dumps(pod)] == ["migrate"]
    assert "database-url" not in json.dumps(parts["host"])


def test_host_is_reached_by_workers_and_server_and_reaches_nothing_in_the_cluster() -> None:
    manifests = rendered(LEAST)
    (policy,) = (one["spec"] for one in manifests if one["kind"] == "NetworkPolicy")
    (allowed,) = policy["ingress"]
    parts = [one["podSelector"]["matchLabels"]["app.kubernetes.io/component"] for one in allowed["from"]]
    assert parts == ["worker", "server"]
    blocks = [one["ipBlock"] for rule in policy["egress"] for one in rule["to"] if "ipBlock" in one]
    assert {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"} <= set(blocks[0]["except"])


@pytest.mark.parametrize(
    ("temporal", "expected"),
    [
        ({"address": "temporal:7233"}, {"ADDRESS": "temporal:7233"}),
        ({"profile": "cloud", "existingSecret": "temporal"}, {"PROFILE": "cloud"}),
        (
            {"profile": "cloud", "existingSecret": "temporal", "namespace": "runs"},
            {"PROFILE": "cloud", "NAMESPACE": "runs"},
        ),
    ],
)
def test_only_what_values_say_overrides_a_profile_of_temporal(
    temporal: dict[str, str], expected: dict[str, str]
) -> None:
    pod = pods(rendered({**LEAST, "temporal": temporal}))["worker"]
    prefix = "MIDCOURSE_TEMPORAL_"
    env = {one["name"]: one.get("value") for one in pod["containers"][0]["env"]}
    assert {name.removeprefix(prefix): value for name, value in env.items() if name.startswith(prefix)} == expected
    mounts = {mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]}
    assert ("profile" in temporal) == (env.get("TEMPORAL_CONFIG_FILE") == "/run/temporal/temporal.toml")
    assert ("profile" in temporal) == ("/run/temporal" in mounts)


@pytest.mark.parametrize("part", ["server", "worker"])
def test_certificates_of_the_host_are_trusted_for_the_host_only(part: str, tmp_path: Path) -> None:
    pod = pods(rendered(LEAST))[part]
    (tmp_path / "host-token").write_text("a-token-of-more-than-16-characters\n")
    ready = host_file(pod, tmp_path)
    (trust,) = (one["mountPath"] for one in pod["containers"][0]["volumeMounts"] if one["name"] == "trust")
    assert (ready.ca, ready.url) == (f"{trust}/ca.crt", "https://fleet-midcourse-host:4100")
    assert "SSL_CERT_FILE" not in json.dumps(pod), "it would replace the certificates of the system"


def host_file(pod: dict[str, Any], folder: Path) -> Ready:
    """The host file that the init container of this pod writes, with this folder for those of the pod."""
    (first,) = pod["initContainers"]
    command = [re.sub("/run/midcourse/(secrets|host)/", f"{folder}/", word) for word in first["command"]]
    given = {one["name"]: one["value"] for one in first["env"]}
    subprocess.run(command, env={**os.environ, **given}, check=True)
    return decode(Ready, (folder / "host.json").read_bytes())


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "existingSecret"),
        ({**LEAST, "server": {"origin": "console.example"}}, "server.origin"),
        ({**LEAST, "host": {"tls": {}}}, "host.tls"),
        ({**LEAST, "worker": {"replica": 3}}, "replica"),
        ({**LEAST, "temporal": {"address": ""}}, "temporal"),
        ({**LEAST, "server": {**LEAST["server"], "args": ["oidc=file"]}}, "args"),
        ({**LEAST, "server": {**LEAST["server"], "replicas": 2}}, "replicas"),
        ({**LEAST, "settings": {"PATH": "/tmp"}}, "PATH"),
    ],
)
def test_wrong_values_are_refused(values: dict[str, Any], said: str) -> None:
    done = helm("template", "fleet", values=values)
    assert done.returncode != 0
    assert said in done.stderr


WEBHOOKS = """
[[webhook]]
name = "ops"
url = "https://hooks.example/midcourse"
secret_file = "ops.secret"
events = ["question.asked"]
"""


class Chart(Deployment):
    """The pods of the chart."""

    def __init__(self, folder: Path, database: str, temporal: str) -> None:
        super().__init__(folder, database, temporal)
        self.elsewhere = {
            "/run/midcourse/secrets": str(folder / "deploy/secrets"),
            "/run/midcourse/host": str(folder / "of-pods"),
            "/run/hooks": str(folder / "hooks"),
            "/var/lib/midcourse": str(folder),
            "http://fleet-midcourse-host:": "http://127.0.0.1:",
            **self.elsewhere,
        }
        self.pods = pods(
            rendered(
                {
                    **LEAST,
                    "server": {
                        "origin": "http://console.example",
                        "tasksConfigMap": "tasks",
                        "args": ["--webhooks=/run/hooks/webhooks.toml"],
                    },
                    "worker": {"args": ["--tenants=default"]},
                    "host": {
                        "tls": {"elsewhere": True},
                        "worlds": ["midcourse.worlds.simulated.shop:Shop"],
                        "options": [],
                        "args": ["--park=60"],
                    },
                }
            )
        )

    def make_secrets(self) -> str:
        said = super().make_secrets()
        (self.folder / "deploy" / "secrets" / "host-token").write_text("a-token-of-more-than-16-characters\n")
        (self.folder / "hooks").mkdir(exist_ok=True)
        (self.folder / "hooks" / "ops.secret").write_text(f"whsec_{b64encode(bytes(32)).decode()}")
        (self.folder / "hooks" / "webhooks.toml").write_text(WEBHOOKS)
        return said

    def service(self, name: str) -> tuple[list[str], dict[str, str]]:
        """After its init container, which writes where the host is."""
        for first in self.pods[name].get("initContainers") or []:
            (self.folder / "of-pods").mkdir(exist_ok=True)
            command = [self.here(word) for word in first["command"]]
            subprocess.run(command, env=self.environment(first), check=True)
        container = self.pods[name]["containers"][0]
        return [self.here(word) for word in container["args"]], self.environment(container)

    def environment(self, container: dict[str, Any]) -> dict[str, str]:
        secrets = {
            "midcourse": f"postgresql://fleet:{self.variables['FLEET_PASSWORD']}@postgres/midcourse",
            "midcourse-owner": f"postgresql://postgres:{self.variables['POSTGRES_PASSWORD']}@postgres/midcourse",
        }
        given = {
            one["name"]: one["value"] if "value" in one else secrets[one["valueFrom"]["secretKeyRef"]["name"]]
            for one in container.get("env", [])
        }
        return {**os.environ, **{name: self.here(value) for name, value in given.items()}}

    def is_ready(self, name: str) -> bool:
        """As its probes see it."""
        if name == "host":
            return super().is_ready(name)
        container = self.pods[name]["containers"][0]
        for probe in (container["readinessProbe"]["httpGet"], container["livenessProbe"]["httpGet"]):
            (header,) = probe["httpHeaders"]
            if not self.ask(probe["path"], **{header["name"]: header["value"]}):
                return False
        return True

    def ask(self, path: str, body: Any = None, **headers: str) -> Any:
        """As through the address of the console: the server refuses any other."""
        origin = self.pods["server"]["containers"][0]["args"][4].removeprefix("--origin=")
        return super().ask(path, body, **{"Host": urlsplit(origin).netloc, **headers})


def test_fleet_carries_out_a_run(tmp_path: Path, empty_database: str, temporal: str) -> None:
    Chart(tmp_path, empty_database, temporal).carry_out_a_run()
