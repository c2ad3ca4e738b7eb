"""Seeded random numbers: Mersenne Twister 19937-64 in whole numbers, then Box-Muller.

The C++ standard fixes the engine and its seeding, so every library must agree bit
for bit. It does not fix std::normal_distribution, so normals have their own recipe:

  engine    std::mt19937_64, Matsumoto & Nishimura 1998; ISO C++ [rand.eng.mers]
  seeding   std::seed_seq{seed, stream}, ISO C++ [rand.util.seedseq]
  uniform   (the upper 53 bits) * 2^-53, in [0, 1)
  normals   two from two uniforms u, v: r cos(2 pi v), r sin(2 pi v), r = sqrt(-2 ln(1 - u))
            (Box & Muller 1958)
"""

import math

from oracle_json import write_beside

N, M = 312, 156
WORD, HALF = 2**64 - 1, 2**32 - 1


def seed_sequence(values, count):
    """The `count` 32-bit words that seed_seq{values}.generate() writes."""
    out = [0x8B8B8B8B] * count
    size = len(values)
    t = 11 if count >= 623 else 7 if count >= 68 else 5 if count >= 39 else 3 if count >= 7 else (count - 1) // 2
    p = (count - t) // 2
    q = p + t
    m = max(size + 1, count)

    def mixed(x):
        return x ^ (x >> 27)

    for k in range(m):
        r1 = 1664525 * mixed(out[k % count] ^ out[(k + p) % count] ^ out[(k - 1) % count]) & HALF
        r2 = r1 + (size if k == 0 else k % count + values[k - 1] if k <= size else k % count) & HALF
        out[(k + p) % count] = out[(k + p) % count] + r1 & HALF
        out[(k + q) % count] = out[(k + q) % count] + r2 & HALF
        out[k % count] = r2
    for k in range(m, m + count):
        sum_of_three = out[k % count] + out[(k + p) % count] + out[(k - 1) % count] & HALF
        r3 = 1566083941 * mixed(sum_of_three) & HALF
        r4 = r3 - k % count & HALF
        out[(k + p) % count] ^= r3
        out[(k + q) % count] ^= r4
        out[k % count] = r4
    return out


def draws(state):
    """An endless stream of the engine's 64-bit words; `state` is its 312 words."""
    state, at = list(state), N
    while True:
        if at == N:
            for i in range(N):
                y = (state[i] & ~0x7FFFFFFF & WORD) | (state[(i + 1) % N] & 0x7FFFFFFF)
                state[i] = state[(i + M) % N] ^ (y >> 1) ^ (0xB5026F5AA96619E9 if y & 1 else 0)
            at = 0
        z = state[at]
        at += 1
        z ^= (z >> 29) & 0x5555555555555555
        z ^= (z << 17) & 0x71D67FFFEDA60000
        z ^= (z << 37) & 0xFFF7EEE000000000
        yield z ^ (z >> 43)


def default_state():
    """The state of a default-constructed engine: the single seed 5489."""
    state = [5489]
    for i in range(1, N):
        state.append(6364136223846793005 * (state[-1] ^ (state[-1] >> 62)) + i & WORD)
    return state


def engine(seed, stream):
    words = seed_sequence([seed, stream], 2 * N)
    state = [words[2 * i] | words[2 * i + 1] << 32 for i in range(N)]
    assert state[0] >> 31 or any(state[1:])  # else the standard sets the first word
    return draws(state)


def uniforms(seed, stream, count):
    source = engine(seed, stream)
    return [(next(source) >> 11) * 2.0**-53 for _ in range(count)]


def normals(seed, stream, count):
    flat = uniforms(seed, stream, count + count % 2)
    out = []
    for u, v in zip(flat[::2], flat[1::2]):
        r, angle = math.sqrt(-2 * math.log(1 - u)), 2 * math.pi * v
        out += [r * math.cos(angle), r * math.sin(angle)]
    return out[:count]


if __name__ == "__main__":
    # The standard's own check value for this engine.
    source = draws(default_state())
    assert [next(source) for _ in range(10_000)][-1] == 9981545732273789042

    cases = []
    for seed, stream in ((0, 0), (1, 0), (0, 1), (42, 3), (2**32 - 1, 2**32 - 1)):
        long = uniforms(seed, stream, 1000)
        cases.append(
            {
                "seed": seed,
                "stream": stream,
                "uniforms": long[:8],
                "thousandth": long[999],  # after the engine has renewed its 312 words three times
                "normals": normals(seed, stream, 7),
            }
        )
    write_beside(__file__, {"cases": cases})
