"""What holds of every way of tools/language, in double precision; then two layers of 32 learn drawn text in each."""

import sys
from pathlib import Path

import numpy
import torch

sys.path.insert(0, str(Path(__file__).parents[2] / "tools/language"))

import model  # noqa: E402
import text  # noqa: E402
import training  # noqa: E402


def same(found, expected, what, bound=1e-10):
    difference = (found - expected).abs().max().item()
    assert difference < bound, f"{what}: they differ by {difference}"


def drawn(name):
    """A way's weights, each moved away from its start, and ids (2, T + 1)."""
    random, weights = torch.Generator().manual_seed(7), model.starts(model.WAYS[name], model.TINY, 0)
    for key, w in weights.items():
        weights[key] = w.double() + 0.1 * torch.randn(w.shape, generator=random).double()
    return weights, torch.randint(model.TINY.vocabulary, (2, model.TINY.length + 1), generator=random)


def loss(name, weights, ids):
    return model.losses(model.WAYS[name], model.TINY, weights, ids[:, :-1], ids[:, 1:])


def concatenated_is_added_with_zeros():
    """The same numbers in the same places give `concat-quarter` and `add-disjoint-start` the same loss."""
    weights, ids = drawn("concat-quarter")
    border = 3 * model.TINY.width // 4
    put = dict(weights)
    put["token.rows"] = torch.nn.functional.pad(weights["token.rows"], (0, model.TINY.width - border))
    put["position.rows"] = torch.nn.functional.pad(weights["position.rows"], (border, 0))
    found, expected = loss("add-disjoint-start", put, ids), loss("concat-quarter", weights, ids)
    same(found, expected, "disjoint rows added, and concatenated")
    started = model.starts(model.WAYS["add-disjoint-start"], model.TINY, 0)
    assert not started["token.rows"][:, border:].any() and not started["position.rows"][:, :border].any()


def mixing(name):
    """How far the first layer's scores are from a sum of token-token and position-position products.

    A token and a row are each changed alone and together, and the norm's deviations are multiplied out.
    Without cross terms the signed sum of the four scores is 0.
    """
    weights, ids = drawn(name)
    for key in weights:
        if key.endswith(("bias", "shift")):
            weights[key] = torch.zeros_like(weights[key])
    way, total = model.WAYS[name], 0
    for sign, token, row in ((1, 0, 0), (-1, 1, 0), (-1, 0, 1), (1, 1, 1)):
        seen, rows = ids[:, :-1].clone(), weights["position.rows"].clone()
        seen[:, 3] = 5 + token
        rows[2, 0] += row
        tokens = weights["token.rows"][seen]
        x = model.begin(way, weights, tokens, rows)
        queries, keys, _, scale = model.compared(way, model.TINY, weights, 0, x, tokens, rows)
        scores = scale * torch.einsum("bqhn,bkhn->bhqk", queries, keys)
        deviation = (x.var(-1, unbiased=False) + 1e-5).sqrt()
        total = total + sign * scores * (deviation[:, :, None] * deviation[:, None, :])[:, None]
    return total


def cut_scores_have_no_cross_terms():
    """The signed sum of `mixing` is 0 where cross terms are cut, but not in `add` at the places changed."""
    same(mixing("add-without-cross-terms"), 0, "cross terms cut")
    assert mixing("add").abs().max() > 1e-3
    same(mixing("add")[..., 4:, 4:], 0, "scores between untouched places")


def two_products_are_one_with_stacked_matrices():
    """In the queries and keys of concatenation, W1 x + W2 p is [x; p] times the stacked matrix."""
    name = "concat-to-queries-keys"
    weights, ids = drawn(name)
    tokens, rows = weights["token.rows"][ids[:, :-1]], weights["position.rows"]
    found = model.compared(model.WAYS[name], model.TINY, weights, 1, tokens, tokens, rows)
    read = model.normalize(tokens, weights, "1.attention")
    row = model.normalize(rows, weights, "position").expand(2, -1, -1)
    for part, got in zip(("queries", "keys"), found):
        stacked = torch.cat([weights[f"1.{part}.matrix"], weights[f"1.position.{part}.matrix"]])
        expected = torch.cat([read, row], -1) @ stacked + weights[f"1.{part}.bias"]
        same(got.flatten(-2), expected, part)


def a_projection_starts_as_its_start_says():
    """Tokens pass an identity unchanged and rows keep their size; only an identity is spared from decay."""
    way, size, name = model.WAYS["project"], model.SMALL, "project.matrix"
    _, token, position = model.widths(way, size)
    spread = {"normal": 0.02, "fan-in": (token + position) ** -0.5, "identity": position**-0.5}
    for start in model.PROJECTION_STARTS:
        weights = model.starts(way, size, 0, start=start)
        tokens, rows = weights["token.rows"][:7][None], weights["position.rows"][:7]
        written = model.begin(way, weights, tokens, rows)
        if start == "identity":
            written = written - tokens
            size_of_rows = written.std() / rows.std()
            assert abs(size_of_rows - 1) < 0.1, f"rows are written {size_of_rows} times as large"
        found = weights[name][token:].std().item() / spread[start]
        assert abs(found - 1) < 0.05, f"{start}: {found} times as large as it should be"
        decays = {name for name in weights if model.decays(name, start)}
        assert (name in decays) == (start != "identity") and "0.queries.matrix" in decays
        for key, weight in model.starts(way, size, 0).items():
            assert key == name or torch.equal(weight, weights[key]), f"{key} depends on the projection's start"


def no_later_token_reaches_a_prediction():
    for name in model.WAYS:
        weights, ids = drawn(name)
        changed = ids.clone()
        changed[:, 9] = (changed[:, 9] + 1) % model.TINY.vocabulary
        before, after = loss(name, weights, ids), loss(name, weights, changed)
        same(after[:, :8], before[:, :8], name)
        assert (after[:, 9:] != before[:, 9:]).all(), f"{name}: a token reaches no later prediction"


def position_matters_where_it_gets_in():
    """Changing the first row (or its angles) changes what later places predict, in every way but one."""
    for name in model.WAYS:
        weights, ids = drawn(name)
        before = loss(name, weights, ids)
        for key in ("position.rows", "turns"):
            if key in weights:
                weights[key][0, 0] += 1
        changed = (loss(name, weights, ids) - before).abs()[:, 5:].max().item()
        assert (changed > 1e-6) == (name != "none"), f"{name}: a row changes the loss by {changed}"


def text_of(words=4000):
    """Tokens of a drawn text in which only three tokens can follow each token."""
    random = numpy.random.default_rng(3)
    tokens = (numpy.cumsum(random.integers(1, 4, words)) % 200 + text.FIRST_BYTE).astype(numpy.uint16)
    length = numpy.ones(model.TINY.vocabulary, dtype=numpy.uint16)
    return training.Data(tokens, tokens[: words // 4], length, ["", ""])


TINY = training.Protocol(model.TINY, batch=4, steps=150, windows=32, curve_windows=8)


def trained(name, task="causal"):
    """The losses along the curve and at the end of a tiny training."""
    return training.Training(model.WAYS[name], TINY, 0, text_of(), "cpu", task).run()


def pieces_of_text_come_back():
    """The tokens of a text decode to its bytes, and the most frequent pair is merged first."""
    words = [("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)]
    found = text.merges(words, text.FIRST_BYTE + 256 + 3)
    names = {byte + text.FIRST_BYTE: chr(byte) for byte in range(128)}
    for index, (left, right) in enumerate(found):
        names[text.FIRST_BYTE + 256 + index] = names[left] + names[right]
    assert [names[258 + index] for index in range(3)] == ["ug", "un", "hug"], names
    encoder = text.Encoder(found)
    assert [names[token] for token in encoder.piece("hugun")] == ["hug", "un"]
    assert [encoder.bytes[token] for token in encoder.piece("hugun")] == [3, 2]


def main():
    """Runs the checks, then trains every way; prints a line for each."""
    for function in (
        concatenated_is_added_with_zeros,
        cut_scores_have_no_cross_terms,
        two_products_are_one_with_stacked_matrices,
        a_projection_starts_as_its_start_says,
        no_later_token_reaches_a_prediction,
        position_matters_where_it_gets_in,
        pieces_of_text_come_back,
    ):
        function()
        print(f"held: {function.__name__.replace('_', ' ')}")
    for name in model.WAYS:
        curve, final = trained(name)
        assert final < curve[0] - 1, f"{name} does not learn: {curve[0]} to {final}"
        print(f"trained: {name}, {curve[0]:.3f} to {final:.3f}")
    print(f"trained: added, masked, {trained('add', 'masked')[1]:.3f}")


if __name__ == "__main__":
    main()
