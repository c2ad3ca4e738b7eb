"""Small transformers trained in float64: forward, loss, gradients, AdamW, and measurements of them.

Tokens are rows (x W), there are no biases, and normalization has a gain only. With V tokens, L position
rows, stream width D, H heads, d_h = D/H, c = 1/sqrt(d_h), e = E[t] and p_i = P[i]:

  x       add         e + p                       learned or sinusoid tables, or fixed ones
          concat      [e | p], d_t + d_p = D      likewise
          concat-wide [e | p], d_t = d_p = width, D = 2 width
          none, tupe, rope, alibi, t5             e
          project     [e | p] W_f
          multiply    e * (1 + p)
          add-to-queries-keys  e; p enters in every layer, below
          scale_tokens: e = sqrt(d_t) E[t] in all of these
  layer   h = LN(x) * g1, LN(x) = C x / sqrt(|C x|^2/D + 1e-5), [q|k|v] = h W_qkv, head h the columns
          h d_h to (h+1) d_h of each; S_ij = c q_i'k_j and more:
          tupe        c = 1/sqrt(2 d_h), + c (p_i U_q)_h'(p_j U_k)_h
          rope        channels 2k, 2k+1 of q and k turned by i 10000^(-2k/d_h)
          add-to-queries-keys  q, k from LN(x + p) * g1, v from LN(x) * g1
          alibi       - m_h |i-j|: 2^(-8/H), 2^(-16/H), ... where H is a power of two; else those of the
                      power below H, then every other one of twice that power
          t5          + T5[h, j-i + L-1]
          x <- x + [softmax(S) v over heads] W_o over j <= i or all j
  output  (LN(x) * gf) W_u; loss: mean of -ln softmax at the target, over positions of the batch with one
  AdamW   g <- g min(1, 1/|g|), |g| over all trained parameters; m, v of g; s from 1;
          lr_s = lr min(1, s/warm) (0.1 + 0.45 (1 + cos(pi s/steps)));
          theta <- theta (1 - lr_s wd) - lr_s m^/(sqrt(v^) + eps), wd = 0 for gains
  terms   h_T = g1 * C e/sigma_i, h_P = g1 * C p/sigma_i, sigma_i that of x, or of x + p for add-to-queries-keys; concat: the
          other part zeros; project: e and p times their halves of W_f; none for the schemes where the queries
          and keys of the first layer read no sum of e and p
  overlap A = D |E_c P_c'|^2 / (|E_c|^2 |P_c|^2), column means removed; A = 1 +- sqrt(2/(PR_E PR_P)) where
          one table is turned at random, PR = (sum s^2)^2 / sum s^4 of singular values. That is for large D:
          the variance is 2 D^2 (1/PR_E - 1/D) (1/PR_P - 1/D) / ((D-1)(D+2)) exactly

Gradients come from the tape below, and are compared with central differences of the loss, entry by entry.
Sources: Vaswani et al. 2017; Ke et al. 2021, eq. 7; Su et al. 2021; Press et al. 2022; Raffel et al. 2020;
Loshchilov & Hutter 2019 (AdamW). README.md, "Readings", lists what these leave open.

`training.py` writes the JSON, with --no-differences without comparing gradients.
"""

import enum
import itertools
import math
import sys

import numpy as np

from decomposition import random_numbers
from geometry import overlap
from oracle_json import write_beside
from schemes import alibi_slopes

TERMS = ("token-token", "token-position", "position-token", "position-position")
EPS_NORM = 1e-5

# --- a tape


class Node:
    """An array and, for each array it was made from, the function that pulls its gradient back."""

    def __init__(self, value, made_from=()):
        self.value = value
        self.made_from = made_from
        self.gradient = None


def backward(loss):
    order, seen = [], set()

    def visit(node):
        if id(node) not in seen:
            seen.add(id(node))
            for parent, _ in node.made_from:
                visit(parent)
            order.append(node)

    visit(loss)
    for node in order:
        node.gradient = None
    loss.gradient = np.ones(())
    for node in reversed(order):
        for parent, pull in node.made_from:
            part = pull(node.gradient)
            assert part.shape == parent.value.shape
            parent.gradient = part if parent.gradient is None else parent.gradient + part


def constant(value):
    return Node(np.asarray(value, dtype=float))


def rows_of(table, index):
    """table[index], for an index of any shape."""

    def pull(g):
        out = np.zeros_like(table.value)
        np.add.at(out, index, g)
        return out

    return Node(table.value[index], ((table, pull),))


def moved(x, forth, back):
    """A rearrangement of entries, and its inverse."""
    return Node(forth(x.value), ((x, back),))


def side_by_side(a, b):
    """[a | b] in the last axis; `a` or `b` may lack the batch's axis, which is then repeated."""
    lead = np.broadcast_shapes(a.value.shape[:-1], b.value.shape[:-1])
    cut = a.value.shape[-1]
    whole = np.concatenate([np.broadcast_to(t.value, lead + t.value.shape[-1:]) for t in (a, b)], axis=-1)
    return Node(whole, ((a, lambda g: unbroadcast(g[..., :cut], a)), (b, lambda g: unbroadcast(g[..., cut:], b))))


def unbroadcast(g, node):
    """Sums over the axes that broadcasting repeated."""
    g = g.sum(axis=tuple(range(g.ndim - node.value.ndim)))
    return g.sum(axis=tuple(a for a, size in enumerate(node.value.shape) if size == 1 < g.shape[a]), keepdims=True)


def plus(a, b):
    return Node(a.value + b.value, ((a, lambda g: unbroadcast(g, a)), (b, lambda g: unbroadcast(g, b))))


def times(a, b):
    return Node(
        a.value * b.value,
        ((a, lambda g: unbroadcast(g * b.value, a)), (b, lambda g: unbroadcast(g * a.value, b))),
    )


def project(x, weight):
    """x W, for x of any leading shape."""
    inner, outer = weight.value.shape
    flat = x.value.reshape(-1, inner)
    return Node(
        (flat @ weight.value).reshape(*x.value.shape[:-1], outer),
        (
            (x, lambda g: (g.reshape(-1, outer) @ weight.value.T).reshape(x.value.shape)),
            (weight, lambda g: flat.T @ g.reshape(-1, outer)),
        ),
    )


def product(a, b):
    """a b, matrix by matrix, for the same leading shape."""
    return Node(
        a.value @ b.value,
        ((a, lambda g: g @ b.value.swapaxes(-1, -2)), (b, lambda g: a.value.swapaxes(-1, -2) @ g)),
    )


def transposed(x):
    return moved(x, lambda v: v.swapaxes(-1, -2), lambda g: g.swapaxes(-1, -2))


def scaled(x, factor):
    return Node(factor * x.value, ((x, lambda g: factor * g),))


def columns(x, first, last):
    def pull(g):
        out = np.zeros_like(x.value)
        out[..., first:last] = g
        return out

    return Node(x.value[..., first:last], ((x, pull),))


def layer_norm(x):
    centred = x.value - x.value.mean(axis=-1, keepdims=True)
    sigma = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPS_NORM)
    y = centred / sigma

    def pull(g):
        return (g - g.mean(axis=-1, keepdims=True) - y * (g * y).mean(axis=-1, keepdims=True)) / sigma

    return Node(y, ((x, pull),))


def softmax(scores, allowed):
    """Softmax over the last axis; `allowed` [n, n] is false where a key is masked."""
    s = np.where(allowed, scores.value, -np.inf)
    s = np.exp(s - s.max(axis=-1, keepdims=True))
    w = s / s.sum(axis=-1, keepdims=True)
    return Node(w, ((scores, lambda g: w * (g - (g * w).sum(axis=-1, keepdims=True))),))


def cross_entropy(logits, targets):
    """The mean over the positions whose target is not -1."""
    where = targets >= 0
    z = logits.value - logits.value.max(axis=-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    count = where.sum()
    assert count > 0
    picked = np.take_along_axis(log_p, np.maximum(targets, 0)[..., None], axis=-1)[..., 0]

    def pull(g):
        out = np.exp(log_p)
        np.put_along_axis(out, np.maximum(targets, 0)[..., None], np.exp(picked)[..., None] - 1, axis=-1)
        return g * out * where[..., None] / count

    return Node(np.asarray(-(picked * where).sum() / count), ((logits, pull),))


# --- the model


def sinusoid(rows, width, sigma):
    """[rows, width], sines and cosines interleaved; for an even width each row has rms sigma."""
    channel = np.arange(width)
    angle = np.arange(rows)[:, None] * 10000.0 ** (-(channel - channel % 2) / width)
    return sigma * math.sqrt(2) * np.where(channel % 2 == 0, np.sin(angle), np.cos(angle))


WITH_TABLE = ("add", "concat", "concat-wide", "tupe", "add-to-queries-keys", "project", "multiply")


def settings(
    scheme, table=None, width=32, split=None, heads=2, layers=1, layer_norm=True, causal=False,
    n=16, rows=None, vocabulary=16, classes=None, sigma=0.1, sigma_positions=None, scale_tokens=False,
    fixed=(), zero_scores=False,
):  # fmt: skip
    """Everything about a model except its numbers. `split` is (d_t, d_p) of a concatenation."""
    has_table = scheme in WITH_TABLE
    assert (table is not None) == has_table
    if scheme == "concat":
        d_token, d_position = split
        d_model = d_token + d_position
    elif scheme == "concat-wide":
        d_token = d_position = width
        d_model = 2 * width
    else:
        d_token = d_model = width
        d_position = width if has_table else None
    fixed = set(fixed) | ({"P"} if table == "sinusoid" else set())
    assert d_model % heads == 0 and (scheme != "rope" or d_model // heads % 2 == 0)
    return {
        "scheme": scheme,
        "table": table,
        "vocabulary": vocabulary,
        "classes": classes or vocabulary,
        "rows": rows or n,
        "n": n,
        "d_model": d_model,
        "d_token": d_token,
        "d_position": d_position,
        "heads": heads,
        "d_head": d_model // heads,
        "layers": layers,
        "layer_norm": layer_norm,
        "causal": causal,
        "zero_scores": zero_scores,
        "sigma": sigma,
        "sigma_positions": sigma if sigma_positions is None else sigma_positions,
        "scale_tokens": scale_tokens,
        "fixed": sorted(fixed),
    }


def shapes(c):
    """Shape and initial standard deviation of every parameter, in order; gains start at 1."""
    d, sigma = c["d_model"], c["sigma"]
    out = {"E": ((c["vocabulary"], c["d_token"]), sigma)}
    if c["d_position"]:
        out["P"] = ((c["rows"], c["d_position"]), c["sigma_positions"])
    if c["scheme"] == "project":
        out["W_f"] = ((2 * d, d), 1 / math.sqrt(d))
    if c["scheme"] == "tupe":
        spread = min(1, 0.5 / min(1, 2 * c["sigma_positions"])) / math.sqrt(c["d_position"])
        out["U_q"] = out["U_k"] = ((c["d_position"], d), spread)
    if c["scheme"] == "t5":
        out["T5"] = ((c["heads"], 2 * c["rows"] - 1), 0.0)
    for layer in range(c["layers"]):
        at = f"layers.{layer}."
        if c["layer_norm"]:
            out[at + "g1"] = ((d,), 0.0)
        out[at + "W_qkv"] = ((d, 3 * d), 1 / math.sqrt(d))
        out[at + "W_o"] = ((d, d), 1 / math.sqrt(2 * d * c["layers"]))
    if c["layer_norm"]:
        out["gf"] = ((d,), 0.0)
    out["W_u"] = ((d, c["classes"]), 0.02)
    return out


def is_gain(name):
    return name.split(".")[-1] in ("g1", "gf")


def trained(c):
    return [name for name in shapes(c) if name not in c["fixed"]]


def split_heads(x, heads):
    """[..., n, D] to [..., H, n, d_h]; head h owns the columns h d_h to (h+1) d_h."""

    def forth(v):
        return v.reshape(*v.shape[:-1], heads, -1).swapaxes(-2, -3)

    def back(g):
        g = g.swapaxes(-2, -3)
        return g.reshape(*g.shape[:-2], -1)

    return moved(x, forth, back)


def join_heads(x):
    heads = x.value.shape[-3]

    def forth(v):
        v = v.swapaxes(-2, -3)
        return v.reshape(*v.shape[:-2], -1)

    def back(g):
        return g.reshape(*g.shape[:-1], heads, -1).swapaxes(-2, -3)

    return moved(x, forth, back)


def turned(x):
    """Channels 2k and 2k+1 of row i by the angle i 10000^(-2k/d_h)."""
    n, width = x.value.shape[-2:]
    angle = np.arange(n)[:, None] * 10000.0 ** (-np.arange(0, width, 2) / width)
    cosine, sine = np.cos(angle), np.sin(angle)

    def turn(v, sine):
        out = np.empty_like(v)
        out[..., 0::2] = v[..., 0::2] * cosine - v[..., 1::2] * sine
        out[..., 1::2] = v[..., 0::2] * sine + v[..., 1::2] * cosine
        return out

    return moved(x, lambda v: turn(v, sine), lambda g: turn(g, -sine))


def score_scale(c):
    return 1 / math.sqrt((2 if c["scheme"] == "tupe" else 1) * c["d_head"])


def position_scores(c, theta, n):
    """What TUPE, ALiBi and T5 add to c q'k, [H, n, n]; None for the others."""
    offset = np.subtract.outer(np.arange(n), np.arange(n)).T  # j - i
    if c["scheme"] == "tupe":
        p = rows_of(theta["P"], np.arange(n))
        q, k = (split_heads(project(p, theta[u]), c["heads"]) for u in ("U_q", "U_k"))
        return scaled(product(q, transposed(k)), score_scale(c))
    if c["scheme"] == "alibi":
        slopes = np.array(alibi_slopes(c["heads"]))
        return constant(-slopes[:, None, None] * abs(offset))
    if c["scheme"] == "t5":
        head = np.arange(c["heads"])[:, None, None]
        return rows_of(theta["T5"], (head, offset + c["rows"] - 1))
    return None


def allowed_keys(c, n):
    return np.tri(n, dtype=bool) if c["causal"] else np.ones((n, n), dtype=bool)


def normalized(c, theta, x, gain):
    return times(layer_norm(x), theta[gain]) if c["layer_norm"] else x


def stream(c, theta, tokens):
    """x before the first layer, [B, n, D]."""
    e = rows_of(theta["E"], tokens)
    if c["scale_tokens"]:
        e = scaled(e, math.sqrt(c["d_token"]))
    scheme = c["scheme"]
    if scheme in ("none", "tupe", "rope", "alibi", "t5", "add-to-queries-keys"):
        return e
    p = rows_of(theta["P"], np.arange(tokens.shape[1]))
    if scheme == "add":
        return plus(e, p)
    if "concat" in scheme:
        return side_by_side(e, p)
    if scheme == "project":
        return project(side_by_side(e, p), theta["W_f"])
    if scheme == "multiply":
        return times(e, plus(constant(1.0), p))
    raise ValueError(scheme)


def read_by_attention(c, theta, x, gain):
    """What queries and keys read of the stream, and what values read."""
    h = normalized(c, theta, x, gain)
    if c["scheme"] != "add-to-queries-keys":
        return h, h
    return normalized(c, theta, plus(x, rows_of(theta["P"], np.arange(x.value.shape[1]))), gain), h


def forward(c, theta, tokens, first_scores=None, kept=None):
    """Logits [B, n, classes]. `first_scores` replaces S in the first layer; `kept` collects every S."""
    d, n = c["d_model"], tokens.shape[1]
    x = stream(c, theta, tokens)
    extra = position_scores(c, theta, n)
    allowed = allowed_keys(c, n)
    for layer in range(c["layers"]):
        at = f"layers.{layer}."
        of_scores, of_values = read_by_attention(c, theta, x, at + "g1")
        weight = theta[at + "W_qkv"]
        q, k, v = (
            split_heads(project(h, columns(weight, part * d, part * d + d)), c["heads"])
            for part, h in enumerate((of_scores, of_scores, of_values))
        )
        if c["scheme"] == "rope":
            q, k = turned(q), turned(k)
        scores = scaled(product(q, transposed(k)), score_scale(c))
        if extra is not None:
            scores = plus(scores, extra)
        if c["zero_scores"]:
            scores = scaled(scores, 0.0)
        if layer == 0 and first_scores is not None:
            scores = constant(first_scores)
        if kept is not None:
            kept.append(scores.value)
        x = plus(x, project(join_heads(product(softmax(scores, allowed), v)), theta[at + "W_o"]))
    return project(normalized(c, theta, x, "gf"), theta["W_u"])


def logits_of(c, parameters, tokens, first_scores=None):
    return forward(c, {name: Node(v) for name, v in parameters.items()}, tokens, first_scores).value


def loss_and_gradients(c, parameters, tokens, targets):
    theta = {name: Node(v) for name, v in parameters.items()}
    loss = cross_entropy(forward(c, theta, tokens), targets)
    backward(loss)
    return float(loss.value), {name: theta[name].gradient for name in trained(c)}


# --- AdamW

ADAMW = {"beta1": 0.9, "beta2": 0.98, "eps": 1e-8, "clip": 1.0, "weight_decay": 0.01}


def learning_rate(o, s):
    return o["lr"] * min(1, s / o["warm"]) * (0.1 + 0.45 * (1 + math.cos(math.pi * s / o["steps"])))


class AdamW:
    def __init__(self, options):
        self.options, self.s, self.m, self.v = options, 0, {}, {}

    def step(self, parameters, gradients):
        """Updates `parameters`; returns the gradient's norm before clipping, and the learning rate."""
        o = self.options
        self.s += 1
        norm = math.sqrt(sum((g**2).sum() for g in gradients.values()))
        clip = min(1, o["clip"] / norm) if norm > 0 else 1
        rate = learning_rate(o, self.s)
        for name, g in gradients.items():
            g = clip * g
            m = self.m[name] = o["beta1"] * self.m.get(name, 0.0) + (1 - o["beta1"]) * g
            v = self.v[name] = o["beta2"] * self.v.get(name, 0.0) + (1 - o["beta2"]) * g**2
            m_hat, v_hat = m / (1 - o["beta1"] ** self.s), v / (1 - o["beta2"] ** self.s)
            decay = 0.0 if is_gain(name) else o["weight_decay"]
            parameters[name] = parameters[name] * (1 - rate * decay) - rate * m_hat / (np.sqrt(v_hat) + o["eps"])
        return norm, rate


# --- measures


def accuracy(logits, targets):
    where = targets >= 0
    return float((logits.argmax(axis=-1) == targets)[where].mean())


def has_terms(c):
    summed = ("add", "concat", "concat-wide", "tupe", "project", "add-to-queries-keys")
    return c["scheme"] in summed and not c["zero_scores"]


def first_layer_terms(c, parameters, tokens):
    """[4, B, H, n, n], the four terms of the first layer's S."""
    d, n = c["d_model"], tokens.shape[1]
    e = parameters["E"][tokens]
    p = np.broadcast_to(parameters["P"][:n], (len(tokens), n, c["d_position"]))
    e = e * math.sqrt(c["d_token"]) if c["scale_tokens"] else e
    tupe = c["scheme"] == "tupe"
    if c["scheme"] == "project":
        e, p = e @ parameters["W_f"][:d], p @ parameters["W_f"][d:]
    if "concat" in c["scheme"]:
        e = np.concatenate([e, np.zeros(p.shape)], axis=-1)
        p = np.concatenate([np.zeros((len(tokens), n, c["d_token"])), p], axis=-1)
    x = e if tupe else e + p
    if c["layer_norm"]:
        sigma = np.sqrt(x.var(axis=-1, keepdims=True) + EPS_NORM)
        gain = parameters["layers.0.g1"]
        e, p_in = (gain * (t - t.mean(axis=-1, keepdims=True)) / sigma for t in (e, p))
    else:
        p_in = p

    def by_head(rows):
        return rows.reshape(*rows.shape[:-1], c["heads"], c["d_head"])

    weight = parameters["layers.0.W_qkv"]
    token, position = (
        (by_head(t @ weight[:, :d]), by_head(t @ weight[:, d : 2 * d])) for t in (e, p_in)
    )
    if tupe:
        position = tuple(by_head(p @ parameters[u]) for u in ("U_q", "U_k"))
    parts = [
        score_scale(c) * np.einsum("bihd,bjhd->bhij", q, k)
        for q in (token[0], position[0])
        for k in (token[1], position[1])
    ]
    if tupe:
        parts[1] = parts[2] = np.zeros_like(parts[0])
    return np.stack(parts)


def shares(c, terms):
    """[H, 4]: <T~, S~>/|S~|^2, centred over the allowed keys; sums over sequences and rows come first."""
    allowed = allowed_keys(c, terms.shape[-1])
    counts = allowed.sum(axis=-1, keepdims=True)

    def centred(matrix):
        return np.where(allowed, matrix - np.where(allowed, matrix, 0).sum(axis=-1, keepdims=True) / counts, 0)

    parts = centred(terms)
    whole = centred(terms.sum(axis=0))
    return (np.einsum("tbhij,bhij->ht", parts, whole).T / np.einsum("bhij,bhij->h", whole, whole)).T


def without_and_alone(c, parameters, tokens, targets, terms):
    """Accuracy and loss with each term cut, and with each alone: the first layer's softmax is recomputed."""
    whole = terms.sum(axis=0)
    out = {}
    for name, scores in (("cut", [whole - t for t in terms]), ("only", terms)):
        logits = [logits_of(c, parameters, tokens, s) for s in scores]
        out[f"accuracy_{name}"] = [accuracy(z, targets) for z in logits]
        out[f"loss_{name}"] = [float(cross_entropy(Node(z), targets).value) for z in logits]
    return out


def participation_ratio(table):
    s2 = np.linalg.svd(table, compute_uv=False) ** 2
    return float(s2.sum() ** 2 / (s2**2).sum())


def chance_band(e, p):
    """Standard deviation of the overlap when one table is turned at random."""
    d, pr_e, pr_p = e.shape[1], participation_ratio(e), participation_ratio(p)
    square = 2 * d**2 * (1 / pr_e - 1 / d) * (1 / pr_p - 1 / d) / ((d - 1) * (d + 2))
    return math.sqrt(max(0, square))


def tables_in_the_stream(c, parameters):
    """E [V, D] and the rows of P in use, [n, D], if both are summands of the stream; else None."""
    if c["scheme"] not in ("add", "concat", "concat-wide", "project"):
        return None
    e, p = parameters["E"], parameters["P"][: c["n"]]
    if c["scheme"] == "project":
        e, p = e @ parameters["W_f"][: c["d_model"]], p @ parameters["W_f"][c["d_model"] :]
    if "concat" in c["scheme"]:
        e = np.hstack([e, np.zeros((len(e), c["d_position"]))])
        p = np.hstack([np.zeros((len(p), c["d_token"])), p])
    return e, p


def separation(c, parameters):
    """Overlap with its chance band."""
    tables = tables_in_the_stream(c, parameters)
    if tables is None:
        return {"overlap": None, "chance_band": None}
    e, p = (t - t.mean(axis=0) for t in tables)
    a = c["d_model"] * ((e @ p.T) ** 2).sum() / ((e**2).sum() * (p**2).sum())
    assert abs(a - overlap(e, p)) < 1e-12 * max(1, a)
    return {"overlap": a, "chance_band": chance_band(e, p)}


def measures(c, parameters, tokens, targets):
    out = {"accuracy": accuracy(logits_of(c, parameters, tokens), targets)}
    out.update(dict.fromkeys(("shares", "shares_by_head", "accuracy_cut", "loss_cut", "accuracy_only", "loss_only")))
    if has_terms(c):
        terms = first_layer_terms(c, parameters, tokens)
        out["shares_by_head"] = shares(c, terms)
        out["shares"] = out["shares_by_head"].mean(axis=0)
        out.update(without_and_alone(c, parameters, tokens, targets, terms))
    return {**out, **separation(c, parameters)}


# --- tasks


def targets_of(task, tokens):
    """-1 where there is no answer."""
    n = len(tokens)
    if task == "badge":
        keys = n // 2
        colour = {int(t) // 4: int(t) % 4 for t in tokens if t < 4 * keys}
        return np.array([colour[int(t) - 4 * keys] if t >= 4 * keys else -1 for t in tokens])
    if task == "lookup":
        return tokens[tokens]
    if task == "roll":
        colour = np.empty(n, dtype=int)
        colour[tokens // 4] = tokens % 4
        return colour
    if task == "prev":
        return np.concatenate([[-1], tokens[:-1]])
    if task == "where":
        found = {int(t): i for i, t in enumerate(tokens) if t < n // 2}
        return np.array([found[int(t) - n // 2] if t >= n // 2 else -1 for t in tokens])
    raise ValueError(task)


TASKS = ("badge", "lookup", "roll", "prev", "where")


def sizes(task, n):
    """The numbers of tokens and classes."""
    return {"badge": (5 * (n // 2), 4), "roll": (4 * n, 4)}.get(task, (n, n))


def sequence(task, n, rng):
    half = n // 2
    if task == "badge":
        told = 4 * np.arange(half) + rng.integers(0, 4, half)
        return rng.permutation(np.concatenate([told, 4 * half + rng.integers(0, half, n - half)]))
    if task == "roll":
        return 4 * rng.permutation(n) + rng.integers(0, 4, n)
    if task == "where":
        return rng.permutation(np.concatenate([np.arange(half), half + rng.integers(0, half, n - half)]))
    return rng.integers(0, n, n)


def batch(task, n, count, rng):
    tokens = np.array([sequence(task, n, rng) for _ in range(count)])
    return tokens, np.array([targets_of(task, row) for row in tokens])


def task_examples():
    out = []
    for number, task in enumerate(TASKS):
        tokens, targets = batch(task, 6, 3, generator(Drawn.TASKS, number))
        vocabulary, classes = sizes(task, 6)
        assert tokens.max() < vocabulary and targets.max() < classes
        out.append({"task": task, "n": 6, "vocabulary": vocabulary, "classes": classes, "tokens": tokens, "targets": targets})
    return out


# --- the cases of the JSON

#     scheme         table       more
CASES = [
    ("none", None, {"width": 6, "heads": 2, "n": 4, "vocabulary": 5}),
    ("none", None, {"width": 4, "heads": 1, "n": 5, "vocabulary": 6, "classes": 3}),
    ("add", "learned", {"width": 6, "heads": 2, "n": 3, "vocabulary": 4}),
    ("add", "learned", {"width": 4, "heads": 2, "n": 6, "rows": 8, "vocabulary": 7, "classes": 4}),
    ("add", "sinusoid", {"width": 4, "heads": 2, "n": 4, "vocabulary": 5}),
    ("add", "sinusoid", {"width": 4, "heads": 1, "n": 5, "rows": 7, "vocabulary": 6}),
    ("add", "learned", {"width": 4, "heads": 2, "n": 5, "vocabulary": 6, "fixed": ["E", "P"]}),
    ("add", "learned", {"width": 6, "heads": 3, "n": 4, "vocabulary": 5, "fixed": ["E", "P"]}),
    ("concat", "learned", {"split": (4, 2), "heads": 2, "n": 4, "vocabulary": 5}),
    ("concat", "learned", {"split": (2, 2), "heads": 1, "n": 6, "vocabulary": 6, "classes": 4}),
    ("concat", "sinusoid", {"split": (2, 2), "heads": 2, "n": 5, "vocabulary": 5}),
    ("concat", "sinusoid", {"split": (2, 4), "heads": 1, "n": 4, "rows": 6, "vocabulary": 6}),
    ("concat", "learned", {"split": (3, 1), "heads": 2, "n": 5, "vocabulary": 7, "fixed": ["E", "P"]}),
    ("concat", "learned", {"split": (3, 3), "heads": 3, "n": 4, "vocabulary": 5, "fixed": ["E", "P"]}),
    ("concat-wide", "learned", {"width": 3, "heads": 2, "n": 4, "vocabulary": 5}),
    ("concat-wide", "learned", {"width": 2, "heads": 2, "n": 3, "rows": 4, "vocabulary": 5}),
    ("tupe", "learned", {"width": 6, "heads": 3, "n": 5, "vocabulary": 6}),
    ("tupe", "learned", {"width": 4, "heads": 2, "n": 4, "rows": 6, "vocabulary": 5}),
    ("rope", None, {"width": 4, "heads": 1, "n": 5, "vocabulary": 5}),
    ("rope", None, {"width": 8, "heads": 2, "n": 6, "vocabulary": 7, "classes": 4}),
    ("alibi", None, {"width": 4, "heads": 2, "n": 5, "vocabulary": 5}),
    ("alibi", None, {"width": 6, "heads": 3, "n": 6, "vocabulary": 6}),
    ("t5", None, {"width": 4, "heads": 2, "n": 4, "rows": 6, "vocabulary": 5}),
    ("t5", None, {"width": 4, "heads": 2, "n": 6, "vocabulary": 6}),
    # Besides the schemes: only one table fixed, and attention that cannot choose.
    ("add", "learned", {"width": 6, "heads": 2, "n": 4, "vocabulary": 5, "fixed": ["E"]}),
    ("add", "learned", {"width": 4, "heads": 2, "n": 5, "vocabulary": 6, "fixed": ["P"]}),
    ("tupe", "sinusoid", {"width": 4, "heads": 1, "n": 4, "vocabulary": 5}),
    ("add", "learned", {"width": 4, "heads": 2, "n": 4, "vocabulary": 5, "zero_scores": True}),
    # Other ways in, and token rows scaled.
    ("add-to-queries-keys", "learned", {"width": 6, "heads": 2, "n": 4, "vocabulary": 5}),
    ("add-to-queries-keys", "sinusoid", {"width": 4, "heads": 2, "n": 5, "rows": 6, "vocabulary": 5}),
    ("project", "learned", {"width": 4, "heads": 2, "n": 4, "vocabulary": 5, "scale_tokens": True}),
    ("project", "learned", {"width": 6, "heads": 2, "n": 4, "vocabulary": 5, "fixed": ["E", "P"]}),
    ("multiply", "learned", {"width": 6, "heads": 2, "n": 4, "vocabulary": 5, "sigma_positions": 1.0}),
    ("multiply", "learned", {"width": 4, "heads": 2, "n": 4, "vocabulary": 5, "fixed": ["E", "P"]}),
    ("concat", "learned", {"split": (4, 2), "heads": 2, "n": 4, "vocabulary": 5, "scale_tokens": True}),
    ("add", "learned", {"width": 4, "heads": 2, "n": 4, "vocabulary": 5, "scale_tokens": True}),
    ("add", "sinusoid", {"width": 4, "heads": 2, "n": 4, "vocabulary": 5, "scale_tokens": True}),
]  # fmt: skip

# Every case and every try has a generator of its own, so that no numbers depend on how often others were
# drawn. What decides between tries is a size far above the rounding of any machine.
class Drawn(enum.IntEnum):
    TASKS, DATA, NOISE, EVALUATION = range(4)


def generator(*key):
    return np.random.default_rng([23, *key])


SPREAD = {"E": 0.7, "P": 0.5, "U_q": 0.8, "U_k": 0.8, "T5": 0.6, "W_u": 0.25}
BATCH, STEPS, DIGITS = 2, 5, 12
# What Adam divides by, the root of v^. If it is smaller, it magnifies the rounding of the gradients.
SMALLEST_ROOT = 5e-7
# The largest logit must be by this much above the others, or rounding could change an accuracy.
CLEAR = 1e-6


def switches(number):
    """LayerNorm, two layers, causal: a pair of cases has opposite settings; four pairs cover all 8."""
    pattern = (0, 3, 1, 2)[number // 2 % 4]
    first = (True, bool(pattern & 1), bool(pattern >> 1))
    return first if number % 2 == 0 else tuple(not s for s in first)


def central_differences(c, parameters, tokens, targets):
    """Fourth order: (8 d(h) - d(2h)) / 12h, d(h) = f(h) - f(-h)."""
    step, out = 2e-4, {}

    def loss(name, index, change):
        moved_by = dict(parameters)
        moved_by[name] = parameters[name].copy()
        moved_by[name][index] += change
        return float(cross_entropy(Node(logits_of(c, moved_by, tokens)), targets).value)

    for name in trained(c):
        out[name] = np.empty_like(parameters[name])
        for index in np.ndindex(parameters[name].shape):
            one, two = (loss(name, index, k * step) - loss(name, index, -k * step) for k in (1, 2))
            out[name][index] = (8 * one - two) / (12 * step)
    return out


def five_steps(c, options, given, batches, noise=None):
    """The parameters after the steps; loss, gradient norm and learning rate of each; the least that Adam divides by."""
    parameters, optimizer, trace, smallest = dict(given), AdamW(options), [], math.inf
    for tokens, targets in batches:
        loss, gradients = loss_and_gradients(c, parameters, tokens, targets)
        if noise is not None:
            gradients = {k: g + 1e-16 * noise.choice([-1, 1], g.shape) * (g != 0) for k, g in gradients.items()}
        trace.append((loss, *optimizer.step(parameters, gradients)))
        for name, v in optimizer.v.items():
            # Rows that no target reads, and scores of zero, have gradients of exactly 0 on every machine.
            unread = name in ("E", "P", "T5") or c["zero_scores"]
            v_hat = v / (1 - options["beta2"] ** optimizer.s)
            smallest = min(smallest, math.sqrt((v_hat[v != 0] if unread else v_hat).min(initial=math.inf)))
    return parameters, trace, smallest


def random_batch(c, rng, count):
    tokens = rng.integers(0, c["vocabulary"], (count, c["n"]))
    targets = rng.integers(0, c["classes"], (count, c["n"]))
    targets[rng.random(targets.shape) < 0.25] = -1
    targets[0, 0] = 0
    return tokens, targets


def evaluation(c, parameters, number):
    """A batch whose argmaxes are all clearly above the rest: of 200, the one whose accuracies differ most."""
    best, most = None, 0
    for attempt in range(200):
        tokens, targets = random_batch(c, generator(Drawn.EVALUATION, number, attempt), 8)
        terms = first_layer_terms(c, parameters, tokens) if has_terms(c) else np.empty((0, 1))
        # One batch for all scores: numpy takes longer to be called than to compute.
        scores = np.concatenate([terms.sum(axis=0)[None], terms.sum(axis=0) - terms, terms]) if len(terms) else None
        copies = 1 if scores is None else len(scores)
        z = logits_of(c, parameters, np.tile(tokens, (copies, 1)), None if scores is None else np.concatenate(scores))
        every = z.reshape(copies, *tokens.shape, -1)
        two = np.sort(every, axis=-1)[..., -2:]
        if (two[..., 1] - two[..., 0]).min() > CLEAR:
            different = len({accuracy(z, targets) for z in every})
            if different > most:
                best, most = (tokens, targets), different
            if not len(terms):
                break
    return best


def check_terms(c, parameters, tokens):
    if not has_terms(c):
        return
    kept = []
    forward(c, {name: Node(v) for name, v in parameters.items()}, tokens, kept=kept)
    terms = first_layer_terms(c, parameters, tokens)
    assert np.abs(terms.sum(axis=0) - kept[0]).max() < 1e-12
    assert np.abs(shares(c, terms).sum(axis=-1) - 1).max() < 1e-12
    # Adding a constant in j changes no share, nor do the masked keys.
    moved_by = terms + np.arange(tokens.shape[1])[:, None]
    moved_by = np.where(allowed_keys(c, tokens.shape[1]), moved_by, 1e3)
    assert np.abs(shares(c, moved_by) - shares(c, terms)).max() < 1e-9


def given_numbers(c, rng):
    """Parameters with three decimals, except sinusoids, and one batch per step."""
    parameters = {}
    for name, (shape, _) in shapes(c).items():
        gain = is_gain(name)
        parameters[name] = random_numbers(rng, *shape, mean=float(gain), spread=0.3 if gain else SPREAD.get(name, 0.5))
    if c["table"] == "sinusoid":
        # Computed from the JSON's values, to their last digit.
        parameters["P"] = np.vectorize(lambda v: float(f"{v:.{DIGITS}g}"))(sinusoid(c["rows"], c["d_position"], c["sigma_positions"]))
        assert np.abs((parameters["P"] ** 2).mean(axis=1) - c["sigma_positions"] ** 2).max() < 1e-12
    return parameters, [random_batch(c, rng, BATCH) for _ in range(STEPS)]


def case(compared, number, scheme, table, more):
    norm, two, causal = switches(number)
    c = settings(scheme, table, layer_norm=norm, layers=2 if two else 1, causal=causal, sigma=0.4, **more)
    options = {**ADAMW, "lr": 0.02, "warm": 3, "steps": 8}
    if number % 3 == 1:
        options["weight_decay"] = 0.3
    for attempt in itertools.count():
        given, batches = given_numbers(c, generator(Drawn.DATA, number, attempt))
        after, trace, smallest = five_steps(c, options, given, batches)
        if smallest > SMALLEST_ROOT:
            break
    noisy, *_ = five_steps(c, options, given, batches, generator(Drawn.NOISE, number))
    moved_by = max(np.abs(after[name] - noisy[name]).max() for name in after)
    assert moved_by < 1e-10, moved_by
    tokens, targets = evaluation(c, given, number)
    check_terms(c, given, tokens)
    loss, gradients = loss_and_gradients(c, given, *batches[0])
    numeric = central_differences(c, given, *batches[0]) if compared else gradients
    # Relative to the array's largest entry or 0.01: the loss's rounding of 1e-16 is divided by the step.
    off = max(np.abs(g - numeric[name]).max() / max(np.abs(g).max(), 0.01) for name, g in gradients.items())
    assert off < 1e-9, off
    for name in c["fixed"]:
        assert after[name] is given[name]

    on = [w for w, yes in (("LayerNorm", norm), ("two layers", two), ("causal", causal)) if yes]
    on += ["tokens scaled"] * c["scale_tokens"]
    on += [f"{name} fixed" for name in more.get("fixed", [])] + ["scores of zero"] * c["zero_scores"]
    name = " ".join([scheme] + [table] * (table is not None)) + "".join(f", {w}" for w in on)
    clipped = sum(norm_ > options["clip"] for _, norm_, _ in trace)
    print(f"  {name}: gradients off by {off:.1e}, clipped {clipped} of {STEPS}, noise of 1e-16 moves {moved_by:.0e}, smallest root of v {smallest:.0e} at try {attempt + 1}")
    return {
        "name": name,
        **c,
        "trained": trained(c),
        "decayed": [t for t in trained(c) if not is_gain(t)],
        "initial_spread": {t: spread for t, (_, spread) in shapes(c).items() if (t, table) != ("P", "sinusoid")},
        "optimizer": options,
        "parameters": given,
        "tokens": np.array([b[0] for b in batches]),
        "targets": np.array([b[1] for b in batches]),
        "logits": logits_of(c, given, batches[0][0]),
        "loss": loss,
        "steps": {
            "loss": [t[0] for t in trace],
            "gradient_norm": [t[1] for t in trace],
            "learning_rate": [t[2] for t in trace],
            "parameters": {t: after[t] for t in trained(c)},
        },
        "evaluation": {"tokens": tokens, "targets": targets, **measures(c, given, tokens, targets)},
    }, off, clipped  # fmt: skip


def check_chance_band():
    """The band is A's standard deviation under random turns."""
    rng = np.random.default_rng(5)
    for d in (8, 32, 256):
        e, p = rng.normal(size=(6, d)), rng.normal(size=(6, d)) * 1.2 ** -np.arange(d)
        e, p = e - e.mean(axis=0), p - p.mean(axis=0)
        count = 300 if d == 256 else 4000
        drawn = [overlap(e, p @ np.linalg.qr(rng.normal(size=(d, d)))[0]) for _ in range(count)]
        band = chance_band(e, p)
        print(f"  D = {d}: A under random turns {np.mean(drawn):.3f} +- {np.std(drawn):.3f}; band {band:.3f}")
        assert abs(np.mean(drawn) - 1) < 5 * band / math.sqrt(count)
        assert abs(np.std(drawn) / band - 1) < 5 / math.sqrt(count)


def write(compared):
    check_chance_band()
    done = [case(compared, number, *row) for number, row in enumerate(CASES)]
    assert {switches(number) for number in range(len(CASES))} == {
        tuple(bool(bits >> b & 1) for b in range(3)) for bits in range(8)
    }
    clipped = [d[2] for d in done]
    assert 0 < sum(clipped) < STEPS * len(CASES)
    print(f"largest relative difference to central differences {max(d[1] for d in done):.1e}")
    document = {"terms": TERMS, "tasks": task_examples(), "cases": [d[0] for d in done]}
    write_beside(__file__, document, digits=DIGITS)


if __name__ == "__main__":
    write("--no-differences" not in sys.argv)
