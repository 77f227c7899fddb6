"""Which first-party modules a stage depends on, found from its imports, and a hash of them.

Snakemake does not notice an edit of an imported module. Every rule therefore carries
`code_hash(<its stage>)` as a param: it changes exactly when code that the stage imports changes.
Comments, docstrings and formatting do not count, because syntax trees are hashed.
"""

import ast
import functools
import hashlib
from pathlib import Path


@functools.cache
def _module_file(source: Path, name: str) -> Path | None:
    path = source.joinpath(*name.split("."))
    candidates = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in candidates if file.is_file()), None)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    """Full name of the module that a (possibly relative) `from` import reads."""
    parts = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
    return ".".join([*parts, *([node.module] if node.module else [])])


@functools.cache
def _imports(source: Path, name: str) -> frozenset[str]:
    file = _module_file(source, name)
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), str(file))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, package)
            found |= {base} | {f"{base}.{alias.name}" for alias in node.names}
    return frozenset(found)


@functools.cache
def modules_of(source: Path, name: str) -> tuple[str, ...]:
    """Sorted names of the first-party modules under `source` that `name` imports, itself included.

    Raises LookupError if there is no module `name`.
    """
    if _module_file(source, name) is None:
        raise LookupError(f"no module {name} under {source}")
    found, todo = set(), [name]
    while todo:
        parts = todo.pop().split(".")
        for i in range(1, len(parts) + 1):  # importing a.b runs a/__init__.py too
            module = ".".join(parts[:i])
            if module not in found and _module_file(source, module) is not None:
                found.add(module)
                todo.extend(_imports(source, module))
    return tuple(sorted(found))


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                del node.body[0]
    return tree


@functools.cache
def code_hash(source: Path, name: str) -> str:
    """Hash of the code of module `name` under `source` and of all that it imports from there."""
    digest = hashlib.sha256()
    for module in modules_of(source, name):
        text = _module_file(source, module).read_text(encoding="utf-8")
        tree = _without_docstrings(ast.parse(text))
        digest.update(f"{module}\0{ast.dump(tree)}\0".encode())
    return digest.hexdigest()[:16]


def text_hash(text: str) -> str:
    """Hash of a text, of the same form."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
