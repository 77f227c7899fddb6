"""The table in s reproduces the sums, in numpy and in torch, and refuses what it does not cover."""

import math
import subprocess
import sys

import numpy as np
import pytest
import torch

from largeprompt.errors import InputError
from largeprompt.score_moments import ScoreMomentTable, score_moments


@pytest.fixture(scope="module", params=[1, 10, 1000, 10**12])
def table(request):
    return ScoreMomentTable(request.param, 8.0)


@pytest.fixture(scope="module")
def short_table():
    return ScoreMomentTable(50, 3.0)


def test_table_reproduces_values_and_slopes(table):
    s = np.sort(np.append(np.random.default_rng(1).uniform(0, 8, 60), [0, 1e-4, 8]))
    exact, found = score_moments(s, table.L), table(s)
    assert found.q == pytest.approx(exact.q, rel=1e-12)
    assert found.h == pytest.approx(exact.h, abs=1e-12)
    assert found.dq == pytest.approx(exact.dq, abs=1e-11)
    assert found.dh == pytest.approx(exact.dh, abs=1e-10)


def test_second_derivatives_are_slopes_of_exact_slopes(table):
    s, step = np.linspace(0.02, 7.9, 25), 2e-3
    near = score_moments(s + step * np.array([[-2], [-1], [1], [2]]), table.L)
    rule = np.array([1, -8, 8, -1]) / (12 * step)
    assert table(s).d2q == pytest.approx(rule @ near.dq, abs=1e-8)
    assert table(s).d2h == pytest.approx(rule @ near.dh, abs=1e-7)


def test_long_table_stays_accurate():
    s = np.linspace(0, 25, 40)
    exact, found = score_moments(s, 10**6), ScoreMomentTable(10**6, 25.0)(s)
    assert found.q == pytest.approx(exact.q, rel=1e-12)
    assert found.h == pytest.approx(exact.h, abs=1e-12)


def test_tensors_give_the_same_values_as_arrays(short_table):
    s = np.linspace(0, 3, 12).reshape(3, 4)
    arrays, tensors = short_table(s), short_table(torch.from_numpy(s))
    for name in ("q", "h", "dq", "dh", "d2q", "d2h"):
        assert (getattr(tensors, name).numpy() == getattr(arrays, name)).all()


def test_tensors_can_be_differentiated_twice(short_table):
    s = torch.tensor([0.2, 1.3, 2.9], dtype=torch.float64, requires_grad=True)
    outputs = lambda x: (short_table(x).q, short_table(x).h, short_table(x).dq)  # noqa: E731
    assert torch.autograd.gradcheck(outputs, (s,))
    assert torch.autograd.gradgradcheck(lambda x: outputs(x)[:2], (s,))


@pytest.mark.parametrize("s", [-1e-12, 3.0000001, math.nan, [1.0, 4.0]])
def test_scales_outside_the_table_are_refused(short_table, s):
    with pytest.raises(InputError, match=r"covers \[0, 3\.0\]"):
        short_table(s)
    with pytest.raises(InputError, match=r"covers \[0, 3\.0\]"):
        short_table(torch.tensor(s, dtype=torch.float64))


@pytest.mark.parametrize(("L", "s_max"), [(0, 1), (1.5, 1), ([1, 2], 1), (3, 0), (3, -1), (3, "a")])
def test_unusable_tables_are_refused(L, s_max):
    with pytest.raises(InputError):
        ScoreMomentTable(L, s_max)


def test_numbers_need_no_torch():
    code = (
        "import sys; from largeprompt.concentration import output_error; "
        "from largeprompt.score_moments import ScoreMomentTable; "
        "ScoreMomentTable(5, 1.0)(0.5); output_error([[1]], [[1]], [[1]], [[1]], 5); "
        "assert 'torch' not in sys.modules"
    )
    path = [p for p in sys.path if p]
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": ":".join(path)}, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
