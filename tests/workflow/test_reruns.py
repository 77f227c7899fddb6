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


@pytest.mark.parametrize("key", TABLE["settings"])
def test_changed_setting_reruns_its_rules(checkout, key):
    row = TABLE["settings"][key]
    change = yaml.safe_dump(nested(key, row["becomes"]))
    assert sorted(checkout.plan_with(change).causes) == sorted(row["reruns"])


@pytest.mark.parametrize("module", TABLE["modules"])
def test_edited_module_reruns_its_rules(checkout, module):
    checkout.append(f"src/largeprompt/{module}", "\n_EDITED = True\n")
    assert sorted(checkout.plan().causes) == sorted(TABLE["modules"][module])
