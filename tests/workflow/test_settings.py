"""The configuration: what is refused, in which words, and what counts as the same."""

import math
from pathlib import Path

import pytest
import yaml

from largeprompt.errors import InputError
from lib.settings import canonical, checked

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "workflow/schemas/config.schema.yaml"


@pytest.fixture
def config() -> dict:
    return yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))


def put(config: dict, key: str, value: object) -> dict:
    """`config` with the dotted `key` set to `value`; numbers in it are places in lists."""
    *sections, last = (int(part) if part.isdigit() else part for part in key.split("."))
    place = config
    for section in sections:
        place = place[section]
    place[last] = value
    return config


def test_misspelt_key_is_named_rather_than_the_one_it_should_be(config):
    config["sgd"]["batchsize"] = config["sgd"].pop("batch_size")
    with pytest.raises(InputError, match="sgd: unknown key batchsize"):
        checked(config, SCHEMA)


BAD = [
    ("sgd.learning_rate", -0.1, "must be > 0"),
    ("sgd.learning_rate", 0, "must be > 0"),
    ("sgd.learning_rate", "fast", "must be a number"),
    ("sgd.learning_rate", math.nan, "must be a number"),
    ("sgd.learning_rate", math.inf, "must be a number"),
    ("sgd.learning_rate", True, "must be a number"),
    ("grids.default.sgd.0.lengths", [0, 10], "must be >= 1"),
    ("grids.default.sgd.0.lengths", [10.5], "must be an integer"),
    ("grids.default.sgd.0.lengths", [10, 10], "must not hold a value twice"),
    ("grids.default.sgd.0.lengths", [10, "10"], "must not hold a value twice"),
    ("grids.default.sgd.0.lengths", [], "must hold at least 1"),
    ("grids.default.sgd.0.lengths", 10, "must be an array"),
    ("grids.default.sgd.0.lengths", [2000], "must be <= regression.max_length = 1000"),
    ("sgd.steps", 10**30, "must be <= 100000000"),
    ("sgd.save_every", 7, "must divide sgd.steps"),
    ("sgd.momentum", 0.9, "unknown key momentum"),
    ("grids.paper.flow.1.covariances", ["ar2"], "must be one of covariances: isotropic, ar1"),
    ("grids.default.sgd.1.seeds", [-1], "must be >= 0"),
    ("regression.noise_variance", -1e-9, "must be >= 0"),
    ("grids.default.sgd.0.variants", ["as-written"], "must be one of as-stated, as-coded"),
    ("covariances.ar1.rho", 1.0, "must be < 1"),
    ("covariances.ar1.rho", -1, "must be > -1"),
    ("covariances.ar1.kind", "toeplitz", "must be one of isotropic, autoregressive"),
    ("covariances.isotropic.rho", 0.5, "takes no rho"),
    ("tokens.laws", ["cauchy"], "must be one of gaussian, rademacher, cube, mixture"),
    ("tokens.laws", ["rademacher"], "must be one of tokens.laws: rademacher"),
    ("operator_limit.lengths", [1, 5000], "must be <= tokens.max_length = 4096"),
    ("output_error.fit_from", 4096, "must leave at least 2 lengths"),
    ("output_error.calibrate_to", 4096, "must leave at least 1 length"),
    ("operator_limit.lengths", [4096], "must hold at least 2"),
    ("output_error.sigmas", [0.5], "must be >= 1"),
    ("kernel_swap.covariance", "ar2", "must be one of covariances: isotropic, ar1"),
    ("output_error.covariance", "ar2", "must be one of covariances: isotropic, ar1"),
    ("grids.default.sgd", [], "must hold at least 1"),
    ("grids.default.sgd.0", {"lengths": [10]}, "key variants is missing"),
    ("grids.default.flow.0.starts", ["zero"], "must be one of random, theorem"),
    ("grids.mine", {"sgd": [], "flow": []}, "unknown key mine"),
    ("trained_lengths.covariances", ["ar2"], "must be one of covariances: isotropic, ar1"),
    ("flow.limit_time", 300, "must be > sgd.steps * sgd.learning_rate = 300"),
    ("figures.dpi", None, "must be an integer"),
    ("run.label", "Full Run", "must match"),
    ("run.directory", "/tmp", "must match"),
    ("lenghts", [1], "unknown key lenghts"),
    ("tokens", "many", "must be an object"),
]


@pytest.mark.parametrize(("key", "value", "allowed"), BAD)
def test_bad_value_is_refused_in_one_line_with_its_key(config, key, value, allowed):
    with pytest.raises(InputError) as refusal:
        checked(put(config, key, value), SCHEMA)
    line = str(refusal.value)
    assert "\n" not in line
    assert allowed in line
    section, _, last = key.rpartition(".")
    assert last in line
    assert section in line


@pytest.mark.parametrize("section", ["run", "tokens", "sgd", "covariances", "figures"])
def test_missing_section_is_refused_by_name(config, section):
    del config[section]
    with pytest.raises(InputError, match=f"key {section} is missing"):
        checked(config, SCHEMA)


def test_missing_key_is_refused_by_name(config):
    del config["sgd"]["steps"]
    with pytest.raises(InputError, match="sgd: key steps is missing"):
        checked(config, SCHEMA)


def test_numbers_spelt_as_strings_mean_the_numbers(config):
    plain = checked(config, SCHEMA)
    put(config, "sgd.learning_rate", "1e-3")
    put(config, "sgd.steps", "3e5")
    first = "grids.default.sgd.0.lengths"
    put(config, first, [str(L) for L in config["grids"]["default"]["sgd"][0]["lengths"]])
    put(config, "covariances.ar1.rho", ".5")
    assert canonical(checked(config, SCHEMA)) == canonical(plain)


def test_configuration_as_shipped_is_valid_and_smoke_is_too(config):
    checked(config, SCHEMA)
    smoke = yaml.safe_load((ROOT / "smoke.yaml").read_text(encoding="utf-8"))
    for section, values in smoke.items():
        config[section] |= values
    assert checked(config, SCHEMA)["run"]["label"] == "smoke"


def test_canonical_text_ignores_key_order_and_sees_swapped_values():
    assert canonical({"a": 1, "b": 2}) == canonical({"b": 2, "a": 1})
    assert canonical({"a": 1, "b": 2}) != canonical({"a": 2, "b": 1})


def test_every_number_of_the_configuration_is_explained(config):
    """Each section of config.yaml opens with a comment, and each section is in the schema."""
    text = (ROOT / "config.yaml").read_text(encoding="utf-8")
    schema = yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))
    assert set(schema["properties"]) == set(config)
    for section in config:
        line = next(x for x in text.splitlines() if x.startswith(f"{section}:"))
        assert "#" in line or section == "run"
