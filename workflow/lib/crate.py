"""A run as a Workflow Run RO-Crate: settings, seeds and versions in, figures, tables, verdicts out.

python -m lib.crate RUN ROOT SETTINGS TARGET: the run directory, the repository, the settings as
JSON, and the directory to write, which holds a copy of every file that the metadata describe.
"""

import datetime
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from rocrate.model.contextentity import ContextEntity
from rocrate.model.person import Person
from rocrate.rocrate import ROCrate

from largeprompt.tables import read_json
from lib.artifact import CLAIMS, made_anew
from lib.costs import Records, read_records
from lib.registry import read_registry

_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
_FORMATS = {
    ".pdf": "application/pdf",
    ".csv": "text/csv",
    ".json": "application/json",
    ".yaml": "application/yaml",
}
_SOURCE = ["config.yaml", "workflow/claims.yaml", "requirements.lock", "CITATION.cff", "LICENSE"]


def write_crate(run: Path, root: Path, settings: dict[str, Any], target: Path) -> None:
    """Write the crate of the finished run in `run`. Raises LookupError if a record is missing."""
    records = read_records(run)
    registry = read_registry(root / "workflow/claims.yaml")
    verdicts = [entry["target"] for entry in registry.values()]
    origin = read_json(run / verdicts[0], ["provenance"])["provenance"]
    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    start, end = _times(records, verdicts)

    crate = ROCrate(version="1.1")
    crate.name = f"{citation['title']} {citation['version']}: {settings['run']['label']} run"
    crate.description = citation["abstract"]
    crate.license = f"https://spdx.org/licenses/{citation['license']}"
    crate.datePublished = end
    crate.root_dataset["conformsTo"] = [
        _entity(crate, url, "CreativeWork", name=name, version=url.rpartition("/")[2])
        for url, name in _PROFILES.items()
    ]
    workflow = crate.add_workflow(
        root / "Snakefile",
        "Snakefile",
        main=True,
        lang="snakemake",
        lang_version=origin["packages"]["snakemake"],
        properties={
            "name": citation["title"],
            "version": origin["git"],
            "sha256": _hash(root / "Snakefile"),
        },
    )
    workflow["softwareRequirements"] = list(_software(crate, origin))
    source = [_file(crate, root / name, name) for name in _SOURCE]
    seeds = list(_seeds(crate, settings))
    made = [*made_anew(records), *verdicts]
    action = crate.add_action(
        workflow,
        identifier="#run",
        object=[_settings(crate, settings, target), source[0], *seeds],
        result=[_file(crate, run / name, name) for name in made],
        properties={
            "name": f"{settings['run']['label']} run of {citation['title']}",
            "startTime": start,
            "endTime": end,
            "actionStatus": {"@id": "http://schema.org/CompletedActionStatus"},
        },
    )
    action["agent"] = crate.root_dataset["author"] = [
        _author(crate, author) for author in citation["authors"]
    ]
    crate.root_dataset["mentions"] = action
    crate.write(target)


def _times(records: Records, verdicts: list[str]) -> tuple[str, str]:
    """When the first job behind the verdicts began and the last ended."""
    jobs = [records.records[file] for file in records.behind([*verdicts, CLAIMS])]
    first, last = min(j["starttime"] for j in jobs), max(j["endtime"] for j in jobs)
    return tuple(
        datetime.datetime.fromtimestamp(t, datetime.UTC).isoformat(timespec="seconds")
        for t in (first, last)
    )


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _entity(crate: ROCrate, name_: str, type_: str, **properties: Any) -> ContextEntity:
    return crate.add(ContextEntity(crate, name_, {"@type": type_, **properties}))


def _file(crate: ROCrate, path: Path, name: str) -> Any:
    properties = {
        "name": name,
        "sha256": _hash(path),
        "contentSize": str(path.stat().st_size),
        "encodingFormat": _FORMATS.get(path.suffix, "text/plain"),
    }
    return crate.add_file(path, name, properties=properties)


def _settings(crate: ROCrate, settings: dict[str, Any], target: Path) -> Any:
    """The settings as they were used: config.yaml with what the run changed of it."""
    target.mkdir(parents=True, exist_ok=True)
    path = target / "settings.json"
    path.write_text(json.dumps(settings, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return _file(crate, path, path.name)


def _software(crate: ROCrate, origin: dict[str, Any]) -> Iterator[ContextEntity]:
    for name, version in {"python": origin["python"], **origin["packages"]}.items():
        yield _entity(
            crate, f"#{name}-{version}", "SoftwareApplication", name=name, softwareVersion=version
        )


def _seeds(crate: ROCrate, settings: dict[str, Any]) -> Iterator[ContextEntity]:
    for section, values in settings.items():
        for key, value in values.items():
            if "seed" in key:
                name = f"{section}.{key}"
                text = json.dumps(value)
                yield _entity(crate, f"#{name}", "PropertyValue", name=name, value=text)


def _author(crate: ROCrate, author: dict[str, str]) -> Any:
    if "name" in author:
        return _entity(crate, "#developers", "Organization", name=author["name"])
    name = f"{author['given-names']} {author['family-names']}"
    return crate.add(Person(crate, author.get("orcid", f"#{name}"), {"name": name}))


if __name__ == "__main__":
    _run, _root, _used, _target = sys.argv[1:]
    write_crate(Path(_run), Path(_root), json.loads(_used), Path(_target))
