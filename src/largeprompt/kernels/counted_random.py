"""Random numbers for compiled loops: counted, not carried along.

A number is a function of (key, index, step), so nothing but the step has to be remembered, and
loops fill whole arrays in SIMD. Arithmetic is float32, the precision of the protocol.
"""

import math

import numpy as np

from largeprompt.kernels import compiled

u32, i32, f32 = np.uint32, np.int32, np.float32
ONE, TWO, HALF = f32(1), f32(2), f32(0.5)
LOWEST, LOG2E, LN2 = f32(-43), f32(math.log2(math.e)), f32(math.log(2))
UNIT, HALF_TURN = f32(2**-32), f32(math.pi * 2**-31)
PARITY = u32(0x1BD11BDA)
EVEN, ODD = (13, 15, 26, 6), (17, 29, 16, 24)


def _float32(text: str) -> tuple[np.float32, ...]:
    return tuple(f32(word) for word in text.split())


# Polynomials of the Cephes library, highest power first.
LOG = _float32(
    "7.0376836292e-2 -1.1514610310e-1 1.1676998740e-1 -1.2420140846e-1 1.4249322787e-1 "
    "-1.6668057665e-1 2.0000714765e-1 -2.4999993993e-1 3.3333331174e-1"
)
EXP = _float32(
    "1.9875691500e-4 1.3981999507e-3 8.3334519073e-3 4.1665795894e-2 1.6666665459e-1 "
    "5.0000001201e-1"
)
SIN = _float32("-1.9515295891e-4 8.3321608736e-3 -1.6666654611e-1")
COS = _float32("2.443315711809948e-5 -1.388731625493765e-3 4.166664568298827e-2")


@compiled
def _horner(x, coefficients):
    value = coefficients[0]
    for i in range(1, len(coefficients)):
        value = value * x + coefficients[i]
    return value


@compiled
def _logarithm(x):
    bits = f32(x).view(i32)
    exponent = i32((bits - i32(0x3F3504F3)) >> i32(23))
    m = i32(bits - i32(exponent << i32(23))).view(f32) - ONE
    return m - HALF * m * m + _horner(m, LOG) * m * m * m + f32(exponent) * LN2


@compiled
def exponential(x):
    """exp(x) for x <= 0 or, if larger, e^-43.

    That is below the rounding of a sum of weights whose largest is 1, and its square is not yet
    one of the numbers near zero that processors are slow with.
    """
    x = max(x, LOWEST)
    n = np.rint(x * LOG2E)
    r = x - n * LN2
    value = _horner(r, EXP) * r * r + r + ONE
    return value * i32((i32(n) + i32(127)) << i32(23)).view(f32)


@compiled
def _four_rounds(x, y, rotations):
    for i in range(4):
        x = u32(x + y)
        y = u32(x ^ (u32(y << u32(rotations[i])) | u32(y >> u32(32 - rotations[i]))))
    return x, y


@compiled
def random_words(key, index, step):
    """Two words of 32 random bits: Threefry-2x32 with 20 rounds (Salmon et al., SC 2011)."""
    a, b = key
    c = u32(a ^ b ^ PARITY)
    x, y = _four_rounds(u32(u32(index) + a), u32(u32(step) + b), EVEN)
    x, y = _four_rounds(u32(x + b), u32(y + c + u32(1)), ODD)
    x, y = _four_rounds(u32(x + c), u32(y + a + u32(2)), EVEN)
    x, y = _four_rounds(u32(x + a), u32(y + b + u32(3)), ODD)
    x, y = _four_rounds(u32(x + b), u32(y + c + u32(4)), EVEN)
    return u32(x + c), u32(y + a + u32(5))


@compiled
def normal_pair(first, second):
    """Two standard normals from two words (Box, Muller), rounded to float32, modulus below 6.8."""
    radius = np.sqrt(-TWO * _logarithm((f32(first) + HALF) * UNIT))
    turned = u32(second + u32(1 << 29))
    quarter = u32(turned >> u32(30))
    angle = f32(i32(i32(turned & u32((1 << 30) - 1)) - i32(1 << 29))) * HALF_TURN
    square = angle * angle
    sine = radius * (_horner(square, SIN) * square * angle + angle)
    cosine = radius * (_horner(square, COS) * square * square - HALF * square + ONE)
    odd = u32(quarter & u32(1)) != 0
    x, y = (-sine if odd else cosine), (cosine if odd else sine)
    opposite = quarter > u32(1)
    return (-x if opposite else x), (-y if opposite else y)


@compiled
def fill_normals(key, start, step, x, y):
    """Fill float32 vectors x, y with the pairs start, start + 1, ... of this step."""
    for i in range(x.size):
        first, second = random_words(key, start + i, step)
        x[i], y[i] = normal_pair(first, second)


@compiled
def chi_square(freedom, x, word):
    """Candidate of Marsaglia and Tsang (2000) from a normal and a word; negative if rejected.

    The envelope holds for every freedom >= 1, their quick test from 2 on.
    """
    x, uniform = float(x), (word + 0.5) * 2.0**-32
    shape = freedom / 2 - 1 / 3
    root = 1 + x / math.sqrt(9 * shape)
    if root <= 0:
        return -1.0
    cube = root * root * root
    quick = freedom >= 2 and uniform < 1 - 0.0331 * x * x * x * x
    if quick or math.log(uniform) < x * x / 2 + shape * (1 - cube + math.log(cube)):
        return 2 * shape * cube
    return -1.0
