"""The exact decomposition of attention logits into terms, in float64.

A token is a sum of S summands (token, position, segment, ...): x = t_1 + ... + t_S.
Normalization is linear except for one number per token, sigma, which comes from the
whole sum:

  LayerNorm  sigma^2 = |Cx|^2 / d + eps,  C = I - 11'/d,  LN(x) = gamma * Cx / sigma + beta
  RMSNorm    sigma^2 = |x|^2 / d + eps,                   RN(x) = gamma * x / sigma

so with h_s = gamma * C t_s / sigma the query and the key are

  q = sum_s W_Q h_s + c_Q,  c_Q = W_Q beta + b_Q      (k likewise)

and scale * q'k is a sum of (S+1)^2 terms, counting c as one more summand: here the
last one, index S. A term's index is query_summand * (S+1) + key_summand. Without
beta and biases the constant's terms are zeros, but they are still stored.

Shapes: a summand is [n, d], one row per token; weights are [H * d_h, d], so that
y = W x + b, and head h owns rows h * d_h to (h+1) * d_h; terms are
[H, (S+1)^2, n, n] with the query in the rows and the key in the columns.

Sources: Ba et al. 2016 (LayerNorm), Zhang & Sennrich 2019 (RMSNorm), Ke et al. 2021,
eq. 6 (the four terms without normalization); the rest is the algebra above.
"""

import numpy as np

from oracle_json import write_beside


def centred(x, norm):
    """C x, which is x itself unless the normalization is a LayerNorm."""
    return x - x.mean(axis=-1, keepdims=True) if norm["kind"] == "layernorm" else x


def deviation(x, norm):
    """sigma, one per token: [n, 1]."""
    if norm["kind"] == "none":
        return np.ones((len(x), 1))
    return np.sqrt((centred(x, norm) ** 2).mean(axis=-1, keepdims=True) + norm["eps"])


def gain(norm):
    return 1.0 if norm["kind"] == "none" else np.asarray(norm["gamma"])


def shift(norm, width):
    return np.asarray(norm["beta"]) if norm["kind"] == "layernorm" else np.zeros(width)


def by_head(rows, heads):
    """[n, H * d_h] to [H, n, d_h]."""
    return rows.reshape(len(rows), heads, -1).transpose(1, 0, 2)


def logits(x, norm, w_q, b_q, w_k, b_k, heads, scale):
    """[H, n, n], as a model computes them: normalize the whole sum, project, multiply."""
    y = gain(norm) * centred(x, norm) / deviation(x, norm) + shift(norm, x.shape[1])
    q = by_head(y @ w_q.T + b_q, heads)
    k = by_head(y @ w_k.T + b_k, heads)
    return scale * np.einsum("hid,hjd->hij", q, k)


def terms(summands, norm, w_q, b_q, w_k, b_k, heads, scale, own_sigma=False):
    """[H, (S+1)^2, n, n]. `own_sigma` divides each summand by its own deviation, which is wrong."""
    n, d = summands[0].shape
    x = sum(summands)
    beta = shift(norm, d)

    def projections(weight, bias):
        rows = [
            (gain(norm) * centred(t, norm) / deviation(t if own_sigma else x, norm)) @ weight.T
            for t in summands
        ]
        rows.append(np.tile(weight @ beta + bias, (n, 1)))
        return np.stack([by_head(r, heads) for r in rows])  # [S+1, H, n, d_h]

    q, k = projections(w_q, b_q), projections(w_k, b_k)
    every_pair = scale * np.einsum("shid,rhjd->hsrij", q, k)
    return every_pair.reshape(heads, -1, n, n)


def row_centred(matrix):
    """Minus the mean over keys, which softmax ignores."""
    return matrix - matrix.mean(axis=-1, keepdims=True)


def shares(parts):
    """[T] for parts [T, n, n]: <T~, A~> / |A~|^2, summing to one.

    None where A~ = 0, as for a single token: nothing varies, so nothing has a share.
    """
    whole = row_centred(parts.sum(axis=0))
    energy = (whole**2).sum()
    if parts.shape[-1] == 1:
        return None
    return (row_centred(parts) * whole).sum(axis=(1, 2)) / energy


def softmax(matrix):
    e = np.exp(matrix - matrix.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def random_numbers(rng, *shape, mean=0.0, spread=1.0):
    """Normal numbers with three decimals, none of them whole."""
    x = np.round(rng.normal(mean, spread, shape), 3)
    return np.where(x == np.round(x), x + 0.137, x).round(3)


#        norm         n  d  H d_h S  biases  scale  eps
CASES = [
    ("layernorm", 4, 6, 2, 3, 3, True, None, 1e-12),
    ("layernorm", 4, 8, 1, 4, 2, False, None, 0.1),
    ("layernorm", 5, 6, 1, 2, 1, True, 0.7, 1e-5),
    ("layernorm", 1, 6, 1, 3, 3, True, None, 0.1),
    ("rmsnorm", 3, 7, 2, 2, 2, True, 0.3, 0.1),
    ("rmsnorm", 3, 6, 1, 2, 3, False, None, 1e-6),
    ("none", 4, 7, 1, 4, 1, True, 0.3, None),
    ("none", 4, 6, 1, 3, 2, True, None, None),
    ("none", 3, 8, 2, 2, 2, False, None, None),
]


def case(rng, kind, n, d, heads, d_h, count, biases, scale, eps):
    scale = 1 / np.sqrt(d_h) if scale is None else scale
    # Summands of different sizes, each with a mean, so that centring matters.
    summands = [random_numbers(rng, n, d, mean=0.25, spread=1.5 / (s + 1)) for s in range(count)]
    norm = {"kind": kind}
    if kind != "none":
        norm["gamma"] = random_numbers(rng, d, mean=1.0, spread=0.4)
    if kind == "layernorm":
        norm["beta"] = random_numbers(rng, d, spread=0.5)
    if kind != "none":
        norm["eps"] = eps
    w_q, w_k = (random_numbers(rng, heads * d_h, d, spread=0.6) for _ in range(2))
    b_q, b_k = (random_numbers(rng, heads * d_h, spread=0.5) if biases else None for _ in range(2))

    zeros = np.zeros(heads * d_h)
    weights = (w_q, b_q if biases else zeros, w_k, b_k if biases else zeros)
    direct = logits(sum(summands), norm, *weights, heads, scale)
    parts = terms(summands, norm, *weights, heads, scale)
    share = [shares(p) for p in parts]

    # Constant query with a summand as key: the only constant term that softmax sees.
    named = [[count, 0]] if count == 1 else [[0, 1], [count, 0]]
    indices = [s * (count + 1) + r for s, r in named]
    subset = parts[:, indices].sum(axis=1)

    assert np.abs(parts.sum(axis=1) - direct).max() < 1e-12
    for p in share:
        assert p is None or abs(p.sum() - 1) < 1e-12
    # Constant in j: no key bias and no key constant changes any weight.
    no_key_constant = parts.reshape(heads, count + 1, count + 1, n, n)[:, :, :count].sum(axis=(1, 2))
    assert np.abs(softmax(no_key_constant) - softmax(direct)).max() < 1e-12
    if not biases and kind != "layernorm":
        assert not parts.reshape(heads, count + 1, count + 1, n, n)[:, count].any()

    wrong = None
    if kind != "none" and count > 1:
        wrong = terms(summands, norm, *weights, heads, scale, own_sigma=True).sum(axis=1)
        assert np.abs(wrong - direct).max() > 0.1

    return {
        "name": f"{kind}, {count} summand{'s' * (count > 1)}, {n} token{'s' * (n > 1)}, "
        f"{heads} head{'s' * (heads > 1)}, {'biases' if biases else 'no biases'}",
        "heads": heads,
        "scale": scale,
        "norm": norm,
        "summands": summands,
        "query_weight": w_q,
        "query_bias": b_q,
        "key_weight": w_k,
        "key_bias": b_k,
        "logits": direct,
        "terms": parts,
        "shares": share,
        "softmax": softmax(direct),
        "subset": {"pairs": named, "indices": indices, "softmax": softmax(subset)},
        "sum_normalized_separately": wrong,
    }


if __name__ == "__main__":
    rng = np.random.default_rng(3)
    cases = [case(rng, *c) for c in CASES]
    for c in cases:
        missed = c["sum_normalized_separately"]
        note = "" if missed is None else f"  separately normalized, misses by {np.abs(missed - c['logits']).max():.2f}"
        print(f"  {c['name']}{note}")
    write_beside(__file__, {"cases": cases})
