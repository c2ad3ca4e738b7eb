"""Tiny checkpoints of the model families, the scores of their first layer, and where all layers are run what they make.

Each family's file has the names, shapes and dtypes of its published checkpoints, with random
weights. The numbers come from a forward written out for that family alone:

  bert, roberta  LN(t + p + s) -> W_Q, W_K; RoBERTa's first position is row 2
  distilbert     LN(t + p)
  gpt2           LN_1(t + p); [q k v] = x W + b, W [d, 3d], and so [in, out] for all its maps
  qwen2          names, shapes and dtype alone: rotation is drawn_models.py's

LN: (x - mean) / sqrt(var + eps) * gamma + beta. Scores are q.k / sqrt(d_h) for every pair, before any mask.
Sources: Hugging Face transformers' reference implementations.

Weights are whole multiples of 1/64 below 1.6, which F32, F16 and BF16 hold exactly, so a file's dtype does
not change its numbers. Files go to checkpoints/NAME/, with a config.json; their SHA-256 is in the JSON.
"""

import hashlib
import json
import math
import struct
from pathlib import Path

import numpy as np

from encoder import CONSTANT, GROUPS, canonical_parts, centre, embedding_rows, forward, gelu, gelu_tanh, terms_of
from oracle_json import write_beside

FOLDER = Path(__file__).parent / "checkpoints"
D, HEADS, VOCABULARY, LENGTH = 8, 2, 12, 8
IDS = [3, 7, 2, 7, 11]
# Sentences begin and end with the same tokens, which count as pieces where a model fixes none. A window has
# as many pieces as the positions allow.
CORPUS = [[2, *np.random.default_rng(7).permutation(np.arange(4, 12))[:5].tolist(), 3]]
CORPUS += [[2, *np.random.default_rng(8 + i).integers(3, 12, 5).tolist(), 3] for i in range(11)]
STRIDE = 7
EPS = 1e-2


def weights(rng, *shape, about=0.0):
    return about + np.rint(rng.normal(0, 0.4, shape).clip(-1.5, 1.5) * 64) / 64


def bytes_of(values, dtype):
    if dtype == "I64":
        return values.astype("<i8").tobytes()
    if dtype == "F16":
        return values.astype("<f2").tobytes()
    single = values.astype("<f4")
    if dtype == "F32":
        return single.tobytes()
    return (single.view("<u4") >> 16).astype("<u2").tobytes()


def safetensors(tensors, dtype):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name in sorted(tensors):
        values = tensors[name]
        kind = "I64" if values.dtype.kind == "i" else dtype
        part = bytes_of(values, kind)
        header[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def layer_norm(x, gamma, beta, eps=EPS):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps) * gamma + beta


def scores(queries, keys, heads=HEADS):
    n, d = queries.shape
    width = d // heads
    out = np.empty((heads, n, n))
    for h in range(heads):
        own = slice(h * width, (h + 1) * width)
        out[h] = queries[:, own] @ keys[:, own].T / math.sqrt(width)
    return out


class Checkpoint:
    """Tensors by name, each drawn when it is first named."""

    def __init__(self, rng, prefix=""):
        self.rng, self.prefix, self.tensors = rng, prefix, {}

    def make(self, name, *shape, about=0.0):
        values = weights(self.rng, *shape, about=about)
        self.tensors[self.prefix + name] = values
        return values

    def norm(self, name, width=D, words=("weight", "bias")):
        return self.make(f"{name}.{words[0]}", width, about=1.0), self.make(f"{name}.{words[1]}", width)

    def linear(self, name, out=D, into=D, bias=True):
        weight = self.make(f"{name}.weight", out, into)
        return weight, self.make(f"{name}.bias", out) if bias else np.zeros(out)

    def ids(self, name, count):
        self.tensors[self.prefix + name] = np.arange(count, dtype=np.int64)[None, :]


def through(x, linear):
    return x @ linear[0].T + linear[1]


def means_over_corpus(model, before=1, after=1):
    """h = mu + pos_t + content over windows, state by state, and the share of pos -> pos of each layer and head.

    Products are of the means of even and odd windows, to avoid the noise of few windows. Shares are over
    the corpus's sentences, canonical; the first rows that the model fixes stand apart. A norm before W_Q is one of what a state's parts go through. A causal query's row is over the keys
    that it sees.
    """
    inner = LENGTH - before - after
    pieces = [piece for ids in CORPUS for piece in ids[before : len(ids) - after]]
    first, last = CORPUS[0][:before], CORPUS[0][len(CORPUS[0]) - after :]
    cut = [[*first, *pieces[i : i + inner], *last] for i in range(0, len(pieces) - inner + 1, STRIDE)]
    apart, pre = list(range(before)), model["pre"]

    runs = [forward(model, embedding_rows(model, ids))["states"] for ids in cut]
    h = np.array(runs)[:, :, before : before + inner].transpose(1, 0, 2, 3)
    mu = h.mean(axis=(1, 2))
    position = h.mean(axis=1) - mu[:, None]
    energy = ((h - mu[:, None, None]) ** 2).sum(axis=3).mean(axis=(1, 2))
    halves = [h[:, i::2].mean(axis=1) for i in (0, 1)]
    even, odd = (half - half.mean(axis=1, keepdims=True) for half in halves)
    share = (even * odd).sum(axis=2).mean(axis=1) / energy
    total = np.zeros((2, 2, HEADS))
    chosen = [ids for ids in CORPUS if len(ids) <= before + inner]
    for ids in chosen:
        n = len(ids)
        seen = np.tri(n, dtype=bool) if model["causal"] else np.ones((n, n), bool)
        run = forward(model, embedding_rows(model, ids))
        for number in range(2):
            parts = np.zeros((len(GROUPS), n, D))
            parts[0, before:] = position[number, : n - before]
            parts[CONSTANT] = mu[number]
            parts[1] = run["states"][number] - parts.sum(axis=0)
            sigma = run["sigma"][number, "attention"] if pre else np.ones((n, 1))
            parts = canonical_parts(parts, apart, 1 / sigma[:, 0])
            if pre:
                norm = model["layers"][number]["attention_norm"]
                parts = norm["gamma"] * centre(parts) / sigma
                parts[CONSTANT] += norm["beta"]
            terms = terms_of(model, number, parts[[0, 1, CONSTANT]])
            whole = terms.sum(axis=1)
            assert np.abs(whole - run["logits"][number]).max() < 1e-10
            for i in range(before, n):
                keys = [j for j in range(before, n) if seen[i, j]]
                row = lambda a: a[:, i, keys] - a[:, i, keys].mean(axis=1, keepdims=True)
                total[0, number] += (row(terms[:, 0]) * row(whole)).sum(axis=1)
                total[1, number] += (row(whole) ** 2).sum(axis=1)
    return {
        "windows": len(cut),
        "sentences": len(chosen),
        "mean": mu,
        "position": position,
        "position_energy": share,
        "heads": total[0] / total[1],
    }


def through_layers(file, word, position, segment, first, norm, names, eps=EPS):
    """Two layers of an encoder with post-LN and exact GELU: the states after 0, 1 and 2 layers, the second
    layer's scores, the embedding, and means over a corpus."""
    weights_of = lambda pair: {"weight": pair[0], "bias": pair[1]}
    norm_of = lambda pair: {"gamma": pair[0], "beta": pair[1]}
    layers = []
    for number in range(2):
        name = lambda part: names[part].format(number)
        has = file.prefix + name("query") + ".weight" in file.tensors
        own = lambda part: [file.tensors[f"{file.prefix}{name(part)}.{kind}"] for kind in ("weight", "bias")]
        made = lambda part, *shape: own(part) if has and part in ("query", "key") else file.linear(name(part), *shape)
        layer = {part: weights_of(made(part)) for part in ("query", "key", "value", "output")}
        layer["up"], layer["down"] = weights_of(made("up", 12, D)), weights_of(made("down", D, 12))
        layer["attention_norm"], layer["mlp_norm"] = (norm_of(file.norm(name(part))) for part in ("attention_norm", "mlp_norm"))
        layers.append(layer)
    model = {"word": word, "position": position, "token_type": segment, "first_position": first, "heads": HEADS, "eps": eps,
             "causal": False, "pre": False, "embedding_norm": norm_of(norm), "activation": gelu, "final_norm": None, "layers": layers}
    run = forward(model, embedding_rows(model, IDS))
    found = {"states": run["states"], "later_logits": run["logits"][1], "embedding": run["embedding"]}
    return {**found, "corpus": means_over_corpus(model)}


BERT_LAYER = {
    "query": "encoder.layer.{}.attention.self.query",
    "key": "encoder.layer.{}.attention.self.key",
    "value": "encoder.layer.{}.attention.self.value",
    "output": "encoder.layer.{}.attention.output.dense",
    "attention_norm": "encoder.layer.{}.attention.output.LayerNorm",
    "up": "encoder.layer.{}.intermediate.dense",
    "down": "encoder.layer.{}.output.dense",
    "mlp_norm": "encoder.layer.{}.output.LayerNorm",
}
DISTILBERT_LAYER = {
    "query": "transformer.layer.{}.attention.q_lin",
    "key": "transformer.layer.{}.attention.k_lin",
    "value": "transformer.layer.{}.attention.v_lin",
    "output": "transformer.layer.{}.attention.out_lin",
    "attention_norm": "transformer.layer.{}.sa_layer_norm",
    "up": "transformer.layer.{}.ffn.lin1",
    "down": "transformer.layer.{}.ffn.lin2",
    "mlp_norm": "transformer.layer.{}.output_layer_norm",
}


def bert(rng, prefix="bert.", model_type="bert", segments=2, first=0, words=("weight", "bias")):
    file = Checkpoint(rng, prefix)
    token = file.make("embeddings.word_embeddings.weight", VOCABULARY, D)
    position = file.make("embeddings.position_embeddings.weight", LENGTH + first, D)
    segment = file.make("embeddings.token_type_embeddings.weight", segments, D)
    file.ids("embeddings.position_ids", LENGTH + first)
    norm = file.norm("embeddings.LayerNorm", D, words)
    x = layer_norm(token[IDS] + position[first : first + len(IDS)] + segment[0], *norm)
    query = file.linear("encoder.layer.0.attention.self.query")
    key = file.linear("encoder.layer.0.attention.self.key")
    logits = scores(through(x, query), through(x, key))
    config = {"model_type": model_type, "num_attention_heads": HEADS, "layer_norm_eps": EPS, "hidden_act": "gelu"}
    run = through_layers(file, token, position, segment, first, norm, BERT_LAYER)
    return file, logits, config, run


def distilbert(rng):
    file = Checkpoint(rng, "distilbert.")
    token = file.make("embeddings.word_embeddings.weight", VOCABULARY, D)
    position = file.make("embeddings.position_embeddings.weight", LENGTH, D)
    norm = file.norm("embeddings.LayerNorm")
    x = layer_norm(token[IDS] + position[: len(IDS)], *norm, eps=1e-12)
    query = file.linear("transformer.layer.0.attention.q_lin")
    key = file.linear("transformer.layer.0.attention.k_lin")
    run = through_layers(file, token, position, None, 0, norm, DISTILBERT_LAYER, 1e-12)
    return file, scores(through(x, query), through(x, key)), {"model_type": "distilbert", "n_heads": HEADS, "activation": "gelu"}, run


def through_decoder(file, token, position, first, layer_of, activation, pre, final, eps, before):
    """The same of two causal layers. layer_of(number) makes a layer's tensors, whose weights come from a generator of
    their own, so that other files stay as they are."""
    file.rng = np.random.default_rng(31)
    layers = [layer_of(number) for number in range(2)]
    final = final and final()
    model = {"word": token, "position": position, "token_type": None, "first_position": first, "heads": HEADS, "eps": eps,
             "causal": True, "pre": pre, "embedding_norm": None, "activation": activation, "final_norm": final, "layers": layers}
    run = forward(model, embedding_rows(model, IDS))
    found = {"states": run["states"], "later_logits": run["logits"][1], "embedding": run["embedding"]}
    return {**found, "corpus": means_over_corpus(model, before, 0)}


def named(pair, words=("weight", "bias")):
    return dict(zip(words, pair))


def gpt2(rng):
    file = Checkpoint(rng, "transformer.")
    token, position = file.make("wte.weight", VOCABULARY, D), file.make("wpe.weight", LENGTH, D)
    norm = file.norm("h.0.ln_1")
    weight, bias = file.make("h.0.attn.c_attn.weight", D, 3 * D), file.make("h.0.attn.c_attn.bias", 3 * D)
    file.tensors["transformer.h.0.attn.bias"] = np.tri(LENGTH)[None, None]
    joined = layer_norm(token[IDS] + position[: len(IDS)], *norm) @ weight + bias
    logits = scores(joined[:, :D], joined[:, D : 2 * D])

    def turned(name, out, into):
        return {"weight": file.make(f"{name}.weight", into, out).T, "bias": file.make(f"{name}.bias", out)}

    def layer_of(number):
        name = f"h.{number}."
        three = turned(f"{name}attn.c_attn", 3 * D, D) if number else {"weight": weight.T, "bias": bias}
        blocks = {key: np.split(value, 3) for key, value in three.items()}
        layer = {part: {key: blocks[key][i] for key in blocks} for i, part in enumerate(("query", "key", "value"))}
        layer["output"] = turned(f"{name}attn.c_proj", D, D)
        layer["up"], layer["down"] = turned(f"{name}mlp.c_fc", 12, D), turned(f"{name}mlp.c_proj", D, 12)
        layer["attention_norm"] = named(file.norm(f"{name}ln_1") if number else norm, ("gamma", "beta"))
        layer["mlp_norm"] = named(file.norm(f"{name}ln_2"), ("gamma", "beta"))
        return layer

    final = lambda: named(file.norm("ln_f"), ("gamma", "beta"))
    run = through_decoder(file, token, position, 0, layer_of, gelu_tanh, True, final, EPS, 0)
    return file, logits, {"model_type": "gpt2", "n_head": HEADS, "layer_norm_epsilon": EPS}, run


def qwen2(rng):
    """A file of one layer's queries and keys; of its scores nothing is written."""
    file = Checkpoint(rng, "model.")
    heads, key_heads, width = 4, 2, 4
    file.make("embed_tokens.weight", VOCABULARY, D)
    file.make("layers.0.input_layernorm.weight", D, about=1.0)
    file.linear("layers.0.self_attn.q_proj", heads * width, D)
    file.linear("layers.0.self_attn.k_proj", key_heads * width, D)
    config = {"model_type": "qwen2", "num_attention_heads": heads, "num_key_value_heads": key_heads, "rope_theta": 1000.0, "rms_norm_eps": 1e-6}
    return file, config


def main():
    rng = np.random.default_rng(20261122)
    cases = []

    def add(name, family, dtype, file, logits, config, run=None, **more):
        folder = FOLDER / name
        folder.mkdir(parents=True, exist_ok=True)
        data = safetensors(file.tensors, dtype)
        (folder / "model.safetensors").write_bytes(data)
        (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="ascii")
        digest = hashlib.sha256(data).hexdigest()
        cases.append({"name": name, "family": family, "dtype": dtype, "sha256": digest, "logits": logits, **(run or {}), **more})

    add("bert", "bert", "F32", *bert(rng), causal=False)
    add("bert-gamma", "bert", "F16", *bert(rng, "", words=("gamma", "beta")), causal=False)
    add("roberta", "roberta", "BF16", *bert(rng, "roberta.", "roberta", 1, 2), causal=False)
    add("distilbert", "distilbert", "F32", *distilbert(rng), causal=False)
    add("gpt2", "gpt2", "F32", *gpt2(rng), causal=True)
    file, config = qwen2(rng)
    add("qwen2", "qwen2", "BF16", file, [], config, causal=True)

    for one in cases:
        if len(one["logits"]):
            # Scores that a wrong reading would not change would prove nothing.
            assert np.ptp(one["logits"], axis=2).min() > 1e-3
    write_beside(__file__, {"ids": IDS, "corpus": CORPUS, "cases": cases})


if __name__ == "__main__":
    main()
