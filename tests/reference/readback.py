"""What can be read back from tokens plus positions, and what each variant costs. float64.

  collisions   x = e_a + p_i. Nearest bare token to x: argmin_b |x - e_b|; it is not a iff
               <e_b - e_a, p_i> > |e_b - e_a|^2 / 2 for some b
  costs        every matrix of BERT-base counted (Devlin et al. 2019, modeling.py)
"""

import math

import numpy as np

from decomposition import random_numbers
from geometry import incomplete_beta
from oracle_json import write_beside


def same(a, b, tolerance=1e-12):
    return np.abs(np.asarray(a) - np.asarray(b)).max() < tolerance


# --- collisions


def nearest(e, p):
    """[L][V]: the token nearest to e_a + p_i, and the errors per position."""
    found = np.empty((len(p), len(e)), dtype=int)
    for i in range(len(p)):
        for a in range(len(e)):
            x = e[a] + p[i]
            distances = ((x - e) ** 2).sum(1)
            found[i, a] = distances.argmin()
            two = np.sort(distances)[:2]
            assert len(e) == 1 or two[1] - two[0] > 1e-6, "a tie"
            delta = e - e[a]
            fails = bool(((delta @ p[i]) > (delta**2).sum(1) / 2 + 1e-12).any())
            assert fails == (found[i, a] != a)
    return found


def q_function(z):
    return math.erfc(z / math.sqrt(2)) / 2


def collisions(rng):
    out = []
    exact = (np.array([[1.0, 0, 2], [0.5, 1, 2], [3, -1, 0.5]]), np.array([[0.0, 0.5, 1], [0.5, -0.5, 1]]))
    for name, e, p in (
        ("five tokens, three positions", random_numbers(rng, 5, 2), random_numbers(rng, 3, 2)),
        ("wider", random_numbers(rng, 6, 4), random_numbers(rng, 4, 4, spread=1.5)),
        ("two sums are equal", *exact),
        ("one token, one position", random_numbers(rng, 1, 3), random_numbers(rng, 1, 3)),
    ):
        found = nearest(e, p)
        wrong = (found != np.arange(len(e))).mean(axis=1)
        # At the same position, distances are those of the bare tokens.
        d = np.linalg.norm(e[:, None] - e[None], axis=-1)
        for row in p:
            assert same(d, np.linalg.norm((e + row)[:, None] - (e + row)[None], axis=-1))
        out.append({"name": name, "tokens": e, "positions": p, "nearest_token": found, "error_by_position": wrong})
    return out


def pair_probability(d, rho):
    """P(<D, p> > |D|^2 / 2), D ~ N(0, 2I), p ~ N(0, rho^2 I).

    <D, p> / |D| ~ N(0, rho^2), so a normal number must exceed |D| / (2 rho), with |D|^2 / 2 ~ chi^2_d:
    Student's t with d degrees of freedom exceeds sqrt(d/2) / rho.
    """
    return incomplete_beta(1 / (1 + 1 / (2 * rho * rho)), d / 2, 0.5) / 2


def pair_probability_by_sums(d, rho):
    """E Q(sqrt(chi^2_d / 2) / rho) on a fine grid of r = sqrt(chi^2_d)."""
    r = np.linspace(0, math.sqrt(d) + 14, 20001)[1:]
    logs = (d - 1) * np.log(r) - r * r / 2 - (d / 2 - 1) * math.log(2) - math.lgamma(d / 2)
    return float((np.exp(logs) * [q_function(x / math.sqrt(2) / rho) for x in r]).sum() * (r[1] - r[0]))


def pair_probabilities():
    out = []
    for d, rho in ((8, 1.0), (16, 1.0), (32, 1.0), (64, 1.0), (64, 2.0)):
        typical = q_function(math.sqrt(2 * d) * math.sqrt(d) / (2 * rho * math.sqrt(d)))
        exact = pair_probability(d, rho)
        assert abs(pair_probability_by_sums(d, rho) / exact - 1) < 1e-9
        print(f"  d {d}, rho {rho}: pair {exact:.4g}, at typical norms {typical:.4g}")
        out.append({"d": d, "rho": rho, "pair": exact, "at_typical_norms": typical})
    return out


def simulated_errors():
    """Printed only: expected identity error among V tokens, averaged over positions."""
    rng = np.random.default_rng(1)
    for d, rho, count, draws in ((8, 1.0, 5000, 12), (16, 1.0, 5000, 12), (32, 1.0, 5000, 12), (64, 1.0, 5000, 12), (64, 2.0, 5000, 12)):
        rates = []
        for _ in range(draws):
            e, p = rng.normal(size=(count, d)), rho * rng.normal(size=d)
            a = e[:400]
            x = a + p
            # |x - e_b|^2 < |p|^2 for some b
            squares = (x**2).sum(1)[:, None] + (e**2).sum(1) - 2 * x @ e.T
            squares[np.arange(400), np.arange(400)] = np.inf
            rates.append((squares.min(1) < p @ p).mean())
        print(f"  d {d}, rho {rho}: error {np.mean(rates):.4f} +- {np.std(rates) / math.sqrt(draws):.4f}, spread {np.std(rates):.3f}")


# --- costs


def matrices(token_width, position_width, layers, ratio, vocabulary, positions, segments, scheme):
    """[(name, shape)] of a BERT encoder; the tables determine how wide the stream is."""
    wide = token_width + position_width if scheme.startswith("concat") else token_width
    out = [
        ("token table", (vocabulary, token_width)),
        ("position table", (positions, position_width)),
        ("segment table", (segments, token_width)),
    ]
    if scheme == "project":
        out += [("projection", (wide, token_width + position_width)), ("projection bias", (wide,))]
    out += [("embedding gamma", (wide,)), ("embedding beta", (wide,))]
    for _ in range(layers):
        for part in ("query", "key", "value", "attention output"):
            out += [(part, (wide, wide)), (part + " bias", (wide,))]
        out += [("attention gamma", (wide,)), ("attention beta", (wide,))]
        out += [("up", (ratio * wide, wide)), ("up bias", (ratio * wide,)), ("down", (wide, ratio * wide)), ("down bias", (wide,))]
        out += [("feed-forward gamma", (wide,)), ("feed-forward beta", (wide,))]
    out += [("pooler", (wide, wide)), ("pooler bias", (wide,))]
    return wide, out


def costs():
    base = None
    out = []
    for name, scheme, d_t, d_p in (
        ("BERT-base, added", "add", 768, 768),
        ("concatenated, 64 more", "concat-wide", 768, 64),
        ("concatenated, 256 more", "concat-wide", 768, 256),
        ("concatenated, twice as wide", "concat-wide", 768, 768),
        ("704 + 64", "concat", 704, 64),
        ("768 + 64, projected to 768", "project", 768, 64),
    ):
        wide, parts = matrices(d_t, d_p, 12, 4, 30522, 512, 2, scheme)
        count = {n: sum(math.prod(s) for m, s in parts if m == n) for n in dict(parts)}
        total = sum(count.values())
        base = base or total
        tables = sum(count[t] for t in ("token table", "position table", "segment table"))
        embeddings = tables + sum(count.get(t, 0) for t in ("projection", "projection bias", "embedding gamma", "embedding beta"))
        pooler = count["pooler"] + count["pooler bias"]
        layers = total - embeddings - pooler
        assert layers % 12 == 0 and layers // 12 == 4 * wide**2 + 4 * wide + 8 * wide**2 + 5 * wide + 4 * wide
        out.append({"name": name, "scheme": scheme, "position_width": d_p, "stream_width": wide, "total": total})
        print(f"  {name}: {total:,} ({total - base:+,}, x{total / base:.4f})")
    assert [c["total"] for c in out[:4]] == [109482240, 123979968, 175779840, 366177792]
    assert out[4]["total"] - base == -2313984 and out[5]["total"] - base == 639744 - 360448

    scores_only = []
    for heads, d_p, d_pk in ((12, 64, 16), (12, 768, 64), (1, 1, 1)):
        weights = [(heads * d_pk, d_p)] * 2  # position query, position key
        parameters = sum(math.prod(w) for w in weights)
        scores_only.append({"heads": heads, "position_width": d_p, "position_head_width": d_pk, "parameters": parameters})
    return {"bert_base": out, "scores_only": scores_only}


if __name__ == "__main__":
    rng = np.random.default_rng(12)
    document = {
        "collisions": collisions(rng),
        "pair_probabilities": pair_probabilities(),
        "costs": costs(),
    }
    simulated_errors()
    write_beside(__file__, document)
