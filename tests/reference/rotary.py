"""Rotary position embedding, alone and beside an unrotated part, in float64.

  rope            s (R_i q_i)'(R_j k_j), theta_c = 10000^(-2c/d_h). Su et al. 2021, eq. 12 ff.
  decoupled_rope  ([q^c; R_i q^r])'[k^c; R_j k^r] / sqrt(d_c + d_r), k^r shared by the heads.
                  DeepSeek-AI 2024 (DeepSeek-V2), section 2.1.3

Shapes as in schemes.py: x is [n, d], weights are [H * d_h, d], matrices are [H, n, n]
with the query in the rows, s = 1 / sqrt(d_h), q = W_Q x, k = W_K x, positions from 0.
Two layouts: "interleaved" turns channels (2c, 2c+1), "half split" turns (c, c + d_h/2).
"""

import math

import numpy as np

from decomposition import by_head, random_numbers
from oracle_json import write_beside
from schemes import inputs, offsets, products, same


def rotated(x, first=0, half_split=False):
    """[..., n, d_h]: pair (a, b) becomes (a cos - b sin, a sin + b cos)."""
    n, width = x.shape[-2:]
    angle = np.multiply.outer(np.arange(first, first + n), 10000.0 ** (-np.arange(0, width, 2) / width))
    cosine, sine = np.cos(angle), np.sin(angle)
    first_half, second_half = slice(0, width // 2), slice(width // 2, None)
    a, b = (first_half, second_half) if half_split else (slice(0, None, 2), slice(1, None, 2))
    y = np.empty_like(x)
    y[..., a] = x[..., a] * cosine - x[..., b] * sine
    y[..., b] = x[..., a] * sine + x[..., b] * cosine
    return y


def rope(c):
    q, k, n, s = c["q"], c["k"], c["n"], c["scale"]
    width = q.shape[-1]
    logits = s * products(rotated(q), rotated(k))

    angle = -offsets(n)[..., None] * 10000.0 ** (-np.arange(0, width, 2) / width)  # (i - j) theta
    q0, q1, k0, k1 = (t[..., h::2] for t in (q, k) for h in (0, 1))
    even = np.einsum("hid,hjd->hijd", q0, k0) + np.einsum("hid,hjd->hijd", q1, k1)
    odd = np.einsum("hid,hjd->hijd", q0, k1) - np.einsum("hid,hjd->hijd", q1, k0)
    cosine_part, sine_part = s * (even * np.cos(angle)).sum(-1), s * (odd * np.sin(angle)).sum(-1)
    assert same(cosine_part + sine_part, logits)
    assert same(s * products(rotated(q, 11), rotated(k, 11)), logits)
    assert same((rotated(q) ** 2).sum(-1), (q**2).sum(-1))

    # Channel c of the half-split layout is channel permutation[c] of the interleaved one.
    permutation = np.r_[0:width:2, 1:width:2]
    turned = rotated(q[..., permutation], half_split=True)
    assert same(turned, rotated(q)[..., permutation])
    assert same(s * products(turned, rotated(k[..., permutation], half_split=True)), logits)
    half = s * products(rotated(q, half_split=True), rotated(k, half_split=True))
    assert n == 1 or width == 2 or not same(half, logits, 1e-2)
    return {
        "rotated_query": rotated(q),
        "rotated_key": rotated(k),
        "logits": logits,
        "permutation": permutation,
        "rotated_query_half_split": rotated(q, half_split=True),
        "logits_half_split": half,
    }


def decoupled_rope(c, rng, d_r):
    heads, d = c["heads"], c["x"].shape[1]
    w_q, w_k = random_numbers(rng, heads * d_r, d, spread=0.6), random_numbers(rng, d_r, d, spread=0.6)
    s = 1 / math.sqrt(c["q"].shape[-1] + d_r)
    q_r = rotated(by_head(c["x"] @ w_q.T, heads))
    k_r = np.repeat(rotated(c["x"] @ w_k.T)[None], heads, 0)
    content, position = s * products(c["q"], c["k"]), s * products(q_r, k_r)
    concatenated = s * products(np.concatenate([c["q"], q_r], -1), np.concatenate([c["k"], k_r], -1))
    assert same(concatenated, content + position)
    return {
        "scale": s,
        "rotary_query_weight": w_q,
        "rotary_key_weight": w_k,
        "content": content,
        "position": position,
        "logits": concatenated,
    }


def case(rng, n, d, heads, d_h, d_r):
    c = inputs(rng, n, d, heads, d_h)
    return {
        "heads": heads,
        "scale": c["scale"],
        "x": c["x"],
        "query_weight": c["w_q"],
        "key_weight": c["w_k"],
        "rope": rope(c),
        "decoupled_rope": decoupled_rope(c, rng, d_r),
    }


if __name__ == "__main__":
    rng = np.random.default_rng(9)
    #                                                n  d  H d_h d_r
    write_beside(__file__, {"cases": [case(rng, *s) for s in ((5, 10, 2, 4, 2), (3, 5, 1, 6, 4), (1, 4, 1, 2, 2))]})
