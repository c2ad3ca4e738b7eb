"""The gauge of a decomposition: what the terms depend on besides the logits.

Adding a to every row of one summand and subtracting it from every row of another
changes no sum and so no logit, but it changes every term. A gauge fixes this with a
mean m_s for each summand s:

  part of row i     x_s(i) - m_s
  constant of row i sum_s m_s, then beta and the biases

  raw        m_s = 0
  canonical  m_s = sum_i w_i x_s(i) over the used rows, w_i proportional to
             1 / (product of the sigmas before W_Q), sum of w = 1; equal weights
             where nothing is normalized

A row stands apart if its token and its position only ever occur together: moving v
from one to the other cannot be noticed there either. So, except in the raw gauge, its
whole sum is constant, and its other parts are zero. The other rows are the
used ones.

A part goes through the norms with the sigmas of the whole sum: gamma * C part / sigma.
With two norms, the second one's gamma and C act on the result of the first, and the
first one's beta joins the constant.

Terms are [H, (S+1)^2, n, n] as in decomposition.py, the constant last. Shares are
covariances with the logits, both centred over the keys, summed over queries. In the canonical gauge, rows that stand apart
are left out as queries and as keys; with fewer than two used rows nothing varies, so there are no shares.
"""

import numpy as np

from decomposition import by_head, centred, deviation, gain, random_numbers, shift
from oracle_json import write_beside


def pieces_of(summands, norms, apart, means):
    """(parts [S, n, d] before any norm, the constant's rows [n, d])."""
    x = np.array(summands)
    if means is None:  # raw
        return x, np.zeros_like(x[0])
    parts = x - np.array(means)[:, None]
    parts[:, apart] = 0
    return parts, x.sum(axis=0) - parts.sum(axis=0)


def sigmas(x, norms):
    """One [n, 1] per norm, each from what the norm before it returned."""
    found = []
    for norm in norms:
        found.append(deviation(x, norm))
        x = gain(norm) * centred(x, norm) / found[-1] + shift(norm, x.shape[1])
    return found


def canonical_weights(summands, norms, apart):
    """[n], zero for rows that stand apart; the others sum to one."""
    n = len(summands[0])
    used = np.setdiff1d(np.arange(n), apart)
    w = np.zeros(n)
    for i in used:
        w[i] = 1 / np.prod([s[i, 0] for s in sigmas(sum(summands), norms)])
    return w / w.sum() if len(used) else w


def canonical_means(summands, norms, apart):
    w = canonical_weights(summands, norms, apart)
    return [w @ x for x in summands]


def terms(summands, norms, weights, heads, scale, apart=(), means=None):
    """[H, (S+1)^2, n, n]; means None is the raw gauge, in which no rows stand apart."""
    w_q, b_q, w_k, b_k = weights
    apart = list(apart)
    parts, constant = pieces_of(summands, norms, apart, means)
    rows = [*parts, constant]
    for norm, sigma in zip(norms, sigmas(sum(summands), norms)):
        rows = [gain(norm) * centred(r, norm) / sigma for r in rows]
        rows[-1] = rows[-1] + shift(norm, rows[-1].shape[1])
    q = np.stack([by_head(r @ w_q.T, heads) for r in rows])
    k = np.stack([by_head(r @ w_k.T, heads) for r in rows])
    q[-1] += by_head(np.tile(b_q, (len(parts[0]), 1)), heads)
    k[-1] += by_head(np.tile(b_k, (len(parts[0]), 1)), heads)
    every_pair = scale * np.einsum("shid,rhjd->hsrij", q, k)
    return every_pair.reshape(heads, -1, *every_pair.shape[3:])


def logits(summands, norms, weights, heads, scale):
    """[H, n, n], the way a model computes them."""
    w_q, b_q, w_k, b_k = weights
    x = sum(summands)
    for norm, sigma in zip(norms, sigmas(x, norms)):
        x = gain(norm) * centred(x, norm) / sigma + shift(norm, x.shape[1])
    q, k = by_head(x @ w_q.T + b_q, heads), by_head(x @ w_k.T + b_k, heads)
    return scale * np.einsum("hid,hjd->hij", q, k)


def shares(parts, rows):
    """[T] for terms [T, n, n] over the given rows as queries and keys, None if there are fewer than two."""
    if len(rows) < 2:
        return None
    whole = parts.sum(axis=0)
    covariance, energy = np.zeros(len(parts)), 0
    for i in rows:
        a = whole[i, rows] - whole[i, rows].mean()
        covariance += (parts[:, i, rows] - parts[:, i, rows].mean(axis=1, keepdims=True)) @ a
        energy += a @ a
    return covariance / energy


def random_norm(rng, kind, d, eps):
    norm = {"kind": kind, "gamma": random_numbers(rng, d, mean=1.0, spread=0.4), "eps": eps}
    if kind == "layernorm":
        norm["beta"] = random_numbers(rng, d, spread=0.5)
    return norm


#   norms           n  d  H d_h S  apart   biases
CASES = [
    (["layernorm"], 5, 8, 2, 4, 3, [0],    True),
    (["layernorm"], 4, 6, 2, 3, 2, [],     True),
    ([],            4, 9, 3, 3, 3, [1],    True),
    (["rmsnorm"],   7, 12, 2, 5, 2, [0, 1], False),
    (["layernorm"], 4, 8, 2, 4, 2, [0, 1], True),
    (["layernorm"], 2, 6, 2, 3, 3, [0],    True),
    (["layernorm"], 1, 6, 2, 3, 2, [],     True),
]  # fmt: skip


def shifted(rng, summands, apart, size=2.0):
    """The same sums from other summands: random vectors of norm `size` moved between them."""
    d = summands[0].shape[1]
    moved = [x.copy() for x in summands]
    total = np.zeros(d)
    for x in moved[:-1]:
        a = rng.normal(size=d)
        a *= size / np.linalg.norm(a)
        x += a
        total += a
    moved[-1] -= total
    for row in apart:
        v = rng.normal(size=d)
        moved[0][row] += v
        moved[1][row] -= v
    return moved


def case(rng, kinds, n, d, heads, d_h, count, apart, biases):
    norms = [random_norm(rng, kind, d, (1e-5, 0.1)[i % 2]) for i, kind in enumerate(kinds)]
    summands = [random_numbers(rng, n, d, mean=0.25, spread=1.5 / (s + 1)) for s in range(count)]
    if count == 3:  # a segment: the same row for every token
        summands[2] = np.tile(summands[2][0], (n, 1))
    zeros = np.zeros(heads * d_h)
    w_q, w_k = (random_numbers(rng, heads * d_h, d, spread=0.6) for _ in range(2))
    b_q, b_k = (random_numbers(rng, heads * d_h, spread=0.5) if biases else zeros for _ in range(2))
    weights, scale = (w_q, b_q, w_k, b_k), 1 / np.sqrt(d_h)
    used = [i for i in range(n) if i not in apart]
    everything = list(range(n))

    model = (norms, weights, heads, scale)
    direct = logits(summands, *model)
    raw = terms(summands, *model)
    means = canonical_means(summands, norms, apart)
    canonical = terms(summands, *model, apart, means)

    # Terms add up to the logits in every gauge.
    for t in (raw, canonical):
        assert np.abs(t.sum(axis=1) - direct).max() < 1e-12
    # Shifts that no logit sees: canonical terms and shares stay, raw ones change.
    largest, least = 0, np.inf
    for _ in range(20):
        moved = shifted(rng, summands, apart)
        assert np.abs(logits(moved, *model) - direct).max() < 1e-11
        moved_means = canonical_means(moved, norms, apart)
        again = terms(moved, *model, apart, moved_means)
        largest = max(largest, np.abs(again - canonical).max())
        least = min(least, np.abs(terms(moved, *model) - raw).max())
        for t, u in zip(again, canonical):
            a, b = shares(t, used), shares(u, used)
            assert a is b is None or np.abs(a - b).max() < 1e-10
    assert largest < 1e-11 and least > 0.1
    # Over the used rows, a part of one summand adds up to zero, as a query and as a key.
    square = canonical.reshape(heads, count + 1, count + 1, n, n)[..., used, :][..., used]
    key_sums = np.abs(square[:, :, :count].sum(axis=-1)).max(initial=0)
    query_sums = np.abs(square[:, :count].sum(axis=-2)).max(initial=0)
    assert max(key_sums, query_sums) < 1e-12
    # A segment that is the same everywhere is only constant.
    if count == 3:
        of_segment = canonical.reshape(heads, count + 1, count + 1, n, n)
        assert max(np.abs(of_segment[:, 2]).max(), np.abs(of_segment[:, :, 2]).max()) < 1e-12
    # Rows that stand apart are only constant.
    for row in apart:
        assert not canonical.reshape(heads, count + 1, count + 1, n, n)[:, :count, :, row].any()

    share = {
        "raw": [shares(t, everything) for t in raw],
        "raw_over_used_rows": [shares(t, used) for t in raw],
        "canonical": [shares(t, used) for t in canonical],
    }
    for head in (s for gauge in share.values() for s in gauge if s is not None):
        assert abs(head.sum() - 1) < 1e-12
    assert (len(used) < 2) == (share["canonical"][0] is None)

    name = f"{', '.join(kinds) or 'no norm'}; {count} summands, {n} rows, apart {apart}"
    print(f"  {name}: canonical terms move by {largest:.0e}, raw ones by {least:.1f} or more")
    stored = {
        "name": name,
        "heads": heads,
        "scale": scale,
        "norms": norms,
        "apart": apart,
        "summands": summands,
        "query_weight": w_q,
        "query_bias": b_q if biases else None,
        "key_weight": w_k,
        "key_bias": b_k if biases else None,
        "logits": direct,
        "raw_terms": raw,
        "canonical_terms": canonical,
        "shares": share,
    }
    return stored


if __name__ == "__main__":
    rng = np.random.default_rng(15)
    write_beside(__file__, {"cases": [case(rng, *c) for c in CASES]}, digits=15)
