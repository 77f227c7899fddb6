"""Reference values of q and h to 25 digits: `python tests/reference/make_score_moments.py`.

Independent of the package. With Z = sum exp(s g_j) and 1/Z^k = int e^{k t} exp(-e^t Z) dt / (k-1)!,
    q       = L int A2 F^(L-1) dt,
    s^2 h+q = E (sum p g)^2 = L int B2 F^(L-1) dt + L (L-1) int B1^2 F^(L-2) dt,
    F = E exp(-E), A2 = E E^2 exp(-E), Br = E g^r E^r exp(-E), E = e^{t + s g}, g ~ N(0, 1),
so h comes from its definition, without integration by parts. Both integrals are trapezoidal sums
in multiprecision with a common lattice for t and s g, shifted by half a step against each other.
"""

import itertools
import json
from pathlib import Path

from mpmath import mp, mpf

DIGITS = 32
WIDEST_STEP = mpf(1) / 7  # aliasing error exp(-pi^2 / step) = 1e-30
WIDEST_SCORE_STEP = 0.3
FILE = Path(__file__).with_name("score_moments_mpmath.json")
POINTS = [
    *itertools.product((0.1, 0.5, 1.0, 2.0, 4.0), (2, 10, 1000, 10**12)),
    (8.0, 10),
    (8.0, 10**6),
]


def reference(s: float, L: int) -> tuple[mpf, mpf]:
    """(q, h) at s > 0."""
    s, log_L = mpf(s), mp.log(L)
    step = min(WIDEST_STEP, WIDEST_SCORE_STEP * s)
    g_step = step / s
    widest = mp.sqrt(2 * (2 * log_L + 60)) + 1
    g_low, g_high = int(mp.floor(-12 / g_step)), int(mp.ceil(widest / g_step))
    t_low = int(mp.floor(-(log_L + 30 + min(2 * s * s, s * widest)) / step))
    t_high = int(mp.ceil((12 * s + 5) / step))
    g = [(k + mpf(1) / 2) * g_step for k in range(g_low, g_high)]
    normal = [g_step * mp.npdf(x) for x in g]
    normal_g = [w * x for w, x in zip(normal, g, strict=True)]
    normal_gg = [w * x for w, x in zip(normal_g, g, strict=True)]
    exponentials = [mp.exp((n + mpf(1) / 2) * step) for n in range(t_low + g_low, t_high + g_high)]
    decay = [mp.exp(-x) for x in exponentials]
    first = [x * y for x, y in zip(exponentials, decay, strict=True)]
    second = [x * y for x, y in zip(exponentials, first, strict=True)]
    q = squares = pairs = mpf(0)
    for start in range(t_high - t_low):
        window = slice(start, start + len(g))
        F = mp.fdot(normal, decay[window]) + mp.ncdf(g_low * g_step)  # below the grid E ~ 0
        if mp.log10(F) < -60:
            break
        power = F ** (L - 2)
        q += mp.fdot(normal, second[window]) * power * F
        squares += mp.fdot(normal_gg, second[window]) * power * F
        pairs += mp.fdot(normal_g, first[window]) ** 2 * power
    q *= L * step
    m2 = L * step * squares + mpf(L) * (L - 1) * step * pairs
    return q, (m2 - q) / s**2


def main() -> None:
    mp.dps = DIGITS
    rows = []
    for s, L in POINTS:
        q, h = reference(s, L)
        rows.append({"s": s, "L": L, "q": mp.nstr(q, 25), "h": mp.nstr(h, 25)})
        print(rows[-1], flush=True)
    FILE.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
