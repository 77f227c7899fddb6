"""From what the user wrote to the settings that rules hand on: coerced, checked, canonical."""

import functools
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from largeprompt.covariances import covariance_matrix
from largeprompt.errors import InputError
from lib.memory import too_large

Settings = dict[str, Any]


def canonical(value: Any) -> str:
    """One JSON string for one setting, whatever the order of its keys.

    Snakemake compares the params of a rule as an unordered set, so two values that trade places
    go unnoticed; a single string that holds them all cannot hide that.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def checked(config: Mapping[str, Any], schema_file: Path) -> Settings:
    """The settings that `config` means, or InputError: one line with key, value, what is allowed.

    Numbers that arrive as strings (`1e-3` in YAML 1.1, anything nested in `--config`) become the
    numbers they spell, so that a file and the command line mean the same.
    """
    schema = _schema(schema_file)
    settings = _coerced(dict(config), schema, schema)
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(settings))
    if errors:
        raise InputError(_line(min(errors, key=_order)))
    for problem in _contradictions(settings):
        raise InputError(f"config: {problem}")
    return settings


def _order(error: jsonschema.ValidationError) -> tuple[list[str], bool, str]:
    """By place; a key misspelt is unknown, and missing too, which says less."""
    return [str(p) for p in error.path], error.validator != "additionalProperties", error.message


@functools.cache
def _schema(file: Path) -> Settings:
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = schema.get("$ref")
    return root["$defs"][reference.rpartition("/")[2]] if reference else schema


def _coerced(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    schema = _resolved(schema, root)
    if isinstance(value, Mapping):
        properties, other = schema.get("properties", {}), schema.get("additionalProperties")
        other = other if isinstance(other, Mapping) else {}
        return {k: _coerced(v, properties.get(k, other), root) for k, v in value.items()}
    if isinstance(value, list):
        return [_coerced(v, schema.get("items", {}), root) for v in value]
    if schema.get("type") in ("integer", "number"):
        return _number(value, schema["type"])
    return value


def _number(value: Any, kind: str) -> Any:
    """`value` as the number it spells; anything else is left for the schema to refuse."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return value
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return value
    if not math.isfinite(number):
        return str(value)
    if kind == "number":
        return number
    if isinstance(value, int):
        return value
    return int(number) if number.is_integer() else value


def _allowed(error: jsonschema.ValidationError) -> str:
    limit = error.validator_value
    match error.validator:
        case "type":
            return f"must be {'an' if limit[0] in 'aeio' else 'a'} {limit}"
        case "minimum":
            return f"must be >= {limit}"
        case "exclusiveMinimum":
            return f"must be > {limit}"
        case "maximum":
            return f"must be <= {limit}"
        case "exclusiveMaximum":
            return f"must be < {limit}"
        case "enum":
            return f"must be one of {', '.join(map(str, limit))}"
        case "uniqueItems":
            return "must not hold a value twice"
        case "minItems" | "minProperties":
            return f"must hold at least {limit}"
        case "pattern":
            return f"must match {limit}"
        case _:
            return error.message


def _line(error: jsonschema.ValidationError) -> str:
    key = ".".join(map(str, error.absolute_path)) or "top level"
    properties = error.schema.get("properties", {})
    if error.validator == "additionalProperties":
        unknown = sorted(map(str, set(error.instance) - set(properties)))
        return f"config: {key}: unknown key {unknown[0]}; allowed are {', '.join(properties)}"
    if error.validator == "required":
        missing = next(k for k in error.validator_value if k not in error.instance)
        return f"config: {key}: key {missing} is missing"
    shown = json.dumps(error.instance, default=str)
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    hint = ""
    if isinstance(error.instance, str) and error.validator_value in ("object", "array"):
        hint = "; put nested values in a file and pass it with --configfile"
    return f"config: {key} = {shown}: {_allowed(error)}{hint}"


def _contradictions(s: Settings) -> Iterator[str]:
    """What each key alone allows but the keys together do not."""
    for name, entry in s["covariances"].items():
        try:
            covariance_matrix(dimension=s["regression"]["dimension"], **entry)
        except (InputError, TypeError) as error:
            yield f"covariances.{name} = {json.dumps(entry)}: {error}"
    longest = s["tokens"]["max_length"]
    for section, entries in s.items():
        name = entries.get("covariance", next(iter(s["covariances"])))
        if name not in s["covariances"]:
            yield _unknown(f"{section}.covariance", name, s, "covariances")
    for section in ("operator_limit", "output_error"):
        for law in s[section]["laws"]:
            if law not in s["tokens"]["laws"]:
                yield _unknown(f"{section}.laws", law, s, "tokens.laws")
        if max(s[section]["lengths"]) > longest:
            yield (
                f"{section}.lengths holds {max(s[section]['lengths'])}: "
                f"must be <= tokens.max_length = {longest}"
            )
    for number, case in enumerate(s["transfer"]["cases"]):
        if case["covariance"] not in s["covariances"]:
            key = f"transfer.cases.{number}.covariance"
            yield _unknown(key, case["covariance"], s, "covariances")
    yield from _bound_contradictions("output_error", s["output_error"])
    yield from _bound_contradictions("spread", s["spread"])
    yield from _prompt_length_contradictions(s)
    yield from too_large(s)
    yield from _training_contradictions(s)


def _bound_contradictions(section: str, s: Settings) -> Iterator[str]:
    lengths, calibrate_to = s["lengths"], s["calibrate_to"]
    if "fit_from" in s and sum(L >= s["fit_from"] for L in lengths) < 2:
        yield f"{section}.fit_from = {s['fit_from']}: must leave at least 2 lengths to fit"
    testing = [L for L in lengths if L > calibrate_to]
    if not testing or not any(2 <= L <= calibrate_to for L in lengths):
        yield (
            f"{section}.calibrate_to = {calibrate_to}: must leave at least 1 length "
            "from 2 on to set c1 and 1 to test it"
        )


def _prompt_length_contradictions(s: Settings) -> Iterator[str]:
    rank, smallest = s["prompt_length"]["rank"], min(s["prompt_length"]["constant_dimensions"])
    if rank > smallest:
        yield (
            f"prompt_length.rank = {rank}: "
            f"must be <= the smallest of prompt_length.constant_dimensions = {smallest}"
        )
    first, last = s["rate_exponent"]["fit_range"]
    if first >= last:
        yield f"rate_exponent.fit_range = [{first}, {last}]: must increase"


def _unknown(key: str, value: str, settings: Settings, source: str) -> str:
    section, _, name = source.partition(".")
    allowed = settings[section][name] if name else settings[section]
    return f"{key} = {value}: must be one of {source}: {', '.join(allowed)}"


def _training_contradictions(s: Settings) -> Iterator[str]:
    sgd, longest = s["sgd"], s["regression"]["max_length"]
    for name in s["trained_lengths"]["covariances"]:
        if name not in s["covariances"]:
            yield _unknown("trained_lengths.covariances", name, s, "covariances")
    for grid, methods in s["grids"].items():
        for method, entries in methods.items():
            for number, entry in enumerate(entries):
                key = f"grids.{grid}.{method}.{number}"
                for name in entry["covariances"]:
                    if name not in s["covariances"]:
                        yield _unknown(f"{key}.covariances", name, s, "covariances")
                if method == "sgd" and max(entry["lengths"]) > longest:
                    yield (
                        f"{key}.lengths holds {max(entry['lengths'])}: "
                        f"must be <= regression.max_length = {longest}"
                    )
    for key in ("loss_every", "save_every"):
        if sgd["steps"] % sgd[key]:
            yield f"sgd.{key} = {sgd[key]}: must divide sgd.steps = {sgd['steps']}"
    horizon, last = sgd["steps"] * sgd["learning_rate"], s["flow"]["limit_time"]
    if last <= horizon:
        yield f"flow.limit_time = {last:g}: must be > sgd.steps * sgd.learning_rate = {horizon:g}"
