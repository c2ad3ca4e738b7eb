"""A decoder of GPT-2's kind in which position gets in one of several ways: an arm.

Models of several seeds are one: every weight and state has the seed as its first axis, and nothing mixes seeds.
Shapes: S seeds, B windows, T places, d numbers of the stream, H heads.
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
class Arm:
    """How position gets in. Widths are shares of the size's width.

    into: what the stream begins with: tokens alone '', 'sum', 'beside' (concatenated) or 'projected'.
    reads: what an attention layer reads of position beside the stream: nothing '', 'sum' (LN(token + row)),
      'apart' (LN(token) + LN(row)) or 'beside' (a matrix of its own for LN(row)); in the first layer, or in
      every one; queries and keys alone, or values too.
    scores: 'cut' (the first layer's token-position products left out), 'separate', 'rotated',
      'rotated beside' or ''.
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


ARMS = {
    arm.name: arm
    for arm in (
        Arm("nowhere"),
        Arm("added", into="sum", position=1),
        Arm("sinusoid", into="sum", rows="sinusoid", position=1),
        Arm("disjoint-start", into="sum", rows="disjoint", position=1),
        Arm("cross-terms-cut", into="sum", scores="cut", position=1),
        Arm("concatenated", into="beside", token=3 / 4, position=1 / 4),
        Arm("concatenated-sixteenth", into="beside", token=15 / 16, position=1 / 16),
        Arm("concatenated-half", into="beside", token=1 / 2, position=1 / 2),
        Arm("concatenated-wider", into="beside", position=1 / 4, width=5 / 4),
        Arm("added-wider", into="sum", token=5 / 4, position=5 / 4, width=5 / 4),
        Arm("projected", into="projected", position=1 / 4),
        Arm("not-into-stream", reads="sum", values=True, position=1),
        Arm("nor-into-values", reads="sum", position=1),
        Arm("normalized-apart", reads="apart", position=1),
        Arm("queries-keys-added", reads="apart", every=True, position=1),
        Arm("values-again-first", reads="apart", values=True, position=1),
        Arm("values-again-every", reads="apart", every=True, values=True, position=1),
        Arm("queries-keys-concatenated", reads="beside", every=True, position=1 / 4),
        Arm("separate-scores", scores="separate", position=1),
        Arm("rotated", scores="rotated"),
        Arm("rotated-beside", scores="rotated beside"),
    )
}


def widths(arm, size):
    """Numbers of the stream, of a token row and of a position row."""
    return tuple(round(share * size.width) for share in (arm.width, arm.token, arm.position))


def shapes(arm, size):
    """Every weight's name and shape, without the seeds' axis. A name ends in what it is: see `starts`."""
    stream, token, position = widths(arm, size)
    found = {"token.rows": (size.vocabulary, token)}
    if position and arm.rows != "sinusoid":
        found["position.rows"] = (size.length, position)
    if arm.into == "projected":
        found["project.matrix"] = (token + position, stream)
    if arm.reads in ("apart", "beside") or arm.scores == "separate":
        found |= {"position.gain": (position,), "position.shift": (position,)}
    if arm.scores == "separate":
        found |= {"position.queries.matrix": (position, stream), "position.keys.matrix": (position, stream)}
    for layer in range(size.layers):
        found |= {f"{layer}.attention.gain": (stream,), f"{layer}.attention.shift": (stream,)}
        for part in ("queries", "keys", "values", "write"):
            found |= {f"{layer}.{part}.matrix": (stream, stream), f"{layer}.{part}.bias": (stream,)}
        if arm.reads == "beside":
            for part in ("queries", "keys"):
                found[f"{layer}.position.{part}.matrix"] = (position, stream)
        if arm.scores == "rotated beside":
            turned = stream // size.heads // 2
            found[f"{layer}.turned.queries.matrix"] = (stream, size.heads * turned)
            found[f"{layer}.turned.keys.matrix"] = (stream, turned)
        found |= {f"{layer}.mlp.gain": (stream,), f"{layer}.mlp.shift": (stream,)}
        found |= {f"{layer}.up.matrix": (stream, 4 * stream), f"{layer}.up.bias": (4 * stream,)}
        found |= {f"{layer}.down.matrix": (4 * stream, stream), f"{layer}.down.bias": (stream,)}
    return found | {"last.gain": (stream,), "last.shift": (stream,), "out.matrix": (stream, size.vocabulary)}


def starts(arm, size, seeds, quiet=1.0):
    """Initial weights, float32, (S, ...): N(0, 0.02), what writes into the stream by sqrt(2 layers) smaller.

    Each weight of a seed is drawn by its name: arms of a seed begin alike where they have the same weights.
    """
    found = {}
    for name, shape in shapes(arm, size).items():
        kind = name.rpartition(".")[2]
        if kind in ("gain", "shift", "bias"):
            found[name] = torch.full((len(seeds), *shape), float(kind == "gain"))
            continue
        scale = 0.02 * (quiet if name == "position.rows" else 1)
        if name.endswith(("write.matrix", "down.matrix")):
            scale /= math.sqrt(2 * size.layers)
        drawn = [torch.randn(shape, generator=generator(seed, name)) for seed in seeds]
        found[name] = scale * torch.stack(drawn)
    if arm.rows == "disjoint":
        border = 3 * size.width // 4
        found["token.rows"][..., border:] = 0
        found["position.rows"][..., :border] = 0
    return found


def generator(seed, name):
    """Random numbers of a seed for one purpose. A generator reads 32 bits of the number that it takes."""
    mixed = seed + 1
    for byte in name.encode():
        mixed = (mixed * 257 + byte) % 2147483647
    return torch.Generator().manual_seed(mixed)


def sinusoids(size):
    """Position rows of sines and cosines, as long as learned rows are at the start: (T, d)."""
    angles = turns(size.length, size.width // 2)
    return 0.02 * math.sqrt(2) * torch.cat([angles.sin(), angles.cos()], -1)


def turns(length, pairs):
    """Angles by which places turn pairs of numbers, base 10000: (T, pairs)."""
    rates = 10000.0 ** (-torch.arange(pairs, dtype=torch.float64) / pairs)
    return (torch.arange(length, dtype=torch.float64)[:, None] * rates).float()


def normalize(x, gain, shift):
    """Layer normalization over the last axis; gain and shift have the seed's axis alone before it."""
    between = (slice(None),) + (None,) * (x.dim() - 2)
    return functional.layer_norm(x, x.shape[-1:]) * gain[between] + shift[between]


def product(x, matrix, bias=None, dtype=None):
    """x (S, ..., m) times a matrix (S, m, n) of each seed, in dtype if given."""
    dtype = dtype or x.dtype
    flat = x.flatten(1, -2).to(dtype)
    if bias is None:
        out = torch.bmm(flat, matrix.to(dtype))
    else:
        out = torch.baddbmm(bias[:, None].to(dtype), flat, matrix.to(dtype))
    return out.unflatten(1, x.shape[1:-1])


def feed_forward(x, gain, shift, up, up_bias, down, down_bias, dtype):
    """The stream after a layer's MLP."""
    hidden = functional.gelu(product(normalize(x, gain, shift), up, up_bias, dtype))
    return x + product(hidden, down, down_bias, dtype)


def losses(x, gain, shift, out, targets, dtype):
    """Cross entropy in nats of every place, (S, B, T), from the stream after the last layer."""
    scores = product(normalize(x, gain, shift), out, None, dtype)
    return torch.logsumexp(scores.float(), -1) - scores.gather(-1, targets[..., None])[..., 0].float()


def rotated(x, angles):
    """Pairs of numbers (i, i + half) of x (S, B, T, H, n) turned by their place's angles (T, n / 2)."""
    cosine, sine = angles.cos()[:, None], angles.sin()[:, None]
    first, second = x.to(torch.promote_types(x.dtype, angles.dtype)).chunk(2, -1)
    return torch.cat([first * cosine - second * sine, first * sine + second * cosine], -1).to(x.dtype)


SHARED = (normalize, feed_forward, losses, rotated)


class Decoder:
    """Computes losses with weights that it is given; holds only what is not trained.

    dtype: of products; weights, normalization and stream stay as they are given. shared: SHARED, compiled.
    """

    def __init__(self, arm, size, device="cpu", dtype=None, causal=True, shared=None):
        self.arm, self.size, self.dtype, self.causal = arm, size, dtype, causal
        self.normalize, self.feed_forward, self.losses, self.rotated = shared or SHARED
        self.sinusoids = sinusoids(size).to(device) if arm.rows == "sinusoid" else None
        if arm.scores.startswith("rotated"):
            pairs = size.width // size.heads // (4 if arm.scores == "rotated beside" else 2)
            self.turns = turns(size.length, pairs).to(device)

    def loss(self, weights, ids, targets):
        """ids and targets (S, B, T); returns (S, B, T)."""
        tokens = self.tokens(weights, ids)
        rows = self.rows(weights, ids.shape[0])
        x = self.begin(weights, tokens, rows)
        for layer in range(self.size.layers):
            x = x + self.attention(weights, layer, x, tokens, rows)
            names = ("mlp.gain", "mlp.shift", "up.matrix", "up.bias", "down.matrix", "down.bias")
            x = self.feed_forward(x, *(weights[f"{layer}.{name}"] for name in names), self.dtype)
        last = (weights[name] for name in ("last.gain", "last.shift", "out.matrix"))
        return self.losses(x, *last, targets, self.dtype)

    def tokens(self, weights, ids):
        rows = weights["token.rows"]
        seeds = torch.arange(rows.shape[0], device=ids.device)[:, None, None] * rows.shape[1]
        return functional.embedding(ids + seeds, rows.flatten(0, 1))

    def rows(self, weights, seeds):
        """Position rows (S, 1, T, p), or None."""
        if self.sinusoids is not None:
            return self.sinusoids.expand(seeds, 1, -1, -1)
        return weights["position.rows"][:, None] if "position.rows" in weights else None

    def begin(self, weights, tokens, rows):
        """What the stream begins with."""
        if self.arm.into == "sum":
            return tokens + rows
        if self.arm.into == "":
            return tokens
        both = torch.cat([tokens, rows.expand(-1, tokens.shape[1], -1, -1)], -1)
        if self.arm.into == "beside":
            return both
        return product(both, weights["project.matrix"], None, self.dtype)

    def attention(self, weights, layer, x, tokens, rows):
        """What a layer's attention adds to the stream."""
        queries, keys, values, scale = self.compared(weights, layer, x, tokens, rows)
        mixed = attend(queries, keys, values, scale, self.causal)
        return self.times(mixed, weights, f"{layer}.write")

    def compared(self, weights, layer, x, tokens, rows):
        """A layer's queries and keys (S, B, T, H, n), values (S, B, T, H, m) and the products' scale."""
        arm = self.arm
        gain, shift = weights[f"{layer}.attention.gain"], weights[f"{layer}.attention.shift"]
        here = arm.reads if arm.every or layer == 0 else ""
        read = self.normalize(x, gain, shift)
        scored = self.normalize(x + rows, gain, shift) if here == "sum" else read
        if "position.gain" in weights and (here or arm.scores == "separate"):
            rows = normalize(rows, weights["position.gain"], weights["position.shift"])
            scored = read + rows if here == "apart" else read
        queries, keys = (self.times(scored, weights, f"{layer}.{part}") for part in ("queries", "keys"))
        values = self.times(scored if here and arm.values else read, weights, f"{layer}.values")
        if here == "beside":
            queries = queries + self.times(rows, weights, f"{layer}.position.queries")
            keys = keys + self.times(rows, weights, f"{layer}.position.keys")
        queries, keys, values = self.heads(queries), self.heads(keys), self.heads(values)
        scale = queries.shape[-1] ** -0.5
        if arm.scores == "rotated":
            queries, keys = self.rotated(queries, self.turns), self.rotated(keys, self.turns)
        elif arm.scores and (arm.scores != "cut" or layer == 0):
            extra = {"cut": self.cut, "separate": self.separate, "rotated beside": self.beside}[arm.scores]
            queries, keys = extra(weights, layer, queries, keys, tokens, rows, read)
            if arm.scores != "cut":
                scale = queries.shape[-1] ** -0.5
        return queries, keys, values, scale

    def cut(self, weights, layer, queries, keys, tokens, rows, read):
        """Token and row through LN(token + row) one by one, side by side: their products never meet."""
        x = tokens + rows
        deviation = (x.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()
        gain = weights[f"{layer}.attention.gain"][:, None, None]
        part = gain * (rows - rows.mean(-1, keepdim=True)) / deviation
        found = []
        for whole, name in ((queries, "queries"), (keys, "keys")):
            of_row = self.heads(product(part, weights[f"{layer}.{name}.matrix"], None, self.dtype))
            found.append(torch.cat([whole - of_row, of_row], -1))
        return found

    def separate(self, weights, layer, queries, keys, tokens, rows, read):
        """Queries and keys of normalized rows beside those of tokens, the same in every layer."""
        parts = (self.heads(self.times(rows, weights, f"position.{part}")) for part in ("queries", "keys"))
        return [torch.cat([x, p.expand_as(x)], -1) for x, p in zip((queries, keys), parts)]

    def beside(self, weights, layer, queries, keys, tokens, rows, read):
        """Turned queries beside each head's own, and a turned key that all heads share."""
        turned_queries = self.heads(self.times(read, weights, f"{layer}.turned.queries"))
        turned_key = self.times(read, weights, f"{layer}.turned.keys")[..., None, :]
        queries = torch.cat([queries, self.rotated(turned_queries, self.turns)], -1)
        turned_key = self.rotated(turned_key, self.turns).expand(*keys.shape[:-1], -1)
        return queries, torch.cat([keys, turned_key], -1)

    def times(self, x, weights, name):
        return product(x, weights[f"{name}.matrix"], weights.get(f"{name}.bias"), self.dtype)

    def heads(self, x):
        return x.unflatten(-1, (self.size.heads, -1))


def attend(queries, keys, values, scale, causal):
    """Softmax attention: (S, B, T, H, ...) to (S, B, T, d)."""
    seeds, windows, length = queries.shape[:3]
    queries, keys, values = (x.flatten(0, 1).transpose(1, 2) for x in (queries, keys, values))
    if queries.is_cuda:
        missing = queries.shape[-1] - values.shape[-1]
        padded = functional.pad(values, (0, missing)) if missing else values
        mixed = functional.scaled_dot_product_attention(queries, keys, padded, is_causal=causal, scale=scale)
        mixed = mixed[..., : values.shape[-1]]
    else:
        scores = scale * queries @ keys.transpose(-1, -2)
        if causal:
            scores = scores + torch.full((length, length), -math.inf, dtype=scores.dtype).triu(1)
        mixed = scores.softmax(-1) @ values
    return mixed.transpose(1, 2).flatten(2).unflatten(0, (seeds, windows))
