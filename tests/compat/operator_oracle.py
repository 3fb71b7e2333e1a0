"""ThresholdedRelu in numpy, by the operator's rule, and inputs that tell right from nearly right."""
import ml_dtypes
import numpy as np

# Open Inference's names of the element types: numpy's type, and an unsigned one of the same width.
TYPES = {
    "FP16": (np.float16, np.uint16),
    "BF16": (ml_dtypes.bfloat16, np.uint16),
    "FP32": (np.float32, np.uint32),
    "FP64": (np.float64, np.uint64),
}
# The attribute's special and telling values: a NaN, both infinities and zeros, numbers that a 16-bit type rounds up,
# makes infinite, subnormal or zero, and float32's own extremes.
ALPHAS = tuple(np.float32(alpha) for alpha in (
    1, -1, 2, 0.0, -0.0, np.nan, np.inf, -np.inf, 0.1, 0.3, 65504, 65519, 65520, -65520, 1e30, 6e-8, 3e-8, 1e-40,
    1.1754944e-38, 1e-45, -1e-45, 3.4028235e38, -3.4028235e38))


def convert(alpha, dtype):
    """The float32 `alpha` as the tensor's type: to nearest, ties to even, too large becomes infinity."""
    with np.errstate(all="ignore"):
        return np.float32(alpha).astype(dtype)


def thresholded_relu(x, alpha=1.0):
    """y = x where cast(alpha) < x, else +0."""
    with np.errstate(all="ignore"):
        return np.where(convert(alpha, x.dtype) < x, x, x.dtype.type(0))


def bits(tensor):
    """A tensor's elements as unsigned numbers, which compare as no float does: -0 is not 0, a NaN is itself."""
    return np.ascontiguousarray(tensor).view(f"u{tensor.dtype.itemsize}")


def telling_values(datatype):
    """All 65,536 bit patterns of a 16-bit type. Of the others the special ones, the neighbours of every alpha, and
    20,000 at random."""
    dtype, unsigned = TYPES[datatype]
    width = np.dtype(unsigned).itemsize * 8
    if width == 16:
        return np.arange(1 << 16, dtype=unsigned).view(dtype)
    mantissa = {32: 23, 64: 52}[width]
    infinity = ((1 << (width - 1 - mantissa)) - 1) << mantissa
    quiet = 1 << (mantissa - 1)
    special = [0, 1, 2, (1 << mantissa) - 1, 1 << mantissa, (1 << mantissa) + 1, infinity - 1, infinity, infinity + 1,
               infinity + quiet - 1, infinity + quiet, infinity + (1 << mantissa) - 1]
    special += [pattern | 1 << (width - 1) for pattern in special]
    near = [(bits(convert(alpha, dtype)).item() + step) % (1 << width) for alpha in ALPHAS for step in (-2, -1, 0, 1, 2)]
    random = np.random.default_rng(20).integers(0, 1 << width, 20000, dtype=unsigned)
    return np.concatenate([np.array(special + near, unsigned), random]).view(dtype)


def numbers(datatype, shape, seed=1):
    """Random numbers on both sides of the default alpha."""
    return np.asarray(np.random.default_rng(seed).standard_normal(shape) * 2).astype(TYPES[datatype][0])
