"""Models that add positions to patches, tokens or sound, through all their layers, drawn at random: python3 drawn_encoders.py SEED FOLDER

Writes one checkpoint for each case into FOLDER, in the names and layouts of the published ones, and what the forward
of encoder.py makes of it: FOLDER/encoders.json says where in FOLDER/encoders.bin each number is.

  ViT, DeiT (Dosovitskiy 2021, Touvron 2021)  x = [class; (distillation;) W patch + b] + p; pre-LN; LN at the end
  timm's                                      the same, W_Q, W_K and W_V in one tensor, by blocks; fc_norm: no LN at the end
  CLIP, vision (Radford 2021)                 x = LN([class; W patch] + p); pre-LN; x g(x) of quick_gelu; LN at the end
  CLIP, text                                  x = t + p; pre-LN, causal; LN at the end
  DINOv2 (Oquab 2023, Darcet 2023)            x = [class + p_0; registers; W patch + b + p]; pre-LN; each sub-layer writes
                                              a vector times what it made; LN at the end
  SigLIP, vision (Zhai 2023)                  x = W patch + b + p; pre-LN, tanh GELU; LN at the end
  ALBERT (Lan 2020)                           x = W LN(t + p + s) + b; post-LN; round i of L reads layers of group i / (L / groups)
  SigLIP, text                                x = t + p; pre-LN, tanh GELU, no mask, and padding is seen; LN at the end
  Whisper, encoder (Radford 2022)             x = g(W_2 * g(W_1 * frames + b_1) + b_2) + p, * over three neighbours, of which
                                              every other one is the middle in W_2; g the exact GELU; pre-LN; LN at the end

A patch is all colours of p by p pixels, each colour row by row; patches count row by row. Parts of what W_Q and W_K read:
patch, position, class (the rows that are no patches, with their positions), attention, mlp, constant (all biases, that
of the patches too); of sound frame in place of the first three's patch. Rows that are no patches stand apart, and so does the first token of CLIP's text.

`wrong` lists other readings of the same file, each of which would give other numbers.

Weights are BF16. Sources: the papers, and Hugging Face transformers' modeling_*.py and timm's vision_transformer.py for
names, layouts and what a member of config.json does.
"""

import json
import math
import sys
from pathlib import Path

import numpy as np

from drawn_decoders import bf16
from drawn_numbers import Numbers, hardest_to_see
from encoder import CONSTANT, GROUPS, canonical_parts, centre, decomposed, forward, gelu, gelu_tanh, quick_gelu, terms_of
from families import safetensors
from gauge import shares

D, HEADS, INNER, LAYERS, VOCABULARY, TOKENS, GRID, SIDE = 20, 4, 28, 3, 23, 11, 3, 2
EPS = 0.01
ACTIVATIONS = {"gelu": gelu, "gelu_new": gelu_tanh, "gelu_pytorch_tanh": gelu_tanh, "quick_gelu": quick_gelu}
PICTURES = 7
BINS = 5


class Draw:
    def __init__(self, rng):
        self.rng = rng

    def table(self, *shape, about=0.0, spread=0.4):
        return bf16(about + spread * self.rng.normal(size=shape))

    def linear(self, out, into, bias=True, spread=0.9):
        weight = self.table(out, into, spread=spread / math.sqrt(into))
        return {"weight": weight, "bias": self.table(out) if bias else np.zeros(out)}

    def norm(self, width=D):
        return {"gamma": self.table(width, about=1.0), "beta": self.table(width)}

    def layers(self, count=LAYERS, biased="query key value"):
        made = []
        for _ in range(count):
            layer = {part: self.linear(D, D, part in biased) for part in ("query", "key", "value")}
            layer["output"], layer["up"] = self.linear(D, D), self.linear(INNER, D)
            # Loud, for GELUs that are nearly alike to be told apart.
            layer["down"] = self.linear(D, INNER, spread=2)
            layer["attention_norm"], layer["mlp_norm"] = self.norm(), self.norm()
            made.append(layer)
        return made


def encoder(layers, activation, **more):
    """What encoder.py runs."""
    return {"heads": HEADS, "eps": EPS, "pre": True, "causal": False, "activation": ACTIVATIONS[activation],
            "embedding_norm": None, "projection": None, "relative_bias": None, "layers": layers, **more}  # fmt: skip


# ---------------------------------------------------------------- pictures


def patches_of(pixels, columns_first=False):
    """[GRID^2, 3 * SIDE^2] of a picture [3, height, width]."""
    cut = pixels.reshape(3, GRID, SIDE, GRID, SIDE).transpose(1, 3, 0, 2, 4)
    if columns_first:
        cut = cut.transpose(1, 0, 2, 3, 4)
    return cut.reshape(GRID**2, -1)


def picture_rows(
    its, pixels, columns_first=False, bias_on_all=False, unplaced_class=False, registers_last=False, registers_turned=False
):
    """patch, position and class [3, n, D], and the constant bias of the patches [n, D]."""
    before, kernel, bias, position = its["before"], its["kernel"], its["bias"], its["position"]
    first = len(before)
    rows, offset = np.zeros((3, first + GRID**2, D)), np.zeros((first + GRID**2, D))
    rows[0, first:] = patches_of(pixels, columns_first) @ kernel.reshape(D, -1).T
    placed = first - its.get("unplaced", 0)
    rows[1, first:] = position[placed:]
    for row, own in enumerate(before):
        rows[2, row] = own + (position[row] if row < placed and not unplaced_class else 0)
    offset[0 if bias_on_all else first :] = bias
    if registers_turned:
        rows[2, placed:first] = rows[2, placed:first][::-1].copy()
    if registers_last:
        order = [*range(placed), *range(first, len(offset)), *range(placed, first)]
        rows, offset = rows[:, order], offset[order]
    return rows, offset


def picture_case(rng, names, model, before, biased=True, **more):
    draw = Draw(rng)
    its = {"before": [draw.table(D) for _ in before], "kernel": draw.table(D, 3, SIDE, SIDE, spread=0.3),
           "bias": draw.table(D) if biased else np.zeros(D), **more}  # fmt: skip
    its["position"] = draw.table(len(before) - its.get("unplaced", 0) + GRID**2, D)
    pixels = draw.rng.normal(size=(PICTURES, 3, GRID * SIDE, GRID * SIDE))
    wrong = {
        "columns first": (model, dict(columns_first=True)),
        **({"patch bias on all rows": (model, dict(bias_on_all=True))} if biased and before else {}),
        **({"no position with the class": (model, dict(unplaced_class=True))} if before else {}),
    }
    return {
        "model": model,
        "rows": lambda how={}, picture=0: picture_rows(its, pixels[picture], **how),
        "its": its,
        "pixels": pixels,
        "apart": list(range(len(before))),
        "parts": ["patch", "position", *(["class"] if before else []), "attention", "mlp", "constant"],
        "wrong": wrong,
        "names": names,
    }


# ---------------------------------------------------------------- sound


def convolved(rows, its, stride, before=1):
    """[n / stride, D] of rows [n, channels]: in the middle of three each time, with nothing beyond the ends."""
    made = np.zeros((len(rows) // stride, D))
    for at in range(len(made)):
        made[at] = its["bias"]
        for tap in range(3):
            row = stride * at + tap - before
            if 0 <= row < len(rows):
                made[at] += its["kernel"][:, :, tap] @ rows[row]
    return made


def sound_rows(its, frames, strides=(1, 2), before=1, first=gelu, second=gelu, kernels=lambda k: k, placed=True):
    one, two = ({**its[name], "kernel": kernels(its[name]["kernel"])} for name in ("conv1", "conv2"))
    rows = np.zeros((3, TOKENS, D))
    rows[0] = second(convolved(first(convolved(frames, one, strides[0], before)), two, strides[1], before))
    rows[1] = its["position"] if placed else 0
    return rows, np.zeros((TOKENS, D))


def sound_case(rng, model):
    draw = Draw(rng)
    # Loud, as the layers are.
    kernel = lambda channels: {"kernel": draw.table(D, channels, 3, spread=1.5 / math.sqrt(channels)), "bias": draw.table(D)}
    its = {"conv1": kernel(BINS), "conv2": kernel(D), "position": draw.table(TOKENS, D)}
    frames = draw.rng.normal(size=(PICTURES, 2 * TOKENS, BINS))
    plain = lambda x: x
    invented = [{**layer, "key": {**layer["key"], "bias": draw.table(D)}} for layer in model["layers"]]
    wrong = {
        "the stride in the first convolution": (model, dict(strides=(2, 1))),
        "no GELU after the first convolution": (model, dict(first=plain)),
        "no GELU after the second convolution": (model, dict(second=plain)),
        "gelu_tanh after the convolutions": (model, dict(first=gelu_tanh, second=gelu_tanh)),
        "all padding before the frames": (model, dict(before=2)),
        "all padding after the frames": (model, dict(before=0)),
        "a convolution's neighbours turned round": (model, dict(kernels=lambda k: k[:, :, ::-1])),
        "a convolution's neighbours before its channels": (
            model, dict(kernels=lambda k: k.reshape(D, 3, -1).transpose(0, 2, 1))),
        "what the second convolution reads and writes exchanged": (
            model, dict(kernels=lambda k: k.transpose(1, 0, 2) if k.shape[1] == D else k)),
        "positions left out": (model, dict(placed=False)),
        "a bias of keys": ({**model, "layers": invented}, {}),
    }  # fmt: skip
    rows = lambda how={}, sound=0: sound_rows(its, frames[sound], **how)
    parts = ["frame", "position", "attention", "mlp", "constant"]
    return {"model": model, "rows": rows, "its": its, "frames": frames, "apart": [], "parts": parts, "wrong": wrong}


# ---------------------------------------------------------------- tokens


def token_case(rng, names, model, apart, length=TOKENS + 2, e=D, segments=0):
    draw = Draw(rng)
    its = {"token": draw.table(VOCABULARY, e), "position": draw.table(length, e), "segment": draw.table(2, e) if segments else None}
    ids = [int(one) for one in rng.integers(3, VOCABULARY, TOKENS)]

    def rows(how={}, _=0):
        found = np.zeros((3, TOKENS, e))
        found[0] = its["token"][ids]
        first = how.get("first", 0)
        found[1] = its["position"][first : first + TOKENS]
        if segments:
            found[2] = its["segment"][how.get("segment", 0)]
        return found, np.zeros((TOKENS, e))

    parts = ["token", "position", *(["token_type"] if segments else []), "attention", "mlp", "constant"]
    wrong = {"the first position in another row": (model, dict(first=1))}
    return {"model": model, "rows": rows, "its": its, "ids": ids, "apart": apart, "parts": parts, "wrong": wrong, "names": names}


# ---------------------------------------------------------------- files

LINEAR = ("query", "key", "value", "output", "up", "down")
VIT = dict(query="attention.attention.query", key="attention.attention.key", value="attention.attention.value",
           output="attention.output.dense", attention_norm="layernorm_before", up="intermediate.dense", down="output.dense",
           mlp_norm="layernorm_after")  # fmt: skip
TIMM = dict(joined="attn.qkv", output="attn.proj", attention_norm="norm1", up="mlp.fc1", down="mlp.fc2", mlp_norm="norm2")
CLIP = dict(query="self_attn.q_proj", key="self_attn.k_proj", value="self_attn.v_proj", output="self_attn.out_proj",
            attention_norm="layer_norm1", up="mlp.fc1", down="mlp.fc2", mlp_norm="layer_norm2")  # fmt: skip


DINOV2 = {**VIT, "attention_norm": "norm1", "up": "mlp.fc1", "down": "mlp.fc2", "mlp_norm": "norm2"}


def put_norm(found, name, norm):
    found[f"{name}.weight"], found[f"{name}.bias"] = norm["gamma"], norm["beta"]


def put_linear(found, name, linear):
    found[f"{name}.weight"] = linear["weight"]
    if np.any(linear["bias"]):
        found[f"{name}.bias"] = linear["bias"]


def put_layers(found, prefix, layers, names):
    for number, layer in enumerate(layers):
        put_layer(found, f"{prefix}.{number}", layer, names)


def put_layer(found, before, layer, names):
    for part, name in names.items():
        if part.endswith("norm"):
            put_norm(found, f"{before}.{name}", layer[part])
        elif part == "joined":
            three = [layer[one] for one in ("query", "key", "value")]
            put_linear(found, f"{before}.{name}", {key: np.concatenate([one[key] for one in three]) for key in three[0]})
        else:
            put_linear(found, f"{before}.{name}", layer[part])


def sizes(**more):
    return {"hidden_size": D, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": INNER, **more}


def vit(rng, distilled=False, activation="gelu", qkv_bias=True):
    draw = Draw(rng)
    model = encoder(draw.layers(biased="query key value" if qkv_bias else ""), activation, final_norm=draw.norm())
    case = picture_case(rng, VIT, model, ["class", "distillation"] if distilled else ["class"])
    its, found = case["its"], {}
    name = "deit." if distilled else "vit."
    found[f"{name}embeddings.cls_token"] = its["before"][0][None, None]
    if distilled:
        found[f"{name}embeddings.distillation_token"] = its["before"][1][None, None]
    found[f"{name}embeddings.position_embeddings"] = its["position"][None]
    found[f"{name}embeddings.patch_embeddings.projection.weight"] = its["kernel"]
    found[f"{name}embeddings.patch_embeddings.projection.bias"] = its["bias"]
    put_layers(found, f"{name}encoder.layer", model["layers"], VIT)
    put_norm(found, f"{name}layernorm", model["final_norm"])
    # A head of its own, which changes no state.
    found["classifier.weight"] = np.ones((2, D))
    own = sizes(image_size=GRID * SIDE, patch_size=SIDE, layer_norm_eps=EPS, hidden_act=activation, qkv_bias=qkv_bias)
    config = {"model_type": "deit" if distilled else "vit", **own}
    return {**case, "family": "vit", "tensors": found, "config": config}


def timm(rng, mean=False):
    draw = Draw(rng)
    model = encoder(draw.layers(), "gelu", final_norm=None if mean else draw.norm())
    case = picture_case(rng, TIMM, model, ["class"])
    its, found = case["its"], {}
    found["cls_token"], found["pos_embed"] = its["before"][0][None, None], its["position"][None]
    found["patch_embed.proj.weight"], found["patch_embed.proj.bias"] = its["kernel"], its["bias"]
    put_layers(found, "blocks", model["layers"], TIMM)
    put_norm(found, "fc_norm" if mean else "norm", model["final_norm"] or draw.norm())
    case["wrong"]["queries, keys and values by head"] = (changed(model, by_head), {})
    config = {"architecture": "vit_tiny_patch2_6", "num_classes": 0, "model_args": {"img_size": GRID * SIDE}}
    return {**case, "family": "vit", "tensors": found, "config": config, "options": {"heads": HEADS, "epsilon": EPS}}


def clip_vision(rng, activation="quick_gelu"):
    draw = Draw(rng)
    model = encoder(draw.layers(), activation, final_norm=draw.norm(), embedding_norm=draw.norm())
    case = picture_case(rng, CLIP, model, ["class"], biased=False)
    its, found, name = case["its"], {}, "vision_model."
    found[f"{name}embeddings.class_embedding"] = its["before"][0]
    found[f"{name}embeddings.position_embedding.weight"] = its["position"]
    found[f"{name}embeddings.patch_embedding.weight"] = its["kernel"]
    put_norm(found, f"{name}pre_layrnorm", model["embedding_norm"])
    put_layers(found, f"{name}encoder.layers", model["layers"], CLIP)
    put_norm(found, f"{name}post_layernorm", model["final_norm"])
    case["wrong"]["no norm before the first layer"] = ({**model, "embedding_norm": None}, {})
    case["wrong"]["the norms of the beginning and the end exchanged"] = (
        {**model, "embedding_norm": model["final_norm"], "final_norm": model["embedding_norm"]}, {})  # fmt: skip
    own = sizes(image_size=GRID * SIDE, patch_size=SIDE, layer_norm_eps=EPS)
    if activation != "quick_gelu":
        own["hidden_act"] = activation
    config = {"model_type": "clip", "vision_config": own}
    return {**case, "family": "clip-vision", "tensors": found, "config": config}


def clip_text(rng, activation="quick_gelu"):
    draw = Draw(rng)
    model = encoder(draw.layers(), activation, final_norm=draw.norm(), causal=True)
    case = token_case(rng, CLIP, model, [0])
    its, found, name = case["its"], {}, "text_model."
    found[f"{name}embeddings.token_embedding.weight"] = its["token"]
    found[f"{name}embeddings.position_embedding.weight"] = its["position"]
    put_layers(found, f"{name}encoder.layers", model["layers"], CLIP)
    put_norm(found, f"{name}final_layer_norm", model["final_norm"])
    own = sizes(vocab_size=VOCABULARY, max_position_embeddings=len(its["position"]), layer_norm_eps=EPS, hidden_act=activation)
    # Older files say it in two members, of which the second counts.
    both = {"text_config": {**own, "hidden_act": "gelu"}, "text_config_dict": own}
    return {**case, "family": "clip-text", "tensors": found, "config": {"model_type": "clip", **both}}


def scaled(layer):
    """What a layer writes, times its vectors."""
    by = lambda linear, scale: {"weight": scale[:, None] * linear["weight"], "bias": scale * linear["bias"]}
    return {"output": by(layer["output"], layer["scale1"]), "down": by(layer["down"], layer["scale2"])}


def dinov2(rng, registers=0):
    draw = Draw(rng)
    layers = draw.layers()
    for layer in layers:
        layer["scale1"], layer["scale2"] = draw.table(D, about=0.7), draw.table(D, about=0.7)
    plain = encoder(layers, "gelu", final_norm=draw.norm())
    model = changed(plain, scaled)
    case = picture_case(rng, DINOV2, model, ["class"] + registers * ["register"], unplaced=registers)
    its, found, name = case["its"], {}, "dinov2."
    found["embeddings.cls_token"] = its["before"][0][None, None]
    found["embeddings.mask_token"] = draw.table(1, D)
    found["embeddings.position_embeddings"] = its["position"][None]
    found["embeddings.patch_embeddings.projection.weight"] = its["kernel"]
    found["embeddings.patch_embeddings.projection.bias"] = its["bias"]
    if registers:
        found["embeddings.register_tokens"] = np.array(its["before"][1:])[None]
        case["wrong"]["registers after the patches"] = (model, dict(registers_last=True))
        case["wrong"]["the registers exchanged"] = (model, dict(registers_turned=True))
    put_layers(found, "encoder.layer", layers, DINOV2)
    for number, layer in enumerate(layers):
        for place in (1, 2):
            found[f"encoder.layer.{number}.layer_scale{place}.lambda1"] = layer[f"scale{place}"]
    put_norm(found, "layernorm", model["final_norm"])
    case["wrong"]["what a layer writes unscaled"] = (plain, {})
    exchanged = changed(plain, lambda l: scaled({**l, "scale1": l["scale2"], "scale2": l["scale1"]}))
    case["wrong"]["the scales of attention and MLP exchanged"] = (exchanged, {})
    own = sizes(image_size=GRID * SIDE, patch_size=SIDE, layer_norm_eps=EPS, hidden_act="gelu", mlp_ratio=INNER / D)
    # Its config.json has no width of the MLP, but the ratio.
    own.pop("intermediate_size")
    if registers:
        own["num_register_tokens"] = registers
    config = {"model_type": "dinov2_with_registers" if registers else "dinov2", **own, "use_swiglu_ffn": False}
    tensors = {name + key: value for key, value in found.items()}
    return {**case, "family": "dinov2", "tensors": tensors, "config": config}


def siglip_text(rng):
    draw = Draw(rng)
    model = encoder(draw.layers(), "gelu_pytorch_tanh", final_norm=draw.norm())
    case = token_case(rng, CLIP, model, [], length=TOKENS)
    # Four tokens, the end, and padding, which has the end's number.
    case["ids"][4:] = (TOKENS - 4) * [1]
    its, found, name = case["its"], {}, "text_model."
    found[f"{name}embeddings.token_embedding.weight"] = its["token"]
    found[f"{name}embeddings.position_embedding.weight"] = its["position"]
    put_layers(found, f"{name}encoder.layers", model["layers"], CLIP)
    put_norm(found, f"{name}final_layer_norm", model["final_norm"])
    found[f"{name}head.weight"], found[f"{name}head.bias"] = draw.table(D, D), draw.table(D)
    case["wrong"] = {"padding that no query sees": (model, dict(attended=[True] * 5 + [False] * (TOKENS - 5)))}
    own = sizes(vocab_size=VOCABULARY, max_position_embeddings=TOKENS, layer_norm_eps=EPS, hidden_act="gelu_pytorch_tanh")
    return {**case, "family": "siglip-text", "tensors": found, "config": {"model_type": "siglip", "text_config": own}}


def siglip_vision(rng):
    draw = Draw(rng)
    model = encoder(draw.layers(), "gelu_pytorch_tanh", final_norm=draw.norm(), eps=1e-6)
    case = picture_case(rng, CLIP, model, [])
    its, found, name = case["its"], {}, "vision_model."
    found[f"{name}embeddings.position_embedding.weight"] = its["position"]
    found[f"{name}embeddings.patch_embedding.weight"], found[f"{name}embeddings.patch_embedding.bias"] = its["kernel"], its["bias"]
    put_layers(found, f"{name}encoder.layers", model["layers"], CLIP)
    put_norm(found, f"{name}post_layernorm", model["final_norm"])
    found[f"{name}head.probe"] = draw.table(1, 1, D)
    put_norm(found, f"{name}head.layernorm", draw.norm())
    # Published files leave out what is as usual.
    own = {"hidden_size": D, "num_attention_heads": HEADS}
    return {**case, "family": "siglip-vision", "tensors": found, "config": {"model_type": "siglip", "vision_config": own}}


ALBERT = dict(query="attention.query", key="attention.key", value="attention.value", output="attention.dense",
              attention_norm="attention.LayerNorm", up="ffn", down="ffn_output", mlp_norm="full_layer_layer_norm")  # fmt: skip


def albert(rng, groups=1, inner=1, narrow=12):
    """As many rounds as groups of layers share, each of `inner` layers."""
    draw = Draw(rng)
    held = [draw.layers(inner) for _ in range(groups)]
    group_of = lambda i: int(i / (LAYERS / groups))
    layers = [layer for i in range(LAYERS) for layer in held[group_of(i)]]
    more = {"final_norm": None, "pre": False, "embedding_norm": draw.norm(narrow), "projection": draw.linear(D, narrow)}
    model = encoder(layers, "gelu_new", **more)
    case = token_case(rng, ALBERT, model, [0], e=narrow, segments=2)
    its, found, name = case["its"], {}, "albert."
    for table, key in (("word", "token"), ("position", "position"), ("token_type", "segment")):
        found[f"{name}embeddings.{table}_embeddings.weight"] = its[key]
    put_norm(found, f"{name}embeddings.LayerNorm", model["embedding_norm"])
    put_linear(found, f"{name}encoder.embedding_hidden_mapping_in", model["projection"])
    for group, its_layers in enumerate(held):
        put_layers(found, f"{name}encoder.albert_layer_groups.{group}.albert_layers", its_layers, ALBERT)
    case["wrong"]["the other segment"] = (model, dict(segment=1))
    if groups > 1:
        turns = [layer for i in range(LAYERS) for layer in held[i % groups]]
        case["wrong"]["groups in turn"] = ({**model, "layers": turns}, {})
        each = [layers[0] for _ in layers]
        case["wrong"]["one layer for all"] = ({**model, "layers": each}, {})
    own = sizes(embedding_size=narrow, vocab_size=VOCABULARY, max_position_embeddings=len(its["position"]), type_vocab_size=2,
                layer_norm_eps=EPS, num_hidden_groups=groups, inner_group_num=inner)  # fmt: skip
    return {**case, "family": "albert", "tensors": found, "config": {"model_type": "albert", **own}}


WHISPER = dict(query="self_attn.q_proj", key="self_attn.k_proj", value="self_attn.v_proj", output="self_attn.out_proj",
               attention_norm="self_attn_layer_norm", up="fc1", down="fc2", mlp_norm="final_layer_norm")  # fmt: skip


def whisper(rng, activation="gelu", listener=True):
    """With its decoder, which nothing here runs, or without."""
    draw = Draw(rng)
    model = encoder(draw.layers(biased="query value"), activation, final_norm=draw.norm(), eps=1e-5)
    case = sound_case(rng, model)
    its, found, name = case["its"], {}, "model." if listener else ""
    for conv in ("conv1", "conv2"):
        found[f"{name}encoder.{conv}.weight"], found[f"{name}encoder.{conv}.bias"] = its[conv]["kernel"], its[conv]["bias"]
    found[f"{name}encoder.embed_positions.weight"] = its["position"]
    put_layers(found, f"{name}encoder.layers", model["layers"], WHISPER)
    put_norm(found, f"{name}encoder.layer_norm", model["final_norm"])
    if listener:
        found[f"{name}decoder.embed_tokens.weight"], found[f"{name}decoder.embed_positions.weight"] = draw.table(VOCABULARY, D), draw.table(7, D)
        put_layers(found, f"{name}decoder.layers", draw.layers(2, "query value"), WHISPER)
        put_norm(found, f"{name}decoder.layer_norm", draw.norm())
    own = {"d_model": D, "encoder_layers": LAYERS, "num_hidden_layers": LAYERS, "encoder_attention_heads": HEADS,
           "encoder_ffn_dim": INNER, "num_mel_bins": BINS, "max_source_positions": TOKENS, "decoder_layers": 2,
           "decoder_attention_heads": 5, "activation_function": activation, "scale_embedding": False}  # fmt: skip
    return {**case, "family": "whisper-encoder", "tensors": found, "config": {"model_type": "whisper", **own}}


CASES = {
    "vit": lambda rng: vit(rng),
    "vit-tanh-unbiased": lambda rng: vit(rng, activation="gelu_pytorch_tanh", qkv_bias=False),
    "deit": lambda rng: vit(rng, distilled=True),
    "timm": lambda rng: timm(rng),
    "timm-mean": lambda rng: timm(rng, mean=True),
    "clip-text": lambda rng: clip_text(rng),
    "clip-vision": lambda rng: clip_vision(rng),
    "clip-vision-gelu": lambda rng: clip_vision(rng, "gelu"),
    "dinov2": lambda rng: dinov2(rng),
    "dinov2-registers": lambda rng: dinov2(rng, 2),
    "siglip-text": lambda rng: siglip_text(rng),
    "siglip-vision": lambda rng: siglip_vision(rng),
    "albert": lambda rng: albert(rng),
    "albert-groups": lambda rng: albert(rng, groups=2, inner=2),
    "whisper": lambda rng: whisper(rng),
    "whisper-alone-tanh": lambda rng: whisper(rng, "gelu_new", listener=False),
}


# ---------------------------------------------------------------- other readings


def changed(model, change):
    return {**model, "layers": [{**layer, **change(layer)} for layer in model["layers"]]}


def by_head(layer):
    """The blocks of queries, keys and values read as if each head had its own three."""
    parts = ("query", "key", "value")
    three = {key: np.concatenate([layer[one][key] for one in parts]) for key in ("weight", "bias")}
    cut = {key: value.reshape(HEADS, 3, D // HEADS, *value.shape[1:]) for key, value in three.items()}
    return {one: {key: value[:, place].reshape(D, *value.shape[3:]) for key, value in cut.items()} for place, one in enumerate(parts)}


def wrong_readings(case):
    """Other readings whose shapes fit too: the model, and how the rows are made."""
    model = case["model"]
    turned = lambda one: {**one, "weight": one["weight"].T}
    found = {
        "a mask, or none": ({**model, "causal": not model["causal"]}, {}),
        "the other place of norms": ({**model, "pre": not model["pre"]}, {}),
        "queries and keys exchanged": (changed(model, lambda l: {"query": l["key"], "key": l["query"]}), {}),
        "keys and values exchanged": (changed(model, lambda l: {"key": l["value"], "value": l["key"]}), {}),
        "the norms of a layer exchanged": (
            changed(model, lambda l: {"attention_norm": l["mlp_norm"], "mlp_norm": l["attention_norm"]}), {}),
        "attention's output transposed": (changed(model, lambda l: {"output": turned(l["output"])}), {}),
    }  # fmt: skip
    for name, other in (("gelu", gelu), ("gelu_tanh", gelu_tanh), ("quick_gelu", quick_gelu)):
        if other is not model["activation"]:
            found[f"{name} in place of the activation"] = ({**model, "activation": other}, {})
    if model["final_norm"]:
        found["no norm at the end"] = ({**model, "final_norm": None}, {})
    return {**found, **case["wrong"]}


# ---------------------------------------------------------------- what is stored


def run_of(case, model, how={}, picture=0):
    rows, offset = case["rows"](how, picture)
    return forward(model, np.array([*rows, offset]), how.get("attended"))


def mean_parts(case, run, mean, position, canonical):
    """[layers][GROUPS, n, D], the first position, the second content: the state's means given."""
    model, first, found = case["model"], len(case["apart"]), []
    for number, layer in enumerate(model["layers"]):
        parts = np.zeros((len(GROUPS), *run["states"][0].shape))
        parts[0, first:] = position[number][: len(parts[0]) - first]
        parts[CONSTANT] = mean[number]
        parts[1] = run["states"][number] - parts.sum(axis=0)
        sigma = run["sigma"][number, "attention"] if model["pre"] else np.ones((len(parts[0]), 1))
        if canonical:
            parts = canonical_parts(parts, case["apart"], 1 / sigma[:, 0])
        if model["pre"]:
            parts = layer["attention_norm"]["gamma"] * centre(parts) / sigma
            parts[CONSTANT] += layer["attention_norm"]["beta"]
        found.append(parts)
    return found


def shares_of(terms, apart, causal):
    used = [row for row in range(terms.shape[-1]) if row not in apart]
    return np.array([shares(head, used, causal) for head in terms])


def taken_apart(case, run, mean, position):
    """Terms [layers, HEADS, parts^2, n, n] and shares by way and gauge."""
    model, apart = case["model"], case["apart"]
    rows, offset = case["rows"]()
    terms, share = {}, {}
    for gauge in ("canonical", "raw"):
        for way in ("direct", "streams"):
            # What patches have in common is constant from the start.
            parts = decomposed(model, rows, run, apart, way, gauge, offset=offset)
            kept = [at for at in range(len(GROUPS)) if at != 2 or len(case["parts"]) == len(GROUPS)]
            all_terms = []
            for number, one in enumerate(parts):
                assert np.abs(one.sum(axis=0) - run["inputs"][number]).max() < 1e-10
                assert not one[[at for at in range(len(GROUPS)) if at not in kept]].any()
                all_terms.append(terms_of(model, number, one[kept]))
                assert np.abs(all_terms[-1].sum(axis=1) - run["logits"][number]).max() < 1e-10
            terms[f"{way} {gauge}"] = np.array(all_terms)
            apart_now = apart if gauge == "canonical" else []
            share[f"{way} {gauge}"] = np.array([shares_of(one, apart_now, model["causal"]) for one in all_terms])
        each = mean_parts(case, run, mean, position, gauge == "canonical")
        terms[f"mean {gauge}"] = np.array([terms_of(model, n, one[[0, 1, CONSTANT]]) for n, one in enumerate(each)])
    return terms, share


def means_over_pictures(case):
    """h = mu + pos_t + content, state by state, and the share of pos -> pos of each layer and head."""
    model, first = case["model"], len(case["apart"])
    runs = [run_of(case, model, {}, picture) for picture in range(PICTURES)]
    h = np.array([run["states"] for run in runs])[:, :, first:].transpose(1, 0, 2, 3)
    mu = h.mean(axis=(1, 2))
    energy = ((h - mu[:, None, None]) ** 2).sum(axis=3).mean(axis=(1, 2))
    # Products are of the means of even and odd pictures.
    even, odd = (half - half.mean(axis=1, keepdims=True) for half in (h[:, 0::2].mean(axis=1), h[:, 1::2].mean(axis=1)))
    position = h.mean(axis=1) - mu[:, None]
    total = np.zeros((2, len(model["layers"]), HEADS))
    for run in runs:
        for number, parts in enumerate(mean_parts(case, run, mu, position, True)):
            terms = terms_of(model, number, parts[[0, 1, CONSTANT]])[:, :, first:, first:]
            whole = terms.sum(axis=1)
            row = lambda a: a - a.mean(axis=2, keepdims=True)
            total[0, number] += (row(terms[:, 0]) * row(whole)).sum(axis=(1, 2))
            total[1, number] += (row(whole) ** 2).sum(axis=(1, 2))
    return {"mean": mu, "position": position, "energy": (even * odd).sum(axis=2).mean(axis=1) / energy, "heads": total[0] / total[1]}


def main(seed, folder):
    rng = np.random.default_rng(seed)
    folder = Path(folder)
    numbers, cases = Numbers(), []
    store = numbers.store

    for name, draw in CASES.items():
        case = draw(rng)
        model = case["model"]
        run = run_of(case, model)
        wrong = {}
        for what, (other, how) in wrong_readings(case).items():
            its = run_of(case, other, how)
            compared = ("states", "logits", "attention", "last")
            wrong[what] = max(float(np.abs(np.array(its[key]) - np.array(run[key])).max()) for key in compared)
        # Means of states over a corpus that does not exist: any do.
        count, n = len(model["layers"]), len(run["states"][0])
        mean, position = rng.normal(size=(count + 1, D)), rng.normal(size=(count + 1, n, D))
        terms, share = taken_apart(case, run, mean, position)
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "model.safetensors").write_bytes(safetensors(case["tensors"], "BF16"))
        (folder / name / "config.json").write_text(json.dumps(case["config"]))
        pictures = {}
        if "pixels" in case:
            pictures["patches"] = store([patches_of(one) for one in case["pixels"]])
        if "frames" in case:
            pictures["frames"] = store(case["frames"])
        if pictures:
            pictures["corpus"] = {key: store(value) for key, value in means_over_pictures(case).items()}
        cases.append(
            {
                "name": name,
                "family": case["family"],
                "options": case.get("options", {}),
                "layers": count,
                **({"ids": case["ids"]} if "ids" in case else {}),
                **pictures,
                "apart": case["apart"],
                "causal": model["causal"],
                "parts": case["parts"],
                **{key: store(run[key]) for key in ("states", "logits", "attention", "last", "embedding")},
                "terms": {key: store(value) for key, value in terms.items()},
                "shares": {key: store(value) for key, value in share.items()},
                "mean": store(mean),
                "position": store(position),
                "wrong": wrong,
            }
        )
    numbers.write(folder, "encoders", {"heads": HEADS, "cases": cases})
    print(hardest_to_see(cases))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
