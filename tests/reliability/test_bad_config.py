"""Bad configurations, generated from the schema: each is refused in one line that names the key."""

import copy
import hashlib
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from checkouts import ROOT, Checkout
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from largeprompt.errors import InputError
from lib.settings import checked

SCHEMA_FILE = ROOT / "workflow/schemas/config.schema.yaml"
SCHEMA = yaml.safe_load(SCHEMA_FILE.read_text(encoding="utf-8"))
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
BAD_CONFIGS = 200
STARTED, QUICK = 10, 3  # of these also by `snakemake` itself
LONGEST_LINE = 1000
ODD = [
    "",
    "a b",
    "x\n",
    "\x00",
    "Ä",
    "../x",
    "$(touch pwned)",
    "; touch pwned",
    "'",
    '"',
    "no",
    "~",
]

Path_ = tuple[Any, ...]
Change = tuple[Path_, Any]  # where, and what stands there; _REMOVED takes the key away
_REMOVED = object()


def _resolved(schema: dict) -> dict:
    name = schema.get("$ref")
    return {**SCHEMA["$defs"][name.rpartition("/")[2]], **schema} if name else schema


def _places(value: Any, schema: dict, path: Path_ = ()) -> Iterator[tuple[Path_, Any, dict]]:
    """Every value of the configuration with its path and its schema."""
    schema = _resolved(schema)
    yield path, value, schema
    if isinstance(value, dict):
        for key, inner in value.items():
            below = schema.get("properties", {}).get(key) or schema["additionalProperties"]
            yield from _places(inner, below, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _places(inner, schema["items"], (*path, index))


PLACES = list(_places(CONFIG, SCHEMA))


def _bad_values(value: Any, schema: dict) -> list[Any]:
    """Values that the schema of one place cannot allow."""
    if "enum" in schema:
        return [None, 7, [], *ODD]
    kind = schema["type"]
    if kind in ("integer", "number"):
        bad = [None, True, "many", [], {}, math.nan, math.inf, -math.inf, "nan", "1e999", *ODD]
        bad += [1.5] if kind == "integer" else []
        for bound, beyond in (
            ("minimum", -1), ("exclusiveMinimum", 0), ("maximum", 1), ("exclusiveMaximum", 0),
        ):  # fmt: skip
            if bound in schema:
                limit = schema[bound]
                bad += [limit + beyond * max(1, abs(limit)), math.copysign(1e300, beyond - 0.5)]
        return [*bad, 10**400]
    if kind == "array":
        smaller = [value[: schema["minItems"] - 1]] if "minItems" in schema else []
        twice = [[*value, value[0]]] if schema.get("uniqueItems") else []
        return [None, 1, "1", {}, *smaller, [None], [[]], *twice]
    if kind == "object":
        return [None, 1, "x", [], {"unknown": 1}, {**value, "unknown": 1}, {**value, 1: 2}]
    pattern = schema.get("pattern", "")
    return [None, 1, [], {}, True, *(["x\n", "\x00", "/x"] if pattern else [])]


def _alone(path: Path_, value: Any, schema: dict) -> list[Change]:
    """Changes of one place, each of them bad whatever stands elsewhere."""
    found = [(path, bad) for bad in _bad_values(value, schema)]
    if isinstance(value, dict):
        found += [((*path, key), _REMOVED) for key in schema.get("required", [])]
    if path == ("covariances",):
        names = ["Ar", "a b", "x\n", "1", "", "a/b", "$(x)", False, 3]
        found += [((*path, name), {"kind": "isotropic"}) for name in names]
        found += [((*path, "new"), entry) for entry in _BAD_COVARIANCES]
    return found


_BAD_COVARIANCES = [
    {"kind": "autoregressive"},
    {"kind": "autoregressive", "rho": 1},  # singular
    {"kind": "autoregressive", "rho": -1.0},
    {"kind": "isotropic", "rho": 0.5},
    {"kind": "wishart"},
    {"rho": 0.5},
    {},
]
# Together bad, though each key alone may stand.
CONTRADICTIONS: list[Change] = [
    *((place, "nowhere") for place, _, _ in PLACES if place and place[-1] == "covariance"),
    *((place, ["nowhere"]) for place, _, _ in PLACES if place and place[-1] == "covariances"
      and len(place) > 1),
    (("operator_limit", "lengths"), [1, 5000]),
    (("output_error", "fit_from"), 4096),
    (("output_error", "calibrate_to"), 4096),
    (("spread", "calibrate_to"), 4096),
    (("sgd", "save_every"), 7),
    (("sgd", "loss_every"), 299999),
    (("grids", "default", "sgd", 0, "lengths"), [5000]),
    (("flow", "limit_time"), 300),
    (("prompt_length", "rank"), 5),
    (("rate_exponent", "fit_range"), [10, 10]),
    (("tokens", "max_length"), 1000000),
    (("tokens", "queries"), 10000),
    (("regression", "max_length"), 1000000),
    (("regression", "test_prompts"), 1000000),
    (("kernel_swap", "lengths"), [1000000]),
    (("spread", "lengths"), [4, 16, 1000000]),
    (("tilting", "tokens"), 10000000),
]  # fmt: skip


def changed(change: Change) -> dict:
    path, value = change
    config = copy.deepcopy(CONFIG)
    if not path:
        return value
    place = config
    for key in path[:-1]:
        place = place[key]
    if value is _REMOVED:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return config


BAD = [c for place in PLACES if place[0] for c in _alone(*place)] + CONTRADICTIONS
# Each kind of place weighs the same, not each entry of a long list.
by_key = st.sampled_from(sorted({c[0][0] for c in BAD})).flatmap(
    lambda section: st.sampled_from([c for c in BAD if c[0][0] == section])
)


def check_line(line: str, change: Change) -> None:
    """One line, not too long, that names the section and the key."""
    path, _ = change
    assert line.startswith("config: "), line
    assert len(line.splitlines()) == 1, line
    assert line.isprintable(), repr(line)
    assert len(line) < LONGEST_LINE, line
    assert str(path[0]) in line, line
    keys = [str(key) for key in path if not isinstance(key, int)]
    assert keys[-1] in line or repr(keys[-1])[1:-1] in line or "\\u" in line, (keys, line)


def test_generated_bad_configuration_is_refused_in_one_line(tally):
    seen = []

    @settings(
        max_examples=BAD_CONFIGS, derandomize=True, database=None, deadline=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(by_key | st.sampled_from(CONTRADICTIONS))
    def refused(change):
        seen.append(change)
        with pytest.raises(InputError) as refusal:
            checked(changed(change), SCHEMA_FILE)
        check_line(str(refusal.value), change)

    refused()
    tally("bad configurations refused", len(seen))
    assert len(seen) >= BAD_CONFIGS


def _tree(path: Path) -> str:
    """Hash of every file but the caches of Snakemake and Python."""
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*")):
        if not {".snakemake", "__pycache__"} & set(file.parts) and file.name != "bad.yaml":
            digest.update(str(file.relative_to(path)).encode())
            digest.update(file.read_bytes() if file.is_file() else b"directory")
    return digest.hexdigest()


@pytest.mark.parametrize(
    "number", [pytest.param(n, marks=() if n < QUICK else pytest.mark.slow) for n in range(STARTED)]
)
def test_snakemake_refuses_it_before_any_job(fresh: Checkout, tally, number):
    tally("bad configurations refused")
    change = random.Random(number).choice([c for c in BAD if c[1] is not _REMOVED])
    section = change[0][0]  # a file is merged over the configuration, but lists are replaced
    text = yaml.safe_dump({section: changed(change)[section]}, allow_unicode=True)
    (fresh.path / "bad.yaml").write_text(text, encoding="utf-8")
    before = _tree(fresh.path)
    done = fresh.snakemake("--configfile", "bad.yaml")
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    (line,) = (x for x in done.stderr.splitlines() if x.startswith("config: "))
    check_line(line, change)
    assert _tree(fresh.path) == before
