"""The edge cases: named tensors, each with the reason why it is there."""

import json

import numpy as np

from patterns import (DTYPES, LAYOUT, OPSETS, UINT, hexa, inf_bits, narrow_alpha, one_bits, shortest_decimal, sign_bit,
                      splitmix64, thresholded_relu)


class Cases:
    def __init__(self):
        self.lines = []
        self.names = set()

    def add(self, name, dtype, shape, x_bits, alpha_bits, why, given=True):
        assert name not in self.names, name
        self.names.add(name)
        x_bits = np.asarray(x_bits, dtype=UINT[dtype]).reshape(-1)
        count = 1
        for d in shape:
            count *= d
        assert count == x_bits.size, (name, shape, x_bits.size)
        y, passed = thresholded_relu(dtype, x_bits, alpha_bits)
        case = {
            "name": name,
            "dtype": dtype,
            "opsets": OPSETS[dtype],
            "shape": list(shape),
            "alpha_given": given,
            "alpha_bits": hexa(alpha_bits, 32),
            "alpha_decimal": shortest_decimal(alpha_bits),
            "alpha_as_dtype_bits": hexa(narrow_alpha(dtype, alpha_bits),
                                        LAYOUT[dtype][0]),
            "passed": passed,
            "input_hex": x_bits.tobytes().hex(),
            "output_hex": y.tobytes().hex(),
            "why": why,
        }
        self.lines.append(json.dumps(case, ensure_ascii=True))

    def text(self):
        return "\n".join(self.lines) + "\n"


def from_floats(dtype, values):
    """Round float32 numbers to dtype; used only to make inputs."""
    f32 = np.array(values, dtype="<f4").view("<u4")
    return np.array([narrow_alpha(dtype, int(b)) for b in f32],
                    dtype=np.uint64).astype(UINT[dtype])


def special_values(dtype):
    """Every kind of number and several NaNs, both signs."""
    total, frac = LAYOUT[dtype]
    s, inf, one = sign_bit(dtype), inf_bits(dtype), one_bits(dtype)
    quiet = 1 << (frac - 1)
    positive = [
        0,                          # zero
        1, 2,                       # smallest subnormals
        (1 << frac) - 1,            # largest subnormal
        1 << frac, (1 << frac) + 1,  # smallest normals
        one - 1, one, one + 1,
        one + (1 << frac),          # two
        one - (1 << frac),          # one half
        inf - 1,                    # largest finite
        inf,
        inf | quiet,                # quiet NaN
        inf | 1,                    # signalling NaN
        inf | quiet | 1,            # quiet NaN, payload 1
        inf | (quiet - 1),          # signalling NaN, full payload
        inf | ((1 << frac) - 1),    # quiet NaN, full payload
    ]
    return np.array(positive + [p | s for p in positive],
                    dtype=np.uint64).astype(UINT[dtype])


# Alphas used against the special values, for every type.
ALPHAS = [
    ("one", 0x3F800000), ("zero", 0x00000000), ("minus-zero", 0x80000000),
    ("minus-one", 0xBF800000), ("two", 0x40000000), ("half", 0x3F000000),
    ("minus-half", 0xBF000000),
    ("tenth", 0x3DCCCCCD), ("minus-tenth", 0xBDCCCCCD),
    ("three-tenths", 0x3E99999A), ("minus-three-tenths", 0xBE99999A),
    ("one-up", 0x3F800001), ("one-down", 0x3F7FFFFF),
    ("inf", 0x7F800000), ("minus-inf", 0xFF800000),
    ("nan", 0x7FC00000), ("minus-nan", 0xFFC00000),
    ("nan-low-payload", 0x7F800001), ("minus-nan-low-payload", 0xFF800001),
    ("nan-full-payload", 0x7FFFFFFF), ("minus-nan-full-payload", 0xFFFFFFFF),
    ("float32-max", 0x7F7FFFFF), ("minus-float32-max", 0xFF7FFFFF),
    ("float32-min-normal", 0x00800000), ("minus-float32-min-normal", 0x80800000),
    ("float32-max-subnormal", 0x007FFFFF),
    ("minus-float32-max-subnormal", 0x807FFFFF),
    ("float32-min-subnormal", 0x00000001),
    ("minus-float32-min-subnormal", 0x80000001),
    # Around the float16 limits.
    ("65504", 0x477FE000), ("below-65520", 0x477FEFFF), ("65520", 0x477FF000),
    ("65536", 0x47800000), ("minus-65504", 0xC77FE000),
    ("minus-below-65520", 0xC77FEFFF), ("minus-65520", 0xC77FF000),
    ("2p-14", 0x38800000), ("2p-24", 0x33800000),
    ("2p-25", 0x33000000), ("above-2p-25", 0x33000001),
    ("below-2p-25", 0x32FFFFFF), ("1.5x2p-24", 0x33C00000),
    ("minus-2p-24", 0xB3800000), ("minus-2p-25", 0xB3000000),
    ("minus-above-2p-25", 0xB3000001),
    ("1e-10", 0x2EDBE6FF), ("minus-1e-10", 0xAEDBE6FF),
    # Around the bfloat16 limits.
    ("bf16-max", 0x7F7F0000), ("bf16-below-overflow", 0x7F7F7FFF),
    ("bf16-overflow", 0x7F7F8000), ("minus-bf16-overflow", 0xFF7F8000),
    ("bf16-min-subnormal", 0x00010000), ("bf16-tie-to-zero", 0x00008000),
    ("bf16-above-tie", 0x00008001), ("minus-bf16-tie-to-zero", 0x80008000),
    ("bf16-tie-to-even-down", 0x3F808000), ("bf16-tie-to-even-up", 0x3F818000),
    # Ties of the float16 rounding.
    ("f16-tie-to-even-down", 0x3F801000), ("f16-tie-to-even-up", 0x3F803000),
]


def neighbours(dtype, centre_bits, reach=4):
    """The patterns around one pattern, in number order, both signs."""
    total, _ = LAYOUT[dtype]
    s = sign_bit(dtype)
    mag = centre_bits & (s - 1)
    out = []
    for d in range(-reach, reach + 1):
        m = mag + d
        if 0 <= m < s:
            out.append(m)
            out.append(m | s)
    return np.array(out, dtype=np.uint64).astype(UINT[dtype])


def random_bits(dtype, seed, count):
    total, _ = LAYOUT[dtype]
    return np.array([v >> (64 - total) for v in splitmix64(seed, count)],
                    dtype=np.uint64).astype(UINT[dtype])


def edge_cases():
    c = Cases()
    one = 0x3F800000

    # 1. The three node tests that come with the operator, float32.
    sample = [-1.5, 0.0, 1.2, 2.0, 2.2]
    normal = np.random.RandomState(0).randn(3, 4, 5).astype("<f4")
    c.add("float32/node-test/example", "float32", [5],
          from_floats("float32", sample), 0x40000000,
          "published node test 'thresholdedrelu_example': 2.0 equals alpha "
          "and does not pass")
    c.add("float32/node-test/thresholdedrelu", "float32", [3, 4, 5],
          normal.view("<u4"), 0x40000000,
          "published node test 'thresholdedrelu'")
    c.add("float32/node-test/default", "float32", [3, 4, 5],
          normal.view("<u4"), one,
          "published node test 'thresholdedrelu_default': no alpha given",
          given=False)

    for dtype in DTYPES:
        total, frac = LAYOUT[dtype]

        # 2. The same five numbers in the other types.
        if dtype != "float32":
            c.add("%s/example-values" % dtype, dtype, [5],
                  from_floats(dtype, sample), 0x40000000,
                  "the example numbers rounded to this type")

        # 3. No alpha means 1.0; alpha 0.0 is not the same as no alpha.
        half_to_two = from_floats(dtype, [-2.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0])
        c.add("%s/alpha-missing" % dtype, dtype, [7], half_to_two, one,
              "alpha not given: 1.0 is used", given=False)
        c.add("%s/alpha-given-as-default" % dtype, dtype, [7], half_to_two, one,
              "alpha given as 1.0: same answer as not given")
        c.add("%s/alpha-zero-given" % dtype, dtype, [7], half_to_two, 0,
              "alpha given as 0.0: must not be taken for 'not given'")
        c.add("%s/alpha-minus-zero-given" % dtype, dtype, [7], half_to_two,
              0x80000000, "alpha given as -0.0")

        # 4. Every special value against every alpha.
        special = special_values(dtype)
        for label, bits in ALPHAS:
            c.add("%s/special/alpha-%s" % (dtype, label), dtype,
                  [special.size], special, bits,
                  "zeros, subnormals, normals, infinities and NaNs of both "
                  "signs")
        c.add("%s/special/alpha-missing" % dtype, dtype, [special.size],
              special, one, "the same with no alpha given", given=False)

        # 5. The neighbours of alpha as this type sees it.
        for label, bits in ALPHAS:
            near = neighbours(dtype, narrow_alpha(dtype, bits))
            c.add("%s/neighbours/alpha-%s" % (dtype, label), dtype,
                  [near.size], near, bits,
                  "patterns next to alpha converted to this type, both signs")

        # 6. Only one element, one per kind of number, rank 0 and alpha 1, 0
        #    and -1. Small enough to read by eye.
        kinds = [
            ("zero", 0), ("minus-zero", sign_bit(dtype)),
            ("min-subnormal", 1), ("minus-min-subnormal", sign_bit(dtype) | 1),
            ("inf", inf_bits(dtype)),
            ("minus-inf", inf_bits(dtype) | sign_bit(dtype)),
            ("nan", inf_bits(dtype) | (1 << (frac - 1))),
            ("minus-nan", inf_bits(dtype) | (1 << (frac - 1)) | sign_bit(dtype)),
            ("signalling-nan", inf_bits(dtype) | 1),
        ]
        for label, bits in (("one", one), ("zero", 0), ("minus-one", 0xBF800000)):
            for kind, pattern in kinds:
                c.add("%s/scalar/%s/alpha-%s" % (dtype, kind, label), dtype,
                      [], [pattern], bits, "one element, rank 0")

        # 7. Ranks 0 to 8.
        for rank in range(9):
            shape = [(2, 1, 3, 1, 2, 1, 2, 1)[i] for i in range(rank)]
            count = 1
            for d in shape:
                count *= d
            values = [((i * 7) % 11 - 5) * 0.5 for i in range(count)]
            if rank == 0:
                values = [2.5]
            c.add("%s/rank/%d" % (dtype, rank), dtype, shape,
                  from_floats(dtype, values), 0x3F000000,
                  "rank %d; the shape of the output is the shape of the input"
                  % rank)

        # 8. No elements at all.
        for label, shape in (
                ("0", [0]), ("0x0", [0, 0]), ("0x3", [0, 3]), ("3x0", [3, 0]),
                ("2x0x4", [2, 0, 4]), ("2x3x0", [2, 3, 0]),
                ("rank-8", [1, 2, 3, 0, 5, 6, 7, 8]),
                ("0x2147483648", [0, 2147483648]),
                ("2147483648x0", [2147483648, 0])):
            c.add("%s/no-elements/%s" % (dtype, label), dtype, shape, [], one,
                  "a zero in the shape: no data in, no data out, same shape")

        # 9. Every length from 1 to 67 and some longer ones: block and tail
        #    handling of vector code.
        lengths = list(range(1, 68)) + [127, 128, 129, 255, 256, 257, 1023]
        for n in lengths:
            values = [((i * 5 + n) % 13 - 6) * 0.5 for i in range(n)]
            c.add("%s/length/%d" % (dtype, n), dtype, [n],
                  from_floats(dtype, values), 0x3F800000,
                  "length %d: some elements pass, some do not" % n)

        # 10. A NaN, an infinity or a passing number at every place of a
        #     short block, alone among zeros.
        for where in (0, 1, 7, 8, 15, 16, 31, 32, 33):
            block = np.zeros(34, dtype=UINT[dtype])
            block[where] = inf_bits(dtype) | 1
            c.add("%s/lone-nan/%d" % (dtype, where), dtype, [34], block,
                  0xFF800000,
                  "one NaN at place %d, alpha -inf: every other element "
                  "passes, NaN does not" % where)

        # 11. All pass, none passes.
        plain = from_floats(dtype, [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5])
        c.add("%s/all-pass" % dtype, dtype, [2, 4], plain, one, "all pass")
        c.add("%s/none-passes" % dtype, dtype, [2, 4], plain, 0x41200000,
              "alpha 10: none passes")
        minus_zero = np.full(16, sign_bit(dtype), dtype=np.uint64)
        c.add("%s/minus-zeros/alpha-minus-one" % dtype, dtype, [16],
              minus_zero, 0xBF800000, "-0.0 passes and keeps its sign")
        c.add("%s/minus-zeros/alpha-zero" % dtype, dtype, [16], minus_zero, 0,
              "-0.0 does not pass and becomes +0.0")
        c.add("%s/minus-zeros/alpha-minus-zero" % dtype, dtype, [16],
              minus_zero, 0x80000000, "-0.0 is not above -0.0: +0.0")
        c.add("%s/minus-zeros/alpha-minus-tiny" % dtype, dtype, [16],
              minus_zero, 0x80000001,
              "alpha is the float32 number nearest below zero; in the 16-bit "
              "types it becomes -0.0 and nothing passes")

        # 12. Random bit patterns, NaNs and infinities among them.
        for i, (label, bits) in enumerate((
                ("one", one), ("zero", 0), ("minus-one", 0xBF800000),
                ("tenth", 0x3DCCCCCD), ("minus-inf", 0xFF800000))):
            c.add("%s/random-bits/alpha-%s" % (dtype, label), dtype, [3, 5, 20],
                  random_bits(dtype, 1000 + i, 300), bits,
                  "random bit patterns")

    return c.text()
