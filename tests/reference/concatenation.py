"""Adding against concatenating tokens and positions, in float64.

Token vectors t_i and position vectors p_i, scaled by rho:

  add           <t_i + rho p_i, t_j + rho p_j>
                  = <t_i,t_j> + rho <t_i,p_j> + rho <p_i,t_j> + rho^2 <p_i,p_j>
  concatenate   <[t_i; rho p_i], [t_j; rho p_j]> = <t_i,t_j> + rho^2 <p_i,p_j>

With weights, W = [W_t W_p] cut at column d_t, a concatenation has all four terms
again, each with its own block W_Qa' W_Kb. Only block-diagonal weights remove the
cross terms, and then the logits are the sum of two scores (Ke et al. 2021, eq. 7;
the scale is 1/sqrt of the concatenated head width, as in DeepSeek-V2).

The order of terms is always token-token, token-position, position-token,
position-position, the query first. Terms are [n, n] or [H, n, n]; a weight is
[H * d_h, d] (y = W x), and head h owns rows h * d_h to (h+1) * d_h.
"""

import numpy as np

from decomposition import by_head, random_numbers
from oracle_json import write_beside


def same(a, b):
    return np.abs(np.asarray(a) - np.asarray(b)).max() < 1e-12


def dot_terms(token, position, rho):
    """[4, n, n]; needs equal widths."""
    p = rho * position
    return np.stack([token @ token.T, token @ p.T, p @ token.T, p @ p.T])


def score_terms(token, position, w_q, w_k, heads, scale):
    """[H, 4, n, n] under a full weight on the concatenation: four blocks."""
    d_t = token.shape[1]
    q = [by_head(token @ w_q[:, :d_t].T, heads), by_head(position @ w_q[:, d_t:].T, heads)]
    k = [by_head(token @ w_k[:, :d_t].T, heads), by_head(position @ w_k[:, d_t:].T, heads)]
    return scale * np.stack([np.einsum("hid,hjd->hij", a, b) for a in q for b in k], axis=1)


def scores(x, y, w_q, w_k, heads, scale):
    """[H, n, n] for queries from x and keys from y, without splitting them."""
    return scale * np.einsum("hid,hjd->hij", by_head(x @ w_q.T, heads), by_head(y @ w_k.T, heads))


def block_diagonal(w1, w2, heads):
    """[H * (d_h1 + d_h2), d_t + d_p]: each head's token rows, then its position rows."""
    rows = []
    for a, b in zip(np.split(w1, heads), np.split(w2, heads)):
        rows.append(np.hstack([a, np.zeros((len(a), w2.shape[1]))]))
        rows.append(np.hstack([np.zeros((len(b), w1.shape[1])), b]))
    return np.vstack(rows)


def dot_products(rng):
    out = []
    for n, d_t, d_p, rho in ((4, 5, 5, 1.0), (3, 4, 4, 0.3), (4, 5, 3, 0.3)):
        token, position = random_numbers(rng, n, d_t), random_numbers(rng, n, d_p)
        c = {"rho": rho, "token": token, "position": position}

        z = np.hstack([token, rho * position])
        c["concatenated"] = z @ z.T
        assert same(c["concatenated"], token @ token.T + rho**2 * position @ position.T)

        # Vectors of different widths can be concatenated but not added.
        c["add_terms"] = c["added"] = None
        if d_t == d_p:
            c["add_terms"] = dot_terms(token, position, rho)
            x = token + rho * position
            c["added"] = x @ x.T
            assert same(c["add_terms"].sum(axis=0), c["added"])
            assert same(c["added"] - c["concatenated"], c["add_terms"][1] + c["add_terms"][2])
        out.append(c)
    return out


def full_weights(rng):
    out = []
    for n, d_t, d_p, heads, d_h, rho in ((4, 5, 3, 2, 2, 0.3), (3, 4, 4, 1, 3, 1.0)):
        token, position = random_numbers(rng, n, d_t), random_numbers(rng, n, d_p)
        w_q, w_k = (random_numbers(rng, heads * d_h, d_t + d_p, spread=0.6) for _ in range(2))
        scale = 1 / np.sqrt(d_h)
        z = np.hstack([token, rho * position])
        logits = scores(z, z, w_q, w_k, heads, scale)
        parts = score_terms(token, rho * position, w_q, w_k, heads, scale)
        assert same(parts.sum(axis=1), logits)

        # The four blocks share rank <= d_h, though they differ: three of them give the fourth.
        for h in range(heads):
            rows = slice(h * d_h, (h + 1) * d_h)
            a = w_q[rows].T @ w_k[rows]
            fourth = a[d_t:, :d_t] @ np.linalg.pinv(a[:d_t, :d_t], rcond=1e-10) @ a[:d_t, d_t:]
            assert np.abs(a[d_t:, d_t:] - fourth).max() < 1e-12

        out.append(
            {
                "heads": heads,
                "scale": scale,
                "rho": rho,
                "token": token,
                "position": position,
                "query_weight": w_q,
                "key_weight": w_k,
                "logits": logits,
                "terms": parts,
            }
        )
    return out


def block_diagonal_weights(rng):
    out = []
    for n, d_t, d_p, heads, d_h1, d_h2, rho in ((4, 5, 3, 2, 2, 1, 0.3), (3, 4, 4, 1, 3, 2, 1.0)):
        token, position = random_numbers(rng, n, d_t), random_numbers(rng, n, d_p)
        w_q1, w_k1 = (random_numbers(rng, heads * d_h1, d_t, spread=0.6) for _ in range(2))
        w_q2, w_k2 = (random_numbers(rng, heads * d_h2, d_p, spread=0.6) for _ in range(2))
        scale = 1 / np.sqrt(d_h1 + d_h2)
        content = scores(token, token, w_q1, w_k1, heads, scale)
        place = scores(rho * position, rho * position, w_q2, w_k2, heads, scale)

        w_q, w_k = block_diagonal(w_q1, w_q2, heads), block_diagonal(w_k1, w_k2, heads)
        z = np.hstack([token, rho * position])
        assert same(scores(z, z, w_q, w_k, heads, scale), content + place)
        parts = score_terms(token, rho * position, w_q, w_k, heads, scale)
        assert not parts[:, 1:3].any()

        # A change of basis of the head space, M in the query and M^-T in the key, leaves
        # every term unchanged, so even dense weights can have no cross terms.
        d_h = d_h1 + d_h2
        m = np.eye(d_h) + np.triu(np.full((d_h, d_h), 0.5), 1)
        m[-1, 0] = -0.25
        dense_q = np.vstack([m @ block for block in np.split(w_q, heads)])
        dense_k = np.vstack([np.linalg.inv(m).T @ block for block in np.split(w_k, heads)])
        assert same(score_terms(token, rho * position, dense_q, dense_k, heads, scale), parts)

        out.append(
            {
                "heads": heads,
                "scale": scale,
                "rho": rho,
                "token": token,
                "position": position,
                "token_query_weight": w_q1,
                "token_key_weight": w_k1,
                "position_query_weight": w_q2,
                "position_key_weight": w_k2,
                "block_diagonal_query_weight": w_q,
                "block_diagonal_key_weight": w_k,
                "dense_query_weight": dense_q,
                "dense_key_weight": dense_k,
                "token_score": content,
                "position_score": place,
                "logits": content + place,
            }
        )
    return out


def identities(rng):
    n, d_t, d_p, width = 3, 4, 3, 2
    token, position = random_numbers(rng, n, d_t), random_numbers(rng, n, d_p)
    w1, w2 = random_numbers(rng, width, d_t), random_numbers(rng, width, d_p)
    output = np.hstack([token, position]) @ np.hstack([w1, w2]).T
    assert same(output, token @ w1.T + position @ w2.T)
    separate = {
        "identity": "[W1 W2][x; p] = W1 x + W2 p",
        "token": token,
        "position": position,
        "w1": w1,
        "w2": w2,
        "output": output,
    }

    # The weight absorbs a scale of the table, so a concatenation does not notice it.
    rho = 0.3
    assert same(np.hstack([token, rho * position]) @ np.hstack([w1, w2 / rho]).T, output)

    position4 = random_numbers(rng, n, d_t)
    shared_output = (token + position4) @ w1.T
    assert same(shared_output, np.hstack([token, position4]) @ np.hstack([w1, w1]).T)
    shared = {
        "identity": "W (x + p) = [W W][x; p]",
        "token": token,
        "position": position4,
        "w": w1,
        "output": shared_output,
    }

    heads, d_h = 2, 2
    w_q, w_k = (random_numbers(rng, heads * d_h, d_t, spread=0.6) for _ in range(2))
    scale = 1 / np.sqrt(d_h)
    x = token + position4
    added = scores(x, x, w_q, w_k, heads, scale)
    tied = score_terms(token, position4, np.hstack([w_q, w_q]), np.hstack([w_k, w_k]), heads, scale)
    assert same(tied.sum(axis=1), added)
    tied_scores = {
        "identity": "adding = concatenating with [W_Q W_Q] and [W_K W_K], term by term",
        "heads": heads,
        "scale": scale,
        "token": token,
        "position": position4,
        "query_weight": w_q,
        "key_weight": w_k,
        "terms": tied,
        "logits": added,
    }

    padded_token = np.hstack([token, np.zeros((n, d_p))])
    padded_position = np.hstack([np.zeros((n, d_t)), position])
    total = padded_token + padded_position
    assert np.array_equal(total, np.hstack([token, position]))
    assert not dot_terms(padded_token, padded_position, 1.0)[1:3].any()
    disjoint = {
        "identity": "[x; 0] + [0; p] = [x; p]",
        "padded_token": padded_token,
        "padded_position": padded_position,
        "sum": total,
        "dot_products": total @ total.T,
    }
    return {
        "separate_projections": separate,
        "shared_projection": shared,
        "tied_scores": tied_scores,
        "disjoint_supports": disjoint,
    }


if __name__ == "__main__":
    rng = np.random.default_rng(6)
    write_beside(
        __file__,
        {
            "dot_products": dot_products(rng),
            "full_weights": full_weights(rng),
            "block_diagonal_weights": block_diagonal_weights(rng),
            "identities": identities(rng),
        },
    )
