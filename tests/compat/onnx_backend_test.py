"""ONNX's own backend tests of ThresholdedRelu, with the server as the backend."""
import itertools
import shutil
import tempfile
import unittest

import numpy as np
import onnx.backend.base
import onnx.backend.test
import onnx.backend.test.loader
from onnx.backend.base import BackendRep

import onnx_models
from operator_oracle import TYPES
from served_test_case import Code, ServedTestCase, tensor_input

CASES = "test_thresholdedrelu"
# ONNX publishes each case a second time with the operator written out as its function's body. Those graphs have other
# operators, which the server must turn down.
EXPANDED = "_expanded"


class ServedModel(BackendRep):
    def __init__(self, client, name, model):
        self._client, self._name, self._graph = client, name, model.graph

    def run(self, inputs, **kwargs):
        (x,) = inputs
        (datatype,) = [name for name, (dtype, _) in TYPES.items() if x.dtype == dtype]
        answer = self._client.infer(self._name, [tensor_input(datatype, x, self._graph.input[0].name)])
        return (answer.as_numpy(self._graph.output[0].name),)


class ServerBackend(onnx.backend.base.Backend):
    """Puts each model into the server's repository and has it loaded."""

    client = repository = None
    prepared = []
    _names = (f"case_{i}" for i in itertools.count())

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        name = next(cls._names)
        onnx_models.write(cls.repository, name, model)
        cls.prepared.append(name)
        cls.client.load_model(name)
        return ServedModel(cls.client, name, model)

    @classmethod
    def supports_device(cls, device):
        return device == "CPU"


class Runner(onnx.backend.test.BackendTest):
    @classmethod
    def assert_similar_outputs(cls, ref_outputs, outputs, rtol, atol, model_dir=None):
        """Similar is not enough."""
        np.testing.assert_equal(len(outputs), len(ref_outputs))
        for expected, actual in zip(ref_outputs, outputs):
            np.testing.assert_equal((actual.dtype, actual.shape, actual.tobytes()),
                                    (expected.dtype, expected.shape, expected.tobytes()))


class BackendTestCase(ServedTestCase):
    @classmethod
    def setUpClass(cls):
        ServerBackend.repository = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, ServerBackend.repository)
        cls.FLAGS = ("--model-repository", ServerBackend.repository, "--model-repository-poll", "30m")
        super().setUpClass()
        ServerBackend.client = cls.client


class NodeCases(BackendTestCase):
    def test_all_that_this_onnx_has(self):
        cases = [case for case in onnx.backend.test.loader.load_model_tests(kind="node") if case.name.startswith(CASES)]
        plain = [case.name for case in cases if EXPANDED not in case.name]
        expanded = [case for case in cases if EXPANDED in case.name]
        self.assertGreaterEqual(len(plain), 3)
        self.assertEqual(len(expanded), len(plain))

        suite = Runner(ServerBackend).include(rf"^{CASES}(?!.*{EXPANDED})").tests
        ServerBackend.prepared.clear()
        result = unittest.TestResult()
        unittest.defaultTestLoader.loadTestsFromTestCase(suite).run(result)
        self.assertEqual([report for _, report in result.failures + result.errors], [])
        self.assertEqual(len(ServerBackend.prepared), len(plain))

        for case in expanded:
            with self.subTest(case.name):
                with self.refused(Code.FAILED_PRECONDITION, naming="operator"):
                    ServerBackend.prepare(case.model)
                (entry,) = [model for model in self.client.get_model_repository_index().models
                            if model.name == ServerBackend.prepared[-1]]
                self.assertEqual(entry.state, "UNAVAILABLE")
                self.assertRegex(entry.reason, "|".join(node.op_type for node in case.model.graph.node))


if __name__ == "__main__":
    unittest.main(warnings="ignore")  # onnx's other cases overflow, and say so
