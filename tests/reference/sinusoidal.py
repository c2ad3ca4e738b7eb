"""Reference tables of sinusoidal position encodings, in float64.

Two independent switches:

  denominator  "d_model"     w_i = base^(-2i/d)
                             Vaswani et al. 2017, section 3.5
               "timescales"  w_i = exp(-i ln(base) / max(n - 1, 1)), n = floor(d/2)
                             tensor2tensor, get_timing_signal_1d
  layout       "interleaved"   channel 2i is sin(p w_i), channel 2i+1 is cos(p w_i)
               "concatenated"  n sines, then n cosines

An odd width: the concatenated layout ends with one column of zeros, as in
tensor2tensor. The interleaved one takes the paper's formula literally, so its last
channel is the sine of i = (d-1)/2, one frequency more than n.
"""

import numpy as np

from oracle_json import write_beside

LAYOUTS = ("interleaved", "concatenated")
DENOMINATORS = ("d_model", "timescales")


def frequencies(count, width, denominator, base):
    """The first `count` angular frequencies, in radians per position."""
    i = np.arange(count, dtype=np.float64)
    if denominator == "d_model":
        return base ** (-2 * i / width)
    return np.exp(-i * np.log(base) / max(width // 2 - 1, 1))


def encoding(positions, width, layout, denominator, base=10000.0, first=0):
    """Returns (w [count], table [positions, width]); row r is position first + r."""
    pairs = width // 2
    count = pairs if layout == "concatenated" else (width + 1) // 2
    w = frequencies(count, width, denominator, base)
    angle = np.arange(first, first + positions, dtype=np.float64)[:, None] * w
    table = np.zeros((positions, width))
    if layout == "concatenated":
        table[:, :pairs] = np.sin(angle)
        table[:, pairs : 2 * pairs] = np.cos(angle)
    else:
        table[:, 0::2] = np.sin(angle)
        table[:, 1::2] = np.cos(angle)[:, :pairs]
    return w, table


def paired(table, layout):
    """The (sines, cosines) of the complete pairs, each [positions, floor(d/2)]."""
    pairs = table.shape[1] // 2
    if layout == "concatenated":
        return table[:, :pairs], table[:, pairs : 2 * pairs]
    return table[:, 0 : 2 * pairs : 2], table[:, 1 : 2 * pairs : 2]


def check_identities(w, table, layout):
    """Complete pairs have unit length, a Toeplitz Gram matrix, and shift by rotation."""
    sines, cosines = paired(table, layout)
    pairs = sines.shape[1]
    assert np.allclose(sines**2 + cosines**2, 1, rtol=0, atol=1e-12)

    offset = np.subtract.outer(np.arange(len(table)), np.arange(len(table)))
    gram = sines @ sines.T + cosines @ cosines.T
    assert np.allclose(gram, np.cos(offset[..., None] * w[:pairs]).sum(-1), rtol=0, atol=1e-12)

    # sin((p+k)w) = cos(kw) sin(pw) + sin(kw) cos(pw), and its partner.
    k = 1
    c, s = np.cos(k * w[:pairs]), np.sin(k * w[:pairs])
    assert np.allclose(sines[k:], c * sines[:-k] + s * cosines[:-k], rtol=0, atol=1e-12)
    assert np.allclose(cosines[k:], c * cosines[:-k] - s * sines[:-k], rtol=0, atol=1e-12)


def tables():
    shapes = [
        # positions, width, base, first position
        (5, 8, 10000.0, 0),
        (3, 2, 10000.0, 0),
        (4, 7, 10000.0, 0),
        (3, 1, 10000.0, 0),
        (4, 6, 100.0, 3),
    ]
    cases = []
    for layout in LAYOUTS:
        for denominator in DENOMINATORS:
            for positions, width, base, first in shapes:
                w, table = encoding(positions, width, layout, denominator, base, first)
                check_identities(w, table, layout)
                cases.append(
                    {
                        "layout": layout,
                        "denominator": denominator,
                        "positions": positions,
                        "width": width,
                        "base": base,
                        "first": first,
                        "frequencies": w,
                        "table": table,
                    }
                )
    return cases


def quoted_values():
    """The numbers quoted in the discussion: rows 63 and 127, channels -1 and -16.

    They were printed as [0, 63, -1] and so on; the leading 0 is a batch axis of
    one. They come from tensor2tensor's table (concatenated, timescales), and
    channel -16 tells the width: it is a cosine of frequency base^(-(n-16)/(n-1)),
    which gives n - 1 = 63, hence 128 channels, not 512.
    """
    table = {}
    for length, channels in ((512, 128), (128, 512)):
        table[length, channels] = encoding(length, channels, "concatenated", "timescales")[1]

    values = []
    quoted = {(63, -1): 0.99998015, (127, -1): 0.99991935, (63, -16): 0.9984067, (127, -16): 0.9935305}
    for (length, channels), t in table.items():
        for row in (0, 63, 127):
            for channel in (-1, -16):
                values.append(
                    {
                        "index": f"t2t(length {length}, channels {channels})[0, {row}, {channel}]",
                        "length": length,
                        "channels": channels,
                        "row": row,
                        "channel": channels + channel,
                        "value": t[row, channel],
                    }
                )
    for (row, channel), value in quoted.items():
        assert abs(table[512, 128][row, channel] - value) < 5.1e-8, (row, channel)
        # Only the last channel does not depend on the width: its frequency is always 1/base.
        agrees = abs(table[128, 512][row, channel] - value) < 5.1e-8
        assert agrees == (channel == -1), (row, channel)

    for width in (128, 512):
        t = encoding(128, width, "interleaved", "d_model")[1]
        for row in (63, 127):
            values.append(
                {
                    "index": f"interleaved, d_model (length 128, channels {width})[0, {row}, -1]",
                    "length": 128,
                    "channels": width,
                    "row": row,
                    "channel": width - 1,
                    "value": t[row, -1],
                }
            )

    # The quoted numbers themselves say of which width they are.
    for row in (63, 127):
        w = np.arccos(quoted[row, -16]) / row
        assert abs(15 / (1 + np.log(w) / np.log(10000.0)) - 63) < 1e-3
    return {"values": values}


if __name__ == "__main__":
    write_beside(__file__, {"tables": tables(), "quoted": quoted_values()})
