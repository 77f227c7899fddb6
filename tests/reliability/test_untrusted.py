"""Nothing that a file or a setting holds is ever run."""

import ast
import pickle
from pathlib import Path

import numpy as np
import pytest
from checkouts import ROOT, SMOKE, Checkout

from largeprompt.__main__ import main

SOURCES = sorted([*ROOT.glob("src/**/*.py"), *ROOT.glob("workflow/**/*.py")])
RULES = sorted([ROOT / "Snakefile", *ROOT.glob("workflow/**/*.smk")])
FORBIDDEN = {
    *("eval", "exec", "compile", "__import__", "pickle", "marshal", "shelve", "dill", "joblib"),
    *("torch.load", "torch.save", "yaml.load", "yaml.unsafe_load", "yaml.full_load", "os.system"),
    *("read_pickle", "to_pickle"),
}


def _names(tree: ast.AST) -> set[str]:
    """Names used in a module: plain, dotted, and the last part of dotted ones."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found |= {node.attr, ast.unparse(node)}
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.name for alias in node.names} | {getattr(node, "module", None) or ""}
    return found - {"compile"} if "re.compile" in found else found


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_source_neither_unpickles_nor_runs_data(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert _names(tree) & FORBIDDEN == set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("np.load", "numpy.load"):
            assert "allow_pickle=False" in [ast.unparse(k) for k in node.keywords]


@pytest.mark.parametrize("path", RULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_rule_neither_unpickles_nor_runs_data(path):
    text = path.read_text(encoding="utf-8")
    for word in ("pickle", "eval(", "exec(", "yaml.load", "torch.load", "run:\n"):
        assert word not in text.replace("config['run']", ""), word


class _Attack:
    """Creates a file when unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("name", ["tokens", "extra"])
def test_pickle_in_an_array_file_is_refused_and_not_opened(tmp_path, capsys, name):
    target, attack = tmp_path / "pwned", tmp_path / "tokens.npz"
    arrays = {"tokens": np.zeros((8, 4, 3)), "queries": np.zeros((8, 2, 3))}
    arrays[name] = np.array([_Attack(target)], dtype=object)
    np.savez(attack, allow_pickle=True, **arrays)
    settings = (
        '{"operator_limit":{"score_scale":0.4,"lengths":[1,4]},"covariance":{"kind":"isotropic"}}'
    )
    words = ["evaluate_operator_limit", "--settings", settings, "--set", "law=gaussian"]
    code = main([*words, "--in", "tokens", str(attack), "--out", "table", str(tmp_path / "o.csv")])
    assert code == 1
    assert str(attack) in capsys.readouterr().err
    assert not target.exists()
    with attack.open("rb") as stream, np.load(stream, allow_pickle=True) as file:
        file[name]
    assert target.exists(), "the attack would not have worked"


def test_pickle_in_place_of_a_file_is_refused_and_not_opened(tmp_path, capsys):
    target, attack = tmp_path / "pwned", tmp_path / "weights.npz"
    attack.write_bytes(pickle.dumps(_Attack(target)))
    words = ["train_finite", "--set", "start=random", "--in", "weights", str(attack)]
    assert main(words) == 1
    assert str(attack) in capsys.readouterr().err
    assert not target.exists()


@pytest.mark.parametrize(
    "text",
    [
        "run: {label: 'x; touch pwned'}",
        "run: {label: '$(touch pwned)'}",
        "covariances: {'$(touch pwned)': {kind: isotropic}}",
        "covariances: {\"a'; touch pwned; '\": {kind: isotropic}}",
        "run: {directory: '$(touch pwned); touch pwned'}",
        'run: {directory: "it\'s `touch pwned`"}',
    ],
)
def test_shell_text_in_a_setting_is_refused_or_harmless(fresh: Checkout, text):
    (fresh.path / "attack.yaml").write_text(text, encoding="utf-8")
    done = fresh.snakemake("results/data/weights/start=random/seed=327.npz", *SMOKE, "attack.yaml")
    assert (done.returncode == 0) == ("directory" in text), done.stderr
    if done.returncode:
        assert len([x for x in done.stderr.splitlines() if x.startswith("config: ")]) == 1
    assert not list(fresh.path.rglob("pwned"))
