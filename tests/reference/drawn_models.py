"""Models of every family through all their layers, drawn at random: python3 drawn_models.py SEED FOLDER

Writes one checkpoint for each case into FOLDER, in the names and layouts of the published ones, and what a
forward written out here makes of it: FOLDER/models.json says where in FOLDER/models.bin each number is.

  BERT, RoBERTa, DistilBERT     x = LN(t + p + s); x = LN(x + attention(x)); x = LN(x + mlp(x)); DistilBERT without s,
                                RoBERTa's first position in row 2
  GPT-2                         x = t + p; x += attention(LN(x)); x += mlp(LN(x)); LN at the end
  Llama, Mistral, Qwen2, Qwen3  x = t; x += attention(RMS(x)); x += down(g(gate RMS(x)) * up RMS(x)); RMS at the end

RMS(x) = g x / sqrt(mean(x^2) + eps). A head is e wide, which need not be d / H in the last four; query head h reads the
key head floor(h G / H). Scores are q'k / sqrt(e). Where there is no table of positions, channels (m, m + e/2) of a head
turn by p theta_m at position p, theta_m = base^(-2m/e) or scaled (linear, llama3); q and k are normalized per head
before that in Qwen3. A decoder's query sees no later key. GPT-2's maps are [in, out], and its q, k and v are blocks of
one of them.

A score's terms, every sigma and all attention frozen, from parts of what W_Q and W_K read:

  direct     the summands, attention, mlp, constant: the rows by the residual path alone, what attention and MLPs write
             without their biases, all biases and betas; of models that add positions
  streams    the same, but attention moves every part, and `attention` is empty
  mean       position, content, constant: the state's mean at a place less that of all, given; what is left; that of all
  mechanism  of queries and keys before they turn, with means mu over a corpus and pi at each place less mu, given: q~ =
             q - mu - pi, R the rotation by j - i, R- its mean over the pairs that attend, R~ = R - R-:
               q~ R- k~                            token and token
               q~ (R~ mu + R pi)                   token and position
               (mu R~ + pi R) k~                   position and token
               (mu + pi) (R (mu + pi) - R- mu)     position and position, without pi a function of the distance
               q~ R~ k~                            token and token, by their distance
               mu R- k~                            the key alone
               q R- mu                             the same for every key
             Excluded rows have no position; their scores are not split, and no mean is over them.

Canonical: each part's mean over the used rows joins the constant, in the rows that are summed (weights the product of
1 / sigma of the norms up to W_Q) and before a layer's norm (weights 1 / sigma; 1 where norms come after). A first row
whose token the family fixes is excluded: all of it is constant.

`wrong` lists other readings of the same file, each of which would give other numbers. Weights are BF16. Sources:
Devlin et al. 2019, Radford et al. 2019, Su et al. 2021 (RoPE), Zhang & Sennrich 2019 (RMS), Shazeer 2020 (gates);
Hugging Face transformers for names, layouts and what a member of config.json does.
"""

import json
import math
import sys
from pathlib import Path

import numpy as np

from drawn_numbers import Numbers, hardest_to_see
from encoder import gelu, gelu_tanh
from families import safetensors

N, VOCABULARY, ROWS, INNER, LAYERS, HEADS, EPS = 11, 23, 17, 28, 3, 4, 0.01
ROTARY = ("llama", "mistral", "qwen2", "qwen3")
# GPT-2, and whatever differs from it in the names of its tensors alone.
LIKE_GPT2 = ("gpt2",)
DECODERS = (*LIKE_GPT2, *ROTARY)
FIRST = {"roberta": 2}


def silu(x):
    return x / (1 + np.exp(-x))


def relu(x):
    return np.maximum(x, 0)


ACTIVATIONS = {"silu": silu, "gelu": gelu, "gelu_new": gelu_tanh, "relu": relu}


def bf16(values):
    """Rounded to the nearest BF16, halves to even."""
    bits = np.asarray(values, "<f4").view("<u4").astype(np.uint64)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16
    return bits.astype("<u4").view("<f4").astype(float)


def drawn_model(rng, family, flags):
    rotated = family in ROTARY
    d, groups, e = (20, 2, 6) if rotated else (20, HEADS, 5)
    draw = lambda *shape, about=0.0, spread=0.4: bf16(about + spread * rng.normal(size=shape))
    # Loud, for activations that are nearly alike to be told apart.
    linear = lambda out, into, bias, spread=0.9: {
        "w": draw(out, into, spread=spread / math.sqrt(into)), "b": draw(out) if bias else np.zeros(out)}  # fmt: skip
    norm = lambda width=d: {"gamma": draw(width, about=1.0), "beta": np.zeros(width) if rotated else draw(width)}
    of_qkv = not rotated or family == "qwen2" or flags.get("attention_bias", False)
    of_o, of_mlp = (not rotated or flags.get(one, False) for one in ("attention_bias", "mlp_bias"))
    layers = []
    for _ in range(LAYERS):
        layer = {"q": linear(HEADS * e, d, of_qkv), "k": linear(groups * e, d, of_qkv), "v": linear(groups * e, d, of_qkv),
                 "o": linear(d, HEADS * e, of_o), "up": linear(INNER, d, of_mlp), "down": linear(d, INNER, of_mlp, 2),
                 "norm1": norm(), "norm2": norm()}  # fmt: skip
        if rotated:
            layer["gate"] = linear(INNER, d, of_mlp)
        if family == "qwen3":
            layer["q_norm"], layer["k_norm"] = norm(e), norm(e)
        layers.append(layer)
    encoder = family not in DECODERS
    return {
        "d": d, "groups": groups, "width": e, "layers": layers,
        "token": draw(VOCABULARY, d),
        "position": None if rotated else draw(ROWS, d),
        "segment": draw(2, d) if encoder and family != "distilbert" else None,
        "embedding_norm": norm() if encoder else None,
        "final": None if encoder else norm(),
    }  # fmt: skip


# ---------------------------------------------------------------- how it is run


def frequencies_of(channels, base, scaling):
    theta = np.array([base ** (-2 * m / channels) for m in range(channels // 2)])
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    if kind == "default":
        return theta
    factor = scaling["factor"]
    if kind == "linear":
        return theta / factor
    low, high, original = (scaling[key] for key in ("low_freq_factor", "high_freq_factor", "original_max_position_embeddings"))
    found = []
    for one in theta:
        length = 2 * math.pi / one
        t = (original / length - low) / (high - low)
        found.append(one if length < original / high else one / factor if length > original / low else t * one + (1 - t) * one / factor)
    return np.array(found)


def reading(family, flags, model):
    """What a run depends on beside the weights."""
    newer = flags.get("rope_parameters", {})
    rotated, encoder = family in ROTARY, family not in DECODERS
    like_gpt2 = family in LIKE_GPT2
    member = "activation_function" if like_gpt2 else "activation" if family == "distilbert" else "hidden_act"
    usual = "silu" if rotated else "gelu_new" if like_gpt2 else "gelu"
    return {
        "rms": rotated,
        "post": encoder,
        "causal": not encoder,
        "activation": ACTIVATIONS[flags.get(member, usual)],
        "first": FIRST.get(family, 0),
        "segment": 0,
        "turns": rotated,
        "base": newer.get("rope_theta", flags.get("rope_theta", 10_000.0)),
        "scaling": newer or flags.get("rope_scaling") or {},
        "halves": True,
        "scale": 1 / math.sqrt(model["width"]),
        "group": [h * model["groups"] // HEADS for h in range(HEADS)],
        "norm_first": True,
        "eps": 1e-12 if family == "distilbert" else EPS,
        # All later queries look at the first row of a rotated decoder, whatever its token is.
        "excluded": [] if like_gpt2 else [0],
    }


# ---------------------------------------------------------------- the forward


def linear(x, map):
    return x @ map["w"].T + map["b"]


def sigma_of(x, norm, how):
    if norm is None:
        return np.ones((*x.shape[:-1], 1))
    centred = x if how["rms"] else x - x.mean(-1, keepdims=True)
    return np.sqrt((centred**2).mean(-1, keepdims=True) + how["eps"])


def scaled_by(x, norm, sigma, how):
    """The norm without its beta, sigma given: linear in x."""
    if norm is None:
        return x
    return norm["gamma"] * (x if how["rms"] else x - x.mean(-1, keepdims=True)) / sigma


def beta_of(norm):
    return 0.0 if norm is None else norm["beta"]


def normed(x, norm, how):
    return scaled_by(x, norm, sigma_of(x, norm, how), how) + beta_of(norm)


def by_head(x, count):
    """[count, n, e]"""
    return x.reshape(len(x), count, -1).transpose(1, 0, 2)


def joined(x):
    return x.transpose(1, 0, 2).reshape(x.shape[1], -1)


def turn(x, how):
    """x [.., n, e] at places 0 to n - 1"""
    if not how["turns"]:
        return x
    half = x.shape[-1] // 2
    angles = np.outer(np.arange(x.shape[-2]), frequencies_of(2 * half, how["base"], how["scaling"]))
    first = np.arange(half) if how["halves"] else np.arange(0, 2 * half, 2)
    second = first + half if how["halves"] else first + 1
    out, a, b = x.copy(), x[..., first], x[..., second]
    out[..., first] = a * np.cos(angles) - b * np.sin(angles)
    out[..., second] = b * np.cos(angles) + a * np.sin(angles)
    return out


def summands_of(model, how, ids):
    rows = [model["token"][ids]]
    if model["position"] is not None:
        rows.append(model["position"][how["first"] : how["first"] + len(ids)])
    if model["segment"] is not None:
        rows.append(np.tile(model["segment"][how["segment"]], (len(ids), 1)))
    return np.array(rows)


def run(model, how, ids):
    x, n = summands_of(model, how, ids).sum(0), len(ids)
    found = {name: [] for name in ("states", "inputs", "logits", "attention", "written", "query", "key", "sigma1", "sigma2")}
    found["sigma0"] = sigma_of(x, model["embedding_norm"], how)
    x = normed(x, model["embedding_norm"], how)
    found["states"].append(x)
    allowed = np.tril(np.ones((n, n), bool)) if how["causal"] else np.ones((n, n), bool)
    for layer in model["layers"]:
        sigma1 = sigma_of(x, layer["norm1"], how)
        read = x if how["post"] else normed(x, layer["norm1"], how)
        q = by_head(linear(read, layer["q"]), HEADS)
        k, v = (by_head(linear(read, layer[name]), model["groups"]) for name in "kv")
        if "q_norm" in layer and not how["norm_first"]:
            q, k = normed(turn(q, how), layer["q_norm"], how), normed(turn(k, how), layer["k_norm"], how)
        elif "q_norm" in layer:
            q, k = normed(q, layer["q_norm"], how), normed(k, layer["k_norm"], how)
        found["query"].append(joined(q))
        found["key"].append(joined(k))
        if "q_norm" not in layer or how["norm_first"]:
            q, k = turn(q, how), turn(k, how)
        scores = how["scale"] * np.einsum("hie,hje->hij", q, k[how["group"]])
        seen = np.where(allowed, scores, -np.inf)
        weights = np.exp(seen - seen.max(2, keepdims=True))
        weights = weights / weights.sum(2, keepdims=True)
        x = x + linear(joined(weights @ v[how["group"]]), layer["o"])
        if how["post"]:
            sigma1 = sigma_of(x, layer["norm1"], how)
            x = normed(x, layer["norm1"], how)
        read2 = x if how["post"] else normed(x, layer["norm2"], how)
        inner = how["activation"](linear(read2, layer["gate" if "gate" in layer else "up"]))
        if "gate" in layer:
            inner = inner * linear(read2, layer["up"])
        written = inner @ layer["down"]["w"].T
        x = x + written + layer["down"]["b"]
        sigma2 = sigma_of(x, layer["norm2"], how)
        if how["post"]:
            x = normed(x, layer["norm2"], how)
        for name, value in (("inputs", read), ("logits", scores), ("attention", weights), ("written", written),
                            ("sigma1", sigma1), ("sigma2", sigma2), ("states", x)):  # fmt: skip
            found[name].append(value)
    last = normed(x, model["final"], how)
    mean = last.mean(0)
    return {**{name: np.array(value) for name, value in found.items()}, "last": last, "embedding": mean / np.linalg.norm(mean)}


# ---------------------------------------------------------------- terms


def gauged(parts, excluded, weights):
    """All but the last, which is the constant, less their means over the used rows."""
    parts = parts.copy()
    used = [i for i in range(parts.shape[1]) if i not in excluded]
    w = weights[used] / weights[used].sum()
    for part in parts[:-1]:
        mean = w @ part[used]
        for i in range(len(part)):
            moved = part[i].copy() if i in excluded else mean
            part[i] -= moved
            parts[-1, i] += moved
    return parts


def through(parts, norm, sigma, how):
    parts = np.array([scaled_by(part, norm, sigma, how) for part in parts])
    parts[-1] += beta_of(norm)
    return parts


def parts_of(model, how, found, ids, way, canonical):
    """[LAYERS][summands + 3, n, d]: the summands, attention, mlp, constant."""
    rows = summands_of(model, how, ids)
    parts = np.concatenate([rows, np.zeros((3, *rows.shape[1:]))])
    attention, mlp, one = len(rows), len(rows) + 1, np.ones(len(ids))
    if canonical:
        parts = gauged(parts, how["excluded"], 1 / found["sigma0"][:, 0] * (one if how["post"] else 1 / found["sigma1"][0][:, 0]))
    parts = through(parts, model["embedding_norm"], found["sigma0"], how)
    all_parts = []
    for number, layer in enumerate(model["layers"]):
        s1, s2 = found["sigma1"][number], found["sigma2"][number]
        here = gauged(parts, how["excluded"], one if how["post"] else 1 / s1[:, 0]) if canonical else parts
        all_parts.append(here if how["post"] else through(here, layer["norm1"], s1, how))
        read = parts if how["post"] else through(parts, layer["norm1"], s1, how)
        moved = lambda x: joined(found["attention"][number] @ by_head(x @ layer["v"]["w"].T, HEADS)) @ layer["o"]["w"].T
        parts = parts.copy()
        if way == "direct":
            parts[attention] += moved(found["inputs"][number])
        else:
            parts += np.array([moved(part) for part in read])
        parts[-1] += layer["o"]["w"] @ layer["v"]["b"] + layer["o"]["b"]
        if how["post"]:
            parts = through(parts, layer["norm1"], s1, how)
        parts[mlp] += found["written"][number]
        parts[-1] += layer["down"]["b"]
        if how["post"]:
            parts = through(parts, layer["norm2"], s2, how)
    for number, parts in enumerate(all_parts):
        assert np.abs(parts.sum(0) - found["inputs"][number]).max() < 1e-10
    return all_parts


def mean_parts_of(model, how, found, mean, position, canonical):
    """[LAYERS][3, n, d]: position, content, constant; positions begin after the excluded rows."""
    first, all_parts = len(how["excluded"]), []
    for number, layer in enumerate(model["layers"]):
        parts = np.zeros((3, N, model["d"]))
        parts[0, first:] = position[number][: N - first]
        parts[2] = mean[number]
        parts[1] = found["states"][number] - parts[0] - parts[2]
        before = None if how["post"] else layer["norm1"]
        sigma = np.ones((N, 1)) if how["post"] else found["sigma1"][number]
        if canonical:
            parts = gauged(parts, how["excluded"], 1 / sigma[:, 0])
        all_parts.append(through(parts, before, sigma, how))
    return all_parts


def terms_of(model, how, found, number, parts):
    """[HEADS, parts * parts, n, n]; they add up to the scores."""
    layer = model["layers"][number]

    def projected(name, count, norm):
        rows = np.array([part @ layer[name]["w"].T for part in parts])
        rows[-1] += layer[name]["b"]
        cut = np.array([by_head(one, count) for one in rows])
        if norm in layer:
            sigma = sigma_of(cut.sum(0), layer[norm], how)
            cut = np.array([scaled_by(one, layer[norm], sigma, how) for one in cut])
        return np.array([turn(one, how) for one in cut])

    q, k = projected("q", HEADS, "q_norm"), projected("k", model["groups"], "k_norm")[:, how["group"]]
    terms = how["scale"] * np.einsum("shie,rhje->hsrij", q, k)
    terms = terms.reshape(HEADS, -1, *terms.shape[3:])
    assert np.abs(terms.sum(1) - found["logits"][number]).max() < 1e-10
    return terms


NAMES = ("token-token", "token-position", "position-token", "position-position", "token-offset", "key", "query")


def mechanism_terms(model, how, found, number, mu, pi):
    """[HEADS, 7, n, n], in the order of NAMES, zero for pairs with an excluded row. mu and pi are of queries and
    keys, [width] and [n, width] from the first row on that is not excluded."""
    groups, e, first = model["groups"], model["width"], len(how["excluded"])
    n = N - first
    q = by_head(found["query"][number], HEADS)[:, first:]
    k = by_head(found["key"][number], groups)[how["group"], first:]
    mu_q, mu_k = mu[0].reshape(HEADS, 1, e), mu[1].reshape(groups, 1, e)[how["group"]]
    pi_q, pi_k = by_head(pi[0][:n], HEADS), by_head(pi[1][:n], groups)[how["group"]]
    i, j = np.arange(n)[:, None], np.arange(n)[None, :]
    allowed = j <= i if how["causal"] else np.ones((n, n), bool)
    # R as a matrix [n, n, e, e], straight from its definition.
    rotation = np.zeros((n, n, e, e)) + np.eye(e)
    if how["turns"]:
        for m, one in enumerate(frequencies_of(e, how["base"], how["scaling"])):
            cosine, sine, a, b = np.cos(one * (j - i)), np.sin(one * (j - i)), m, m + e // 2
            rotation[:, :, a, a], rotation[:, :, b, b] = cosine, cosine
            rotation[:, :, a, b], rotation[:, :, b, a] = -sine, sine
    average = np.zeros_like(rotation) + rotation[allowed].mean(0)
    rest = rotation - average

    def score(left, r, right):
        left, right = (np.broadcast_to(one, (HEADS, n, e)) for one in (left, right))
        return how["scale"] * np.einsum("hia,ijab,hjb->hij", left, r, right)

    own_q, own_k = q - mu_q - pi_q, k - mu_k - pi_k
    terms = np.array(
        [
            score(own_q, average, own_k),
            score(own_q, rest, mu_k) + score(own_q, rotation, pi_k),
            score(mu_q, rest, own_k) + score(pi_q, rotation, own_k),
            score(mu_q + pi_q, rotation, mu_k + pi_k) - score(mu_q + pi_q, average, mu_k),
            score(own_q, rest, own_k),
            score(mu_q, average, own_k),
            score(q, average, mu_k),
        ]
    ).transpose(1, 0, 2, 3)
    assert np.abs(terms.sum(1) - found["logits"][number][:, first:, first:]).max() < 1e-10
    # What is the same for every key.
    assert np.abs(terms[:, 6] - terms[:, 6][:, :, :1]).max() < 1e-10
    all_terms = np.zeros((HEADS, len(NAMES), N, N))
    all_terms[:, :, first:, first:] = terms
    return all_terms


def shares_of(terms, excluded, causal):
    """[HEADS, terms]: <T, A> / |A|^2 over used queries, each row less its mean over the used keys it sees."""
    heads, count, n, _ = terms.shape
    total, energy = np.zeros((heads, count)), np.zeros((heads, 1))
    for i in range(n):
        keys = [j for j in range(i + 1 if causal else n) if j not in excluded]
        if i in excluded:
            continue
        row = terms[:, :, i, keys] - terms[:, :, i, keys].mean(2, keepdims=True)
        whole = row.sum(1, keepdims=True)
        total += (row * whole).sum(2)
        energy += (whole**2).sum(2)
    return total / energy


# ---------------------------------------------------------------- files

BERT = {"q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value", "o": "attention.output.dense",
        "norm1": "attention.output.LayerNorm", "up": "intermediate.dense", "down": "output.dense", "norm2": "output.LayerNorm"}  # fmt: skip
DISTILBERT = {"q": "attention.q_lin", "k": "attention.k_lin", "v": "attention.v_lin", "o": "attention.out_lin",
              "norm1": "sa_layer_norm", "up": "ffn.lin1", "down": "ffn.lin2", "norm2": "output_layer_norm"}  # fmt: skip
GPT2 = {"o": "attn.c_proj", "norm1": "ln_1", "up": "mlp.c_fc", "down": "mlp.c_proj", "norm2": "ln_2"}
LLAMA = {"q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj", "o": "self_attn.o_proj",
         "norm1": "input_layernorm", "gate": "mlp.gate_proj", "up": "mlp.up_proj", "down": "mlp.down_proj",
         "norm2": "post_attention_layernorm", "q_norm": "self_attn.q_norm", "k_norm": "self_attn.k_norm"}  # fmt: skip


def tensors_of(family, model):
    found = {}

    def put(name, one):
        for kind, its in (("weight", "w"), ("weight", "gamma"), ("bias", "b"), ("bias", "beta")):
            if its in one and (kind == "weight" or one[its].any()):
                found[f"{name}.{kind}"] = one[its]

    def layers(stack, names):
        for number, layer in enumerate(model["layers"]):
            for part, name in names.items():
                if part in layer:
                    put(f"{stack}.{number}.{name}", layer[part])

    if family not in DECODERS:
        before = f"{family}.embeddings."
        found[f"{before}word_embeddings.weight"] = model["token"]
        found[f"{before}position_embeddings.weight"] = model["position"]
        if model["segment"] is not None:
            found[f"{before}token_type_embeddings.weight"] = model["segment"]
        put(f"{before}LayerNorm", model["embedding_norm"])
        layers(f"{family}.transformer.layer" if family == "distilbert" else f"{family}.encoder.layer", DISTILBERT if family == "distilbert" else BERT)
        # A head of its own, which changes no state.
        found["classifier.weight"] = np.ones((2, model["d"]))
    elif family in LIKE_GPT2:
        token, position, stack, qkv, names, final = {
            "gpt2": ("transformer.wte", "transformer.wpe", "transformer.h", "attn.c_attn", GPT2, "transformer.ln_f"),
        }[family]
        found[f"{token}.weight"], found[f"{position}.weight"] = model["token"], model["position"]
        layers(stack, names)
        for number, layer in enumerate(model["layers"]):
            put(f"{stack}.{number}.{qkv}", {key: np.concatenate([layer[one][key] for one in "qkv"]) for key in "wb"})
            # Every map is [in, out].
            for transposed in (qkv, names["o"], names["up"], names["down"]):
                weight = f"{stack}.{number}.{transposed}.weight"
                found[weight] = found[weight].T
            if family == "gpt2":
                # A mask, not a bias.
                found[f"{stack}.{number}.attn.bias"] = np.tri(ROWS)[None, None]
        put(final, model["final"])
    else:
        found["model.embed_tokens.weight"] = model["token"]
        layers("model.layers", LLAMA)
        put("model.norm", model["final"])
        found["lm_head.weight"] = model["token"]
    return found


def config_of(family, flags, model):
    usual = {"hidden_size": model["d"], "num_attention_heads": HEADS, "num_hidden_layers": LAYERS, "intermediate_size": INNER}
    sizes = {
        **{name: {"n_head": HEADS, "n_layer": LAYERS, "n_embd": model["d"], "n_positions": ROWS,
                  "layer_norm_epsilon": EPS} for name in LIKE_GPT2},
        "distilbert": {"dim": model["d"], "n_heads": HEADS, "n_layers": LAYERS, "hidden_dim": INNER, "max_position_embeddings": ROWS},
        **{name: {**usual, "num_key_value_heads": model["groups"], "head_dim": model["width"], "rms_norm_eps": EPS,
                  "max_position_embeddings": 64} for name in ROTARY},
    }  # fmt: skip
    like_bert = {**usual, "max_position_embeddings": ROWS, "type_vocab_size": 2, "layer_norm_eps": EPS}
    return {"model_type": family, **sizes.get(family, like_bert), "vocab_size": VOCABULARY, **flags}


# One pair of channels stays, one is between, one is slowed.
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 32}  # fmt: skip
CASES = {
    "bert": ("bert", {}),
    "bert-relu": ("bert", {"hidden_act": "relu"}),
    "roberta": ("roberta", {"hidden_act": "gelu_new"}),
    "distilbert": ("distilbert", {}),
    "gpt2": ("gpt2", {}),
    "gpt2-relu": ("gpt2", {"activation_function": "relu"}),
    "llama": ("llama", {"rope_theta": 50.0}),
    "llama-biases": ("llama", {"attention_bias": True, "mlp_bias": True, "hidden_act": "gelu", "rope_theta": 500.0}),
    "llama-3": ("llama", {"rope_theta": 50.0, "rope_scaling": LLAMA3}),
    "llama-linear": ("llama", {"rope_parameters": {"rope_theta": 50.0, "rope_type": "linear", "factor": 2.0}}),
    "mistral": ("mistral", {"sliding_window": N}),
    "qwen2": ("qwen2", {"rope_theta": 50.0, "use_sliding_window": False, "sliding_window": 4}),
    "qwen3": ("qwen3", {"rope_theta": 50.0}),
    "qwen3-biases": ("qwen3", {"attention_bias": True, "sliding_window": None}),
}


def wrong_readings(family, model, how):
    """Other readings whose shapes fit too: the model and how it is run."""

    def layers(change):
        return {**model, "layers": [{**layer, **change(layer)} for layer in model["layers"]]}, how

    def other(**members):
        return model, {**how, **members}

    found = {
        "the other activation": other(activation=gelu if how["activation"] is gelu_tanh else gelu_tanh),
        "the other norm": other(rms=not how["rms"]),
        "the other mask": other(causal=not how["causal"]),
        "keys and values exchanged": layers(lambda l: {"k": l["v"], "v": l["k"]}),
        "the norms of a layer exchanged": layers(lambda l: {"norm1": l["norm2"], "norm2": l["norm1"]}),
        "the other place of norms": other(post=not how["post"]),
    }
    if model["final"]:
        found["no norm at the end"] = ({**model, "final": None}, how)
    if model["embedding_norm"]:
        found["no norm of the embeddings"] = ({**model, "embedding_norm": None}, how)
    if model["position"] is not None:
        found["queries and keys exchanged"] = layers(lambda l: {"q": l["k"], "k": l["q"]})
        found["attention's output transposed"] = layers(lambda l: {"o": {"w": l["o"]["w"].T, "b": l["o"]["b"]}})
        found["the first position in another row"] = other(first=2 - how["first"])
    if model["segment"] is not None:
        found["the other segment"] = other(segment=1)
    if family in LIKE_GPT2:
        found["queries, keys and values by head"] = layers(by_heads)
    if how["turns"]:
        found["channels turned in pairs of neighbours"] = other(halves=False)
        found["another base of angles"] = other(base=10_000.0 if how["base"] != 10_000.0 else 50.0)
        found["scores over the root of d/H"] = other(scale=1 / math.sqrt(model["d"] / HEADS))
        found["key heads by turns"] = other(group=[h % model["groups"] for h in range(HEADS)])
        found["gate and up exchanged"] = layers(lambda l: {"gate": l["up"], "up": l["gate"]})
        if model["layers"][0]["q"]["b"].any():
            bare = lambda map: {"w": map["w"], "b": np.zeros(len(map["b"]))}
            found["queries and keys without their biases"] = layers(lambda l: {"q": bare(l["q"]), "k": bare(l["k"])})
    if how["scaling"]:
        found["angles unscaled"] = other(scaling={})
    if how["scaling"].get("rope_type") == "llama3":
        found["angles all divided"] = other(scaling={"rope_type": "linear", "factor": how["scaling"]["factor"]})
    if family == "qwen3":
        found["queries and keys normalized after they are turned"] = other(norm_first=False)
        bare = [{k: v for k, v in l.items() if k[1:] != "_norm"} for l in model["layers"]]
        found["queries and keys not normalized"] = ({**model, "layers": bare}, how)
        found["the norms of queries and keys exchanged"] = layers(lambda l: {"q_norm": l["k_norm"], "k_norm": l["q_norm"]})
    return found


def by_heads(layer):
    """The blocks of queries, keys and values read as if each head had its own three."""
    both = {key: np.concatenate([layer[one][key] for one in "qkv"]) for key in "wb"}
    cut = {key: value.reshape(HEADS, 3, -1, *value.shape[1:]) for key, value in both.items()}
    return {one: {key: cut[key][:, place].reshape(layer[one][key].shape) for key in "wb"} for place, one in enumerate("qkv")}


def main(seed, folder):
    rng, folder = np.random.default_rng(seed), Path(folder)
    numbers, cases = Numbers(), []
    store = numbers.store
    for name, (family, flags) in CASES.items():
        model = drawn_model(rng, family, flags)
        how = reading(family, flags, model)
        d, e = model["d"], model["width"]
        ids = [int(one) for one in rng.integers(3, VOCABULARY, N)]
        found = run(model, how, ids)
        if how["causal"]:
            # The first tokens know nothing of later ones.
            assert np.abs(run(model, how, ids[:-1])["states"] - found["states"][:, :-1]).max() < 1e-12
        wrong = {}
        for what, (other, other_how) in wrong_readings(family, model, how).items():
            its = run(other, other_how, ids)
            wrong[what] = max(float(np.abs(its[key] - found[key]).max()) for key in ("states", "logits", "attention", "last"))
        # Means over a corpus that does not exist: any do.
        mean, position = rng.normal(size=(LAYERS + 1, d)), rng.normal(size=(LAYERS + 1, N, d))
        widths = [HEADS * e, model["groups"] * e]
        query, key = (rng.normal(size=(LAYERS, width)) for width in widths)
        places = [rng.normal(size=(LAYERS, N, width)) for width in widths]
        terms, shares = {}, {}
        for gauge in ("canonical", "raw"):
            canonical = gauge == "canonical"
            ways = {"mean": mean_parts_of(model, how, found, mean, position, canonical)}
            for way in () if how["turns"] else ("direct", "streams"):
                ways[way] = parts_of(model, how, found, ids, way, canonical)
            for way, all_parts in ways.items():
                its = [terms_of(model, how, found, number, parts) for number, parts in enumerate(all_parts)]
                terms[f"{way} {gauge}"] = store(its)
                shares[f"{way} {gauge}"] = store([shares_of(one, how["excluded"] if canonical else [], how["causal"]) for one in its])
        by_layer = lambda l: mechanism_terms(model, how, found, l, (query[l], key[l]), [one[l] for one in places])
        terms["mechanism"] = store([by_layer(number) for number in range(LAYERS)])
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "model.safetensors").write_bytes(safetensors(tensors_of(family, model), "BF16"))
        (folder / name / "config.json").write_text(json.dumps(config_of(family, flags, model)))
        stored = {key: store(found[key]) for key in ("states", "logits", "attention", "last", "embedding")}
        given = {"mean": store(mean), "position": store(position), "query": store(query), "key": store(key)}
        cases.append(
            {"name": name, "family": family, "ids": ids, "excludedRows": how["excluded"], "causal": how["causal"], **stored,
             "terms": terms, "shares": shares, **given, "places": [store(one) for one in places], "wrong": wrong}  # fmt: skip
        )
    numbers.write(folder, "models", {"names": NAMES, "layers": LAYERS, "heads": HEADS, "cases": cases})
    print(hardest_to_see(cases))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
