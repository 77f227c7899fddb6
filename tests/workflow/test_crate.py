"""The RO-Crate of a run: what its profiles require is there, and every file with its checksum."""

import hashlib
import json
import shutil
import tomllib
from pathlib import Path

import pytest
import yaml
from checkouts import ROOT, SMOKE, Checkout
from rocrate.rocrate import ROCrate


@pytest.fixture(scope="module")
def crate(finished_run, tmp_path_factory) -> Path:
    """The crate of the finished smoke run, made in a copy of it."""
    path = tmp_path_factory.mktemp("crate") / "checkout"
    shutil.copytree(finished_run, path)
    done = Checkout(path).snakemake("crate", *SMOKE)
    assert done.returncode == 0, done.stdout + done.stderr
    return path / "smoke/results/ro-crate"


def entities(crate: Path) -> dict[str, dict]:
    graph = json.loads((crate / "ro-crate-metadata.json").read_text(encoding="utf-8"))["@graph"]
    assert len({entity["@id"] for entity in graph}) == len(graph)
    return {entity["@id"]: entity for entity in graph}


def references(value: object) -> set[str]:
    if isinstance(value, dict):
        return {value["@id"]} if set(value) == {"@id"} else set()
    return set().union(*map(references, value)) if isinstance(value, list) else set()


def test_required_entities_are_there(crate):
    known = entities(crate)
    root = known["./"]
    for key in ("name", "description", "datePublished", "license", "mainEntity", "hasPart"):
        assert root[key], key
    assert "https://w3id.org/ro/wfrun/workflow/0.5" in references(root["conformsTo"])
    workflow = known[root["mainEntity"]["@id"]]
    assert {"File", "SoftwareSourceCode", "ComputationalWorkflow"} <= set(workflow["@type"])
    assert known[workflow["programmingLanguage"]["@id"]]["name"] == "Snakemake"
    (action,) = (e for e in known.values() if e["@type"] == "CreateAction")
    assert references(root["mentions"]) == {action["@id"]}
    assert references(action["instrument"]) == {workflow["@id"]}
    assert action["startTime"] <= action["endTime"] == root["datePublished"]
    for key in ("object", "result", "agent"):
        assert references(action[key]), key


def test_every_reference_leads_to_an_entity(crate):
    known = entities(crate)
    for entity in known.values():
        for key, value in entity.items():
            loose = {r for r in references(value) - set(known) if not r.startswith("http")}
            assert not loose, (entity["@id"], key)


def test_every_file_exists_with_its_checksum_and_no_other(crate):
    files = {i: e for i, e in entities(crate).items() if "File" in e["@type"]}
    for name, entity in files.items():
        content = (crate / name).read_bytes()
        assert entity["sha256"] == hashlib.sha256(content).hexdigest(), name
    found = {str(p.relative_to(crate)) for p in crate.rglob("*") if p.is_file()}
    assert set(files) == found - {"ro-crate-metadata.json", ".snakemake_timestamp"}


def test_results_are_the_manifest_and_the_verdicts(crate):
    known = entities(crate)
    (action,) = (e for e in known.values() if e["@type"] == "CreateAction")
    manifest = yaml.safe_load((ROOT / "codecheck.yml").read_text(encoding="utf-8"))["manifest"]
    registry = yaml.safe_load((ROOT / "workflow/claims.yaml").read_text(encoding="utf-8"))
    expected = {e["file"] for e in manifest} | {e["target"] for e in registry}
    assert references(action["result"]) == expected


def test_settings_seeds_and_versions_are_those_of_the_run(crate):
    known = entities(crate)
    settings = json.loads((crate / "settings.json").read_text(encoding="utf-8"))
    assert settings["run"]["label"] == "smoke"
    assert known["#tokens.seed"]["value"] == str(settings["tokens"]["seed"])
    verdict = json.loads(next(crate.glob("results/claims/*.json")).read_text(encoding="utf-8"))
    for name, version in verdict["provenance"]["packages"].items():
        assert known[f"#{name}-{version}"]["softwareVersion"] == version
    assert known["Snakefile"]["version"] == verdict["provenance"]["git"]


def test_another_reader_takes_it_for_a_crate(crate):
    read = ROCrate(crate)
    assert read.mainEntity.id == "Snakefile"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert read.name == f"{project['name']} {project['version']}: smoke run"
