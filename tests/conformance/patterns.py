"""The four types as bit patterns, their conversions, and the operator on them: the rule of generate.py."""

import numpy as np

# --------------------------------------------------------------------------
# Types
# --------------------------------------------------------------------------

DTYPES = ("float32", "float64", "float16", "bfloat16")

UINT = {
    "float32": np.dtype("<u4"),
    "float64": np.dtype("<u8"),
    "float16": np.dtype("<u2"),
    "bfloat16": np.dtype("<u2"),
}

# (total bits, fraction bits)
LAYOUT = {
    "float32": (32, 23),
    "float64": (64, 52),
    "float16": (16, 10),
    "bfloat16": (16, 7),
}

OPSETS = {
    "float32": [10, 22],
    "float64": [10, 22],
    "float16": [10, 22],
    "bfloat16": [22],
}


def sign_bit(dtype):
    return 1 << (LAYOUT[dtype][0] - 1)


def inf_bits(dtype):
    total, frac = LAYOUT[dtype]
    return ((1 << (total - 1 - frac)) - 1) << frac


def one_bits(dtype):
    total, frac = LAYOUT[dtype]
    bias = (1 << (total - 2 - frac)) - 1
    return bias << frac


# --------------------------------------------------------------------------
# Conversions, all on bit patterns
# --------------------------------------------------------------------------


def decode(dtype, bits):
    """Bit patterns to float64, exactly."""
    bits = np.asarray(bits)
    if dtype == "float64":
        return bits.astype(np.uint64).view(np.float64)
    total, frac = LAYOUT[dtype]
    b = bits.astype(np.int64)
    sign = (b >> (total - 1)) & 1
    expo_max = (1 << (total - 1 - frac)) - 1
    bias = expo_max >> 1
    expo = (b >> frac) & expo_max
    frac_field = b & ((1 << frac) - 1)
    significand = np.where(expo == 0, frac_field, frac_field | (1 << frac))
    power = np.where(expo == 0, 1, expo) - bias - frac
    value = np.ldexp(significand.astype(np.float64), power.astype(np.int32))
    value = np.where(expo == expo_max,
                     np.where(frac_field == 0, np.inf, np.nan), value)
    return np.where(sign == 1, -value, value)


def narrow_alpha(dtype, alpha_bits):
    """float32 bit patterns of alpha to bit patterns of dtype.

    Round to nearest, ties to even. Too large becomes infinity, too small
    becomes a subnormal number or a zero of the same sign, and a NaN stays a
    NaN (quiet, same sign, upper fraction bits kept).
    """
    scalar = np.ndim(alpha_bits) == 0
    a = np.atleast_1d(np.asarray(alpha_bits)).astype(np.int64)
    if dtype == "float32":
        out = a
    elif dtype == "float64":
        # float32 to float64 is exact, so decode gives the number itself.
        # NaN is rebuilt by hand so that its bits do not depend on numpy.
        wide = decode("float32", a).view(np.uint64).astype(object)
        sign = ((a >> 31) & 1).astype(object)
        fraction = (a & 0x7FFFFF).astype(object)
        nan = (sign * (1 << 63)) + (0x7FF << 52) + (1 << 51) + \
            np.array([(int(f) & 0x3FFFFF) << 29 for f in fraction], dtype=object)
        is_nan = (a & 0x7FFFFFFF) > 0x7F800000
        out = np.where(is_nan, nan, wide)
        result = np.array([int(v) for v in out], dtype=np.uint64)
        return int(result[0]) if scalar else result
    elif dtype == "bfloat16":
        rounded = (a + 0x7FFF + ((a >> 16) & 1)) >> 16
        is_nan = (a & 0x7FFFFFFF) > 0x7F800000
        out = np.where(is_nan, (a >> 16) | 0x0040, rounded) & 0xFFFF
    elif dtype == "float16":
        sign = (a >> 16) & 0x8000
        mag = a & 0x7FFFFFFF
        expo = mag >> 23
        # Number of low bits of the 24-bit significand that do not fit.
        # Normal results drop 13; subnormal results drop more.
        significand = np.where(expo == 0, mag & 0x7FFFFF,
                               (mag & 0x7FFFFF) | 0x800000)
        real_expo = np.where(expo == 0, 1, expo) - 127
        drop = np.where(real_expo < -14, 13 + (-14 - real_expo), 13)
        drop = np.minimum(drop, 30)
        kept = significand >> drop
        rest = significand & ((np.int64(1) << drop) - 1)
        half = np.int64(1) << (drop - 1)
        up = (rest > half) | ((rest == half) & ((kept & 1) == 1))
        kept = kept + up
        # kept carries the hidden bit, so adding it to (exponent - 1) also
        # does the carry into the exponent field.
        result = np.where(real_expo < -14, kept,
                          ((real_expo + 14) << 10) + kept)
        result = np.where(result >= 0x7C00, 0x7C00, result)
        result = np.where(mag == 0x7F800000, 0x7C00, result)
        result = np.where(mag > 0x7F800000,
                          0x7E00 | ((mag >> 13) & 0x3FF), result)
        out = sign | result
    else:
        raise ValueError(dtype)
    result = out.astype(np.uint64)
    return int(result[0]) if scalar else result


def shortest_decimal(alpha_bits):
    """The shortest decimal text that reads back as the same float32."""
    value = float(decode("float32", np.array([alpha_bits]))[0])
    if value != value:
        return "nan"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    if value == 0.0:
        return "-0.0" if alpha_bits >> 31 else "0.0"
    for digits in range(1, 10):
        text = "%.*g" % (digits, value)
        if float32_bits(float(text)) == alpha_bits:
            return repr(float(text))
    raise AssertionError(hex(alpha_bits))


def float32_bits(value):
    with np.errstate(over="ignore"):
        return int(np.array([value], dtype=np.float64)
                   .astype("<f4").view("<u4")[0])


# --------------------------------------------------------------------------
# The operator
# --------------------------------------------------------------------------


def thresholded_relu(dtype, x_bits, alpha_bits):
    """Returns (output bit patterns, how many elements passed)."""
    x_bits = np.asarray(x_bits, dtype=UINT[dtype])
    a = float(decode(dtype, np.array([narrow_alpha(dtype, alpha_bits)],
                                     dtype=np.uint64))[0])
    with np.errstate(invalid="ignore"):
        passes = a < decode(dtype, x_bits)
    y = np.where(passes, x_bits, UINT[dtype].type(0)).astype(UINT[dtype])
    return y, int(np.count_nonzero(passes))


def hexa(value, bits):
    return "0x%0*x" % (bits // 4, value)


def splitmix64(seed, count):
    """A small fixed generator, so no library's random source matters."""
    mask = (1 << 64) - 1
    state = seed & mask
    out = []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        out.append(z ^ (z >> 31))
    return out


# --------------------------------------------------------------------------
# Self test of the conversions
# --------------------------------------------------------------------------


@np.errstate(all="ignore")
def selftest():
    """Compare the conversions above with numpy where numpy has them, and
    with the two neighbouring patterns where it does not."""
    bits = np.array([v >> 32 for v in splitmix64(5, 200000)], dtype=np.uint64)
    extra = []
    for e in range(256):
        for m in (0, 1, 0xFFF, 0x1000, 0x1001, 0x1FFF, 0x2000, 0x3000, 0x7FFF,
                  0x8000, 0x8001, 0xFFFF, 0x18000, 0x400000, 0x7FEFFF,
                  0x7FF000, 0x7F8000, 0x7FFFFF):
            extra += [(e << 23) | m, 0x80000000 | (e << 23) | m]
    bits = np.concatenate([bits, np.array(extra, dtype=np.uint64)])
    as_f32 = bits.astype("<u4").view("<f4")

    want = as_f32.astype("<f2")
    got = narrow_alpha("float16", bits).astype("<u2")
    nan = np.isnan(as_f32)
    assert np.array_equal(got[~nan], want.view("<u2")[~nan])
    assert np.all(np.isnan(got[nan].view("<f2")))

    got = narrow_alpha("float64", bits)
    want = as_f32.astype("<f8").view("<u8")
    assert np.array_equal(got[~nan], want[~nan])
    assert np.all(np.isnan(got[nan].view(np.float64)))

    # bfloat16: the chosen pattern is the nearest of its two neighbours.
    got = narrow_alpha("bfloat16", bits).astype(np.int64)
    v = decode("float32", bits)
    lo = (bits.astype(np.int64) >> 16)
    hi = lo + 1
    ok = ~nan & (np.abs(v) < decode("bfloat16", np.array([0x7F7F]))[0])
    lo_v, hi_v = decode("bfloat16", lo[ok]), decode("bfloat16", hi[ok])
    dl, dh = np.abs(v[ok] - lo_v), np.abs(hi_v - v[ok])
    want = np.where(dl < dh, lo[ok], np.where(dl > dh, hi[ok],
                    np.where((lo[ok] & 1) == 0, lo[ok], hi[ok])))
    assert np.array_equal(got[ok], want)
    assert np.all(np.isnan(decode("bfloat16", got[nan])))
    assert narrow_alpha("bfloat16", 0x7F7F7FFF) == 0x7F7F
    assert narrow_alpha("bfloat16", 0x7F7F8000) == 0x7F80
    assert narrow_alpha("bfloat16", 0x7F800001) == 0x7FC0

    every = np.arange(65536, dtype=np.uint64)
    want = every.astype("<u2").view("<f2").astype(np.float64)
    got = decode("float16", every)
    assert np.array_equal(got, want, equal_nan=True)
    assert np.array_equal(np.signbit(got[got == 0]), np.signbit(want[want == 0]))
    want = (every << 16).astype("<u4").view("<f4").astype(np.float64)
    assert np.array_equal(decode("bfloat16", every), want, equal_nan=True)
    assert np.array_equal(decode("float32", bits), as_f32.astype(np.float64),
                          equal_nan=True)
    print("self test passed: %d float32 patterns" % bits.size)
