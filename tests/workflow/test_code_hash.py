"""Which modules count for a stage, and which edits change its hash."""

from pathlib import Path

import pytest

from lib.code_hash import code_hash, modules_of

ROOT = Path(__file__).parents[2]

FILES = {
    "pkg/__init__.py": "",
    "pkg/a.py": "from pkg import b\nfrom .sub import c\n",
    "pkg/b.py": 'def f():\n    """Says."""\n    import pkg.lazy\n    return 1\n',
    "pkg/lazy.py": "x = 1\n",
    "pkg/other.py": "x = 1\n",
    "pkg/sub/__init__.py": "",
    "pkg/sub/c.py": "from ..deep import y\n",
    "pkg/deep.py": "y = 1\n",
}


@pytest.fixture
def source(tmp_path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def fresh_hash(source: Path, name: str = "pkg.a") -> str:
    """The hash as another process would find it: each run of Snakemake reads the files anew."""
    from lib import code_hash as module

    for function in (module._module_file, module._imports, module.modules_of, module.code_hash):
        function.cache_clear()
    return code_hash(source, name)


def test_modules_are_found_through_every_kind_of_import(source):
    names = ("pkg", "pkg.a", "pkg.b", "pkg.deep", "pkg.lazy", "pkg.sub", "pkg.sub.c")
    assert modules_of(source, "pkg.a") == names


@pytest.mark.parametrize("edited", ["a", "b", "deep", "lazy", "sub/c", "sub/__init__"])
def test_edit_of_an_imported_module_changes_the_hash(source, edited):
    before = fresh_hash(source)
    path = source / f"pkg/{edited}.py"
    path.write_text(path.read_text() + "z = 2\n")
    assert fresh_hash(source) != before


def test_edit_of_another_module_does_not(source):
    before = fresh_hash(source)
    (source / "pkg/other.py").write_text("x = 2\n")
    assert fresh_hash(source) == before


def test_comments_docstrings_and_layout_do_not_count(source):
    before = fresh_hash(source)
    (source / "pkg/b.py").write_text("# new\ndef f():\n    import pkg.lazy\n\n    return (1)\n")
    assert fresh_hash(source) == before


def test_missing_module_is_an_error(source):
    with pytest.raises(LookupError, match=r"pkg\.nowhere"):
        code_hash(source, "pkg.nowhere")


def test_figures_never_import_torch_and_science_never_imports_the_workflow():
    for name in ("operator_limit", "output_error", "training_curves", "loss_vs_length"):
        text = "".join(
            (ROOT / "src" / (m.replace(".", "/") + ".py")).read_text(encoding="utf-8")
            for m in modules_of(ROOT / "src", f"largeprompt.figures.{name}")
            if (ROOT / "src" / (m.replace(".", "/") + ".py")).is_file()
        )
        assert "torch" not in text
    for path in (ROOT / "src/largeprompt").rglob("*.py"):
        assert "import snakemake" not in path.read_text(encoding="utf-8")
