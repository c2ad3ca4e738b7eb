"""LayerNorm between adding or concatenating and a linear layer with one matrix for both halves, in float64.

Token t and position p, both [d], gains g for either half, no bias in the linear layer W, [m, d], and
LN(x) = g C x / s(x) + b, where C subtracts the mean and s(x)^2 = |C x|^2 / len(x) + eps (Ba et al. 2016;
eps as in PyTorch):

  added         W LN(t + p)
  concatenated  [W W] LN([t; p])

C [t; p] is [t - m; p - m], with the mean m of all 2d channels, so its halves sum to t + p - 2m = C (t + p),
for the mean of the sum is 2m. Without shifts the concatenated output is so the added one, times
s(t + p) / s([t; p]): the same direction, and a length that differs from pair to pair.

With a shift b in the added norm, and b1 and b2 in the two halves, the outputs are

  u + W b    and    r u + W (b1 + b2),    u = W g C (t + p) / s(t + p),  r = s(t + p) / s([t; p]),

which are parallel only by chance, also where b1 = b and b2 = 0, unless r = 1.
"""

import numpy as np

from decomposition import random_numbers
from oracle_json import write_beside

EPS = 1e-5
PAIRS = 256
OUTPUTS = 8
# Standard deviations of tokens and positions, of gains about 1, and of shifts.
ROWS, GAINS, SHIFTS = 0.8, 0.2, 0.3


def layer_norm(x, gain, shift):
    centred = x - x.mean(axis=1, keepdims=True)
    return gain * centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + EPS) + shift


def cosines(a, b):
    return (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


def outputs(token, position, weight, gain, shift, first, second):
    """What the layer makes of the sum, whose norm has `shift`, and of both, whose norm has the two others."""
    twice = np.concatenate([gain, gain])
    added = layer_norm(token + position, gain, shift) @ weight.T
    both = layer_norm(np.hstack([token, position]), twice, np.concatenate([first, second]))
    return added, both @ np.hstack([weight, weight]).T


def case(rng, d):
    token, position = rng.normal(0, ROWS, (PAIRS, d)), rng.normal(0, ROWS, (PAIRS, d))
    weight = rng.normal(0, d**-0.5, (OUTPUTS, d))
    gain = 1 + rng.normal(0, GAINS, d)
    shifts = rng.normal(0, SHIFTS, (2, d))
    none = np.zeros(d)

    added, both = outputs(token, position, weight, gain, none, none, none)
    ratios = np.linalg.norm(both, axis=1) / np.linalg.norm(added, axis=1)
    spread = lambda x: np.sqrt(x.var(axis=1) + EPS)
    assert np.abs(ratios / (spread(token + position) / spread(np.hstack([token, position]))) - 1).max() < 1e-12
    parallel = cosines(added, both)
    assert 1 - parallel.min() < 1e-14

    shifted = cosines(*outputs(token, position, weight, gain, shifts[0], *shifts))
    first_alone = cosines(*outputs(token, position, weight, gain, shifts[0], shifts[0], none))
    other_gains = cosines(
        layer_norm(token + position, gain, 0) @ weight.T,
        layer_norm(np.hstack([token, position]), np.concatenate([gain, 1 + rng.normal(0, GAINS, d)]), 0)
        @ np.hstack([weight, weight]).T,
    )
    return {
        "d": d,
        "lengths": [ratios.min(), np.median(ratios), ratios.max()],
        "least_cosine": {
            "no_shift": parallel.min(),
            "both_shifts": shifted.min(),
            "first_shift_alone": first_alone.min(),
            "other_gains": other_gains.min(),
        },
        "median_cosine": {
            "both_shifts": np.median(shifted),
            "first_shift_alone": np.median(first_alone),
            "other_gains": np.median(other_gains),
        },
    }


def written_out(rng, n, d, m):
    """Inputs and outputs without gains and shifts, as the core has them, for W2 apart from W1 and for one W."""
    token, position = random_numbers(rng, n, d), random_numbers(rng, n, d)
    first, second = random_numbers(rng, m, d), random_numbers(rng, m, d)
    normed = layer_norm(np.hstack([token, position]), 1, 0)
    halves = normed[:, :d] @ first.T, normed[:, d:] @ second.T
    added = layer_norm(token + position, 1, 0) @ first.T
    one_matrix = normed @ np.hstack([first, first]).T
    return {
        "token": token,
        "position": position,
        "first_weight": first,
        "second_weight": second,
        "added": added,
        "contributions": halves,
        "concatenated": normed @ np.hstack([first, second]).T,
        "one_matrix": one_matrix,
        "length_ratios": np.linalg.norm(one_matrix, axis=1) / np.linalg.norm(added, axis=1),
    }


if __name__ == "__main__":
    rng = np.random.default_rng(20261129)
    document = {
        "written_out": [written_out(rng, n, d, m) for n, d, m in ((3, 4, 2), (2, 8, 8), (1, 3, 5))],
        "pairs": PAIRS,
        "draws": [case(rng, d) for d in (8, 768)],
    }
    write_beside(__file__, document)
