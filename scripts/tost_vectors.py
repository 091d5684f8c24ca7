"""Writes stat/testdata/tost.json: p-values of two one-sided tests, from the formulas in the
papers, with 40 digits and none of deem's code. Needs mpmath.

    python3 scripts/tost_vectors.py > stat/testdata/tost.json

counts:   pairs of verdicts. Tango (1998): the score statistic, with the likeliest share of
          losses found by maximising the multinomial likelihood under the difference.
values:   differences. Schuirmann (1987): two t-tests with n-1 degrees of freedom, or with those
          of O'Neill (2014) where the kurtosis of the differences makes them fewer.
clusters: differences in clusters of equal size: the same with the means of clusters, and with
          Hall's (1992) cubic transformation of each statistic, which removes its skewness.
"""

import json
import random

from mpmath import betainc, erfc, mp, mpf, sqrt

mp.dps = 40


def normal_tail(z):
    return erfc(z / sqrt(2)) / 2


def student_tail(t, df):
    both = betainc(mpf(df) / 2, mpf(1) / 2, 0, df / (df + t * t), regularized=True)
    return both / 2 if t > 0 else 1 - both / 2


def tango(up, down, n, delta):
    """The score of the difference delta = share of up - share of down."""
    def slope(q):
        total = mpf(0)
        total += up / (q + delta) if up else 0
        total += down / q if down else 0
        return total - 2 * (n - up - down) / (1 - 2 * q - delta)

    low, high = max(mpf(0), -delta), (1 - delta) / 2
    lo, hi = low + mpf(10) ** -35, high - mpf(10) ** -35
    if slope(lo) <= 0:
        q = low
    else:
        for _ in range(400):
            middle = (lo + hi) / 2
            lo, hi = (middle, hi) if slope(middle) > 0 else (lo, middle)
        q = lo
    return (up - down - n * delta) / sqrt(n * (2 * q + delta * (1 - delta)))


def counts(up, down, n, margin):
    m = mpf(margin)
    lower, upper = normal_tail(tango(up, down, n, -m)), normal_tail(-tango(up, down, n, m))
    return {"up": up, "down": down, "n": n, "margin": margin, "p": float(max(lower, upper)), "p_not_below": float(lower)}


def values(xs, margin, skewed=False, **more):
    n, xs = len(xs), [mpf(x) for x in xs]
    mean = sum(xs) / n
    squares, cubes, fourths = (sum((x - mean) ** k for x in xs) for k in (2, 3, 4))
    df = min(mpf(n - 1), 2 * n / (n * fourths / squares**2 - mpf(n - 3) / (n - 1)))
    se = sqrt(squares / (n - 1) / n)
    a = cubes / n / (squares / n) ** mpf("1.5") * sqrt(mpf(n) * (n - 1)) / (n - 2) / sqrt(n) if skewed else 0

    def hall(t):
        return t + a * t**2 / 3 + a**2 * t**3 / 27 + a / 6

    lower, upper = student_tail(hall((mean + mpf(margin)) / se), df), student_tail(-hall((mean - mpf(margin)) / se), df)
    return {**more, "margin": margin, "p": float(max(lower, upper)), "p_not_below": float(lower)}


rng = random.Random(21)
out = {"counts": [], "values": [], "clusters": []}
for up, down, n, margin in [(10, 12, 500, 0.03), (0, 0, 400, 0.01), (3, 0, 200, 0.05), (0, 9, 300, 0.05), (40, 45, 1000, 0.02), (7, 7, 60, 0.1), (1, 2, 30, 0.2), (120, 100, 2000, 0.03)]:
    out["counts"].append(counts(up, down, n, margin))
for n in (5, 12, 40):
    xs = [round(rng.uniform(-0.3, 0.32), 2) for _ in range(n)]
    out["values"].append(values(xs, 0.2, values=xs))
for groups, size in ((6, 4), (20, 3)):
    xs = [[round(rng.uniform(-0.3, 0.3), 2) for _ in range(size)] for _ in range(groups)]
    out["clusters"].append(values([sum(map(mpf, map(str, g))) / size for g in xs], 0.15, skewed=True, clusters=xs))
print(json.dumps(out, indent=1))
