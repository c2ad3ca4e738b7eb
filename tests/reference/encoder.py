"""Encoders of the BERT family in float64: the forward, and each layer's input as a sum of parts. Other scripts call it.

  post-LN  x = LN(t + p + s);  each layer  x = LN(x + attention(x));  x = LN(x + mlp(x))
  pre-LN   x = t + p + s;      each layer  x = x + attention(LN(x));  x = x + mlp(LN(x))

and one more LN after the last layer of a pre-LN encoder, whose states are the sums
before any norm. attention(x) = W_O concat_h(A_h (W_V x + b_V)) + b_O, A the softmax over
the allowed keys of q'k / sqrt(d_h); mlp(x) = W_2 g(W_1 x + b_1) + b_2, where g(x) = x Phi(x), or its tanh form. No query
sees padding. The embedding is the mean over the tokens of the last layer, scaled to
length one.

The input of a layer's W_Q and W_K is split into six parts, with every sigma and every
A frozen: token, position, segment, attention, mlp, constant.

  direct   the embedding's parts go through the residual stream alone; what attention
           writes, minus its biases, is the part `attention`, and the same for `mlp`
  streams  A moves the parts too: part + W_O concat_h(A_h W_V part); `attention` is empty

Biases and betas are constant. Gauge: canonical (gauge.py) at the embedding, with weights
from the norms before layer 0's W_Q, so that nothing later depends on how a vector is
divided among tables. Then, before scoring, the mean over the used rows of each part joins
the constant (weights 1; 1 / sigma where a norm is in between), and rows that stand apart
are constant.

Sources: Devlin et al. 2019; Hendrycks & Gimpel 2016 (GELU); Xiong et al. 2020 (pre-LN);
Mickus, Paperno & Constant 2022 (the state as a sum of its writers).
"""

import math

import numpy as np

from decomposition import by_head, softmax

GROUPS = ["token", "position", "segment", "attention", "mlp", "constant"]
CONSTANT = len(GROUPS) - 1


def gelu(x):
    # numpy has no erf; math.erf one by one is exact and fast enough here.
    phi = np.fromiter(map(math.erf, (x / math.sqrt(2)).ravel().tolist()), float, x.size)
    return 0.5 * x * (1 + phi.reshape(x.shape))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def sigma_of(x, eps):
    return np.sqrt(x.var(axis=-1, keepdims=True) + eps)


def centre(x):
    return x - x.mean(axis=-1, keepdims=True)


def linear(x, layer):
    return x @ layer["weight"].T + layer["bias"]


def merge(x):
    """[H, n, d_h] to [n, H * d_h]."""
    return x.transpose(1, 0, 2).reshape(x.shape[1], -1)


def embedding_rows(model, ids, types=None):
    """[3, n, e]: token, position and segment rows; zeros where there is no segment table."""
    first = model["first_position"]
    token = model["word"][ids]
    segment = model["token_type"]
    return np.array(
        [
            token,
            model["position"][first : first + len(ids)],
            np.zeros_like(token) if segment is None else segment[types if types is not None else [0] * len(ids)],
        ]
    )


def forward(model, rows, attended=None):
    """All that the forward makes of embedding rows [3, n, e].

    states [L + 1][n, d], inputs [L][n, d] (what W_Q reads), logits [L][H, n, n] without the
    mask, attention, last [n, d], embedding [d], and the sigmas it met.
    """
    n, heads, eps = rows.shape[1], model["heads"], model["eps"]
    allowed = np.ones((n, n), bool)
    if attended is not None:
        allowed &= np.asarray(attended, bool)[None, :]
    if model["causal"]:
        allowed &= np.tri(n, dtype=bool)
    pre = model["pre"]
    run = {"states": [], "inputs": [], "logits": [], "attention": [], "mlp": [], "sigma": {}}

    def norm(x, weights, name):
        run["sigma"][name] = sigma_of(x, eps)
        return weights["gamma"] * centre(x) / run["sigma"][name] + weights["beta"]

    x = rows.sum(axis=0)
    if model["embedding_norm"]:
        x = norm(x, model["embedding_norm"], "embedding")
    run["states"].append(x)
    for number, layer in enumerate(model["layers"]):
        y = norm(x, layer["attention_norm"], (number, "attention")) if pre else x
        run["inputs"].append(y)
        q, k, v = (by_head(linear(y, layer[name]), heads) for name in ("query", "key", "value"))
        a = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[2])
        run["logits"].append(a)
        a = softmax(np.where(allowed, a, -np.inf))
        run["attention"].append(a)
        x = x + linear(merge(a @ v), layer["output"])
        if not pre:
            x = norm(x, layer["attention_norm"], (number, "attention"))
        y = norm(x, layer["mlp_norm"], (number, "mlp")) if pre else x
        written = model["activation"](linear(y, layer["up"])) @ layer["down"]["weight"].T
        run["mlp"].append(written)
        x = x + written + layer["down"]["bias"]
        if not pre:
            x = norm(x, layer["mlp_norm"], (number, "mlp"))
        run["states"].append(x)
    run["last"] = norm(x, model["final_norm"], "final") if model["final_norm"] else x
    kept = run["last"] if attended is None else run["last"][np.asarray(attended, bool)]
    run["embedding"] = kept.mean(axis=0) / np.linalg.norm(kept.mean(axis=0))
    return run


def canonical_parts(parts, apart, weights):
    """Each part minus its weighted mean over the used rows; rows that stand apart are constant."""
    used = np.setdiff1d(np.arange(parts.shape[1]), apart)
    if len(used) == 0:
        means = np.zeros_like(parts[:, 0])
    else:
        w = weights[used] / weights[used].sum()
        means = np.einsum("i,sid->sd", w, parts[:, used])
    means[CONSTANT] = 0
    out = parts - means[:, None]
    out[CONSTANT] += means.sum(axis=0)
    for row in apart:
        out[:CONSTANT, row] = 0
        out[CONSTANT, row] = parts[:, row].sum(axis=0)
    return out


def decomposed(model, rows, run, apart, way, offset=0):
    """[L][6, n, d]: the parts of the input of each layer's W_Q and W_K, without padding. `offset` is constant in the sum."""
    n, heads, pre = rows.shape[1], model["heads"], model["pre"]
    sigma = run["sigma"]

    def through(parts, weights, name):
        parts = weights["gamma"] * centre(parts) / sigma[name]
        parts[CONSTANT] += weights["beta"]
        return parts

    def gauged(parts, *names):
        weights = np.ones(n)
        for name in names:
            weights = weights / sigma[name][:, 0]
        return canonical_parts(parts, apart, weights)

    parts = np.zeros((len(GROUPS), *rows.shape[1:]))
    parts[:3] = rows
    parts[CONSTANT] += offset
    before = (["embedding"] if model["embedding_norm"] else []) + ([(0, "attention")] if pre else [])
    parts = gauged(parts, *before)
    if model["embedding_norm"]:
        parts = through(parts, model["embedding_norm"], "embedding")
    found = []
    for number, layer in enumerate(model["layers"]):
        name = (number, "attention")
        if pre:
            found.append(through(gauged(parts, name), layer["attention_norm"], name))
            source = through(parts, layer["attention_norm"], name)
        else:
            found.append(gauged(parts))
            source = parts

        def moved(x):
            a = run["attention"][number]
            return merge(a @ by_head(x @ layer["value"]["weight"].T, heads)) @ layer["output"]["weight"].T

        parts = parts.copy()
        if way == "direct":
            parts[GROUPS.index("attention")] += moved(run["inputs"][number])
        else:
            parts += np.array([moved(s) for s in source])
        parts[CONSTANT] += layer["output"]["weight"] @ layer["value"]["bias"] + layer["output"]["bias"]
        if not pre:
            parts = through(parts, layer["attention_norm"], name)
        parts[GROUPS.index("mlp")] += run["mlp"][number]
        parts[CONSTANT] += layer["down"]["bias"]
        if not pre:
            parts = through(parts, layer["mlp_norm"], (number, "mlp"))
    return found


def terms_of(model, number, parts):
    """[H, g * g, n, n] for g parts, of which the last is the constant and has the biases."""
    layer, heads = model["layers"][number], model["heads"]
    both = []
    for name in ("query", "key"):
        projected = np.array([by_head(p @ layer[name]["weight"].T, heads) for p in parts])
        projected[-1] += by_head(np.tile(layer[name]["bias"], (parts.shape[1], 1)), heads)
        both.append(projected)
    q, k = both
    every = np.einsum("shid,rhjd->hsrij", q, k, optimize=True) / math.sqrt(q.shape[-1])
    return every.reshape(heads, -1, *every.shape[3:])
