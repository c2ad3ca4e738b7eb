"""GPT-2 and OPT through all their layers, drawn at random: python3 drawn_decoders.py SEED FOLDER

Writes one checkpoint for each case into FOLDER, in the names and layouts of the published ones, and what a
forward written out here makes of it: FOLDER/decoders.json says where in FOLDER/decoders.bin each number is.

  GPT-2 (Radford et al. 2019)     x = t + p; x += attention(LN(x)); x += mlp(LN(x)); LN at the end
  OPT (Zhang et al. 2022)         the same, the first position in row 2, relu
  OPT-350m                        x = E t + p; x = LN(x + attention(x)); x = LN(x + mlp(x)); no LN at the end

No query sees a later key. Scores are q'k / sqrt(d_h), in GPT-2 without that root or over a layer's number if
config.json says so. GPT-2's maps are [in, out], and its q, k and v are blocks of one of them.

The parts of what W_Q and W_K read, every sigma and all attention frozen:

  direct   token, position, attention, mlp, constant: the rows by the residual path alone, what attention and
           MLPs write without their biases, all biases and betas
  streams  the same, but attention moves every part, and `attention` is empty
  mean     position, content, constant: the state's mean at a position and over all, given; what is left

Canonical: each part's mean over the used rows joins the constant, in the rows that are summed (weights the
product of 1 / sigma of the norms up to W_Q) and before a layer's norm (weights 1 / sigma; 1 after the norm
where it comes last). An OPT sentence begins with the same token, so its row 0 stands apart: all of it is
constant.

`wrong` lists other readings of the same file, each of which would give other numbers.

Weights are BF16. Sources: the papers, and Hugging Face transformers' modeling_gpt2.py and modeling_opt.py for
names, layouts and what a flag does.
"""

import json
import math
import sys
from pathlib import Path

import numpy as np

from drawn_numbers import Numbers, hardest_to_see
from encoder import gelu, gelu_tanh
from families import safetensors

N, D, HEADS, INNER, LAYERS, VOCABULARY, ROWS, NARROW = 11, 20, 4, 28, 3, 23, 17, 12
WIDTH = D // HEADS


def relu(x):
    return np.maximum(x, 0)


ACTIVATIONS = {"gelu": gelu, "gelu_new": gelu_tanh, "relu": relu}
PARTS = ["token", "position", "attention", "mlp", "constant"]


def bf16(values):
    """Rounded to the nearest BF16, halves to even."""
    bits = np.asarray(values, "<f4").view("<u4").astype(np.uint64)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16
    return bits.astype("<u4").view("<f4").astype(float)


class Drawn:
    def __init__(self, rng):
        self.rng = rng

    def __call__(self, *shape, about=0.0, spread=0.4):
        return bf16(about + spread * self.rng.normal(size=shape))

    def linear(self, out, into, bias=True):
        return {"w": self(out, into, spread=0.9 / math.sqrt(into)), "b": self(out) if bias else np.zeros(out)}

    def norm(self):
        return {"gamma": self(D, about=1.0), "beta": self(D)}


def drawn_model(rng, family, flags):
    draw = Drawn(rng)
    post = family == "opt" and not flags.get("do_layer_norm_before", True)
    width = flags.get("word_embed_proj_dim", D)
    layers = []
    for _ in range(LAYERS):
        layer = {name: draw.linear(D, D) for name in ("q", "k", "v", "o")}
        layer["up"], layer["down"] = draw.linear(INNER, D), draw.linear(D, INNER)
        layer["norm1"], layer["norm2"] = draw.norm(), draw.norm()
        layers.append(layer)
    last = not post and not flags.get("_remove_final_layer_norm", False)
    return {
        "token": draw(VOCABULARY, width),
        "position": draw(ROWS, D),
        "into": draw.linear(D, width, False) if width != D else None,
        "out": draw.linear(width, D, False) if width != D else None,
        "layers": layers,
        "final": draw.norm() if last else None,
        "head": draw(VOCABULARY, width) if flags.get("tie_word_embeddings") is False else None,
        "eps": 1e-5 if family == "opt" else 0.01,
    }


def reading(family, flags):
    """What a run depends on beside the weights."""
    gpt2 = family == "gpt2"
    return {
        "post": not gpt2 and not flags.get("do_layer_norm_before", True),
        "first": 0 if gpt2 else 2,
        "activation": ACTIVATIONS[flags.get("activation_function", "gelu_new" if gpt2 else "relu")],
        "unscaled": flags.get("scale_attn_weights") is False,
        "by_layer": flags.get("scale_attn_by_inverse_layer_idx") is True,
        "causal": True,
        "apart": [] if gpt2 else [0],
    }


def linear(x, map):
    return x @ map["w"].T + map["b"]


def heads_of(x):
    return x.reshape(len(x), HEADS, WIDTH).transpose(1, 0, 2)


def joined(x):
    return x.transpose(1, 0, 2).reshape(x.shape[1], D)


def sigma_of(x, eps):
    return np.sqrt(((x - x.mean(1, keepdims=True)) ** 2).mean(1, keepdims=True) + eps)


def normed(x, norm, sigma):
    return norm["gamma"] * (x - x.mean(1, keepdims=True)) / sigma + norm["beta"]


def rows_of(model, how, ids):
    token = model["token"][ids]
    if model["into"]:
        token = linear(token, model["into"])
    return token, model["position"][how["first"] : how["first"] + len(ids)]


def run(model, how, ids):
    token, position = rows_of(model, how, ids)
    x, n = token + position, len(ids)
    allowed = np.tril(np.ones((n, n), bool)) if how["causal"] else np.ones((n, n), bool)
    found = {name: [] for name in ("states", "inputs", "logits", "attention", "written", "sigma1", "sigma2")}
    found["states"].append(x)
    for number, layer in enumerate(model["layers"]):
        norms = {}

        def norm(x, which):
            norms[which] = sigma_of(x, model["eps"])
            return normed(x, layer[f"norm{which}"], norms[which])

        read = x if how["post"] else norm(x, 1)
        q, k, v = (heads_of(linear(read, layer[name])) for name in "qkv")
        scores = q @ k.transpose(0, 2, 1)
        if not how["unscaled"]:
            scores = scores / math.sqrt(WIDTH)
        if how["by_layer"]:
            scores = scores / (number + 1)
        weights = np.where(allowed, np.exp(scores - np.where(allowed, scores, -np.inf).max(2, keepdims=True)), 0)
        weights = weights / weights.sum(2, keepdims=True)
        x = x + linear(joined(weights @ v), layer["o"])
        if how["post"]:
            x = norm(x, 1)
        read_by_mlp = x if how["post"] else norm(x, 2)
        written = how["activation"](linear(read_by_mlp, layer["up"])) @ layer["down"]["w"].T
        x = x + written + layer["down"]["b"]
        if how["post"]:
            x = norm(x, 2)
        for name, value in (("inputs", read), ("logits", scores), ("attention", weights), ("written", written)):
            found[name].append(value)
        found["sigma1"].append(norms[1])
        found["sigma2"].append(norms[2])
        found["states"].append(x)
    last = normed(x, model["final"], sigma_of(x, model["eps"])) if model["final"] else x
    mean = last.mean(0)
    return {
        **{name: np.array(value) for name, value in found.items()},
        "last": last,
        "embedding": mean / np.linalg.norm(mean),
    }


# ---------------------------------------------------------------- a layer's input as a sum


def gauged(parts, apart, weights):
    """All but the last, which is the constant, less their means over the used rows."""
    parts = parts.copy()
    used = [i for i in range(parts.shape[1]) if i not in apart]
    w = weights[used] / weights[used].sum()
    for part in parts[:-1]:
        mean = w @ part[used]
        for i in range(len(part)):
            moved = part[i].copy() if i in apart else mean
            part[i] -= moved
            parts[-1, i] += moved
    return parts


def parts_of(model, how, found, ids, way, canonical):
    """[LAYERS][5, n, D], the constant last."""
    n, apart = len(ids), how["apart"]
    parts = np.zeros((len(PARTS), n, D))
    parts[0], parts[1] = rows_of(model, how, ids)
    one = np.ones(n)
    s1, s2 = found["sigma1"], found["sigma2"]

    def through(parts, norm, sigma):
        parts = np.array([norm["gamma"] * (part - part.mean(1, keepdims=True)) / sigma for part in parts])
        parts[-1] += norm["beta"]
        return parts

    if canonical:
        parts = gauged(parts, apart, one if how["post"] else 1 / s1[0][:, 0])
    all_parts = []
    for number, layer in enumerate(model["layers"]):
        here = parts
        if canonical:
            here = gauged(here, apart, one if how["post"] else 1 / s1[number][:, 0])
        all_parts.append(here if how["post"] else through(here, layer["norm1"], s1[number]))
        read = parts if how["post"] else through(parts, layer["norm1"], s1[number])
        moved = lambda x: joined(found["attention"][number] @ heads_of(x @ layer["v"]["w"].T)) @ layer["o"]["w"].T
        parts = parts.copy()
        if way == "direct":
            parts[2] += moved(found["inputs"][number])
        else:
            parts += np.array([moved(part) for part in read])
        parts[-1] += layer["o"]["w"] @ layer["v"]["b"] + layer["o"]["b"]
        if how["post"]:
            parts = through(parts, layer["norm1"], s1[number])
        parts[3] += found["written"][number]
        parts[-1] += layer["down"]["b"]
        if how["post"]:
            parts = through(parts, layer["norm2"], s2[number])
    return all_parts


def mean_parts_of(model, how, found, mean, position, canonical):
    """[LAYERS][3, n, D]: position, content, constant; positions begin after the rows that stand apart."""
    n, first, all_parts = len(found["last"]), len(how["apart"]), []
    for number, layer in enumerate(model["layers"]):
        parts = np.zeros((3, n, D))
        parts[0, first:] = position[number][: n - first]
        parts[2] = mean[number]
        parts[1] = found["states"][number] - parts[0] - parts[2]
        sigma = np.ones((n, 1)) if how["post"] else found["sigma1"][number]
        if canonical:
            parts = gauged(parts, how["apart"], 1 / sigma[:, 0])
        if not how["post"]:
            parts = np.array([layer["norm1"]["gamma"] * (one - one.mean(1, keepdims=True)) / sigma for one in parts])
            parts[2] += layer["norm1"]["beta"]
        all_parts.append(parts)
    return all_parts


def terms_of(model, how, found, number, parts):
    """[HEADS, parts * parts, n, n]; they add up to the scores."""
    layer = model["layers"][number]
    queries = np.array([part @ layer["q"]["w"].T for part in parts])
    keys = np.array([part @ layer["k"]["w"].T for part in parts])
    queries[-1] += layer["q"]["b"]
    keys[-1] += layer["k"]["b"]
    scale = (1 if how["unscaled"] else 1 / math.sqrt(WIDTH)) / (number + 1 if how["by_layer"] else 1)
    q, k = (np.array([heads_of(one) for one in both]) for both in (queries, keys))
    terms = np.einsum("shid,rhjd->hsrij", q, k) * scale
    terms = terms.reshape(HEADS, -1, *terms.shape[3:])
    assert np.abs(terms.sum(1) - found["logits"][number]).max() < 1e-10
    return terms


def shares_of(terms, apart):
    """[HEADS, terms]: <T, A> / |A|^2 over used queries, each row less its mean over the used keys it sees."""
    heads, count, n, _ = terms.shape
    total, energy = np.zeros((heads, count)), np.zeros((heads, 1))
    for i in range(n):
        keys = [j for j in range(i + 1) if j not in apart]
        if i in apart or not keys:
            continue
        row = terms[:, :, i, keys]
        row = row - row.mean(2, keepdims=True)
        whole = row.sum(1)
        total += np.einsum("htj,hj->ht", row, whole)
        energy += (whole**2).sum(1)[:, None]
    return total / energy


# ---------------------------------------------------------------- files


def tensors_of(family, model):
    found = {}

    def linear_of(name, map, transposed=False):
        found[f"{name}.weight"] = map["w"].T if transposed else map["w"]
        found[f"{name}.bias"] = map["b"]

    def norm_of(name, norm):
        found[f"{name}.weight"], found[f"{name}.bias"] = norm["gamma"], norm["beta"]

    if family == "gpt2":
        found["transformer.wte.weight"], found["transformer.wpe.weight"] = model["token"], model["position"]
        for number, layer in enumerate(model["layers"]):
            name = f"transformer.h.{number}."
            three = {key: np.concatenate([layer[one][key] for one in "qkv"]) for key in "wb"}
            linear_of(f"{name}attn.c_attn", three, True)
            linear_of(f"{name}attn.c_proj", layer["o"], True)
            linear_of(f"{name}mlp.c_fc", layer["up"], True)
            linear_of(f"{name}mlp.c_proj", layer["down"], True)
            norm_of(f"{name}ln_1", layer["norm1"])
            norm_of(f"{name}ln_2", layer["norm2"])
            # A mask, not a bias.
            found[f"{name}attn.bias"] = np.tri(ROWS)[None, None]
        norm_of("transformer.ln_f", model["final"])
    else:
        name = "model.decoder."
        found[f"{name}embed_tokens.weight"], found[f"{name}embed_positions.weight"] = model["token"], model["position"]
        for number, layer in enumerate(model["layers"]):
            inner = f"{name}layers.{number}."
            for part, its in (("q_proj", "q"), ("k_proj", "k"), ("v_proj", "v"), ("out_proj", "o")):
                linear_of(f"{inner}self_attn.{part}", layer[its])
            linear_of(f"{inner}fc1", layer["up"])
            linear_of(f"{inner}fc2", layer["down"])
            norm_of(f"{inner}self_attn_layer_norm", layer["norm1"])
            norm_of(f"{inner}final_layer_norm", layer["norm2"])
        if model["final"]:
            norm_of(f"{name}final_layer_norm", model["final"])
        for part, its in (("project_in", "into"), ("project_out", "out")):
            if model[its]:
                found[f"{name}{part}.weight"] = model[its]["w"]
    if model["head"] is not None:
        found["lm_head.weight"] = model["head"]
    return found


def config_of(family, flags):
    if family == "gpt2":
        sizes = {"n_head": HEADS, "n_layer": LAYERS, "n_embd": D, "n_positions": ROWS, "layer_norm_epsilon": 0.01}
    else:
        sizes = {"num_attention_heads": HEADS, "num_hidden_layers": LAYERS, "hidden_size": D, "ffn_dim": INNER,
                 "max_position_embeddings": ROWS - 2, "word_embed_proj_dim": D}  # fmt: skip
    return {"model_type": family, **sizes, "vocab_size": VOCABULARY, **flags}


CASES = {
    "gpt2": ("gpt2", {}),
    "gpt2-unscaled": ("gpt2", {"scale_attn_weights": False}),
    "gpt2-by-layer": ("gpt2", {"scale_attn_by_inverse_layer_idx": True, "reorder_and_upcast_attn": True}),
    "gpt2-both": ("gpt2", {"scale_attn_weights": False, "scale_attn_by_inverse_layer_idx": True}),
    "gpt2-relu-head": ("gpt2", {"activation_function": "relu", "tie_word_embeddings": False}),
    "opt": ("opt", {}),
    "opt-gelu": ("opt", {"activation_function": "gelu", "_remove_final_layer_norm": True}),
    "opt-narrow": ("opt", {"word_embed_proj_dim": NARROW}),
    "opt-350m": ("opt", {"do_layer_norm_before": False, "word_embed_proj_dim": NARROW}),
}


def wrong_readings(family, model, how):
    """Other readings whose shapes fit too: the model and how it is run."""

    def layers(change):
        return {**model, "layers": [{**layer, **change(layer)} for layer in model["layers"]]}

    turned = lambda map: {"w": map["w"].T, "b": map["b"]}
    exact = "gelu_new" if how["activation"] is gelu else "gelu"
    found = {
        "no mask": (model, {**how, "causal": False}),
        "the other activation": (model, {**how, "activation": ACTIVATIONS[exact]}),
        "the other place of norms": (model, {**how, "post": not how["post"]}),
        "queries and keys exchanged": (layers(lambda l: {"q": l["k"], "k": l["q"]}), how),
        "keys and values exchanged": (layers(lambda l: {"k": l["v"], "v": l["k"]}), how),
        "the norms of a layer exchanged": (layers(lambda l: {"norm1": l["norm2"], "norm2": l["norm1"]}), how),
        "attention's output transposed": (layers(lambda l: {"o": turned(l["o"])}), how),
        "the first position in another row": (model, {**how, "first": 2 - how["first"]}),
        "scores unscaled, or scaled": (model, {**how, "unscaled": not how["unscaled"]}),
    }
    if family == "gpt2":
        found["scores by layer, or not"] = (model, {**how, "by_layer": not how["by_layer"]})
        found["queries, keys and values by head"] = (layers(by_head), how)
    if model["final"]:
        found["no norm at the end"] = ({**model, "final": None}, how)
    return found


def by_head(layer):
    """The blocks of queries, keys and values read as if each head had its own three."""
    three = {key: np.concatenate([layer[one][key] for one in "qkv"]) for key in "wb"}
    cut = {key: value.reshape(HEADS, 3, WIDTH, *value.shape[1:]) for key, value in three.items()}
    return {one: {key: value[:, place].reshape(D, *value.shape[3:]) for key, value in cut.items()} for place, one in enumerate("qkv")}


def main(seed, folder):
    rng = np.random.default_rng(seed)
    folder = Path(folder)
    numbers, cases = Numbers(), []
    store = numbers.store

    for name, (family, flags) in CASES.items():
        model, how = drawn_model(rng, family, flags), reading(family, flags)
        ids = [int(one) for one in rng.integers(3, VOCABULARY, N)]
        found = run(model, how, ids)
        # The first tokens know nothing of later ones.
        shorter = run(model, how, ids[:-1])
        assert np.abs(shorter["states"] - found["states"][:, :-1]).max() < 1e-12
        wrong = {}
        for what, (other, other_how) in wrong_readings(family, model, how).items():
            its = run(other, other_how, ids)
            compared = ("states", "logits", "attention", "last")
            wrong[what] = max(float(np.abs(its[key] - found[key]).max()) for key in compared)
        terms, shares = {}, {}
        for way in ("direct", "streams"):
            for gauge in ("canonical", "raw"):
                each = parts_of(model, how, found, ids, way, gauge == "canonical")
                for number, parts in enumerate(each):
                    assert np.abs(parts.sum(0) - found["inputs"][number]).max() < 1e-10
                all_terms = [terms_of(model, how, found, number, parts) for number, parts in enumerate(each)]
                terms[f"{way} {gauge}"] = store(all_terms)
                apart = how["apart"] if gauge == "canonical" else []
                shares[f"{way} {gauge}"] = store([shares_of(one, apart) for one in all_terms])
        # Means of states over a corpus that does not exist: any do.
        mean, position = rng.normal(size=(LAYERS + 1, D)), rng.normal(size=(LAYERS + 1, N, D))
        for gauge in ("canonical", "raw"):
            each = mean_parts_of(model, how, found, mean, position, gauge == "canonical")
            all_terms = [terms_of(model, how, found, number, parts) for number, parts in enumerate(each)]
            terms[f"mean {gauge}"] = store(all_terms)
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "model.safetensors").write_bytes(safetensors(tensors_of(family, model), "BF16"))
        (folder / name / "config.json").write_text(json.dumps(config_of(family, flags)))
        stored = ("states", "logits", "attention", "last", "embedding")
        cases.append(
            {
                "name": name,
                "family": family,
                "ids": ids,
                "apart": how["apart"],
                **{key: store(found[key]) for key in stored},
                "terms": terms,
                "shares": shares,
                "mean": store(mean),
                "position": store(position),
                "wrong": wrong,
            }
        )
    numbers.write(folder, "decoders", {"layers": LAYERS, "heads": HEADS, "cases": cases})
    print(hardest_to_see(cases))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
