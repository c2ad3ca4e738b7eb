"""Attention logits of published position schemes, and their named terms, in float64.

Shapes: x is [n, d], one row per token; weights are [H * d_h, d] (y = W x) and head h owns
rows h * d_h to (h+1) * d_h; matrices are [H, n, n], query i in the rows, key j in the
columns. q = W_Q x and k = W_K x without biases, s = 1 / sqrt(d_h). Every term already
includes its scale, so the terms of a scheme add up to its logits.

  none            s q'k, causal
  shaw            s q_i'(k_j + a^K[clip(j-i)]), z_i = sum_j w_ij (v_j + a^V[clip(j-i)]);
                  row of a: clip(j-i, -c, c) + c. Shaw et al. 2018, eq. 2 to 4
  transformer_xl  s ((q_i + u)'k_j + (q_i + v)'W_R r_{i-j}). Dai et al. 2019, section 3.3
  t5              q_i'k_j + b[bucket(j-i)], no scale. Raffel et al. 2020, section 2.1
  alibi           s q_i'k_j - m_h (i-j), causal. Press et al. 2022, section 3
  deberta         (q_i'k_j + q_i'K^r[delta(i,j)] + k_j'Q^r[delta(j,i)]) / sqrt(3 d_h),
                  delta(i,j) = clip(i-j+c, 0, 2c-1). He et al. 2021, eq. 2 to 4; the
                  released code reads Q^r at delta(i,j) in the last term too
  tupe_a, tupe_r  (q_i'k_j + (U_Q p_i)'(U_K p_j)) / sqrt(2 d_h) (+ b[bucket(j-i)] for R),
                  position part reset where [CLS] (token 0) takes part: theta_2 in the first
                  column, then theta_1 over the whole first row. Ke et al. 2021, eq. 7 to 9.
                  As released: p = LayerNorm(table), U with biases; table row 0 gives
                  theta_1 = (U_Q p_0)'(U_K p_0) / sqrt(2 d_h), row 1 theta_2, and token i has
                  row i+1. For R the paper resets the sum with b; the code adds b after the
                  reset, with buckets of their own for first column (B) and first row (B/2)
  diet_abs        s q_i'k_j + P_Q[i]'P_K[j] + E_S[seg_i, seg_j]; Chen et al. 2021
  diet_rel        s q_i'k_j + R[i-j + n-1] + E_S[seg_i, seg_j]
"""

import math

import numpy as np

from decomposition import by_head, random_numbers, softmax
from oracle_json import write_beside


def same(a, b, tolerance=1e-12):
    return np.abs(np.asarray(a) - np.asarray(b)).max() < tolerance


def products(q, k):
    return np.einsum("hid,hjd->hij", q, k)


def offsets(n):
    """j - i."""
    return np.subtract.outer(np.arange(n), np.arange(n)).T


def causal(matrix):
    """Nested lists with None above the diagonal."""
    n = matrix.shape[-1]
    return [[[row[j] if j <= i else None for j in range(n)] for i, row in enumerate(h)] for h in matrix.tolist()]


def causal_softmax(logits):
    n = logits.shape[-1]
    return softmax(np.where(np.tri(n, dtype=bool), logits, -np.inf))


def none(c):
    a = c["scale"] * products(c["q"], c["k"])
    weights = causal_softmax(a)
    assert same(weights.sum(-1), 1) and not np.triu(weights, 1).any()
    return {"logits": causal(a), "softmax": weights}


def shaw(c, rng, clip):
    q, k, n = c["q"], c["k"], c["n"]
    d_h = q.shape[-1]
    a_k, a_v = (random_numbers(rng, 2 * clip + 1, d_h, spread=0.7) for _ in range(2))
    w_v = random_numbers(rng, *c["w_k"].shape, spread=0.6)
    v = by_head(c["x"] @ w_v.T, c["heads"])
    row = np.clip(offsets(n), -clip, clip) + clip
    content = c["scale"] * products(q, k)
    position = c["scale"] * np.einsum("hid,ijd->hij", q, a_k[row])
    weights = softmax(content + position)
    z = np.einsum("hij,hijd->hid", weights, v[:, None] + a_v[row])
    one_by_one = [
        [sum(weights[h, i, j] * (v[h, j] + a_v[min(max(j - i, -clip), clip) + clip]) for j in range(n)) for i in range(n)]
        for h in range(c["heads"])
    ]
    assert same(z, one_by_one)
    return {
        "clip": clip,
        "key_table": a_k,
        "content": content,
        "position": position,
        "logits": content + position,
        "outputs": z,
    }


def transformer_xl(c, rng):
    q, k, n, heads = c["q"], c["k"], c["n"], c["heads"]
    d, d_h = c["x"].shape[1], q.shape[-1]
    u, v = (random_numbers(rng, heads, d_h, spread=0.5) for _ in range(2))
    w_r = random_numbers(rng, heads * d_h, d, spread=0.5)
    distance = -offsets(n)[..., None] * 10000.0 ** (-np.arange(0, d, 2) / d)
    r = np.concatenate([np.sin(distance), np.cos(distance)], axis=-1)  # [n, n, d]
    key = (r @ w_r.T).reshape(n, n, heads, d_h)
    terms = {
        "content_content": c["scale"] * products(q, k),
        "content_position": c["scale"] * np.einsum("hid,ijhd->hij", q, key),
        "global_content": c["scale"] * np.einsum("hd,hjd->hj", u, k)[:, None].repeat(n, 1),
        "global_position": c["scale"] * np.einsum("hd,ijhd->hij", v, key),
    }
    direct = products(q + u[:, None], k) + np.einsum("hid,ijhd->hij", q + v[:, None], key)
    assert same(sum(terms.values()), c["scale"] * direct)
    # What u adds depends only on the key, what v adds only on the offset.
    g = terms["global_position"]
    assert n == 1 or same(g[:, 1:, 1:], g[:, :-1, :-1])
    return {
        "content_bias": u,
        "position_bias": v,
        "position_weight": w_r,
        **terms,
        "logits": sum(terms.values()),
        "note": "all offsets; the model masks j > i",
    }


def bucket(offset, bidirectional, buckets, longest):
    """T5's bucket of j - i, in whole numbers, so that no logarithm is rounded.

    Beyond e exact distances, the bucket is e + the largest m with
    (n/e)^h >= (longest/e)^m, h = buckets left, never more than h - 1.
    """
    base = 0
    if bidirectional:
        buckets //= 2
        base = buckets if offset > 0 else 0
        n = abs(offset)
    else:
        n = max(-offset, 0)
    exact = buckets // 2
    if n < exact:
        return base + n
    h, m = buckets - exact, 0
    while m + 1 <= h - 1 and n**h * exact ** (m + 1) >= longest ** (m + 1) * exact**h:
        m += 1
    return base + exact + m


def bucket_in_floats(offset, bidirectional, buckets, longest, kind):
    """The same with logarithms in the given precision, as implementations compute it."""
    base = 0
    if bidirectional:
        buckets //= 2
        base = buckets if offset > 0 else 0
        n = abs(offset)
    else:
        n = max(-offset, 0)
    exact = buckets // 2
    if n < exact:
        return base + n
    large = np.log(kind(n) / kind(exact)) / kind(math.log(longest / exact)) * kind(buckets - exact)
    return base + min(exact + int(large), buckets - 1)


def bucket_tables():
    out = []
    for bidirectional in (True, False):
        for buckets, longest, reach in ((32, 128, 200), (8, 6, 10)):
            row = [bucket(o, bidirectional, buckets, longest) for o in range(-reach, reach + 1)]
            assert max(row) == buckets - 1 and min(row) == 0
            if buckets == 32:
                for kind in (np.float32, np.float64):
                    floats = [bucket_in_floats(o, bidirectional, buckets, longest, kind) for o in range(-reach, reach + 1)]
                    if floats != row:
                        print(f"  buckets, bidirectional {bidirectional}: {kind.__name__} differs")
            out.append(
                {
                    "bidirectional": bidirectional,
                    "buckets": buckets,
                    "max_distance": longest,
                    "first_offset": -reach,
                    "bucket": row,
                }
            )
    return out


def biases(c, table, bidirectional, buckets, longest):
    index = [[bucket(int(o), bidirectional, buckets, longest) for o in row] for row in offsets(c["n"])]
    return np.array(index), table[index].transpose(2, 0, 1)


def t5(c, rng, bidirectional, buckets, longest):
    table = random_numbers(rng, buckets, c["heads"])
    index, bias = biases(c, table, bidirectional, buckets, longest)
    content = products(c["q"], c["k"])
    return {
        "bidirectional": bidirectional,
        "buckets": buckets,
        "max_distance": longest,
        "bias_table": table,
        "bucket": index,
        "content": content,
        "bias": bias,
        "logits": content + bias,
    }


def alibi_slopes(heads):
    """Exponents of two, so that every slope is computed as one power."""
    power = 1 << (heads.bit_length() - 1)
    exponents = [-8 * h / power for h in range(1, power + 1)]
    if power < heads:
        exponents += [-8 * h / (2 * power) for h in range(1, 2 * power + 1, 2)][: heads - power]
    return [2.0**e for e in exponents]


def slopes():
    out = {h: alibi_slopes(h) for h in (1, 2, 3, 4, 6, 8, 12, 16)}
    assert out[8] == [2.0**-h for h in range(1, 9)] and out[1] == [2.0**-8]
    assert out[12][8:] == [2.0**-0.5, 2.0**-1.5, 2.0**-2.5, 2.0**-3.5]
    assert out[3] == [2.0**-4, 2.0**-8, 2.0**-2]
    return [{"heads": h, "slopes": s} for h, s in out.items()]


def alibi(c):
    bias = -np.array(alibi_slopes(c["heads"]))[:, None, None] * -offsets(c["n"])
    content = c["scale"] * products(c["q"], c["k"])
    return {"bias": causal(bias), "logits": causal(content + bias), "softmax": causal_softmax(content + bias)}


def deberta(c, rng, reach):
    q, k, n, heads = c["q"], c["k"], c["n"], c["heads"]
    d, d_h = c["x"].shape[1], q.shape[-1]
    table = random_numbers(rng, 2 * reach, d, spread=0.7)
    w_qr, w_kr = (random_numbers(rng, heads * d_h, d, spread=0.5) for _ in range(2))
    q_r, k_r = by_head(table @ w_qr.T, heads), by_head(table @ w_kr.T, heads)
    delta = np.clip(-offsets(n) + reach, 0, 2 * reach - 1)
    s = 1 / math.sqrt(3 * d_h)
    content = s * products(q, k)
    c2p = s * np.einsum("hid,hijd->hij", q, k_r[:, delta])
    p2c_paper = s * np.einsum("hjd,hijd->hij", k, q_r[:, delta.T])
    p2c_code = s * np.einsum("hjd,hijd->hij", k, q_r[:, delta])
    for h in range(heads):
        for i in range(n):
            for j in range(n):
                r = min(max(j - i + reach, 0), 2 * reach - 1)
                assert abs(p2c_paper[h, i, j] - s * (k[h, j] @ q_r[h, r])) < 1e-12
    return {
        "reach": reach,
        "position_table": table,
        "position_query_weight": w_qr,
        "position_key_weight": w_kr,
        "delta": delta,
        "scale": s,
        "logits_paper": content + c2p + p2c_paper,
        "logits_code": content + c2p + p2c_code,
    }


def tupe(c, rng, buckets, longest):
    """TUPE-A and, with a bucket table of buckets + 1 rows, TUPE-R."""
    n, heads = c["n"], c["heads"]
    d, d_h = c["x"].shape[1], c["q"].shape[-1]
    table = random_numbers(rng, n + 1, d)
    gamma, beta, eps = random_numbers(rng, d, mean=1, spread=0.3), random_numbers(rng, d, spread=0.3), 1e-5
    u_q, u_k = (random_numbers(rng, heads * d_h, d, spread=0.5) for _ in range(2))
    b_q, b_k = (random_numbers(rng, heads * d_h, spread=0.5) for _ in range(2))
    bias_table = random_numbers(rng, buckets + 1, heads)
    s = 1 / math.sqrt(2 * d_h)

    centred = table - table.mean(1, keepdims=True)
    p = gamma * centred / np.sqrt((centred**2).mean(1, keepdims=True) + eps) + beta
    every = s * products(by_head(p @ u_q.T + b_q, heads), by_head(p @ u_k.T + b_k, heads))
    theta_1, theta_2 = every[:, 0, 0], every[:, 1, 1]
    content = s * products(c["q"], c["k"])
    untouched = every[:, 1:, 1:]

    def reset(v):
        v = v.copy()
        v[:, :, 0] = theta_2[:, None]
        v[:, 0, :] = theta_1[:, None]
        return v

    index, bias = biases(c, bias_table, True, buckets, longest)
    index_code = index.copy()
    index_code[:, 0] = buckets
    index_code[0, :] = buckets // 2
    bias_code = bias_table[index_code].transpose(2, 0, 1)
    position_a, position_r = reset(untouched), reset(untouched + bias)
    assert same(position_a[:, 0, 0], theta_1) and same(position_r[:, 0], position_a[:, 0])
    # Away from [CLS], paper and code agree.
    assert n == 1 or same((position_a + bias_code - position_r)[:, 1:, 1:], np.zeros(1))
    # Bucket buckets/2 is the one that no offset reaches.
    assert buckets // 2 not in [bucket(o, True, buckets, longest) for o in range(-200, 201)]
    return {
        "scale": s,
        "position_table": table,
        "gamma": gamma,
        "beta": beta,
        "eps": eps,
        "position_query_weight": u_q,
        "position_query_bias": b_q,
        "position_key_weight": u_k,
        "position_key_bias": b_k,
        "buckets": buckets,
        "max_distance": longest,
        "bias_table": bias_table,
        "content": content,
        "position": untouched,
        "tupe_a_logits": content + position_a,
        "tupe_r_logits_paper": content + position_r,
        "tupe_r_logits_code": content + position_a + bias_code,
    }


def diet(c, rng, d_p):
    n, heads = c["n"], c["heads"]
    p_q, p_k = (random_numbers(rng, heads, n, d_p, spread=0.7) for _ in range(2))
    relative = random_numbers(rng, heads, 2 * n - 1)
    content = c["scale"] * products(c["q"], c["k"])
    absolute = products(p_q, p_k)
    by_offset = relative[:, -offsets(n) + n - 1]
    if n > 1:
        assert same(by_offset[:, 1, 0], relative[:, n])
        joint = np.linalg.matrix_rank(content[0] + absolute[0])
        assert joint <= c["q"].shape[-1] + d_p
    return {
        "position_query": p_q,
        "position_key": p_k,
        "relative": relative,
        "content": content,
        "absolute": absolute,
        "diet_abs_logits": content + absolute,
        "diet_rel_logits": content + by_offset,
    }


def inputs(rng, n, d, heads, d_h):
    """The inputs of every scheme: x, the weights, and q and k, each [H, n, d_h]."""
    x = random_numbers(rng, n, d)
    w_q, w_k = (random_numbers(rng, heads * d_h, d, spread=0.5) for _ in range(2))
    q, k = by_head(x @ w_q.T, heads), by_head(x @ w_k.T, heads)
    return {"x": x, "w_q": w_q, "w_k": w_k, "q": q, "k": k, "n": n, "heads": heads, "scale": 1 / math.sqrt(d_h)}


def case(rng, n, d, heads, d_h, clip, reach, d_p):
    c = inputs(rng, n, d, heads, d_h)
    return {
        "heads": heads,
        "scale": c["scale"],
        "x": c["x"],
        "query_weight": c["w_q"],
        "key_weight": c["w_k"],
        "none": none(c),
        "shaw": shaw(c, rng, clip),
        "transformer_xl": transformer_xl(c, rng),
        "t5": [t5(c, rng, True, 8, 6), t5(c, rng, False, 6, 4)],
        "alibi": alibi(c),
        "deberta": deberta(c, rng, reach),
        "tupe": tupe(c, rng, 8, 6),
        "diet": diet(c, rng, d_p),
    }


if __name__ == "__main__":
    rng = np.random.default_rng(8)
    write_beside(
        __file__,
        {
            "t5_buckets": bucket_tables(),
            "alibi_slopes": slopes(),
            #                  n  d  H d_h clip reach d_p
            "cases": [case(rng, 5, 10, 2, 4, 2, 3, 3), case(rng, 1, 4, 1, 2, 0, 1, 1)],
        },
    )
