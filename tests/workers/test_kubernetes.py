"""The manifest of examples/scale: right by the schemas of Kubernetes, and in itself."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from mockserver.cli.command_table import command

RECIPES = Path(__file__).parents[2] / "examples" / "scale"
OBJECTS: list[dict[str, Any]] = list(
    yaml.safe_load_all((RECIPES / "kubernetes.yaml").read_text("utf-8"))
)
VERSIONS = ("1.28", "1.31", "1.34")


def named(kind: str, name: str) -> dict[str, Any]:
    (match,) = [row for row in OBJECTS if (row["kind"], row["metadata"]["name"]) == (kind, name)]
    return match


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "made", OBJECTS, ids=lambda made: f"{made['kind']}-{made['metadata']['name']}"
)
def test_each_object_keeps_the_schemas(made: dict[str, Any], version: str) -> None:
    """Needs the package kubernetes-validate, of the group `test`."""
    validating = pytest.importorskip("kubernetes_validate")
    validating.validate(made, version, strict=True)
    broken = {**made, "spec": {"replicas": "many", "rules": 7, "ports": 7}, "data": 7}
    with pytest.raises(validating.ValidationError):
        validating.validate(broken, version, strict=True)


def test_the_pods_are_started_by_a_command_that_there_is() -> None:
    stateful = named("StatefulSet", "mock")["spec"]
    (container,) = stateful["template"]["spec"]["containers"]
    name, *arguments = container["args"]
    context = command(name).make_context(name, arguments, resilient_parsing=True)
    assert str(context.params["state"]).startswith(container["volumeMounts"][0]["mountPath"])
    assert context.params["worlds"] == "made-only"
    assert [row["metadata"]["name"] for row in stateful["volumeClaimTemplates"]] == [
        mount["name"] for mount in container["volumeMounts"]
    ]


def test_selectors_and_services_name_what_there_is() -> None:
    for kind in ("StatefulSet", "Deployment"):
        for made in (row for row in OBJECTS if row["kind"] == kind):
            labels = made["spec"]["template"]["metadata"]["labels"]
            assert made["spec"]["selector"]["matchLabels"] == labels
            assert named("Service", made["metadata"]["name"])["spec"]["selector"] == labels
    path = named("Ingress", "mock")["spec"]["rules"][0]["http"]["paths"][0]
    assert named("Service", path["backend"]["service"]["name"])


def test_the_proxy_is_that_of_the_recipe_but_for_addresses() -> None:
    inside = named("ConfigMap", "mock-proxy")["data"]["haproxy.cfg"]
    recipe = (RECIPES / "haproxy.cfg").read_text("utf-8")
    inside = re.sub(r"resolvers cluster\n(    .*\n)+\n", "", inside, count=1)
    inside = inside.replace("bind :8770", "bind 127.0.0.1:8770")
    inside = re.sub(
        r"server mock(\d) mock-(\d)\.mock:8765 resolvers cluster init-addr none",
        lambda match: f"server mock{match[1]} 127.0.0.1:877{int(match[2]) + 1}",
        inside,
    )
    assert inside.rstrip() == recipe[recipe.index("global\n") :].rstrip()


def test_the_program_takes_its_configuration(tmp_path: Path) -> None:
    """Needs the Debian package haproxy."""
    if shutil.which("haproxy") is None:
        pytest.skip("haproxy is not installed")
    file = tmp_path / "haproxy.cfg"
    file.write_text(named("ConfigMap", "mock-proxy")["data"]["haproxy.cfg"], "utf-8")
    done = subprocess.run(
        ["haproxy", "-c", "-f", str(file)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
