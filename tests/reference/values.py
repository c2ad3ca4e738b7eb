"""What heads write as a sum of parts, and what positions are for in queries, keys and values.

With the attention A frozen, a head's output is linear in the layer's input x, whose parts x^s encoder.py has
(row 0, [CLS], stands apart; C takes the mean over channels away):

  output    o_h^s(i) = W_O,h W_V,h sum_j A_ij x_j^s; the constant has W_O,h b_V,h as well
  apart     sum over rows a that stand apart of A_ia W_O,h W_V,h (x_a - xbar), xbar the used rows' plain mean;
            the constant loses as much
  share     sum_i <o~^s(i), o~(i)> / sum_i |o~(i)|^2 over used queries, o~ centred over them and over channels
  uniform   the same of o(i) - W_O,h (W_V,h xbar + b_V,h), which the constant loses, not centred over queries
  weighted  A_ij |C W_O,h W_V,h (x_j - xbar)|
  layer     the same of the sum over heads

`taken`: a sentence's embedding after its positions are taken from some readers, in all layers.

  copied    out of the input, the position rows from 1 on replaced by their mean, or out of the attention:
            the weights of one run take the place of the other's, so no parts are needed
  streams   what W_V, or W_Q and W_K, or all three read loses the unchanged run's stream of position
  residual  in layer 0 alone, only what is added to what attention writes loses it
  means     the same with pos_t over windows (depth.py) of the ten sentences

`order`: 1 - cosine with the embedding of the same words shuffled, altered alike.

The script asserts, at 1e-11 or less, that the parts add up; that five changes which nothing sees move nothing
here, while the raw or the naive quantity moves; and that a raw stream is what a frozen run loses without its part.
"""

import numpy as np

from decomposition import by_head
from depth import LAYERS, trained, windows, words_of
from encoder import CONSTANT, GROUPS, decomposed, embedding_rows, forward, linear, merge
from minilm import HEADS, SENTENCES, WIDTH, tokenize
from oracle_json import write_beside

PARTS = [*GROUPS[:CONSTANT], "apart", "constant"]
POSITION = GROUPS.index("position")
DOG, MAN = "The dog bit the man.", "The man bit the dog."


# ---------------------------------------------------------------- what heads write


def weights_of(layer, heads):
    """W_V,h [H, d_h, d], b_V,h [H, d_h] and W_O,h [H, d, d_h]."""
    d = layer["value"]["weight"].shape[1]
    value = layer["value"]["weight"].reshape(heads, -1, d)
    return value, layer["value"]["bias"].reshape(heads, -1), layer["output"]["weight"].T.reshape(heads, -1, d).transpose(0, 2, 1)


def head_outputs(model, number, attention, x, parts, apart):
    """[H, 7, n, d], in the order of PARTS; without rows that stand apart, `apart` is zero."""
    value, bias, output = weights_of(model["layers"][number], model["heads"])
    write = lambda x: np.einsum("hdk,hnk->hnd", output, attention @ np.einsum("hkd,nd->hnk", value, x))
    used = np.setdiff1d(np.arange(len(x)), apart)
    contrast = np.zeros_like(x)
    if len(apart) and len(used):
        contrast[apart] = x[apart] - x[used].mean(axis=0)
    elif len(apart):
        contrast[apart] = x[apart]
    every = [write(part) for part in parts[:CONSTANT]]
    every.append(write(contrast))
    every.append(write(parts[CONSTANT] - contrast) + np.einsum("hdk,hk->hd", output, bias)[:, None])
    return np.array(every).transpose(1, 0, 2, 3)


def of_uniform(model, number, x, used):
    """W_O,h (W_V,h xbar + b_V,h), [H, d]."""
    value, bias, output = weights_of(model["layers"][number], model["heads"])
    return np.einsum("hdk,hk->hd", output, value @ x[used].mean(axis=0) + bias)


def covariances(outputs, used, over_queries=True, channels=True):
    """sum_i <o~^s, o~> [..., S] and sum_i |o~|^2 [...] of outputs [..., S, n, d]."""
    some = outputs[..., used, :]
    if over_queries:
        some = some - some.mean(axis=-2, keepdims=True)
    if channels:
        some = some - some.mean(axis=-1, keepdims=True)
    whole = some.sum(axis=-3)
    return np.einsum("...sid,...id->...s", some, whole), (whole**2).sum(axis=(-2, -1))


def shares(outputs, used, **kind):
    terms, variance = covariances(outputs, used, **kind)
    return terms / variance[..., None]


def weighted(model, number, attention, x, used):
    value, _, output = weights_of(model["layers"][number], model["heads"])
    moved = np.einsum("hdk,hkc,nc->hnd", output, value, x - x[used].mean(axis=0), optimize=True)
    moved = moved - moved.mean(axis=-1, keepdims=True)
    return attention * np.linalg.norm(moved, axis=-1)[:, None, :]


def written_by(model, rows, run, apart, way, gauge="canonical"):
    """For each layer its outputs [H, 7, n, d], checked against what the forward's attention writes."""
    found = []
    for number, parts in enumerate(decomposed(model, rows, run, apart, way, gauge)):
        attention, x, layer = run["attention"][number], run["inputs"][number], model["layers"][number]
        outputs = head_outputs(model, number, attention, x, parts, apart if gauge == "canonical" else [])
        v = by_head(linear(x, layer["value"]), model["heads"])
        whole = linear(merge(attention @ v), layer["output"]) - layer["output"]["bias"]
        assert np.abs(outputs.sum(axis=(0, 1)) - whole).max() < 1e-12
        found.append(outputs)
    return found


def measured(model, number, run, outputs, apart):
    """All that is compared of a layer."""
    x, attention = run["inputs"][number], run["attention"][number]
    used = np.setdiff1d(np.arange(len(x)), apart)
    level = outputs.copy()
    level[:, -1] -= of_uniform(model, number, x, used)[:, None]
    both = lambda one, **kind: covariances(np.concatenate([one, one.sum(axis=0, keepdims=True)]), used, **kind)
    over, variance = both(outputs)
    uniform, uniform_variance = both(level, over_queries=False)
    return {
        "shares": over / variance[:, None],
        "variances": variance,
        "uniform_shares": uniform / uniform_variance[:, None],
        "uniform_variances": uniform_variance,
        "weighted": weighted(model, number, attention, x, used),
    }


# ---------------------------------------------------------------- what changes nothing


def changed_layer(model, number, value, bias, output, output_bias):
    layers = list(model["layers"])
    layers[number] = dict(
        layers[number], value={"weight": value, "bias": bias}, output={"weight": output, "bias": output_bias}
    )
    return dict(model, layers=layers)


def check_invariances(model, rows, apart, rng, way, tolerance):
    """Five changes that no state sees. Returns how far canonical and other quantities move, per change."""
    n, e, d, heads = rows.shape[1], rows.shape[2], model["layers"][0]["value"]["weight"].shape[0], model["heads"]
    used = np.setdiff1d(np.arange(n), apart)
    run = forward(model, rows)
    canonical, raw = (written_by(model, rows, run, apart, way, gauge) for gauge in ("canonical", "raw"))
    by_layer = lambda all, **kind: np.array([shares(one, used, **kind) for one in all])
    moved = {}

    def note(name, again, before, other, other_before):
        ours, theirs = np.abs(again - before).max(), np.abs(other - other_before).max()
        assert ours < tolerance, (name, ours)
        assert theirs > 1e3 * max(ours, tolerance), (name, theirs)
        moved[name] = (ours, theirs)

    def written_after(number, *changed):
        """What that layer writes with weights that leave the embedding as it is."""
        other = changed_layer(model, number, *changed)
        again = forward(other, rows)
        assert np.abs(again["embedding"] - run["embedding"]).max() < tolerance
        return written_by(other, rows, again, apart, way)[number]

    v = rng.normal(size=e)
    v *= 2 / np.linalg.norm(v)
    for name, where in (("means", np.arange(n)), ("first row", np.array(apart, int))):
        if len(where) == 0:
            continue
        shifted = rows.copy()
        shifted[0, where] += v
        shifted[1, where] -= v
        again = forward(model, shifted)
        assert np.abs(again["embedding"] - run["embedding"]).max() < tolerance
        there = written_by(model, shifted, again, apart, way)
        there_raw = written_by(model, shifted, again, apart, way, "raw")
        note(name, by_layer(there), by_layer(canonical), by_layer(there_raw), by_layer(raw))
        assert np.abs(np.array(there) - np.array(canonical)).max() < tolerance

    for number, layer in enumerate(model["layers"]):
        value, bias, output, output_bias = (layer[a][b] for a in ("value", "output") for b in ("weight", "bias"))
        before = shares(canonical[number], used)

        # b_V + v, b_O - W_O v: naive is the output itself, with b_V, as it varies from nought.
        u = rng.normal(size=d)
        u *= 2 / np.linalg.norm(u)
        there = written_after(number, value, bias + u, output, output_bias - output @ u)
        note(
            f"bias of values, layer {number}",
            shares(there, used),
            before,
            shares(there, used, over_queries=False),
            shares(canonical[number], used, over_queries=False),
        )

        # R W_V, R b_V, W_O R^-1 in each head: naive is the share before W_O.
        width = d // heads
        turn, back = np.zeros((d, d)), np.zeros((d, d))
        for head in range(heads):
            own = slice(head * width, (head + 1) * width)
            turn[own, own] = np.eye(width) + 0.4 * rng.normal(size=(width, width)) / np.sqrt(width)
            back[own, own] = np.linalg.inv(turn[own, own])
        there = written_after(number, turn @ value, turn @ bias, output @ back, output_bias)
        parts = decomposed(model, rows, run, apart, way)[number]
        inner = [
            np.array([by_head(part @ weight.T, heads) for part in parts]).transpose(1, 0, 2, 3) for weight in (turn @ value, value)
        ]
        mixed = [run["attention"][number][:, None] @ one for one in inner]
        note(f"basis of values, layer {number}", shares(there, used), before, *(shares(one, used, channels=False) for one in mixed))

        # W_O + 1 a': naive leaves channels as they are.
        if model["pre"]:
            continue  # A later norm takes it away, but not before other layers' sums have it.
        a = rng.normal(size=d)
        a *= 2 / np.linalg.norm(a)
        there = written_after(number, value, bias, output + a[None, :], output_bias)
        note(
            f"all channels alike, layer {number}",
            shares(there, used),
            before,
            shares(there, used, channels=False),
            shares(canonical[number], used, channels=False),
        )
    return moved


# ---------------------------------------------------------------- positions taken away


def altered(model, rows, taken=None, attention=None, state=None):
    """A forward whose readers lose [n, d]: taken {(layer, "query_key" | "value" | "residual"): rows}; `state` is
    lost before layer 0, for all. `attention` {layer: [H, n, n]} takes the place of the softmax. Returns what
    each layer read, the attention, and the states' means over tokens, of length one."""
    taken, attention = taken or {}, attention or {}
    n, heads, eps, pre = rows.shape[1], model["heads"], model["eps"], model["pre"]

    def norm(x, weights):
        y = x - x.mean(axis=-1, keepdims=True)
        return weights["gamma"] * y / np.sqrt((y**2).mean(axis=-1, keepdims=True) + eps) + weights["beta"]

    x = rows.sum(axis=0)
    if model["embedding_norm"]:
        x = norm(x, model["embedding_norm"])
    if state is not None:
        x = x - state
    states, weights, allowed = [x], [], np.tri(n, dtype=bool) if model["causal"] else np.ones((n, n), bool)
    for number, layer in enumerate(model["layers"]):
        y = norm(x, layer["attention_norm"]) if pre else x
        less = lambda what: y - taken[number, what] if (number, what) in taken else y
        if number in attention:
            a = attention[number]
        else:
            q, k = (by_head(linear(less("query_key"), layer[name]), heads) for name in ("query", "key"))
            scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[2])
            scores = np.where(allowed, scores, -np.inf)
            a = np.exp(scores - scores.max(axis=-1, keepdims=True))
            a = a / a.sum(axis=-1, keepdims=True)
        weights.append(a)
        wrote = linear(merge(a @ by_head(linear(less("value"), layer["value"]), heads)), layer["output"])
        x = (x - taken[number, "residual"] if (number, "residual") in taken else x) + wrote
        if not pre:
            x = norm(x, layer["attention_norm"])
        y = norm(x, layer["mlp_norm"]) if pre else x
        x = x + linear(model["activation"](linear(y, layer["up"])), layer["down"])
        if not pre:
            x = norm(x, layer["mlp_norm"])
        states.append(x)
    last = states[:-1] + [norm(x, model["final_norm"]) if model["final_norm"] else x]
    pooled = np.array([one.mean(axis=0) for one in last])
    return {"states": states, "attention": weights, "pooled": pooled / np.linalg.norm(pooled, axis=1, keepdims=True)}


def without_rows(rows):
    """Position rows from 1 on replaced by their mean."""
    changed = rows.copy()
    changed[1, 1:] = rows[1, 1:].mean(axis=0)
    return changed


READERS = {
    "values": ["value"],
    "queries_keys": ["query_key"],
    "all_three": ["query_key", "value"],
}


def by_copies(model, rows):
    """Pooled states [L + 1, d] by what positions are taken from."""
    plain, bare = altered(model, rows), altered(model, without_rows(rows))
    weights = lambda run: dict(enumerate(run["attention"]))
    return {
        "nothing": plain["pooled"],
        "all_but_attention": altered(model, without_rows(rows), attention=weights(plain))["pooled"],
        "attention": altered(model, rows, attention=weights(bare))["pooled"],
        "everything": bare["pooled"],
    }


def by_streams(model, rows, apart=(0,)):
    run = forward(model, rows)
    stream = [parts[POSITION] for parts in decomposed(model, rows, run, list(apart), "streams")]
    layers = range(len(model["layers"]))
    found = {
        name: altered(model, rows, {(l, reader): stream[l] for l in layers for reader in readers})["pooled"]
        for name, readers in READERS.items()
    }
    found["residual"] = altered(model, rows, {(0, "residual"): stream[0]})["pooled"]
    return found


def estimated(model, corpus):
    """pos_t before each layer, [L, T, d], over windows."""
    states = [altered(model, embedding_rows(model, ids))["states"] for ids in windows(corpus)]
    found = [np.mean([run[number][1:-1] for run in states], axis=0) for number in range(len(model["layers"]))]
    return [mean - mean.mean(axis=0) for mean in found]


def by_means(model, rows, means):
    """`means` from estimated(); the rows have at most as many positions."""
    n, found = rows.shape[1], {}
    for name, readers in READERS.items():
        taken = {}
        for number, position in enumerate(means):
            less = np.zeros((n, position.shape[1]))
            less[1:] = position[: n - 1]
            taken.update({(number, reader): less for reader in readers})
        found[name] = altered(model, rows, taken)["pooled"]
    return found


# ---------------------------------------------------------------- main


def frozen_without(model, rows, run, apart):
    """A raw stream is what a run with frozen attention, sigmas and MLPs loses when its rows are withheld."""
    streams = decomposed(model, rows, run, apart, "streams", "raw")
    for part in range(2):
        x = rows.sum(axis=0) - rows[part]
        norm = lambda x, weights, name: weights["gamma"] * (x - x.mean(axis=1, keepdims=True)) / run["sigma"][name] + weights["beta"]
        x = norm(x, model["embedding_norm"], "embedding")
        for number, layer in enumerate(model["layers"]):
            assert np.abs(run["inputs"][number] - x - streams[number][part]).max() < 1e-11
            v = by_head(linear(x, layer["value"]), model["heads"])
            x = norm(x + linear(merge(run["attention"][number] @ v), layer["output"]), layer["attention_norm"], (number, "attention"))
            x = norm(x + run["mlp"][number] + layer["down"]["bias"], layer["mlp_norm"], (number, "mlp"))


def main():
    rng = np.random.default_rng(30)
    _, tokenizer, vocabulary, model = trained()
    ids_of = lambda text: tokenize(text, tokenizer)[1]
    ten = [ids_of(text) for text in SENTENCES]

    total = np.zeros((LAYERS, HEADS, len(PARTS)))
    variance = np.zeros((LAYERS, HEADS))
    for ids in ten:
        rows = embedding_rows(model, ids)
        run = forward(model, rows)
        for number, outputs in enumerate(written_by(model, rows, run, [0], "streams")):
            terms, size = covariances(outputs, range(1, len(ids)))
            total[number] += terms
            variance[number] += size
    pooled = total / variance[..., None]
    rows = embedding_rows(model, ten[5])
    run = forward(model, rows)
    frozen_without(model, rows, run, [0])
    for name, (ours, theirs) in check_invariances(model, rows, [0], rng, "streams", 1e-10).items():
        print(f"  {name}: {ours:.0e}, otherwise {100 * theirs:.0f} points")

    means = estimated(model, ten)
    sentences, orders = [], []
    for text in (DOG, *SENTENCES[:2]):
        ids = ids_of(text)
        rows = embedding_rows(model, ids)
        run = forward(model, rows)
        words, end = words_of(ids, vocabulary)
        order = [0, *(i for w in rng.permutation(len(words)) for i in words[w]), *end]
        shuffled = rows.copy()
        shuffled[0] = rows[0, order]
        taken = {}
        for name, taker in (
            ("copied", by_copies),
            ("streams", by_streams),
            ("means", lambda m, r: by_means(m, r, means)),
        ):
            one, other = taker(model, rows), taker(model, shuffled)
            taken[name] = {key: {"pooled": one[key], "order": 1 - one[key][-1] @ other[key][-1]} for key in one}
        plain = altered(model, rows)["pooled"]
        for kinds in taken.values():
            for kind in kinds.values():
                kind["cosines"] = np.einsum("ld,ld->l", kind.pop("pooled"), plain)
        outputs = written_by(model, rows, run, [0], "streams")
        sentences.append(
            {
                "text": text,
                "shuffled": order,
                "layers": [
                    {**found, "weighted": found["weighted"][:, 1]}
                    for found in (measured(model, number, run, one, [0]) for number, one in enumerate(outputs))
                ],
                "taken": taken,
            }
        )
    both = [by_copies(model, embedding_rows(model, ids_of(text))) for text in (DOG, MAN)]
    pair = {name: both[0][name][-1] @ both[1][name][-1] for name in both[0]}
    write_beside(
        __file__,
        {
            "parts": PARTS,
            "pooled": pooled,
            "sentences": sentences,
            "pair": {"texts": [DOG, MAN], "cosines": pair},
        },
        digits=11,
    )


if __name__ == "__main__":
    main()
