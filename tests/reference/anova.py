"""What the terms of a score ask about, by the rule of "a term asks about what it varies with, all means removed".

  rope     q_i, k_j of n tokens as complex numbers, one for each pair of channels (2m, 2m+1);
           S_ij = s Re sum_m conj(q_im) k_jm exp(i theta_m (j - i)), theta_m = base^(-2m/d_h).
           mu: the mean of the rows; q~ = q - mu; R-: the mean of exp(i theta_m (j - i)) over the pairs that
           attend; R~ = R - R-.
           token-token = q~ R- k~, token-position = q~ R mu, position-token = mu R~ k~,
           position-position = mu R mu, token-offset = q~ R~ k~, key = mu R- k~. The six add up to S.
  others   n tokens, one head, mu the mean of the n rows, ~ less the mean (over tokens, or over pairs). The terms
           token-position, position-token, position-position and key:
           alibi, bias      -      -      b~                   mu_q k~
           tupe             -      -      its own              mu_q k~
           shaw             q~ a~  -      mu_q a~              mu_q k~
           transformer_xl   q~ r~  -      (mu_q + v) r~        (mu_q + u) k~
           deberta          q~ K~  k~ Q~  mu_q K~ + mu_k Q~    (mu_q + Q-) k~
           token-token = q~ k~ always; what is left of the score is the same for every key.

Shares: <term, S> / <S, S>, each row centred over the keys that it attends to, of all queries together.
"""

import numpy as np

from oracle_json import write_beside

# In the order of the core.
NAMES = ("token-token", "token-position", "position-token", "position-position", "token-offset", "key")


def attended(n, causal):
    return np.tri(n, dtype=bool) if causal else np.ones((n, n), dtype=bool)


def centred(matrix, mask):
    count = mask.sum(-1, keepdims=True)
    mean = np.where(mask, matrix, 0).sum(-1, keepdims=True) / count
    return np.where(mask, matrix - mean, 0)


def shares(terms, score, mask):
    whole = centred(score, mask)
    return {name: (centred(term, mask) * whole).sum() / (whole**2).sum() for name, term in terms.items()}


def rope(rng, n, pairs, base, causal):
    theta = base ** (-np.arange(pairs) / pairs)
    rows = np.round(rng.normal(0.8, 1, (2, n, pairs, 2)), 3)
    q, k = rows[..., 0] + 1j * rows[..., 1]
    scale = 1 / np.sqrt(2 * pairs)
    offset = np.arange(n)[None, :] - np.arange(n)[:, None]
    turn = np.exp(1j * offset[..., None] * theta)
    mask = attended(n, causal)
    mean_turn = np.broadcast_to(turn[mask].mean(0), turn.shape)
    rest_turn = turn - mean_turn

    def score(left, r, right):
        return scale * np.einsum("im,ijm,jm->ij", left.conj(), r, right).real

    mu_q, mu_k = (np.broadcast_to(x.mean(0), x.shape) for x in (q, k))
    terms = {
        "token-token": score(q - mu_q, mean_turn, k - mu_k),
        "token-position": score(q - mu_q, turn, mu_k),
        "position-token": score(mu_q, rest_turn, k - mu_k),
        "position-position": score(mu_q, turn, mu_k),
        "token-offset": score(q - mu_q, rest_turn, k - mu_k),
        "key": score(mu_q, mean_turn, k - mu_k),
    }
    whole = score(q, turn, k)
    assert np.abs(sum(terms.values()) - whole).max() < 1e-12
    return {
        "base": base,
        "causal": causal,
        "scale": scale,
        "query": rows[0].reshape(n, 2 * pairs),
        "key": rows[1].reshape(n, 2 * pairs),
        "terms": {name: centred(terms[name], mask) for name in NAMES},
        "shares": shares(terms, whole, mask),
    }


def others(rng, n, width, causal):
    """Terms with their rows centred over the keys that a query attends to, so that what is the same for every key is gone."""

    def rows(count):
        return np.round(rng.normal(0.4, 1, (count, width)), 3)

    q, k = rows(n), rows(n)
    # Of the offset j - i at row j - i + n - 1.
    a, r, bias = rows(2 * n - 1), rows(2 * n - 1), np.round(rng.normal(0, 1, 2 * n - 1), 3)
    u, v, p, untied = rows(1)[0], rows(1)[0], rows(n), rows(n)
    # DeBERTa's, of the distance i - j at row i - j + n; row 0 is not used.
    dq, dk = rows(2 * n), rows(2 * n)
    scale = 0.5
    offset = np.arange(n)[None, :] - np.arange(n)[:, None]
    mask = attended(n, causal)
    mu_q, mu_k = q.mean(0), k.mean(0)
    q_own, k_own = q - mu_q, k - mu_k

    def by_pair(table, index):
        found = table[index]
        return found, found[mask].mean(0)

    def less(table, index):
        found, mean = by_pair(table, index)
        return found - mean

    a_own, r_own = less(a, offset + n - 1), less(r, offset + n - 1)
    dk_own, (dq_all, dq_mean) = less(dk, n - offset), by_pair(dq, n + offset)
    dq_own = dq_all - dq_mean
    alone = np.ones((n, 1))
    key = lambda row: scale * alone * (k_own @ row)[None]
    of_query = lambda table: scale * np.einsum("ic,ijc->ij", q_own, table)
    along = lambda row, table: scale * np.einsum("c,ijc->ij", row, table)
    common = {"token-token": scale * q_own @ k_own.T}
    content = scale * q @ k.T
    slope = 2.0**-8
    b = bias[offset + n - 1]
    own = p @ untied.T
    deberta = content + scale * np.einsum("ic,ijc->ij", q, dk[n - offset])
    deberta = deberta + scale * np.einsum("jc,ijc->ij", k, dq_all)
    cases = {
        "alibi": ({"position-position": -slope * np.abs(offset), "key": key(mu_q)}, content - slope * np.abs(offset)),
        "bias": ({"position-position": b - b[mask].mean(), "key": key(mu_q)}, content + b),
        "diet_abs": ({"position-position": own, "key": key(mu_q)}, content + own),
        "shaw": (
            {"position-position": along(mu_q, a_own), "token-position": of_query(a_own), "key": key(mu_q)},
            content + scale * np.einsum("ic,ijc->ij", q, a[offset + n - 1]),
        ),
        "transformer_xl": (
            {"position-position": along(mu_q + v, r_own), "token-position": of_query(r_own), "key": key(mu_q + u)},
            content + scale * (k @ u)[None] + scale * np.einsum("ijc,ijc->ij", q[:, None] + v, r[offset + n - 1]),
        ),
        "deberta": (
            {
                "position-position": along(mu_q, dk_own) + along(mu_k, dq_own),
                "token-position": of_query(dk_own),
                "position-token": scale * np.einsum("jc,ijc->ij", k_own, dq_own),
                "key": key(mu_q + dq_mean),
            },
            deberta,
        ),
    }
    found = {}
    for name, (terms, score) in cases.items():
        terms = {**common, **terms}
        gap = sum(centred(term, mask) for term in terms.values()) - centred(score, mask)
        assert np.abs(gap).max() < 1e-12, name
        found[name] = {
            "score": score,
            "terms": {name: centred(terms.get(name, np.zeros((n, n))), mask) for name in NAMES},
        }
    given = {"query": q, "key": k, "u": u, "v": v, "position_query": p, "position_key": untied}
    tables = {"shaw_keys": a, "offsets": r, "bias": bias, "distance_queries": dq, "distance_keys": dk}
    return {"causal": causal, "scale": scale, **given, **tables, "schemes": found}


if __name__ == "__main__":
    rng = np.random.default_rng(30)
    #         n pairs base causal
    shapes = ((5, 2, 50.0, False), (4, 1, 10.0, True), (6, 3, 10000.0, True))
    document = {
        "rope": [rope(rng, *shape) for shape in shapes],
        "others": [others(rng, 5, 3, False), others(rng, 3, 2, False), others(rng, 4, 3, True)],
    }
    write_beside(__file__, document, 15)
