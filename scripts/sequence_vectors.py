"""Compute report/testdata/sequence.json: confidence sequences by betting.

This follows Waudby-Smith and Ramdas (2024), theorem 3 with theta = 1/2, by brute force:
the capital of every mean on a grid after every unit, in logarithms, with no use of the
fact that capital falls with the mean. It shares no code with package stat. The inputs are
made up here.

    python3 scripts/sequence_vectors.py > report/testdata/sequence.json
"""

import json
import math
import random

STEPS = 10_000  # as fine as package stat


def log_mean_exp(logs):
    top = max(logs)
    return top + math.log(sum(math.exp(x - top) for x in logs) / len(logs))


def bets(units, aims):
    """Bets on each unit, from the units before it."""
    sum_u, sum_v, squares, out = 0.0, 0.0, 0.0, []
    for t, (u, v) in enumerate(units):
        variance = (0.25 + squares) / (t + 1)
        weight = (1 + sum_v) / (t + 1)
        out.append([a * weight / (variance + (a * weight) ** 2) for a in aims])
        sum_u, sum_v = sum_u + u, sum_v + v
        mean = (0.5 + sum_u) / (1 + sum_v)
        squares += (u - mean * v) ** 2
    return out


def lower_ends(units, aims, alpha):
    """The largest mean on the grid that is ruled out, after each unit."""
    made = bets(units, aims)
    logs = [[0.0] * len(aims) for _ in range(STEPS)]
    ends, best = [], 0
    for (u, v), bet in zip(units, made):
        for k in range(1, STEPS):
            m = k / STEPS
            for a in range(len(aims)):
                logs[k][a] += math.log(1 + min(bet[a], 0.75 / m) * (u - m * v))
            if log_mean_exp(logs[k]) >= math.log(2 / alpha):
                best = max(best, k)
        ends.append(best / STEPS)
    return ends


def case(name, units, aims, level):
    alpha = 1 - level
    low = lower_ends([(lo, w) for lo, _, w in units], aims, alpha)
    high = lower_ends([(w - hi, w) for _, hi, w in units], aims, alpha)
    looks = sorted({1, 2, 3, 5, 10, 20, 40, len(units)} | set(range(50, len(units), 50)))
    looks = [n for n in looks if n <= len(units)]
    return {
        "name": name, "level": level, "aims": aims, "units": units,
        "looks": [{"n": n, "lo": low[n - 1], "hi": 1 - high[n - 1]} for n in looks],
    }


def main():
    rng = random.Random(20241)
    share = lambda p, n: [[x, x, 1] for x in (float(rng.random() < p) for _ in range(n))]
    unknown = [u if rng.random() < 0.97 else [0.0, 1.0, 1] for u in share(0.9, 200)]
    clusters = []
    for _ in range(80):
        size = rng.randint(1, 10)
        k = sum(rng.random() < 0.6 + 0.03 * size for _ in range(size))
        clusters.append([k / 10, k / 10, size / 10])
    scores = [[x, x, 1] for x in (round(rng.betavariate(4, 2), 3) for _ in range(200))]
    print(json.dumps([
        case("share 0.8, aim 5 pp", share(0.8, 300), [0.05], 0.95),
        case("share 0.5, four aims", share(0.5, 200), [0.01, 0.02, 0.04, 0.08], 0.95),
        case("all right", [[1, 1, 1]] * 150, [0.05], 0.95),
        case("none right, level 0.9", [[0, 0, 1]] * 60, [0.05], 0.9),
        case("scores between 0 and 1", scores, [0.02], 0.95),
        case("some values not known", unknown, [0.05], 0.95),
        case("clusters of 1 to 10 items", clusters, [0.1], 0.95),
    ], indent=None, separators=(",", ":")))


main()
