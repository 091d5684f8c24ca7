"""Writes internal/reports/testdata/bradleyterry.json: strengths of systems from contests, by direct
maximisation of the likelihood of Davidson and Beaver (1977) as they write it, with 40 digits
and none of deem's code. All derivatives are differences, not formulas. Needs mpmath.

    python3 scripts/bradleyterry_vectors.py > internal/reports/testdata/bradleyterry.json

Parameters are log(pi) of each system but the first, log(gamma) of the first place, and
log(nu) of ties; "ties" is nu / sqrt(gamma), which equal systems see. The variance is the sandwich with scores summed over clusters, times G/(G-1).
"""

import json
import random

from mpmath import exp, log, lu_solve, matrix, mp, mpf, sqrt, inverse

mp.dps = 40
H = mpf(10) ** -9


def loglik(theta, systems, contests, ties):
    pi = [mpf(1)] + [exp(theta[i]) for i in range(systems - 1)]
    gamma = exp(theta[systems - 1])
    nu = exp(theta[systems]) if ties else mpf(0)
    total = mpf(0)
    for first, second, score, _ in contests:
        win, lose = gamma * pi[first], pi[second]
        tie = nu * sqrt(pi[first] * pi[second])
        got = win if score > 0.5 else lose if score < 0.5 else tie
        total += log(got / (win + lose + tie))
    return total


def gradient(f, x):
    out = []
    for i in range(len(x)):
        up, down = list(x), list(x)
        up[i] += H
        down[i] -= H
        out.append((f(up) - f(down)) / (2 * H))
    return out


def hessian(f, x):
    rows = []
    for i in range(len(x)):
        up, down = list(x), list(x)
        up[i] += H
        down[i] -= H
        a, b = gradient(f, up), gradient(f, down)
        rows.append([(p - q) / (2 * H) for p, q in zip(a, b)])
    return matrix(rows)


def fit(systems, contests):
    ties = any(c[2] == 0.5 for c in contests)
    size = systems + (1 if ties else 0)
    x = [mpf(0)] * size
    f = lambda t: loglik(t, systems, contests, ties)
    for _ in range(60):
        step = lu_solve(hessian(f, x), matrix(gradient(f, x)))
        here, scale = f(x), mpf(1)
        while f([a - scale * b for a, b in zip(x, step)]) < here - mpf(10) ** -25 and scale > 1e-9:
            scale /= 2
        x = [a - scale * b for a, b in zip(x, step)]
        if max(abs(s) for s in step) < mpf(10) ** -14:
            break
    bread = inverse(-hessian(f, x))
    names = sorted({c[3] for c in contests})
    meat = matrix(size, size)
    for name in names:
        part = [c for c in contests if c[3] == name]
        s = matrix(gradient(lambda t: loglik(t, systems, part, ties), x))
        meat += s * s.T
    g = len(names)
    v = bread * meat * bread * g / (g - 1)
    strengths, errors = [], []
    mean = sum(x[: systems - 1]) / systems
    for i in range(systems):
        along = matrix(size, 1)
        for k in range(systems - 1):
            along[k] = -mpf(1) / systems
        if i > 0:
            along[i - 1] += 1
        strengths.append((x[i - 1] if i > 0 else mpf(0)) - mean)
        errors.append(sqrt((along.T * v * along)[0]))
    return {
        "strengths": [float(s) for s in strengths], "errors": [float(e) for e in errors],
        "order": float(x[systems - 1]), "order_error": float(sqrt(v[systems - 1, systems - 1])),
        "ties": float(exp(x[systems] - x[systems - 1] / 2)) if ties else 0.0,
    }


def draw(seed, systems, clusters, per, strength, order, tie, spread):
    rng = random.Random(seed)
    contests = []
    for c in range(clusters):
        shift = [rng.gauss(0, spread) for _ in range(systems)]
        for _ in range(per):
            i, j = rng.sample(range(systems), 2)
            for first, second in ((i, j), (j, i)):
                eta = strength[first] + shift[first] - strength[second] - shift[second] + order
                odds = [float(exp(eta / 2)), tie, float(exp(-eta / 2))]
                contests.append([first, second, rng.choices([1, 0.5, 0], odds)[0], f"c{c}"])
    return contests


CASES = [
    (1, 2, 12, 3, [0.4, 0], 0.3, 0.6, 0.5),
    (2, 3, 20, 3, [0.8, 0, -0.5], 0.5, 0.8, 0.4),
    (3, 4, 25, 4, [1, 0.5, 0, -1], -0.7, 1.5, 0.8),
    (4, 3, 16, 4, [0.3, 0.2, 0], 0.4, 0.0, 0.3),
    (5, 5, 30, 4, [0, 0, 0, 0, 0], 0.0, 0.3, 1.0),
]

print(json.dumps([dict(systems=case[1], contests=draw(*case), **fit(case[1], draw(*case))) for case in CASES]))
