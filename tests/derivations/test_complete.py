"""Every displayed formula of docs/derivations.md is evaluated by a test, and no other is cited."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
# A displayed formula ends its line with its number, well to the right of the formula.
DISPLAYED = re.compile(r"^ {4,}\S.* \((\d\.\d+)\)$", re.M)

# No code computes these: they lead to others, or are what the tests compare the code with.
STEPS_OF_PROOFS = {"1.3", "1.10", "1.11", "2.1", "2.12"}


def displayed() -> list[str]:
    return DISPLAYED.findall((ROOT / "docs/derivations.md").read_text(encoding="utf-8"))


def evaluated() -> set[str]:
    """Numbers in the markers `equation` of the tests beside this one."""
    numbers = set()
    for file in Path(__file__).parent.glob("test_*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.equation":
                numbers |= {ast.literal_eval(argument) for argument in node.args}
    return numbers


def test_formulas_are_numbered_in_order():
    numbers = [tuple(map(int, number.split("."))) for number in displayed()]
    assert numbers == sorted(set(numbers))
    assert {section for section, _ in numbers} == {1, 2, 3, 4}


def test_every_displayed_formula_is_evaluated_by_a_test():
    assert evaluated() == set(displayed())


def cited() -> set[str]:
    """Numbers that the code cites: equation 3.7, eq. 2.11, (3.4), eq. 1.2 to 1.4."""
    numbers = set()
    for file in ROOT.glob("src/**/*.py"):
        text = file.read_text(encoding="utf-8")
        for list_of_numbers in re.findall(
            r"(?:[Ee]quations?|[Ee]q\.|\bform) ([\d.,() aston]+)", text
        ):
            numbers |= set(re.findall(r"\d\.\d+", list_of_numbers))
    return numbers


def test_the_code_cites_every_formula_that_it_computes_and_no_other():
    assert cited() <= set(displayed())
    assert set(displayed()) - cited() == STEPS_OF_PROOFS
