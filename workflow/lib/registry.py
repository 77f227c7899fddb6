"""The registry of claims: read once, checked, handed to the rules."""

from pathlib import Path
from typing import Any

import jsonschema
import yaml

from largeprompt.errors import InputError

_TEXT = {"type": "string", "minLength": 1}
_ENTRY = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string", "pattern": "^[a-z0-9]+([.-][a-z0-9]+)*$"},
        "module": {"type": "string", "pattern": "^[a-z0-9_]+$"},
        "paper": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"v1": _TEXT, "v2": _TEXT},
            "required": ["v1", "v2"],
        },
        "statement": _TEXT,
        "conditions": _TEXT,
        "target": _TEXT,
        "tables": {"type": "array", "minItems": 1, "uniqueItems": True, "items": _TEXT},
        "figure": _TEXT,
        "rule": _TEXT,
        "tolerance": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {"type": "number"},
        },
        "reason": _TEXT,
        "control": _TEXT,
    },
}
_ENTRY["required"] = sorted(_ENTRY["properties"])


def read_registry(file: Path) -> dict[str, dict[str, Any]]:
    """Entries by id, in the order of the file. Raises InputError: one line naming entry and key."""
    entries = yaml.safe_load(file.read_text(encoding="utf-8"))
    for entry in entries:
        for error in jsonschema.Draft202012Validator(_ENTRY).iter_errors(entry):
            key = ".".join(map(str, error.absolute_path)) or "entry"
            raise InputError(f"{file.name}: {entry.get('id', '?')}: {key}: {error.message}")
    ids = [entry["id"] for entry in entries]
    for name in ids:
        if ids.count(name) > 1:
            raise InputError(f"{file.name}: {name}: the id stands twice")
    return {entry["id"]: entry for entry in entries}


def on_grid(entry: dict[str, Any], grid: str) -> dict[str, Any]:
    """The entry with `{grid}` in its paths filled in; the default grid keeps the target's name."""
    tables = [path.format(grid=grid) for path in entry["tables"]]
    if grid == "default" or tables == entry["tables"]:
        return entry | {"tables": tables}
    target = f"results/claims/{grid}/{entry['id']}.json"
    return entry | {"tables": tables, "target": target}
