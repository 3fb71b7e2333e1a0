"""The server against those who also compute ThresholdedRelu: ONNX's reference evaluator, and ONNX Runtime.

Where one of them differs from ONNX's function body, `DISAGREEMENTS` says how. Each disagreement is held to be exactly
that and to be there, so a correction upstream, or a new mistake, is noticed.
"""
import functools
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

from onnx_models import ELEMENT_TYPES, model, node
from operator_oracle import ALPHAS, TYPES, bits, convert, telling_values, thresholded_relu
from served_test_case import ServedTestCase, tensor_input

onnxruntime.set_default_logger_severity(4)


def as_node(datatype, alpha, opset):
    return model(node("X", "Y", alpha), datatype=datatype, opset=opset)


def as_body(datatype, alpha, opset):
    """The operator written out as the standard defines it."""
    body = onnx.defs.get_schema("ThresholdedRelu", opset).function_body
    nodes = [onnx.NodeProto.FromString(one.SerializeToString()) for one in body.node]
    for attribute in (attribute for one in nodes for attribute in one.attribute):
        if attribute.ref_attr_name == "alpha":
            attribute.ClearField("ref_attr_name")
            attribute.f = alpha
    made = model(node("X", "Y"), datatype=datatype, opset=opset)
    del made.graph.node[:]
    made.graph.node.extend(nodes)
    return made


def reference(written, datatype, alpha, x, opset=22):
    return ReferenceEvaluator(written(datatype, alpha, opset)).run(None, {"X": x})[0]


def runtime(written, datatype, alpha, x, opset=22):
    session = onnxruntime.InferenceSession(written(datatype, alpha, opset).SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    if datatype != "BF16":
        return session.run(None, {"X": x})[0]
    value = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(x.view(np.uint16), ELEMENT_TYPES[datatype])
    return session.run_with_ort_values(None, {"X": value})[0].numpy().view(x.dtype)


ORACLES = {
    "reference evaluator, node": functools.partial(reference, as_node),
    "reference evaluator, node of version 10": functools.partial(reference, as_node, opset=10),
    "reference evaluator, function body": functools.partial(reference, as_body),
    "ONNX Runtime, node": functools.partial(runtime, as_node),
    "ONNX Runtime, node of version 10": functools.partial(runtime, as_node, opset=10),
    "ONNX Runtime, function body": functools.partial(runtime, as_body),
}


def compares_in_float32(x, alpha):
    """Alpha is not rounded to the tensor's type: where rounding raised it, x = cast(alpha) passes."""
    return np.where(alpha < x.astype(np.float32), x, x.dtype.type(0))


def loses_minus_zero(x, alpha, result=thresholded_relu):
    """-0 that passes comes out as +0."""
    y = result(x, alpha)
    return np.where(y == 0, y.dtype.type(0), y)


def loses_minus_zero_and_compares_in_float32(x, alpha):
    return loses_minus_zero(x, alpha, compares_in_float32)


NO_KERNEL = "could not find an implementation"  # as it says itself
NO_TYPE = "is invalid"
DISAGREEMENTS = {
    ("reference evaluator, node", "FP16"): compares_in_float32,
    ("reference evaluator, node", "BF16"): compares_in_float32,
    ("reference evaluator, node of version 10", "FP16"): compares_in_float32,
    # Version 10 has no bfloat16; the evaluator does not mind.
    ("reference evaluator, node of version 10", "BF16"): compares_in_float32,
    ("ONNX Runtime, node", "FP16"): compares_in_float32,
    ("ONNX Runtime, node", "BF16"): NO_KERNEL,
    ("ONNX Runtime, node", "FP64"): NO_KERNEL,
    ("ONNX Runtime, node of version 10", "FP16"): compares_in_float32,
    ("ONNX Runtime, node of version 10", "BF16"): NO_TYPE,
    ("ONNX Runtime, node of version 10", "FP64"): NO_KERNEL,
    ("ONNX Runtime, function body", "FP16"): loses_minus_zero_and_compares_in_float32,
    ("ONNX Runtime, function body", "FP32"): loses_minus_zero,
    ("ONNX Runtime, function body", "FP64"): loses_minus_zero,
    ("ONNX Runtime, function body", "BF16"): NO_KERNEL,
}


class Oracles(ServedTestCase):
    """Each test is named by what it holds against what."""

    def test_server_against_the_rule(self):
        for datatype in TYPES:
            x = telling_values(datatype)
            for alpha in ALPHAS:
                with self.subTest(datatype=datatype, alpha=alpha):
                    y = self.client.infer("thresholded_relu", [tensor_input(datatype, x)], parameters={"alpha": float(alpha)})
                    self.assertSameBits(y.as_numpy("Y"), thresholded_relu(x, alpha))

    def test_oracles_against_the_rule(self):
        for name, oracle in ORACLES.items():
            for datatype in TYPES:
                with self.subTest(oracle=name, datatype=datatype):
                    self.hold(oracle, datatype, DISAGREEMENTS.get((name, datatype)))

    def hold(self, oracle, datatype, disagreement):
        x = telling_values(datatype)
        if isinstance(disagreement, str):
            with self.assertRaisesRegex(Exception, f"(?i){disagreement}"):
                oracle(datatype, ALPHAS[0], x)
            return
        differing = set()
        for alpha in ALPHAS:
            right, y = thresholded_relu(x, alpha), oracle(datatype, alpha, x)
            self.assertSameBits(y, disagreement(x, alpha) if disagreement else right, f"alpha {alpha}")
            differing.update(bits(x)[bits(y) != bits(right)])
        self.assertEqual(bool(differing), bool(disagreement))

    def test_rule_rounds_as_the_standard_casts(self):
        """The rule's own cast, against ONNX's: the rest of the rule is a comparison."""
        for datatype, (dtype, _) in TYPES.items():
            cast = model(onnx.helper.make_node("Cast", ["X"], ["Y"], to=ELEMENT_TYPES[datatype]), datatype=datatype)
            cast.graph.input[0].type.tensor_type.elem_type = ELEMENT_TYPES["FP32"]
            x = telling_values("FP32")
            x = x[~np.isnan(x)]
            with self.subTest(datatype):
                self.assertSameBits(ReferenceEvaluator(cast).run(None, {"X": x})[0], convert(x, dtype))


if __name__ == "__main__":
    unittest.main(warnings="ignore")  # numpy speaks of NaNs and overflows, which are meant
