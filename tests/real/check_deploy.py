"""The files of `deploy` in, `all well` out: validated against the schemas of Kubernetes and of Compose."""

import json
import subprocess
import sys
from pathlib import Path

import kubernetes_validate
import yaml

# The oldest version that is supported, and the newest whose schemas are known.
VERSIONS = ("1.30", "1.37")


def check_manifest(manifest, expected_to_fail=False):
    for version in VERSIONS:
        try:
            kubernetes_validate.validate(manifest, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            if not expected_to_fail:
                sys.exit(f"{manifest['kind']}, Kubernetes {version}: {error.message}")
        else:
            assert not expected_to_fail, f"a mistake in {manifest['kind']} is not found"


def check_compose(file):
    command = [Path(sys.executable).with_name("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", file]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode == 0, done.stdout


def main():
    deploy, scratch = map(Path, sys.argv[1:])
    manifests = [yaml.safe_load(file.read_text()) for file in sorted(deploy.glob("kubernetes/*.yaml"))]
    assert [manifest["kind"] for manifest in manifests] == ["Deployment", "PodDisruptionBudget", "Service"], manifests
    for manifest in manifests:
        check_manifest(manifest)
    wrong = json.loads(json.dumps(manifests[0]))
    wrong["spec"]["template"]["spec"]["containers"][0]["livenessProb"] = {}
    check_manifest(wrong, expected_to_fail=True)

    is_valid, output = check_compose(deploy / "compose.yaml")
    assert is_valid, output
    wrong = yaml.safe_load((deploy / "compose.yaml").read_text())
    wrong["services"]["node"]["stop_grace"] = "30s"
    (scratch / "wrong.yaml").write_text(yaml.safe_dump(wrong))
    is_valid, output = check_compose(scratch / "wrong.yaml")
    assert not is_valid, "a mistake in compose.yaml is not found"
    # What the other test reads, without a parser of YAML of its own.
    read = lambda name: yaml.safe_load((deploy / name).read_text())
    print(json.dumps({"manifests": manifests, "compose": read("compose.yaml"), "prometheus": read("prometheus.yaml")}))
    print("all well")


main()
