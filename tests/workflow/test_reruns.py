"""A rerun does exactly the work that a change calls for: a table over the real workflow.

`reruns.yaml` says, for every key of config.yaml and every module of the package, which rules a
change of it concerns directly; what depends on those reruns too. Each row is a dry run.
"""

from pathlib import Path

import pytest
import yaml

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TABLE = yaml.safe_load((HERE / "reruns.yaml").read_text(encoding="utf-8"))

# Every row is a dry run of seconds: `make test` tries these, `make test-slow` the whole table.
QUICK_MODULES = {
    *("__main__.py", "attention.py", "claims/lemma_2_1.py", "figures/style.py", "flow.py"),
    *("heads.py", "measures.py", "score_quadrature.py", "sgd_fast.py", "stages/_job.py"),
}
QUICK_SETTINGS = {
    next(key for key in TABLE["settings"] if key.startswith(f"{section}."))
    for section in {key.partition(".")[0] for key in TABLE["settings"]}
}


def rows(names: list[str], quick: set[str]) -> list:
    """Parameters of a test, all but the quick ones marked slow."""
    return [pytest.param(n, marks=() if n in quick else pytest.mark.slow) for n in names]


def leaves(config: dict, prefix: str = "") -> dict[str, object]:
    """Dotted key -> value of every setting; a list is one setting."""
    found = {}
    for key, value in config.items():
        if isinstance(value, dict):
            found |= leaves(value, f"{prefix}{key}.")
        else:
            found[prefix + key] = value
    return found


def nested(key: str, value: object) -> dict:
    for part in reversed(key.split(".")):
        value = {part: value}
    return value


def modules() -> list[str]:
    package = ROOT / "src/largeprompt"
    files = (f for f in package.rglob("*.py") if f.read_text(encoding="utf-8").strip())
    return sorted(str(f.relative_to(package)) for f in files)


def test_table_holds_every_setting_and_every_module():
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    assert sorted(TABLE["settings"]) == sorted(leaves(config))
    assert sorted(TABLE["modules"]) == modules()


@pytest.mark.parametrize("key", rows(TABLE["settings"], QUICK_SETTINGS))
def test_changed_setting_reruns_its_rules(checkout, key):
    row = TABLE["settings"][key]
    change = yaml.safe_dump(nested(key, row["becomes"]))
    assert sorted(checkout.plan_with(change).causes) == sorted(row["reruns"])


@pytest.mark.parametrize("module", rows(TABLE["modules"], QUICK_MODULES))
def test_edited_module_reruns_its_rules(checkout, module):
    checkout.append(f"src/largeprompt/{module}", "\n_EDITED = True\n")
    assert sorted(checkout.plan().causes) == sorted(TABLE["modules"][module])
