"""What positions are for: a sentence's embedding after they are taken out of the input or out of the attention.

Out of the input, the position rows from 1 on are replaced by their mean. Out of the attention, the weights of one run take
the place of the other's, so no part of a state has to be told from another.

`order`: 1 - cosine with the embedding of the same words shuffled, altered alike.
"""

import numpy as np

from decomposition import by_head
from depth import trained, words_of
from encoder import embedding_rows, linear, merge
from minilm import SENTENCES, tokenize
from oracle_json import write_beside

DOG, MAN = "The dog bit the man.", "The man bit the dog."


def altered(model, rows, attention=None):
    """A forward in which `attention` {layer: [H, n, n]} takes the place of the softmax. Returns the attention, and the
    states' means over tokens, of length one."""
    attention = attention or {}
    n, heads, eps, pre = rows.shape[1], model["heads"], model["eps"], model["pre"]

    def norm(x, weights):
        y = x - x.mean(axis=-1, keepdims=True)
        return weights["gamma"] * y / np.sqrt((y**2).mean(axis=-1, keepdims=True) + eps) + weights["beta"]

    x = rows.sum(axis=0)
    if model["embedding_norm"]:
        x = norm(x, model["embedding_norm"])
    states, weights, allowed = [x], [], np.tri(n, dtype=bool) if model["causal"] else np.ones((n, n), bool)
    for number, layer in enumerate(model["layers"]):
        y = norm(x, layer["attention_norm"]) if pre else x
        if number in attention:
            a = attention[number]
        else:
            q, k = (by_head(linear(y, layer[name]), heads) for name in ("query", "key"))
            scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[2])
            scores = np.where(allowed, scores, -np.inf)
            a = np.exp(scores - scores.max(axis=-1, keepdims=True))
            a = a / a.sum(axis=-1, keepdims=True)
        weights.append(a)
        x = x + linear(merge(a @ by_head(linear(y, layer["value"]), heads)), layer["output"])
        if not pre:
            x = norm(x, layer["attention_norm"])
        y = norm(x, layer["mlp_norm"]) if pre else x
        x = x + linear(model["activation"](linear(y, layer["up"])), layer["down"])
        if not pre:
            x = norm(x, layer["mlp_norm"])
        states.append(x)
    last = states[:-1] + [norm(x, model["final_norm"]) if model["final_norm"] else x]
    pooled = np.array([one.mean(axis=0) for one in last])
    return {"attention": weights, "pooled": pooled / np.linalg.norm(pooled, axis=1, keepdims=True)}


def without_rows(rows):
    """Position rows from 1 on replaced by their mean."""
    changed = rows.copy()
    changed[1, 1:] = rows[1, 1:].mean(axis=0)
    return changed


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


def main():
    rng = np.random.default_rng(30)
    _, tokenizer, vocabulary, model = trained()
    ids_of = lambda text: tokenize(text, tokenizer)[1]
    sentences = []
    for text in (DOG, *SENTENCES[:2]):
        ids = ids_of(text)
        rows = embedding_rows(model, ids)
        words, end = words_of(ids, vocabulary)
        order = [0, *(i for w in rng.permutation(len(words)) for i in words[w]), *end]
        shuffled = rows.copy()
        shuffled[0] = rows[0, order]
        one, other = by_copies(model, rows), by_copies(model, shuffled)
        plain = one["nothing"]
        taken = {
            key: {"order": 1 - one[key][-1] @ other[key][-1], "cosines": np.einsum("ld,ld->l", one[key], plain)} for key in one
        }
        sentences.append({"text": text, "shuffled": order, "taken": taken})
    both = [by_copies(model, embedding_rows(model, ids_of(text))) for text in (DOG, MAN)]
    pair = {name: both[0][name][-1] @ both[1][name][-1] for name in both[0]}
    write_beside(__file__, {"sentences": sentences, "pair": {"texts": [DOG, MAN], "cosines": pair}}, digits=11)


if __name__ == "__main__":
    main()
