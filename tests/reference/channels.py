"""How much of its width a sinusoidal table uses: moving channels, rank, Gram matrix, shift. In float64.

  moving      number of channels whose max - min over the positions 0 to L-1 exceeds a threshold
  singular values s_1 >= s_2 >= ... of the table [L, d], raw or with column means removed
    stable rank          sum s^2 / s_1^2
    participation ratio  (sum s^2)^2 / sum s^4
    dims for a share     least k with s_1^2 + ... + s_k^2 >= share * sum s^2
    numerical rank       number of s_i > 1e-10 s_1
  spread      max over diagonals k of max_p G[p, p+k] - min_p G[p, p+k]; 0 is Toeplitz
  shift       M_k = [[cos kw, sin kw], [-sin kw, cos kw]] on every pair (sin wp, cos wp), so
              that PE(p+k) = M_k PE(p); M_k (x + PE(p)) misses x + PE(p+k) by (M_k - I) x

Tables from sinusoidal.py: "aiayn" is interleaved with -2i/d (Vaswani et al. 2017, section
3.5), "t2t" concatenated with n - 1 (tensor2tensor, get_timing_signal_1d), "transformer_xl"
concatenated with -2i/d (Dai et al. 2019). Participation
ratio: Gao et al. 2017; stable rank: Rudelson & Vershynin 2007.
"""

import numpy as np

from decomposition import random_numbers
from oracle_json import write_beside
from sinusoidal import encoding

KINDS = {
    "aiayn": ("interleaved", "d_model"),
    "t2t": ("concatenated", "timescales"),
    "transformer_xl": ("concatenated", "d_model"),
}


def table(kind, positions, width):
    return encoding(positions, width, *KINDS[kind])[1]


def ranges(t):
    return t.max(axis=0) - t.min(axis=0)


def moving():
    out = []
    thresholds = [0.5, 0.1, 0.01]
    for kind, positions, width in [
        ("t2t", 128, 512), ("t2t", 512, 512), ("t2t", 5000, 512), ("t2t", 512, 128), ("t2t", 128, 128),
        ("aiayn", 128, 512), ("aiayn", 512, 512), ("aiayn", 5000, 512), ("aiayn", 512, 768),
        ("t2t", 64, 7), ("aiayn", 64, 7), ("t2t", 1, 8),
    ]:  # fmt: skip
        r = ranges(table(kind, positions, width))
        counts = [int((r > t).sum()) for t in thresholds]
        # No range is so near a threshold that rounding could change the count.
        assert all(np.abs(r - t).min() > 1e-9 for t in thresholds)
        case = {"kind": kind, "positions": positions, "width": width}
        out.append(case | {"thresholds": thresholds, "counts": counts})
    return out


def spectrum(t):
    s = np.linalg.svd(t, compute_uv=False)
    energy = s**2
    total = energy.sum()
    if s[0] == 0:
        return None
    kept = np.cumsum(energy) / total
    for share in (0.9, 0.99, 0.999):
        # A running sum of one full step is 1 only up to rounding; none is near a share.
        assert np.abs(kept - share).min() > 1e-9
    rank = int((s > 1e-10 * s[0]).sum())
    dropped = None if rank == len(s) else s[rank] / s[0]
    assert abs(total - (t**2).sum()) < 1e-12 * total
    return {
        "stable_rank": total / energy[0],
        "participation_ratio": total**2 / (energy**2).sum(),
        "dims_90": int((kept < 0.9).sum()) + 1,
        "dims_99": int((kept < 0.99).sum()) + 1,
        "dims_999": int((kept < 0.999).sum()) + 1,
        "numerical_rank": rank,
        "last_kept_over_first": s[rank - 1] / s[0],
        # Below 1e-14 it is the rounding of a zero.
        "first_dropped_over_first": 0.0 if dropped is not None and dropped < 1e-14 else dropped,
        "leading": s[: min(6, rank)],
    }


def centred(t):
    return t - t.mean(axis=0)


def ranks():
    out = []
    for kind, positions, width in [
        ("aiayn", 128, 512), ("aiayn", 512, 512), ("aiayn", 512, 768), ("aiayn", 1024, 768),
        ("t2t", 128, 512), ("t2t", 512, 512), ("t2t", 512, 128), ("aiayn", 16, 8), ("t2t", 9, 7), ("aiayn", 1, 8),
    ]:  # fmt: skip
        t = table(kind, positions, width)
        raw = spectrum(t)
        middle = spectrum(centred(t)) if positions > 1 else None
        out.append({"kind": kind, "positions": positions, "width": width, "raw": raw, "centred": middle})
    return out


def small_spectra(rng):
    out = []
    for t in (
        random_numbers(rng, 6, 4),
        random_numbers(rng, 3, 5),
        np.outer([1.0, 2.0, -1.0], [0.5, 0.25]),
        random_numbers(rng, 1, 3),
        np.diag([4.0, 2.0, 1.0]),
    ):
        middle = None if len(t) == 1 else spectrum(centred(t))
        out.append({"table": t, "raw": spectrum(t), "centred": middle})
    assert abs(out[-1]["raw"]["stable_rank"] - 21 / 16) < 1e-12
    assert abs(out[-1]["raw"]["participation_ratio"] - 441 / 273) < 1e-12
    assert out[2]["raw"]["numerical_rank"] == 1
    return out


def spread(gram):
    n = len(gram)
    diagonals = [np.diagonal(gram, k) for k in range(-n + 1, n)]
    return max(d.max() - d.min() for d in diagonals)


def without_mean(t):
    """What remains after LayerNorm's mean subtraction: each row minus its own mean."""
    return t - t.mean(axis=1, keepdims=True)


def spreads():
    out = []
    for kind in KINDS:
        for width, positions in ((32, 64), (34, 64), (33, 64), (512, 128), (4, 1)):
            t = table(kind, positions, width)
            gram = spread(t @ t.T)
            # An odd interleaved width has a sine without its cosine.
            whole = width % 2 == 0 or kind != "aiayn"
            assert (gram < 1e-12) == whole or width > 100 and gram < 1e-11
            half = t[:, : width // 2]
            half_spread = spread(half @ half.T)
            m = without_mean(t)
            out.append(
                {
                    "kind": kind,
                    "width": width,
                    "positions": positions,
                    "squared_norm": (t[0] ** 2).sum() if whole else None,
                    "whole": 0.0 if whole else gram,
                    "first_half_of_channels": half_spread if half_spread > 1e-11 else 0.0,
                    "row_mean_removed": spread(m @ m.T),
                }
            )
    return out


def bilinear(rng):
    """PE(p)' A PE(q): Toeplitz for A = aI + bJ on every pair, but not for other A."""
    positions, width = 12, 6
    out = []
    for kind in KINDS:
        t = table(kind, positions, width)
        pairs = width // 2
        cells = [(2 * i, 2 * i + 1) if kind == "aiayn" else (i, pairs + i) for i in range(pairs)]
        a, b = random_numbers(rng, pairs), random_numbers(rng, pairs)
        commuting = np.zeros((width, width))
        for (s, c), x, y in zip(cells, a, b):
            commuting[s, s] = commuting[c, c] = x
            commuting[s, c], commuting[c, s] = -y, y
        other = random_numbers(rng, width, width, spread=0.4)
        assert spread(t @ commuting @ t.T) < 1e-12 and spread(t @ other @ t.T) > 0.5
        out.append(
            {
                "kind": kind,
                "positions": positions,
                "width": width,
                "commuting": commuting,
                "commuting_scores": t @ commuting @ t.T,
                "other": other,
                "other_spread": spread(t @ other @ t.T),
            }
        )
    return out


def shift_errors():
    """The rounding alone: |M_k PE(p) - PE(p+k)| over all p, in float64.

    An angle near L carries half a unit in its last place, so twice that bounds the error.
    """
    out = []
    for positions, width, k in ((64, 32, 1), (1024, 512, 17), (5000, 512, 17)):
        t = table("aiayn", positions, width)
        w = encoding(1, width, *KINDS["aiayn"])[0]
        s, c = t[:, ::2], t[:, 1::2]
        moved_s = np.cos(k * w) * s[:-k] + np.sin(k * w) * c[:-k]
        moved_c = np.cos(k * w) * c[:-k] - np.sin(k * w) * s[:-k]
        error = max(np.abs(moved_s - s[k:]).max(), np.abs(moved_c - c[k:]).max())
        print(f"  shift error, {positions} positions: {error:.1e}")
        bound = np.spacing(float(positions)) + 1e-15
        assert error < bound
        out.append({"positions": positions, "width": width, "shift": k, "less_than": bound})
    return out


def sizes():
    """Single numbers quoted in discussions."""
    t = table("t2t", 128, 512)
    narrow = table("t2t", 512, 128)
    wide = table("aiayn", 128, 512)
    return {
        "t2t_512_last_sine_at_127": t[127, 255],
        "t2t_512_last_cosine_drop_at_127": 1 - t[127, 511],
        "t2t_512_channel_-16_drop_at_127": 1 - t[127, -16],
        "t2t_128_channel_-16_drop_at_127": 1 - narrow[127, -16],
        "aiayn_512_last_cosine_at_63": wide[63, -1],
        "aiayn_512_last_cosine_at_127": wide[127, -1],
        "aiayn_128_last_cosine_at_63": table("aiayn", 128, 128)[63, -1],
        "aiayn_128_last_cosine_at_127": table("aiayn", 128, 128)[127, -1],
    }


if __name__ == "__main__":
    rng = np.random.default_rng(10)
    document = {
        "moving": moving(),
        "ranks": ranks(),
        "small_spectra": small_spectra(rng),
        "spreads": spreads(),
        "bilinear": bilinear(rng),
        "shift_errors": shift_errors(),
        "sizes": sizes(),
    }
    for r in document["moving"]:
        print(f"  {r['kind']} L {r['positions']} d {r['width']}: {r['counts']}")
    for r in document["ranks"]:
        raw, mid = r["raw"], r["centred"] or dict.fromkeys(r["raw"], float("nan"))
        print(
            f"  {r['kind']} L {r['positions']} d {r['width']}: 99% {raw['dims_99']}, rank {raw['numerical_rank']} "
            f"({raw['last_kept_over_first']:.2e}, {raw['first_dropped_over_first'] or 0:.2e}), stable "
            f"{raw['stable_rank']:.3f}/{mid['stable_rank']:.3f}, participation {raw['participation_ratio']:.3f}/"
            f"{mid['participation_ratio']:.3f}"
        )
    for r in document["spreads"]:
        print(f"  {r['kind']} d {r['width']}: {r['whole']:.3g} {r['first_half_of_channels']:.3f} {r['row_mean_removed']:.3f}")
    for name, value in document["sizes"].items():
        print(f"  {name}: {value:.9g}")
    write_beside(__file__, document)
