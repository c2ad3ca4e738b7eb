"""A decoder of GPT-2's kind in which position gets in one of several ways.

Shapes: B windows, T places, d numbers of the stream, H heads, p numbers of a position row.
"""

import math
from dataclasses import dataclass

import torch
from torch.nn import functional


@dataclass(frozen=True)
class Size:
    layers: int
    width: int
    heads: int
    length: int
    vocabulary: int


LARGE = Size(layers=6, width=256, heads=4, length=256, vocabulary=8192)
SMALL = Size(layers=4, width=128, heads=4, length=128, vocabulary=4096)
TINY = Size(layers=2, width=32, heads=4, length=16, vocabulary=300)


@dataclass(frozen=True)
class Way:
    """How position gets in.

    into: what the stream begins with: '' (tokens alone), 'sum', 'beside' (concatenated) or 'projected'.
    reads: what attention reads of position besides the stream: '' (nothing), 'sum' (LN(token + row)),
      'normalized' (LN(token) + LN(row)) or 'beside' (LN(row) through a matrix of its own).
    every: whether every layer reads that, or only the first.
    values: whether values read that too, or only queries and keys.
    scores: '' (as usual), 'without-cross-terms' (the first layer leaves out the products of token and
      position), 'tupe', 'rope' or 'decoupled-rope'.
    rows: the position rows: 'learned', 'sinusoid' (not trained) or 'disjoint' (learned; at the start, token
      and position rows have their numbers in different channels).
    token, position, width: the widths of a token row, of a position row and of the stream, as shares of the
      size's width.
    """

    name: str
    into: str = ""
    reads: str = ""
    every: bool = False
    values: bool = False
    scores: str = ""
    rows: str = "learned"
    token: float = 1
    position: float = 0
    width: float = 1


WAYS = {
    way.name: way
    for way in (
        Way("none"),
        Way("add", into="sum", position=1),
        Way("add-sinusoid", into="sum", rows="sinusoid", position=1),
        Way("add-disjoint-start", into="sum", rows="disjoint", position=1),
        Way("add-without-cross-terms", into="sum", scores="without-cross-terms", position=1),
        Way("concat-quarter", into="beside", token=3 / 4, position=1 / 4),
        Way("concat-sixteenth", into="beside", token=15 / 16, position=1 / 16),
        Way("concat-half", into="beside", token=1 / 2, position=1 / 2),
        Way("concat-quarter-wider", into="beside", position=1 / 4, width=5 / 4),
        Way("add-quarter-wider", into="sum", token=5 / 4, position=5 / 4, width=5 / 4),
        Way("project", into="projected", position=1 / 4),
        Way("add-to-first-attention", reads="sum", values=True, position=1),
        Way("add-to-first-queries-keys", reads="sum", position=1),
        Way("add-normalized-to-first-queries-keys", reads="normalized", position=1),
        Way("add-normalized-to-queries-keys", reads="normalized", every=True, position=1),
        Way("add-normalized-to-first-attention", reads="normalized", values=True, position=1),
        Way("add-normalized-to-attention", reads="normalized", every=True, values=True, position=1),
        Way("concat-to-queries-keys", reads="beside", every=True, position=1 / 4),
        Way("tupe", scores="tupe", position=1),
        Way("rope", scores="rope"),
        Way("decoupled-rope", scores="decoupled-rope"),
    )
}


def widths(way, size):
    """How many numbers the stream, a token row and a position row have."""
    return tuple(round(share * size.width) for share in (way.width, way.token, way.position))


def shapes(way, size):
    """Name and shape of every trained weight. The last part of a name is the weight's kind: see `starts`."""
    stream, token, position = widths(way, size)
    sizes = {"token.rows": (size.vocabulary, token)}
    if position and way.rows != "sinusoid":
        sizes["position.rows"] = (size.length, position)
    if way.into == "projected":
        sizes["project.matrix"] = (token + position, stream)
    if way.reads in ("normalized", "beside") or way.scores == "tupe":
        sizes |= {"position.gain": (position,), "position.shift": (position,)}
    if way.scores == "tupe":
        sizes |= {"position.queries.matrix": (position, stream), "position.keys.matrix": (position, stream)}
    for layer in range(size.layers):
        sizes |= {f"{layer}.attention.gain": (stream,), f"{layer}.attention.shift": (stream,)}
        for part in ("queries", "keys", "values", "write"):
            sizes |= {f"{layer}.{part}.matrix": (stream, stream), f"{layer}.{part}.bias": (stream,)}
        if way.reads == "beside":
            for part in ("queries", "keys"):
                sizes[f"{layer}.position.{part}.matrix"] = (position, stream)
        if way.scores == "decoupled-rope":
            rotary = stream // size.heads // 2
            sizes[f"{layer}.turned.queries.matrix"] = (stream, size.heads * rotary)
            sizes[f"{layer}.turned.keys.matrix"] = (stream, rotary)
        sizes |= {f"{layer}.mlp.gain": (stream,), f"{layer}.mlp.shift": (stream,)}
        sizes |= {f"{layer}.up.matrix": (stream, 4 * stream), f"{layer}.up.bias": (4 * stream,)}
        sizes |= {f"{layer}.down.matrix": (4 * stream, stream), f"{layer}.down.bias": (stream,)}
    return sizes | {"last.gain": (stream,), "last.shift": (stream,), "out.matrix": (stream, size.vocabulary)}


# How the matrix of the way "project", from token and position rows to the stream, can start.
PROJECTION_STARTS = ("normal", "fan-in", "identity")


def projection(start, drawn, token):
    """The initial projection (token + position, stream), from `drawn`, which are numbers from N(0, 1).

    "normal": N(0, 0.02^2), as every other matrix. "fan-in": N(0, 1 / rows), which keeps the rows' size.
    "identity": token rows pass unchanged, and position rows go through N(0, 1 / position), which keeps their
    size.
    """
    if start == "normal":
        return 0.02 * drawn
    if start == "fan-in":
        return drawn / math.sqrt(len(drawn))
    return torch.cat([torch.eye(token, drawn.shape[1]), drawn[token:] / math.sqrt(len(drawn) - token)])


def decays(name, start="normal"):
    """Whether weight decay applies: to matrices, but not to a projection that starts as the identity."""
    return name.endswith("matrix") and not (name == "project.matrix" and start == "identity")


def starts(way, size, seed, quiet=1.0, start="normal"):
    """Initial weights, float32, and with them what is not trained: sinusoids and angles.

    Matrices and rows are drawn from N(0, 0.02^2), and divided by sqrt(2 layers) if they write into the
    stream; gains are 1, shifts and biases 0. `quiet` multiplies learned position rows, and `start` says how a
    projection starts.

    The numbers drawn for a weight depend on its name, so that ways with the same seed start alike wherever
    they have the same weights.
    """
    weights = {}
    for name, shape in shapes(way, size).items():
        kind = name.rpartition(".")[2]
        if kind in ("gain", "shift", "bias"):
            weights[name] = torch.full(shape, float(kind == "gain"))
            continue
        if name == "project.matrix":
            drawn = torch.randn(shape, generator=generator(seed, name))
            weights[name] = projection(start, drawn, widths(way, size)[1])
            continue
        scale = 0.02 * (quiet if name == "position.rows" else 1)
        if name.endswith(("write.matrix", "down.matrix")):
            scale /= math.sqrt(2 * size.layers)
        weights[name] = scale * torch.randn(shape, generator=generator(seed, name))
    if way.rows == "disjoint":
        border = 3 * size.width // 4
        weights["token.rows"][:, border:] = 0
        weights["position.rows"][:, :border] = 0
    if way.rows == "sinusoid":
        angles = turns(size.length, size.width // 2)
        # The rows are as large as learned rows are at the start.
        weights["position.rows"] = 0.02 * math.sqrt(2) * torch.cat([angles.sin(), angles.cos()], -1)
    if way.scores in ("rope", "decoupled-rope"):
        pairs = size.width // size.heads // (4 if way.scores == "decoupled-rope" else 2)
        weights["turns"] = turns(size.length, pairs)
    return weights


def generator(seed, name):
    """Random numbers of a seed for one purpose, by a hash of both, since PyTorch reads only 32 bits."""
    mixed = seed + 1
    for byte in name.encode():
        mixed = (mixed * 257 + byte) % 2147483647
    return torch.Generator().manual_seed(mixed)


def turns(length, pairs):
    """Angles by which pairs of numbers are rotated at each place, base 10000: (T, pairs)."""
    rates = 10000.0 ** (-torch.arange(pairs, dtype=torch.float64) / pairs)
    return (torch.arange(length, dtype=torch.float64)[:, None] * rates).float()


def normalize(x, weights, name):
    return functional.layer_norm(x, x.shape[-1:], weights[f"{name}.gain"], weights[f"{name}.shift"])


def times(x, weights, name):
    """x times the matrix of this name, plus its bias if it has one."""
    return functional.linear(x, weights[f"{name}.matrix"].T, weights.get(f"{name}.bias"))


def rotated(x, angles):
    """x (B, T, H, n), with each pair of numbers (i, i + n / 2) rotated by its place's angles (T, n / 2)."""
    cosine, sine = angles.cos()[:, None], angles.sin()[:, None]
    first, second = x.chunk(2, -1)
    return torch.cat([first * cosine - second * sine, first * sine + second * cosine], -1)


def losses(way, size, weights, ids, targets, causal=True):
    """Cross entropy in nats at every place, (B, T), for token ids and targets (B, T)."""
    tokens, rows = functional.embedding(ids, weights["token.rows"]), weights.get("position.rows")
    x = begin(way, weights, tokens, rows)
    for layer in range(size.layers):
        mixed = attend(*compared(way, size, weights, layer, x, tokens, rows), causal)
        x = x + times(mixed, weights, f"{layer}.write")
        hidden = functional.gelu(times(normalize(x, weights, f"{layer}.mlp"), weights, f"{layer}.up"))
        x = x + times(hidden, weights, f"{layer}.down")
    scores = times(normalize(x, weights, "last"), weights, "out")
    # One row for each place: on a processor, this takes half the time that (B, vocabulary, T) takes.
    return functional.cross_entropy(scores.flatten(0, 1), targets.flatten(), reduction="none").view(targets.shape)


def begin(way, weights, tokens, rows):
    """What the stream begins with."""
    if way.into == "sum":
        return tokens + rows
    if way.into == "":
        return tokens
    concatenated = torch.cat([tokens, rows.expand(len(tokens), -1, -1)], -1)
    return concatenated if way.into == "beside" else times(concatenated, weights, "project")


def compared(way, size, weights, layer, x, tokens, rows):
    """A layer's queries and keys (B, T, H, n), values (B, T, H, m) and the products' scale."""

    def heads(x, name):
        return times(x, weights, name).unflatten(-1, (size.heads, -1))

    here = way.reads if way.every or layer == 0 else ""
    read = normalize(x, weights, f"{layer}.attention")
    scored = normalize(x + rows, weights, f"{layer}.attention") if here == "sum" else read
    if "position.gain" in weights and (here or way.scores == "tupe"):
        rows = normalize(rows, weights, "position")
        scored = read + rows if here == "normalized" else read
    parts = {part: heads(scored, f"{layer}.{part}") for part in ("queries", "keys")}
    values = heads(scored if here and way.values else read, f"{layer}.values")
    scale = values.shape[-1] ** -0.5
    if way.scores == "rope":
        parts = {part: rotated(x, weights["turns"]) for part, x in parts.items()}
    for part, x in parts.items():
        if here == "beside":
            parts[part] = x + heads(rows, f"{layer}.position.{part}")
        elif way.scores == "without-cross-terms" and layer == 0:
            # Token and row each go through LN(token + row) and stand side by side, so that their products
            # never mix.
            deviation = ((tokens + rows).var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()
            row = weights[f"{layer}.attention.gain"] * (rows - rows.mean(-1, keepdim=True)) / deviation
            of_row = (row @ weights[f"{layer}.{part}.matrix"]).unflatten(-1, (size.heads, -1))
            parts[part] = torch.cat([x - of_row, of_row], -1)
        elif way.scores == "tupe":
            of_row = heads(rows, f"position.{part}").expand_as(x)
            parts[part], scale = torch.cat([x, of_row], -1), (2 * x.shape[-1]) ** -0.5
        elif way.scores == "decoupled-rope":
            # Rotated queries beside each head's own, and a rotated key that all heads share.
            rotary = times(read, weights, f"{layer}.turned.{part}")
            rotary = rotated(rotary.unflatten(-1, (-1, x.shape[-1] // 2)), weights["turns"])
            parts[part] = torch.cat([x, rotary.expand(*x.shape[:-1], -1)], -1)
            scale = parts[part].shape[-1] ** -0.5
    return parts["queries"], parts["keys"], values, scale


def attend(queries, keys, values, scale, causal):
    """Softmax attention: (B, T, H, ...) to (B, T, d)."""
    scores = scale * torch.einsum("bqhn,bkhn->bhqk", queries, keys)
    if causal:
        scores = scores + torch.full(scores.shape[-2:], -math.inf, device=scores.device).triu(1)
    return torch.einsum("bhqk,bkhm->bqhm", scores.softmax(-1), values).flatten(2)
