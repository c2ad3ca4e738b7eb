"""Models whose positions are relative, through all their layers, drawn at random: python3 drawn_relative.py SEED FOLDER

Writes one checkpoint for each case into FOLDER, in the names and layouts of the published ones, and what a
forward written out here makes of it: FOLDER/relative.json says where in FOLDER/relative.bin each number is.

  Llama, Mistral, Qwen2, Qwen3, SmolLM3   x = t; x += attention(RMS(x)); x += down(g(gate RMS(x)) * up RMS(x))
  Gemma                                   the same, x = sqrt(d) t, gains 1 + w, tanh GELU
  Gemma 2                                 x += RMS'(attention(RMS(x))); x += RMS'(down(...)); scores q'k / sqrt(c), then
                                          50 tanh(score / 50); every other layer has a window
  Gemma 3                                 the same without the cap; q and k normalized per head; whole is every sixth
                                          layer, and others turn by another base, without scaling
  GPT-NeoX                                LN, biases; x += attention(LN1(x)) + mlp(LN2(x)), or one after the other
  BLOOM                                   x = LN(t); as GPT-2 from there
  T5 (encoder)                            RMS, no biases; no causal mask
  ModernBERT                              x = LN(t), then the same with LN without betas, no norm before the first
                                          attention, g(first half) * second half; every third layer is whole
  ESM-2                                   x = 0.88 t / (1 - share of masks), masks' rows zero; as GPT-2 from there
  DeBERTa                                 x = LN(t); x = LN(x + attention(x)); x = LN(x + mlp(x))

RMS(x) = g x / sqrt(mean(x^2) + eps). A head is e wide, which need not be d / H; query head h reads the key head
floor(h G / H). Scores are q'k / sqrt(e), in T5 q'k, with what is relative:

  rotation  channels (m, m + r/2) of the first r of a head turn by p theta_m at position p, theta_m = base^(-2m/r)
            or scaled (linear, llama3); q and k are normalized per head before that in Qwen3
  ALiBi     plus s_h (j - i): s_h = 2^(-8h/P), h = 1..P, P the largest power of two up to H; then 2^(-4t/P), t = 1, 3, ...
  T5        plus b[bucket(j - i)]
  DeBERTa   (q_i'k_j + q_i'K_r + k_j'Q_r) / sqrt(3 e), with what there is of the three; K and Q maps of a table of 2 S rows,
            r = clamp(i - j + S, 0, 2 S - 1), where v2 counts a distance d beyond m, half of its buckets, as
            m + ceil((m - 1) ln(d / m) / ln((most - 1) / m))

A query sees no later key, and with a window of W none that is W or more before it; of encoders none that is W or more
away, where W - 1 is half of what ModernBERT calls local_attention.

A score's terms:

  mean       the state's mean over a corpus and at each place, given, through the norm with its sigma: position,
             content, constant, each through W and then the rotation. Normalized queries are scaled by one number per
             head and token, which is frozen.
  mechanism  of unrotated queries and keys with means mu over a corpus and pi at each place less mu, given, pi 0 in
             the first layer: q~ = q - mu - pi, R the rotation by j - i, R- its mean over the pairs that attend,
             R~ = R - R-, b~ a bias less that mean:
               q~ R- k~                                token and token
               q~ R~ k~                                token and token, by their distance
               q~ (R~ mu + R pi)                       token and position
               (mu R~ + pi R) k~                       position and token
               (mu + pi) (R (mu + pi) - R- mu) + b~    position and position, in the first layer of the distance alone
               mu R- k~                                the key alone
               q R- mu + b-                            the same for every key
             K = K- + K~ and Q = Q- + Q~ likewise: q~ K~ token and position, Q~ k~ position and token,
             (mu + pi) K~ + Q~ (mu + pi) + Q- pi position and position, Q- k~ the key alone, q K- + Q- mu the rest.
             Rows that stand apart have no place; their scores are not split, and no mean is over them.

`wrong` lists other readings of the same file, each of which would give other numbers.

Weights are BF16. Sources: Su et al. 2021 (RoPE), Press et al. 2022 (ALiBi), Raffel et al. 2020 (T5), Zhang & Sennrich
2019 (RMS), Shazeer 2020 (gates), Black et al. 2022 (GPT-NeoX); Hugging Face transformers for
names, layouts and what a flag does.
"""

import json
import math
import sys
from pathlib import Path

import numpy as np

from drawn_decoders import Drawn, bf16, gauged, relu
from drawn_numbers import Numbers, hardest_to_see
from encoder import gelu, gelu_tanh, relative_bias
from families import safetensors

N, VOCABULARY, LONGEST = 11, 23, 64
SIZES = {"d": 20, "heads": 4, "groups": 2, "width": 6, "inner": 28, "layers": 3}
OWN_SIZES = {
    "gpt_neox": {"d": 24, "groups": 4},
    "bloom": {"d": 24, "heads": 6, "groups": 6, "width": 4, "inner": 96},
    "t5": {"groups": 4},
    "smollm3": {"layers": 5},
    "gemma3": {"layers": 7},
    "gemma3_text": {"layers": 7},
    "modernbert": {"groups": 4, "d": 24, "layers": 4},
    "esm": {"groups": 4, "d": 24},
    "deberta": {"groups": 4, "d": 24},
    "deberta-v2": {"groups": 4},
}
# With Llama's names.
LIKE_LLAMA = ["llama", "mistral", "qwen2", "qwen3", "smollm3", "gemma"]
THREE = ("gemma3", "gemma3_text")
SANDWICHED = ("gemma2", *THREE)
LIKE_LLAMA += SANDWICHED
LIKE_GEMMA = ("gemma", *SANDWICHED)
LAYER_NORM = ["gpt_neox", "bloom"]
# Its norms have no betas; or they have, and all maps have biases.
DEBERTA = ("deberta", "deberta-v2")
ENCODERS = ["modernbert", "esm", *DEBERTA]
# Of queries, keys and values; elsewhere where attention_bias says so, and then of attention's output too.
BIASED = {"gpt_neox": True, "bloom": True, "qwen2": True}
WHOLE = ("gpt_neox", "bloom", "esm", *DEBERTA)
# Which part of a head's channels turns.
SHARES = {"gpt_neox": ("rotary_pct", 0.25)}


def silu(x):
    return x / (1 + np.exp(-x))


ACTIVATIONS = {"silu": silu, "gelu": gelu, "gelu_new": gelu_tanh, "gelu_pytorch_tanh": gelu_tanh, "relu": relu}


def drawn_model(rng, family, flags):
    size = {**SIZES, **OWN_SIZES.get(family, {})}
    d, e, inner = size["d"], size["width"], size["inner"]
    wide, narrow = size["heads"] * e, size["groups"] * e
    draw = Drawn(rng)
    plain, whole = family not in LAYER_NORM and family not in ("esm", *DEBERTA), family in WHOLE
    of_qkv = whole or BIASED.get(family, flags.get("attention_bias", False))
    of_o = whole or flags.get("attention_bias", False)
    of_mlp = whole or flags.get("mlp_bias", False)
    # Gemma's gains are stored less 1.
    about = 0.0 if family in LIKE_GEMMA else 1.0

    def norm(width=d):
        return {"gamma": draw(width, about=about), "beta": np.zeros(width) if plain else draw(width)}

    gated = family in (*LIKE_LLAMA, "modernbert") or flags.get("feed_forward_proj", "relu").startswith("gated")
    layers = []
    for number in range(size["layers"]):
        layer = {
            "q": draw.linear(wide, d, of_qkv),
            "k": draw.linear(narrow, d, of_qkv),
            "v": draw.linear(narrow, d, of_qkv),
            "o": draw.linear(d, wide, of_o),
            "up": draw.linear(inner, d, of_mlp),
            "down": draw.linear(d, inner, of_mlp),
            "norm1": norm(),
            "norm2": norm(),
        }
        if gated:
            layer["gate"] = draw.linear(inner, d, of_mlp)
        if family == "modernbert" and number == 0:
            layer["norm1"] = None
        if family in ("qwen3", *THREE):
            layer["q_norm"], layer["k_norm"] = norm(e), norm(e)
        if family == "deberta":
            layer["k"]["b"] = np.zeros(narrow)
        if family in DEBERTA and flags.get("share_att_key"):
            layer["distance_k"], layer["distance_q"] = layer["k"], layer["q"]
        elif family in DEBERTA:
            layer["distance_k"] = draw.linear(wide, d, family == "deberta-v2")
            layer["distance_q"] = draw.linear(wide, d, True)
        if family in SANDWICHED:
            layer["behind1"], layer["behind2"] = norm(), norm()
        layers.append(layer)
    tied = flags.get("tie_word_embeddings", family in ("smollm3", *LIKE_GEMMA, "bloom"))
    return {
        **size,
        "token": draw(VOCABULARY, d),
        "embedding_norm": norm() if family in ("bloom", "modernbert", *DEBERTA) else None,
        "distances": draw(2 * span_of(flags)[0], d) if family in DEBERTA else None,
        "distance_norm": norm() if "layer_norm" in flags.get("norm_rel_ebd", "") else None,
        "layers": layers,
        "final": None if family in DEBERTA else norm(),
        "bias": draw(32, size["heads"]) if family == "t5" else None,
        "head": None if tied or family in ("t5", *ENCODERS) else draw(VOCABULARY, d),
        "eps": 0.01,
    }


# ---------------------------------------------------------------- how it is run


def frequencies_of(channels, base, scaling):
    """theta_m of `channels` turned channels."""
    theta = np.array([base ** (-2 * m / channels) for m in range(channels // 2)])
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    if kind == "default":
        return theta
    factor = scaling["factor"]
    if kind == "linear":
        return theta / factor
    assert kind == "llama3"
    low, high, original = (scaling[key] for key in ("low_freq_factor", "high_freq_factor", "original_max_position_embeddings"))
    found = []
    for one in theta:
        length = 2 * math.pi / one
        if length < original / high:
            found.append(one)
        elif length > original / low:
            found.append(one / factor)
        else:
            t = (original / length - low) / (high - low)
            found.append(t * one + (1 - t) * one / factor)
    return np.array(found)


def span_of(flags):
    """Half the rows of a table of distances, the buckets and the distance that fills the last."""
    most = flags.get("max_relative_positions", -1)
    most = flags.get("max_position_embeddings", LONGEST) if most < 1 else most
    buckets = flags.get("position_buckets", -1)
    return (buckets if buckets > 0 else most), buckets, most


def bucket_of(distance, buckets, most, rounded=math.ceil):
    middle = buckets // 2
    if buckets <= 0 or abs(distance) <= middle:
        return distance
    steps = math.log(abs(distance) / middle) / math.log((most - 1) / middle) * (middle - 1)
    return (1 if distance > 0 else -1) * (rounded(steps) + middle)


def of_distances(model, layer, how, n):
    """K_r and Q_r of each pair, [H, n, n, e], zero where there are none."""
    heads, e = model["heads"], model["width"]
    none = np.zeros((heads, n, n, e))
    if model["distances"] is None:
        return none, none
    table, half = model["distances"], len(model["distances"]) // 2
    if model["distance_norm"]:
        table = norm_of_rows(table, model["distance_norm"], how, model["eps"])

    def looked_up(name, sign):
        rows = by_head(linear(table, layer[name]), heads)
        at = [
            [min(max(bucket_of(sign * (i - j), *how["buckets"]) + half, 0), 2 * half - 1) for j in range(n)] for i in range(n)
        ]
        return rows[:, np.array(at)]

    keys = looked_up("distance_k", how["c2p"]) if how["c2p"] else none
    queries = looked_up("distance_q", how["p2c"]) if how["p2c"] else none
    return keys, queries


def slopes_of(heads):
    whole = 2 ** math.floor(math.log2(heads))
    slopes = [2 ** (-8 * h / whole) for h in range(1, whole + 1)]
    return np.array(slopes + [2 ** (-4 * t / whole) for t in range(1, 2 * (heads - whole), 2)])


BASES = {"smollm3": 2_000_000.0, "modernbert": 160_000.0, "gemma3": 1_000_000.0, "gemma3_text": 1_000_000.0}
USUAL = {"gpt_neox": "gelu", "bloom": "gelu_new", "esm": "gelu"}


def reading(family, flags, model):
    """What a run depends on beside the weights."""
    layers, heads, e = len(model["layers"]), model["heads"], model["width"]
    newer = flags.get("rope_parameters", {})
    scaling = newer or flags.get("rope_scaling") or {}
    named = {"gpt_neox": "rotary_emb_base", "modernbert": "global_rope_theta"}.get(family, "rope_theta")
    base = newer.get("rope_theta", flags.get(named, BASES.get(family, 10_000.0)))
    bases, scalings = [base] * layers, [scaling] * layers
    share, usual = SHARES.get(family, ("partial_rotary_factor", 1.0))
    types = flags.get("pos_att_type", [])
    types = types.split("|") if isinstance(types, str) else types
    rotary = family not in DEBERTA and family in (*LIKE_LLAMA, *ENCODERS, "gpt_neox")
    rotates = [rotary] * layers
    if family == "smollm3":
        # 1 where a layer turns; every fourth layer does not.
        given = flags.get("no_rope_layers") or [int((number + 1) % 4 != 0) for number in range(layers)]
        rotates = [one == 1 for one in given]
    windows = [None] * layers
    if family == "mistral":
        windows = [flags.get("sliding_window", 4096)] * layers
    if family in ("qwen2", "qwen3") and flags.get("use_sliding_window"):
        windows = [flags["sliding_window"] if number >= flags["max_window_layers"] else None for number in range(layers)]
    if family in ("qwen2", "qwen3") and "layer_types" in flags:
        windows = [flags["sliding_window"] if kind == "sliding_attention" else None for kind in flags["layer_types"]]
    if family in SANDWICHED:
        period = flags.get("sliding_window_pattern", 6)
        whole = [number % 2 == 1 if family == "gemma2" else (number + 1) % period == 0 for number in range(layers)]
        if "layer_types" in flags:
            whole = [kind == "full_attention" for kind in flags["layer_types"]]
        windows = [None if one else flags.get("sliding_window", 4096) for one in whole]
    if family in THREE:
        local, its = flags.get("rope_local_base_freq", 10_000.0), {}
        if newer:
            base, local = (newer[kind]["rope_theta"] for kind in ("full_attention", "sliding_attention"))
            scaling, its = (newer[kind] for kind in ("full_attention", "sliding_attention"))
        bases = [base if one else local for one in whole]
        scalings = [scaling if one else its for one in whole]
    if family == "modernbert":
        period, radius = flags.get("global_attn_every_n_layers", 3), flags.get("local_attention", 128) // 2
        whole = [number % period == 0 for number in range(layers)]
        if "layer_types" in flags:
            whole = [kind == "full_attention" for kind in flags["layer_types"]]
        windows = [None if one else radius + 1 for one in whole]
        local = flags.get("local_rope_theta", 10_000.0)
        if newer:
            base, local = (newer[kind]["rope_theta"] for kind in ("full_attention", "sliding_attention"))
            scalings = [{}] * layers
        bases = [base if one else local for one in whole]
    proj = flags.get("feed_forward_proj", "relu")
    if family == "t5":
        activation = "gelu_new" if proj == "gated-gelu" else proj
    elif family in LIKE_GEMMA:
        # hidden_act may say gelu.
        activation = flags.get("hidden_activation") or "gelu_pytorch_tanh"
    elif family == "modernbert":
        activation = flags.get("hidden_activation", "gelu")
    elif family in DEBERTA:
        activation = flags.get("hidden_act", "gelu")
    elif family == "esm":
        # Whatever hidden_act says.
        activation = "gelu"
    else:
        activation = flags.get("hidden_act", USUAL.get(family, "silu"))
    under = flags.get("query_pre_attn_scalar", 256) if family in SANDWICHED else e * (1 + len(types))
    return {
        "rms": family not in (*LAYER_NORM, *ENCODERS),
        "activation": ACTIVATIONS[activation],
        "causal": family not in ("t5", *ENCODERS),
        "one_sided": False,
        "dropped": flags["mask_token_id"] if flags.get("token_dropout") else None,
        "mask_rows": 0.0,
        "counted": 1.0,
        "windows": windows,
        "bases": bases,
        "turned": int(e * flags.get(share, usual)),
        "scalings": scalings,
        "rotates": rotates,
        "halves": True,
        "scale": 1.0 if family == "t5" else 1 / math.sqrt(under),
        # 1 by i - j, -1 by j - i, 0 for none.
        "c2p": int("c2p" in types),
        "p2c": int("p2c" in types),
        "buckets": span_of(flags)[1:] if family in DEBERTA else None,
        "post": family in DEBERTA,
        "cap": flags.get("attn_logit_softcapping", 50.0) if family == "gemma2" else None,
        "behind": True,
        "slopes": slopes_of(heads) if family == "bloom" else None,
        "reversed": False,
        "bias_layers": layers,
        "parallel": family == "gpt_neox" and flags.get("use_parallel_residual", True),
        "group": [h * model["groups"] // heads for h in range(heads)],
        "norm_first": True,
        "unit": 1.0 if family in LIKE_GEMMA else 0.0,
        "root": math.sqrt(model["d"]) if family in LIKE_GEMMA else 1.0,
        # All later queries look at the first row of a decoder, whatever its token is.
        "apart": [] if family == "t5" else [0],
    }


# ---------------------------------------------------------------- the forward


def linear(x, map):
    return x @ map["w"].T + map["b"]


def sigma_of(x, norm, how, eps):
    if norm is None:
        return np.ones((*x.shape[:-1], 1))
    centred = x if how["rms"] else x - x.mean(-1, keepdims=True)
    return np.sqrt((centred**2).mean(-1, keepdims=True) + eps)


def scaled_by(x, norm, sigma, how):
    """The norm without its beta, sigma given: linear in x."""
    if norm is None:
        return x
    centred = x if how["rms"] else x - x.mean(-1, keepdims=True)
    return (norm["gamma"] + how["unit"]) * centred / sigma


def beta_of(norm):
    return 0.0 if norm is None else norm["beta"]


def normed(x, norm, sigma, how):
    return scaled_by(x, norm, sigma, how) + beta_of(norm)


def by_head(x, count):
    """[count, n, e]"""
    return x.reshape(len(x), count, -1).transpose(1, 0, 2)


def joined(x):
    return x.transpose(1, 0, 2).reshape(x.shape[1], -1)


def turned(x, angles, channels, halves):
    """x [.., n, e], angles [n, channels / 2]"""
    half = channels // 2
    first = np.arange(half) if halves else np.arange(0, channels, 2)
    second = first + half if halves else first + 1
    out = x.copy()
    a, b = x[..., first], x[..., second]
    out[..., first] = a * np.cos(angles) - b * np.sin(angles)
    out[..., second] = b * np.cos(angles) + a * np.sin(angles)
    return out


def rotation_of(how, number):
    """What a layer does to queries and keys for their positions."""
    if not how["rotates"][number]:
        return lambda x: x
    theta = frequencies_of(how["turned"], how["bases"][number], how["scalings"][number])

    def turn(x):
        angles = np.outer(np.arange(x.shape[-2]), theta)
        return turned(x, angles, how["turned"], how["halves"])

    return turn


def bias_of(model, how, number, n):
    """[H, n, n], what is added to the scores for the distance."""
    found = np.zeros((model["heads"], n, n))
    offset = np.arange(n)[None, :] - np.arange(n)[:, None]
    if how["slopes"] is not None:
        found += how["slopes"][:, None, None] * offset
    if model["bias"] is not None and number < how["bias_layers"]:
        table = relative_bias(model["bias"], n)
        found += table.transpose(0, 2, 1) if how["reversed"] else table
    return found


def allowed_of(how, number, n):
    i, j = np.arange(n)[:, None], np.arange(n)[None, :]
    seen = (j <= i) if how["causal"] else np.ones((n, n), bool)
    window = how["windows"][number]
    if window is None:
        return seen
    return seen & (j > i - window) & ((j <= i) if how["one_sided"] else (j < i + window))


def norm_of_rows(x, norm, how, eps):
    return normed(x, norm, sigma_of(x, norm, how, eps), how)


def run(model, how, ids):
    n, heads, groups, eps = len(ids), model["heads"], model["groups"], model["eps"]
    x = how["root"] * model["token"][ids]
    if how["dropped"] is not None:
        masked = np.array(ids) == how["dropped"]
        x = np.where(masked[:, None], how["mask_rows"] * x, x) * 0.88 / (1 - how["counted"] * masked.mean())
    if model["embedding_norm"]:
        x = norm_of_rows(x, model["embedding_norm"], how, eps)
    found = {name: [] for name in ("states", "inputs", "logits", "attention", "sigma", "query", "key")}
    found["states"].append(x)
    for number, layer in enumerate(model["layers"]):
        before = None if how["post"] else layer["norm1"]
        sigma = sigma_of(x, before, how, eps)
        read = normed(x, before, sigma, how)
        q = by_head(linear(read, layer["q"]), heads)
        k, v = (by_head(linear(read, layer[name]), groups) for name in "kv")
        turn = rotation_of(how, number)
        if "q_norm" in layer and not how["norm_first"]:
            q, k = turn(q), turn(k)
        if "q_norm" in layer:
            q, k = norm_of_rows(q, layer["q_norm"], how, eps), norm_of_rows(k, layer["k_norm"], how, eps)
        found["query"].append(joined(q))
        found["key"].append(joined(k))
        if "q_norm" not in layer or how["norm_first"]:
            q, k = turn(q), turn(k)
        scores = how["scale"] * np.einsum("hie,hje->hij", q, k[how["group"]]) + bias_of(model, how, number, n)
        its_keys, its_queries = of_distances(model, layer, how, n)
        scores = scores + how["scale"] * np.einsum("hie,hije->hij", q, its_keys)
        scores = scores + how["scale"] * np.einsum("hije,hje->hij", its_queries, k[how["group"]])
        capped = scores if how["cap"] is None else how["cap"] * np.tanh(scores / how["cap"])
        seen = np.where(allowed_of(how, number, n), capped, -np.inf)
        weights = np.exp(seen - seen.max(2, keepdims=True))
        weights = weights / weights.sum(2, keepdims=True)
        written = linear(joined(weights @ v[how["group"]]), layer["o"])
        sandwiched = "behind1" in layer and how["behind"]
        if sandwiched:
            written = norm_of_rows(written, layer["behind1"], how, eps)
        between = x if how["parallel"] else x + written
        if how["post"]:
            between = read2 = norm_of_rows(between, layer["norm1"], how, eps)
        else:
            read2 = norm_of_rows(between, layer["norm2"], how, eps)
        inner = how["activation"](linear(read2, layer["gate" if "gate" in layer else "up"]))
        if "gate" in layer:
            inner = inner * linear(read2, layer["up"])
        fed = linear(inner, layer["down"])
        if how["post"]:
            x = norm_of_rows(between + fed, layer["norm2"], how, eps)
        else:
            x = x + written + (norm_of_rows(fed, layer["behind2"], how, eps) if sandwiched else fed)
        for name, value in (("inputs", read), ("logits", scores), ("attention", weights), ("sigma", sigma)):
            found[name].append(value)
        found["states"].append(x)
    last = norm_of_rows(x, model["final"], how, eps)
    mean = last.mean(0)
    return {
        **{name: np.array(value) for name, value in found.items()},
        "last": last,
        "embedding": mean / np.linalg.norm(mean),
    }


# ---------------------------------------------------------------- terms


def mean_terms(model, how, found, number, mean, position, canonical):
    """[H, 16, n, n] of the parts position, content, constant and what tells the distance."""
    layer, n, first = model["layers"][number], N, len(how["apart"])
    heads, groups = model["heads"], model["groups"]
    parts = np.zeros((3, n, model["d"]))
    parts[0, first:] = position[: n - first]
    parts[2] = mean
    parts[1] = found["states"][number] - parts[0] - parts[2]
    sigma = found["sigma"][number]
    if canonical:
        parts = gauged(parts, how["apart"], 1 / sigma[:, 0])
    before = None if how["post"] else layer["norm1"]
    parts = np.array([scaled_by(part, before, sigma, how) for part in parts])
    parts[2] += beta_of(before)
    turn = rotation_of(how, number)

    def projected(name, count, norm):
        rows = np.array([part @ layer[name]["w"].T for part in parts])
        rows[2] += layer[name]["b"]
        if norm in layer:
            its = sigma_of(by_head(rows.sum(0), count), layer[norm], how, model["eps"])
            return np.array([turn(scaled_by(by_head(one, count), layer[norm], its, how)) for one in rows])
        return np.array([turn(by_head(one, count)) for one in rows])

    q, k = projected("q", heads, "q_norm"), projected("k", groups, "k_norm")[:, how["group"]]
    keys, queries = of_distances(model, layer, how, n)
    terms = np.zeros((heads, 4, 4, n, n))
    terms[:, :3, :3] = how["scale"] * np.einsum("shie,rhje->hsrij", q, k)
    terms[:, :3, 3] = how["scale"] * np.einsum("shie,hije->hsij", q, keys)
    terms[:, 3, :3] = how["scale"] * np.einsum("hije,rhje->hrij", queries, k)
    terms[:, 3, 3] = bias_of(model, how, number, n)
    terms = terms.reshape(heads, 16, n, n)
    assert np.abs(terms.sum(1) - found["logits"][number]).max() < 1e-10
    return terms


NAMES = ("token-token", "token-position", "position-token", "position-position", "token-offset", "key", "query")


def mechanism_terms(model, how, found, number, mu, pi):
    """[H, 7, n, n], in the order of NAMES, zero for pairs with a row that stands apart. mu and pi are of queries and keys,
    [width] and [n, width] from the first row on that does not stand apart."""
    heads, groups, e, first = model["heads"], model["groups"], model["width"], len(how["apart"])
    n = N - first
    q = by_head(found["query"][number], heads)[:, first:]
    k = by_head(found["key"][number], groups)[how["group"], first:]
    mu_q, mu_k = mu[0].reshape(heads, 1, e), mu[1].reshape(groups, 1, e)[how["group"]]
    pi_q, pi_k = by_head(pi[0][:n], heads), by_head(pi[1][:n], groups)[how["group"]]
    allowed = allowed_of(how, number, N)[first:, first:]
    i, j = np.arange(n)[:, None], np.arange(n)[None, :]
    # R as a matrix [n, n, e, e], straight from its definition.
    rotation = np.zeros((n, n, e, e)) + np.eye(e)
    if how["rotates"][number]:
        half = how["turned"] // 2
        for m, one in enumerate(frequencies_of(how["turned"], how["bases"][number], how["scalings"][number])):
            cosine, sine = np.cos(one * (j - i)), np.sin(one * (j - i))
            a, b = m, m + half
            rotation[:, :, a, a], rotation[:, :, b, b] = cosine, cosine
            rotation[:, :, a, b], rotation[:, :, b, a] = -sine, sine
    average = np.zeros_like(rotation) + rotation[allowed].mean(0)
    rest = rotation - average
    bias = bias_of(model, how, number, N)[:, first:, first:]
    mean_bias = bias[:, allowed].mean(1)[:, None, None]

    def score(left, r, right):
        left, right = (np.broadcast_to(one, (heads, n, e)) for one in (left, right))
        return how["scale"] * np.einsum("hia,ijab,hjb->hij", left, r, right)

    def against(left, right):
        left, right = (one if one.ndim == 4 else np.broadcast_to(one, (heads, n, e)) for one in (left, right))
        return how["scale"] * np.einsum("hie,hije->hij" if right.ndim == 4 else "hije,hje->hij", left, right)

    keys, queries = of_distances(model, model["layers"][number], how, n)
    mean_key, mean_query = (np.zeros_like(one) + one[:, allowed].mean(1)[:, None, None] for one in (keys, queries))
    own_q, own_k = q - mu_q - pi_q, k - mu_k - pi_k
    far_k, far_q = keys - mean_key, queries - mean_query
    terms = np.array(
        [
            score(own_q, average, own_k),
            score(own_q, rest, mu_k) + score(own_q, rotation, pi_k) + against(own_q, far_k),
            score(mu_q, rest, own_k) + score(pi_q, rotation, own_k) + against(far_q, own_k),
            score(mu_q + pi_q, rotation, mu_k + pi_k) - score(mu_q + pi_q, average, mu_k) + bias - mean_bias
            + against(mu_q + pi_q, far_k) + against(far_q, mu_k + pi_k) + against(mean_query, pi_k),
            score(own_q, rest, own_k),
            score(mu_q, average, own_k) + against(mean_query, own_k),
            score(q, average, mu_k) + mean_bias + against(q, mean_key) + against(mean_query, mu_k),
        ]
    ).transpose(1, 0, 2, 3)
    assert np.abs(terms.sum(1) - found["logits"][number][:, first:, first:]).max() < 1e-10
    if not pi[0].any() and not pi[1].any():
        # Position and position: a function of the distance alone.
        for step in range(-n + 1, n):
            along = np.diagonal(terms[:, 3], step, 1, 2)
            assert np.abs(along - along[:, :1]).max() < 1e-10
    # What is the same for every key.
    assert np.abs(terms[:, 6] - terms[:, 6][:, :, :1]).max() < 1e-10
    all_terms = np.zeros((heads, len(NAMES), N, N))
    all_terms[:, :, first:, first:] = terms
    return all_terms


# ---------------------------------------------------------------- files


def per_head(layer, heads):
    """Rows q, k, v of one head after another."""
    cut = {one: {key: layer[one][key].reshape(heads, -1, *layer[one][key].shape[1:]) for key in "wb"} for one in "qkv"}
    both = {key: np.stack([cut[one][key] for one in "qkv"], 1) for key in "wb"}
    return {key: value.reshape(-1, *value.shape[3:]) for key, value in both.items()}


def tensors_of(family, model, flags):
    found = {}

    def linear_of(name, map, bias=True):
        found[f"{name}.weight"] = map["w"]
        if bias and map["b"].any():
            found[f"{name}.bias"] = map["b"]

    def norm_of(name, norm):
        found[f"{name}.weight"] = norm["gamma"]
        if norm["beta"].any():
            found[f"{name}.bias"] = norm["beta"]

    if family in LIKE_LLAMA:
        before = "language_model.model." if family == "gemma3" else "model."
        if family == "gemma3":
            # Pictures are not run.
            found["vision_tower.vision_model.post_layernorm.weight"] = np.ones(4)
        found[f"{before}embed_tokens.weight"] = model["token"]
        for number, layer in enumerate(model["layers"]):
            name = f"{before}layers.{number}."
            for part in "qkvo":
                linear_of(f"{name}self_attn.{part}_proj", layer[part])
            for part in ("gate", "up", "down"):
                linear_of(f"{name}mlp.{part}_proj", layer[part])
            norm_of(f"{name}input_layernorm", layer["norm1"])
            if "behind1" in layer:
                norm_of(f"{name}post_attention_layernorm", layer["behind1"])
                norm_of(f"{name}pre_feedforward_layernorm", layer["norm2"])
                norm_of(f"{name}post_feedforward_layernorm", layer["behind2"])
            else:
                norm_of(f"{name}post_attention_layernorm", layer["norm2"])
            for part in ("q_norm", "k_norm"):
                if part in layer:
                    norm_of(f"{name}self_attn.{part}", layer[part])
        norm_of(f"{before}norm", model["final"])
        if model["head"] is not None:
            found["lm_head.weight"] = model["head"]
    elif family in ("gpt_neox", "bloom"):
        neox = family == "gpt_neox"
        before, stack, attention = ("gpt_neox.", "layers", "attention") if neox else ("transformer.", "h", "self_attention")
        found[f"{before}{'embed_in' if neox else 'word_embeddings'}.weight"] = model["token"]
        if not neox:
            norm_of(f"{before}word_embeddings_layernorm", model["embedding_norm"])
        for number, layer in enumerate(model["layers"]):
            name = f"{before}{stack}.{number}."
            linear_of(f"{name}{attention}.query_key_value", per_head(layer, model["heads"]))
            linear_of(f"{name}{attention}.dense", layer["o"])
            linear_of(f"{name}mlp.dense_h_to_4h", layer["up"])
            linear_of(f"{name}mlp.dense_4h_to_h", layer["down"])
            norm_of(f"{name}input_layernorm", layer["norm1"])
            norm_of(f"{name}post_attention_layernorm", layer["norm2"])
            if neox:
                # Buffers, not weights.
                found[f"{name}attention.bias"] = np.tri(LONGEST)[None, None]
                found[f"{name}attention.masked_bias"] = np.array(-1e9)
                found[f"{name}attention.rotary_emb.inv_freq"] = np.ones(2)
        norm_of(f"{before}{'final_layer_norm' if neox else 'ln_f'}", model["final"])
        if model["head"] is not None:
            found[f"{'embed_out' if neox else 'lm_head'}.weight"] = model["head"]
    elif family == "modernbert":
        found["model.embeddings.tok_embeddings.weight"] = model["token"]
        norm_of("model.embeddings.norm", model["embedding_norm"])
        for number, layer in enumerate(model["layers"]):
            name = f"model.layers.{number}."
            linear_of(f"{name}attn.Wqkv", {key: np.concatenate([layer[one][key] for one in "qkv"]) for key in "wb"})
            linear_of(f"{name}attn.Wo", layer["o"])
            linear_of(f"{name}mlp.Wi", {key: np.concatenate([layer[one][key] for one in ("gate", "up")]) for key in "wb"})
            linear_of(f"{name}mlp.Wo", layer["down"])
            if layer["norm1"]:
                norm_of(f"{name}attn_norm", layer["norm1"])
            norm_of(f"{name}mlp_norm", layer["norm2"])
        norm_of("model.final_norm", model["final"])
    elif family in DEBERTA:
        found["deberta.embeddings.word_embeddings.weight"] = model["token"]
        norm_of("deberta.embeddings.LayerNorm", model["embedding_norm"])
        found["deberta.encoder.rel_embeddings.weight"] = model["distances"]
        if model["distance_norm"]:
            norm_of("deberta.encoder.LayerNorm", model["distance_norm"])
        for number, layer in enumerate(model["layers"]):
            name = f"deberta.encoder.layer.{number}."
            its = f"{name}attention.self."
            if family == "deberta":
                found[f"{its}in_proj.weight"] = per_head(layer, model["heads"])["w"]
                found[f"{its}q_bias"], found[f"{its}v_bias"] = layer["q"]["b"], layer["v"]["b"]
            else:
                for part, one in (("query_proj", "q"), ("key_proj", "k"), ("value_proj", "v")):
                    linear_of(its + part, layer[one])
            maps = ("pos_proj", "pos_q_proj") if family == "deberta" else ("pos_key_proj", "pos_query_proj")
            for part, one, kind in zip(maps, ("distance_k", "distance_q"), ("c2p", "p2c")):
                if not flags.get("share_att_key") and kind in flags["pos_att_type"]:
                    linear_of(its + part, layer[one])
            linear_of(f"{name}attention.output.dense", layer["o"])
            norm_of(f"{name}attention.output.LayerNorm", layer["norm1"])
            linear_of(f"{name}intermediate.dense", layer["up"])
            linear_of(f"{name}output.dense", layer["down"])
            norm_of(f"{name}output.LayerNorm", layer["norm2"])
    elif family == "esm":
        found["esm.embeddings.word_embeddings.weight"] = model["token"]
        # Not used, though published files have it.
        found["esm.embeddings.position_embeddings.weight"] = np.ones((LONGEST, model["d"]))
        for number, layer in enumerate(model["layers"]):
            name = f"esm.encoder.layer.{number}."
            for part, its in (("query", "q"), ("key", "k"), ("value", "v")):
                linear_of(f"{name}attention.self.{part}", layer[its])
            found[f"{name}attention.self.rotary_embeddings.inv_freq"] = np.ones(3)
            linear_of(f"{name}attention.output.dense", layer["o"])
            norm_of(f"{name}attention.LayerNorm", layer["norm1"])
            linear_of(f"{name}intermediate.dense", layer["up"])
            linear_of(f"{name}output.dense", layer["down"])
            norm_of(f"{name}LayerNorm", layer["norm2"])
        norm_of("esm.encoder.emb_layer_norm_after", model["final"])
    else:
        found["shared.weight"] = model["token"]
        for number, layer in enumerate(model["layers"]):
            name = f"encoder.block.{number}.layer."
            for part in "qkvo":
                linear_of(f"{name}0.SelfAttention.{part}", layer[part])
            up = ("wi_0", "gate"), ("wi_1", "up")
            for part, its in up if "gate" in layer else (("wi", "up"),):
                linear_of(f"{name}1.DenseReluDense.{part}", layer[its])
            linear_of(f"{name}1.DenseReluDense.wo", layer["down"])
            norm_of(f"{name}0.layer_norm", layer["norm1"])
            norm_of(f"{name}1.layer_norm", layer["norm2"])
        found["encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"] = model["bias"]
        norm_of("encoder.final_layer_norm", model["final"])
        # The decoder is not run.
        found["decoder.block.0.layer.0.SelfAttention.q.weight"] = model["layers"][0]["q"]["w"]
    return found


def config_of(family, flags, model):
    d, heads, inner, layers = (model[key] for key in ("d", "heads", "inner", "layers"))
    count = len(layers)
    if family == "gpt_neox":
        sizes = {"hidden_size": d, "num_attention_heads": heads, "num_hidden_layers": count, "intermediate_size": inner,
                 "layer_norm_eps": 0.01, "max_position_embeddings": LONGEST}  # fmt: skip
    elif family == "bloom":
        sizes = {"n_embed": d, "n_layer": count, "num_attention_heads": heads, "layer_norm_epsilon": 0.01}
    elif family == "t5":
        sizes = {"d_model": d, "d_kv": model["width"], "d_ff": inner, "num_layers": count, "num_heads": heads,
                 "layer_norm_epsilon": 0.01}  # fmt: skip
    elif family in ENCODERS:
        # A head of DeBERTa-v2 may be wider or narrower.
        own = {"attention_head_size": model["width"]} if family == "deberta-v2" else {}
        sizes = {"hidden_size": d, "num_attention_heads": heads, "num_hidden_layers": count, "intermediate_size": inner,
                 "norm_eps" if family == "modernbert" else "layer_norm_eps": 0.01, "max_position_embeddings": LONGEST,
                 **own}  # fmt: skip
    else:
        sizes = {"hidden_size": d, "num_attention_heads": heads, "num_key_value_heads": model["groups"],
                 "head_dim": model["width"], "num_hidden_layers": count, "intermediate_size": inner,
                 "layer_norm_eps" if family in LAYER_NORM else "rms_norm_eps": 0.01, "max_position_embeddings": LONGEST}  # fmt: skip
    own = {"model_type": family, **sizes, "vocab_size": VOCABULARY, **flags}
    return {"model_type": family, "text_config": {**own, "model_type": "gemma3_text"}} if family == "gemma3" else own


# One pair of channels stays, one is between, one is slowed.
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 32}  # fmt: skip
GEMMA2 = {"sliding_window": 4, "query_pre_attn_scalar": 9, "rope_theta": 50.0, "attn_logit_softcapping": 2.0}
GEMMA3 = {"sliding_window": 4, "query_pre_attn_scalar": 9}
DEBERTAS = {"relative_attention": True, "position_biased_input": False, "type_vocab_size": 0}
ESM = {"position_embedding_type": "rotary", "token_dropout": True, "mask_token_id": 2}
CASES = {
    "llama": ("llama", {"rope_theta": 50.0}),
    "llama-biases": ("llama", {"attention_bias": True, "mlp_bias": True, "hidden_act": "gelu", "rope_theta": 500.0}),
    "llama-3": ("llama", {"rope_theta": 50.0, "rope_scaling": LLAMA3}),
    "llama-linear": ("llama", {"rope_parameters": {"rope_theta": 50.0, "rope_type": "linear", "factor": 2.0}}),
    "smollm2": ("llama", {"tie_word_embeddings": True, "rope_theta": 50.0}),
    "mistral": ("mistral", {"sliding_window": 4}),
    "mistral-whole": ("mistral", {"sliding_window": None, "rope_theta": 50.0}),
    "qwen2": ("qwen2", {"rope_theta": 50.0}),
    "qwen2-window": ("qwen2", {"use_sliding_window": True, "sliding_window": 4, "max_window_layers": 2}),
    "qwen3": ("qwen3", {"rope_theta": 50.0}),
    "qwen3-types": (
        "qwen3",
        {"use_sliding_window": True, "sliding_window": 4, "max_window_layers": 3, "attention_bias": True,
         "layer_types": ["sliding_attention", "full_attention", "full_attention"]},
    ),  # fmt: skip
    "smollm3": ("smollm3", {"rope_theta": 50.0}),
    "smollm3-listed": ("smollm3", {"rope_theta": 50.0, "no_rope_layers": [1, 0, 1, 1, 0]}),
    "neox": ("gpt_neox", {"rotary_pct": 0.7, "rotary_emb_base": 50}),
    "neox-sequential": ("gpt_neox", {"rotary_pct": 1.0, "rotary_emb_base": 50, "use_parallel_residual": False}),
    "bloom": ("bloom", {}),
    "t5": ("t5", {}),
    "flan-t5": ("t5", {"feed_forward_proj": "gated-gelu"}),
    "gemma": ("gemma", {"hidden_act": "gelu", "rope_theta": 50.0}),
    "gemma2": ("gemma2", {**GEMMA2, "rope_scaling": {"rope_type": "linear", "factor": 2.0}, "hidden_act": "gelu"}),
    "gemma2-uncapped": ("gemma2", {**GEMMA2, "attn_logit_softcapping": None, "final_logit_softcapping": None, "attention_bias": True}),
    "gemma2-types": (
        "gemma2",
        {**GEMMA2, "final_logit_softcapping": 3.0,
         "layer_types": ["full_attention", "full_attention", "sliding_attention"]},
    ),  # fmt: skip
    "gemma3": ("gemma3_text", {**GEMMA3, "rope_theta": 50.0, "rope_local_base_freq": 20.0,
                               "rope_scaling": {"rope_type": "linear", "factor": 2.0}}),  # fmt: skip
    "gemma3-pattern": ("gemma3_text", {**GEMMA3, "sliding_window_pattern": 2, "rope_theta": 50.0}),
    "gemma3-pictures": (
        "gemma3",
        {**GEMMA3, "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "sliding_attention"]
         + ["full_attention", "full_attention", "sliding_attention"],
         "rope_parameters": {"full_attention": {"rope_type": "linear", "rope_theta": 50.0, "factor": 2.0},
                             "sliding_attention": {"rope_type": "default", "rope_theta": 20.0}}},
    ),  # fmt: skip
    "deberta": ("deberta", {**DEBERTAS, "pos_att_type": "c2p|p2c", "max_relative_positions": 6}),
    "deberta-keys": ("deberta", {**DEBERTAS, "pos_att_type": ["c2p"], "max_position_embeddings": 16}),
    "deberta-v2": (
        "deberta-v2",
        {**DEBERTAS, "pos_att_type": ["p2c", "c2p"], "position_buckets": 4, "max_relative_positions": 16,
         "hidden_act": "gelu_new"},
    ),  # fmt: skip
    "deberta-v2-queries": ("deberta-v2", {**DEBERTAS, "pos_att_type": "p2c", "max_relative_positions": 6}),
    "deberta-v3": (
        "deberta-v2",
        {**DEBERTAS, "pos_att_type": "p2c|c2p", "position_buckets": 8, "max_position_embeddings": 16,
         "share_att_key": True, "norm_rel_ebd": "layer_norm"},
    ),  # fmt: skip
    "modernbert": ("modernbert", {"local_attention": 6, "global_rope_theta": 50.0, "local_rope_theta": 20.0}),
    "modernbert-newer": (
        "modernbert",
        {"local_attention": 5, "attention_bias": True, "mlp_bias": True, "hidden_activation": "silu",
         "layer_types": ["sliding_attention", "full_attention", "full_attention", "sliding_attention"],
         "rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 50.0},
                             "sliding_attention": {"rope_type": "default", "rope_theta": 20.0}}},
    ),  # fmt: skip
    "esm": ("esm", {**ESM, "hidden_act": "relu"}),
    "esm-masks": ("esm", ESM),
    "esm-whole": ("esm", {**ESM, "token_dropout": False}),
}


def wrong_readings(family, model, how, masked):
    """Other readings whose shapes fit too: the model and how it is run."""
    heads, groups, e, d = (model[key] for key in ("heads", "groups", "width", "d"))

    def layers(change):
        return {**model, "layers": [{**layer, **change(layer)} for layer in model["layers"]]}, how

    def other(**members):
        return model, {**how, **members}

    count = len(model["layers"])
    exact = gelu if how["activation"] is gelu_tanh else gelu_tanh
    found = {} if family not in DEBERTA else {"a norm at the end": ({**model, "final": model["embedding_norm"]}, how)}
    found |= {
        "keys and values exchanged": layers(lambda l: {"k": l["v"], "v": l["k"]}),
        "the norms of a layer exchanged": layers(lambda l: {"norm1": l["norm2"], "norm2": l["norm1"] or l["norm2"]}),
        "the other activation": other(activation=exact),
        "the other norm": other(rms=not how["rms"]),
        "the other mask": other(causal=not how["causal"]),
    }
    if model["final"]:
        found["no norm at the end"] = ({**model, "final": None}, how)
    scaling = max(how["scalings"], key=len)
    if any(how["rotates"]):
        found["channels turned in pairs of neighbours"] = other(halves=False)
        found["the usual base of angles"] = other(bases=[10_000.0 if one != 10_000.0 else 500_000.0 for one in how["bases"]])
    if len(set(how["bases"])) > 1:
        found["one base of angles"] = other(bases=[max(how["bases"])] * count)
        found["the bases of angles exchanged"] = other(bases=[sum({*how["bases"]}) - one for one in how["bases"]])
    if family in LIKE_LLAMA:
        found["scores over the root of d/H"] = other(scale=1 / math.sqrt(d / heads))
        found["key heads by turns"] = other(group=[h % groups for h in range(heads)])
        found["gate and up exchanged"] = layers(lambda l: {"gate": l["up"], "up": l["gate"]})
    if scaling.get("rope_type", "default") != "default":
        found["angles unscaled"] = other(scalings=[{}] * count)
    if scaling.get("rope_type") == "llama3":
        found["angles all divided"] = other(scalings=[{"rope_type": "linear", "factor": scaling["factor"]}] * count)
    if any(how["windows"]):
        found["no window"] = other(windows=[None] * count)
        found["a window one longer"] = other(windows=[one and one + 1 for one in how["windows"]])
        found["a window one shorter"] = other(windows=[one and one - 1 for one in how["windows"]])
    if any(how["windows"]) and not how["causal"]:
        found["a window before the query alone"] = other(one_sided=True)
    if family in SANDWICHED:
        found["scores over the root of their width"] = other(scale=1 / math.sqrt(e))
        found["no norms behind attention and MLP"] = other(behind=False)
        found["the norms before and behind exchanged"] = layers(
            lambda l: {"norm1": l["behind1"], "behind1": l["norm1"], "norm2": l["behind2"], "behind2": l["norm2"]}
        )
        found["the windows of other layers"] = other(windows=[None if one else 4 for one in how["windows"]])
    if how["cap"] is not None:
        found["scores not capped"] = other(cap=None)
    if family in THREE and scaling.get("factor"):
        found["angles scaled in all layers"] = other(scalings=[scaling] * count)
    if family in DEBERTA:
        found["scores over the root of their width"] = other(scale=1 / math.sqrt(e))
        found["norms before attention and MLP"] = other(post=False)
        found["no norm of the embeddings"] = ({**model, "embedding_norm": None}, how)
    if how["c2p"]:
        found["no keys of distances"] = other(c2p=0)
        found["keys of distances the other way"] = other(c2p=-1)
    if how["p2c"]:
        found["no queries of distances"] = other(p2c=0)
        found["queries of distances the other way"] = other(p2c=-1)
        found["no bias of the distances' queries"] = layers(lambda l: {"distance_q": {**l["distance_q"], "b": 0.0}})
    if how["buckets"] and how["buckets"][0] > 0:
        found["no buckets"] = other(buckets=(-1, 0))
        found["buckets rounded down"] = other(buckets=(*how["buckets"], math.floor))
    if model["distance_norm"]:
        found["no norm of the table of distances"] = ({**model, "distance_norm": None}, how)
    if family == "modernbert":
        found["the windows of other layers"] = other(windows=[None if one else max(filter(None, how["windows"])) for one in how["windows"]])
        found["a norm before the first attention"] = (
            {**model, "layers": [{**l, "norm1": l["norm1"] or model["layers"][1]["norm1"]} for l in model["layers"]]},
            how,
        )
        found["no norm of the embeddings"] = ({**model, "embedding_norm": None}, how)
        found["gate and up exchanged"] = layers(lambda l: {"gate": l["up"], "up": l["gate"]})
        found["queries, keys and values by head"] = layers(lambda l: by_heads(l, heads))
    if how["dropped"] is not None:
        found["tokens not scaled"] = other(dropped=None)
    if how["dropped"] is not None and masked:
        found["masks not zero"] = other(mask_rows=1.0)
        found["masks not counted"] = other(counted=0.0)
    if any(how["windows"]) and family in ("qwen2", "qwen3"):
        # Layers before max_window_layers in place of those from it on.
        found["the window in the other layers"] = other(windows=[None if one else 4 for one in how["windows"]])
        found["the window in all layers"] = other(windows=[4] * count)
    if any(layer["q"]["b"].any() for layer in model["layers"]):
        found["queries and keys without their biases"] = layers(
            lambda l: {one: {**l[one], "b": np.zeros(len(l[one]["b"]))} for one in "qk"}
        )
    if family in ("qwen3", *THREE):
        found["queries and keys normalized after they are turned"] = other(norm_first=False)
        found["queries and keys not normalized"] = (
            {**model, "layers": [{k: v for k, v in l.items() if k[1:] != "_norm"} for l in model["layers"]]},
            how,
        )
        found["the norms of queries and keys exchanged"] = layers(lambda l: {"q_norm": l["k_norm"], "k_norm": l["q_norm"]})
    if family == "smollm3":
        found["the layers that turn exchanged with those that do not"] = other(rotates=[not one for one in how["rotates"]])
        found["all layers turn"] = other(rotates=[True] * count)
    if family == "deberta":
        found["queries, keys and values in blocks"] = layers(lambda l: in_blocks(l, heads))
    if family in ("gpt_neox", "bloom"):
        found["queries, keys and values in blocks"] = layers(lambda l: in_blocks(l, heads))
        found["the other order of attention and MLP"] = other(parallel=not how["parallel"])
    if how["turned"] < e:
        found["all channels turned"] = other(turned=e)
    if family == "bloom":
        found["slopes inside the scale"] = other(slopes=how["slopes"] * how["scale"])
        found["slopes for any number of heads"] = other(slopes=np.array([2 ** (-8 * h / heads) for h in range(1, heads + 1)]))
        found["no norm of the embeddings"] = ({**model, "embedding_norm": None}, how)
    if family == "t5":
        found["scores over the root of their width"] = other(scale=1 / math.sqrt(e))
        found["distances the other way"] = other(reversed=True)
        found["the bias in the first layer alone"] = other(bias_layers=1)
    if family == "t5" and "gate" in model["layers"][0]:
        found["gate and up exchanged"] = layers(lambda l: {"gate": l["up"], "up": l["gate"]})
    if family in LIKE_GEMMA:
        found["gains not one more"] = other(unit=0.0)
        found["tokens not times the root of d"] = other(root=1.0)
    return found


def by_heads(layer, heads):
    """The other way about."""
    rows = {key: np.concatenate([layer[one][key] for one in "qkv"]) for key in "wb"}
    cut = {key: value.reshape(heads, 3, -1, *value.shape[1:]) for key, value in rows.items()}
    return {one: {key: cut[key][:, place].reshape(layer[one][key].shape) for key in "wb"} for place, one in enumerate("qkv")}


def in_blocks(layer, heads):
    """Rows of each head's queries, keys and values read as a block of queries, one of keys and one of values."""
    both = per_head(layer, heads)
    return {one: {key: np.split(both[key], 3)[place] for key in "wb"} for place, one in enumerate("qkv")}


def main(seed, folder):
    rng = np.random.default_rng(seed)
    folder = Path(folder)
    numbers, cases = Numbers(), []
    store = numbers.store

    for name, (family, flags) in CASES.items():
        model = drawn_model(rng, family, flags)
        how = reading(family, flags, model)
        layers, d, e = len(model["layers"]), model["d"], model["width"]
        ids = [int(one) for one in rng.integers(3, VOCABULARY, N)]
        if "masks" in name:
            ids[3] = ids[7] = flags["mask_token_id"]
        found = run(model, how, ids)
        if how["causal"]:
            # The first tokens know nothing of later ones.
            shorter = run(model, how, ids[:-1])
            assert np.abs(shorter["states"] - found["states"][:, :-1]).max() < 1e-12
        wrong = {}
        for what, (other, other_how) in wrong_readings(family, model, how, "masks" in name).items():
            its = run(other, other_how, ids)
            compared = ("states", "logits", "attention", "last")
            wrong[what] = max(float(np.abs(its[key] - found[key]).max()) for key in compared)
        # Means over a corpus that does not exist: any do.
        mean, position = rng.normal(size=(layers + 1, d)), rng.normal(size=(layers + 1, N, d))
        widths = [model[count] * e for count in ("heads", "groups")]
        query, key = (rng.normal(size=(layers, width)) for width in widths)
        places = [rng.normal(size=(layers, N, width)) for width in widths]
        for one in places:
            one[0] = 0
        terms = {
            f"mean {gauge}": store(
                [
                    mean_terms(model, how, found, number, mean[number], position[number], gauge == "canonical")
                    for number in range(layers)
                ]
            )
            for gauge in ("canonical", "raw")
        }
        terms["mechanism"] = store(
            [
                mechanism_terms(model, how, found, number, (query[number], key[number]), [one[number] for one in places])
                for number in range(layers)
            ]
        )
        (folder / name).mkdir(parents=True, exist_ok=True)
        # T5's and Flan-T5's files are F32.
        dtype = "F32" if family == "t5" else "BF16"
        (folder / name / "model.safetensors").write_bytes(safetensors(tensors_of(family, model, flags), dtype))
        (folder / name / "config.json").write_text(json.dumps(config_of(family, flags, model)))
        stored = ("states", "logits", "attention", "last", "embedding")
        cases.append(
            {
                "name": name,
                # As the library spells its ids.
                "family": family.removesuffix("_text").replace("_", "-"),
                "ids": ids,
                "apart": how["apart"],
                "causal": how["causal"],
                "heads": model["heads"],
                "folded": how["scale"] * math.sqrt(e),
                "layers": layers,
                **{key: store(found[key]) for key in stored},
                "terms": terms,
                "mean": store(mean),
                "position": store(position),
                "query": store(query),
                "key": store(key),
                "places": [store(one) for one in places],
                "wrong": wrong,
            }
        )
    numbers.write(folder, "relative", {"names": NAMES, "cases": cases})
    print(hardest_to_see(cases))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
