"""The list of comparisons with reference results: read once, checked, handed to the rules."""

from pathlib import Path
from typing import Any

import jsonschema
import yaml

from largeprompt.errors import InputError

_TEXT = {"type": "string", "minLength": 1}
_NUMBER = {"type": "number", "minimum": 0}
_SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["tolerances", "targets"],
    "properties": {
        "tolerances": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "additionalProperties": False,
                "required": ["absolute", "relative", "reason"],
                "properties": {"absolute": _NUMBER, "relative": _NUMBER, "reason": _TEXT},
            },
        },
        "targets": {
            "type": "object",
            "propertyNames": {"pattern": "^verify(_[a-z_]+)?$"},
            "additionalProperties": {
                "type": "array",
                "minItems": 1,
                "items": {"$ref": "#/$defs/one"},
            },
        },
    },
    "$defs": {
        "one": {
            "type": "object",
            "additionalProperties": False,
            "required": ["table", "reference", "keys", "value", "tolerance"],
            "properties": {
                "table": _TEXT,
                "reference": _TEXT,
                "keys": {"type": "array", "minItems": 1, "items": _TEXT},
                "value": _TEXT,
                "tolerance": {"$ref": "#/$defs/choice"},
            },
        },
        "choice": {
            "oneOf": [
                _TEXT,
                {"type": "object", "additionalProperties": {"$ref": "#/$defs/choice"}},
            ]
        },
    },
}


def read_verification(file: Path) -> dict[str, Any]:
    """Tolerances, and the comparisons of each target.

    Raises InputError, one line that names the place, if the file is not of that form or uses a
    tolerance that it does not define.
    """
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    for error in jsonschema.Draft202012Validator(_SCHEMA).iter_errors(content):
        place = ".".join(map(str, error.absolute_path)) or "top level"
        raise InputError(f"{file.name}: {place}: {error.message}")
    for target, comparisons in content["targets"].items():
        for name in {n for one in comparisons for n in _names(one["tolerance"])}:
            if name not in content["tolerances"]:
                raise InputError(f"{file.name}: {target}: tolerance {name} is not defined")
    return content


def _names(choice: Any) -> set[str]:
    if isinstance(choice, str):
        return {choice}
    return {name for one in choice.values() for name in _names(one)}
