"""What Triton's client can learn of the server and its models, and the repository of models that it can steer."""
import os
import shutil
import tempfile
import time
import unittest

import numpy as np
from tritonclient.grpc import InferenceServerClient, model_config_pb2, service_pb2

import onnx_models
from onnx_models import node
from operator_oracle import TYPES, numbers, thresholded_relu
from running_server import Server, until
from served_test_case import Code, ServedTestCase, raw_request, tensor_input

BUILT_IN = {"thresholded_relu": "FP32"} | {f"thresholded_relu_{datatype.lower()}": datatype for datatype in TYPES}


class BuiltInModels(ServedTestCase):
    def test_health(self):
        self.assertTrue(self.client.is_server_live())
        self.assertTrue(self.client.is_server_ready())
        for model in BUILT_IN:
            self.assertTrue(self.client.is_model_ready(model))
            self.assertTrue(self.client.is_model_ready(model, "1"))
            self.assertFalse(self.client.is_model_ready(model, "77"))
        self.assertFalse(self.client.is_model_ready("no_such_model"))

    def test_server_metadata(self):
        metadata = self.client.get_server_metadata()
        self.assertEqual(metadata.name, "trelu")
        self.assertRegex(metadata.version, r"^\d+\.\d+\.\d+")
        self.assertEqual(sorted(metadata.extensions), ["binary_tensor_data", "model_configuration", "parameters",
                                                       "schedule_policy", "statistics"])

    def test_model_metadata_and_config(self):
        for model, datatype in BUILT_IN.items():
            with self.subTest(model):
                metadata = self.client.get_model_metadata(model)
                self.assertEqual((metadata.name, list(metadata.versions)), (model, ["1"]))
                self.assertTrue(metadata.platform)
                for tensors, name in ((metadata.inputs, "X"), (metadata.outputs, "Y")):
                    self.assertEqual([(t.name, t.datatype, list(t.shape)) for t in tensors], [(name, datatype, [-1])])
                config = self.client.get_model_config(model).config
                self.assertEqual((config.name, config.max_batch_size), (model, 0))
                self.assertFalse(config.model_transaction_policy.decoupled)
                for tensors, name in ((config.input, "X"), (config.output, "Y")):
                    self.assertEqual([(t.name, model_config_pb2.DataType.Name(t.data_type), list(t.dims)) for t in tensors],
                                     [(name, "TYPE_" + datatype, [-1])])
        for ask in (self.client.get_model_metadata, self.client.get_model_config, self.client.get_inference_statistics):
            with self.refused(Code.NOT_FOUND, naming="no_such_model"):
                ask("no_such_model")

    def test_statistics_count(self):
        def stats():
            found, = self.client.get_inference_statistics("thresholded_relu_fp64").model_stats
            return found

        x = numbers("FP64", 1000)
        before = stats()
        for _ in range(7):
            self.client.infer("thresholded_relu_fp64", [tensor_input("FP64", x)])
        list(self.stub.ModelStreamInfer(iter([raw_request(x, "FP64", "thresholded_relu_fp64")] * 3), timeout=60))
        after = stats()
        self.assertEqual((after.name, after.version), ("thresholded_relu_fp64", "1"))
        for field in ("inference_count", "execution_count"):
            self.assertEqual(getattr(after, field) - getattr(before, field), 10, field)
        for field in ("success", "queue", "compute_input", "compute_infer", "compute_output"):
            was, now = getattr(before.inference_stats, field), getattr(after.inference_stats, field)
            self.assertEqual(now.count - was.count, 10, field)
            self.assertGreaterEqual(now.ns, was.ns, field)
        self.assertGreater(after.inference_stats.success.ns, before.inference_stats.success.ns)
        self.assertLess(abs(after.last_inference / 1000 - time.time()), 600)  # milliseconds since 1970

        names = [stat.name for stat in self.client.get_inference_statistics().model_stats]
        self.assertEqual(sorted(names), sorted(BUILT_IN))

    def test_repository_index_lists_them(self):
        index = self.client.get_model_repository_index().models
        self.assertEqual({(m.name, m.version, m.state) for m in index}, {(model, "1", "READY") for model in BUILT_IN})

    def test_settings_can_be_read_but_not_changed(self):
        log = self.client.get_log_settings().settings
        self.assertIs(log["log_error"].bool_param, True)
        trace = self.client.get_trace_settings().settings
        self.assertEqual(list(trace["trace_level"].value), ["OFF"])
        with self.refused(Code.UNIMPLEMENTED):
            self.client.update_log_settings({"log_verbose_level": 1})
        with self.refused(Code.UNIMPLEMENTED):
            self.client.update_trace_settings(settings={"trace_level": ["TIMESTAMPS"]})
        with self.refused(Code.NOT_FOUND, naming="no_such_model"):
            self.client.get_trace_settings("no_such_model")
        self.assertEqual(self.client.get_trace_settings("thresholded_relu").settings, trace)
        self.assertEqual(self.client.get_log_settings().settings, log)
        self.assertEqual(self.client.get_trace_settings().settings, trace)


class Repository(ServedTestCase):
    """A repository that changes by request alone: it is looked at again after half an hour."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.alphas = {datatype: (-0.5, 0.0, 0.25, 2.5)[i] for i, datatype in enumerate(TYPES)}
        for datatype, alpha in cls.alphas.items():
            onnx_models.write(cls.folder, "of_" + datatype, onnx_models.model(node("a", "b", alpha), datatype=datatype))
        for name, content in {
            "fixed": onnx_models.model(node("in", "out", 0.5), shape=(2, 3)),
            "scalar": onnx_models.model(node("in", "out", 0.5), shape=()),
            "symbolic": onnx_models.model(node("in", "out", 0.5), shape=("batch", 3)),
            "default_alpha": onnx_models.model(node("in", "out")),
            "version_10": onnx_models.model(node("in", "out", 0.5), opset=10),
            "chain": onnx_models.model(node("in", "m", -1.0), node("m", "n", 0.25), node("n", "out", -2.0)),
            "relu": onnx_models.model(node("in", "out", op_type="Relu")),
            "garbage": b"no model at all",
        }.items():
            onnx_models.write(cls.folder, name, content)
        onnx_models.write(cls.folder, "versions", onnx_models.model(node("in", "out", 1.0)), version=1)
        onnx_models.write(cls.folder, "versions", onnx_models.model(node("in", "out", 2.0)), version=10)
        cls.FLAGS = ("--model-repository", cls.folder, "--model-repository-poll", "30m")
        super().setUpClass()

    def test_server_metadata(self):
        self.assertIn("model_repository", self.client.get_server_metadata().extensions)

    def index(self):
        return {(m.name, m.version): m for m in self.client.get_model_repository_index().models}

    def infer(self, model, x, datatype="FP32", names=("in", "out"), **rest):
        return self.client.infer(model, [tensor_input(datatype, x, names[0])], **rest).as_numpy(names[1])

    def test_names_type_shape_and_alpha_come_from_the_file(self):
        for datatype, alpha in self.alphas.items():
            x = numbers(datatype, 100)
            y = self.infer("of_" + datatype, x, datatype, ("a", "b"))
            self.assertSameBits(y, thresholded_relu(x, alpha), datatype)
        for model, shape, told, alpha in (
                ("fixed", (2, 3), [2, 3], 0.5), ("scalar", (), [], 0.5), ("symbolic", (7, 3), [-1, 3], 0.5),
                ("default_alpha", (9,), [-1], 1), ("version_10", (9,), [-1], 0.5)):
            with self.subTest(model):
                x = numbers("FP32", shape)
                self.assertSameBits(self.infer(model, x), thresholded_relu(x, alpha))
                metadata, config = self.client.get_model_metadata(model), self.client.get_model_config(model).config
                for one, name in ((metadata.inputs, "in"), (metadata.outputs, "out")):
                    self.assertEqual([(t.name, t.datatype, list(t.shape)) for t in one], [(name, "FP32", told)])
                for one, name in ((config.input, "in"), (config.output, "out")):
                    self.assertEqual([(t.name, t.data_type, list(t.dims)) for t in one],
                                     [(name, model_config_pb2.TYPE_FP32, told)])

    def test_chain_is_applied_in_order(self):
        x = numbers("FP32", 1000)
        expected = thresholded_relu(thresholded_relu(thresholded_relu(x, -1), 0.25), -2)
        self.assertSameBits(self.infer("chain", x), expected)

    def test_what_the_model_does_not_take(self):
        for model, x, words in (("fixed", numbers("FP32", (3, 2)), ["shape"]), ("fixed", numbers("FP32", 6), ["shape"]),
                                ("scalar", numbers("FP32", 1), ["shape"]), ("symbolic", numbers("FP32", (7, 4)), ["shape"])):
            with self.subTest(model), self.refused(Code.INVALID_ARGUMENT, naming=words):
                self.infer(model, x)
        with self.refused(Code.INVALID_ARGUMENT, naming=["datatype", "FP64", "FP32"]):
            self.infer("fixed", numbers("FP64", (2, 3)), "FP64")
        with self.refused(Code.INVALID_ARGUMENT, naming="alpha"):
            self.infer("fixed", numbers("FP32", (2, 3)), parameters={"alpha": 0.5})

    def test_newest_version_unless_one_is_named(self):
        answer = self.client.infer("versions", [tensor_input("FP32", np.array([1.5, 2.5], np.float32), "in")])
        self.assertEqual(answer.get_response().model_version, "10")
        self.assertSameBits(answer.as_numpy("out"), np.array([0, 2.5], np.float32))
        self.assertEqual(list(self.client.get_model_metadata("versions").versions), ["1", "10"])

    def test_refused_models_say_why(self):
        index = self.index()
        self.assertEqual(index["fixed", "1"].state, "READY")
        for model, word in (("relu", "Relu"), ("garbage", "")):
            with self.subTest(model):
                self.assertEqual(index[model, "1"].state, "UNAVAILABLE")
                self.assertNotEqual(index[model, "1"].reason, "")
                self.assertIn(word, index[model, "1"].reason)
                self.assertFalse(self.client.is_model_ready(model))
                with self.refused(Code.UNAVAILABLE, naming=[model, word]):
                    self.infer(model, numbers("FP32", 3))
                with self.refused(Code.FAILED_PRECONDITION, naming=[model, word]):
                    self.client.load_model(model)
        ready = {m.name for m in self.stub.RepositoryIndex(service_pb2.RepositoryIndexRequest(ready=True)).models}
        self.assertIn("fixed", ready)
        self.assertFalse(ready & {"relu", "garbage"})

    def test_unload_load_and_reload(self):
        onnx_models.write(self.folder, "steered", onnx_models.model(node("in", "out", 1.0)))
        x = np.array([0.5, 1.5, 2.5], np.float32)
        self.client.load_model("steered")
        self.assertTrue(self.client.is_model_ready("steered"))
        self.assertSameBits(self.infer("steered", x), thresholded_relu(x, 1))

        self.client.unload_model("steered")
        self.assertFalse(self.client.is_model_ready("steered"))
        self.assertEqual(self.index()["steered", "1"].state, "UNAVAILABLE")
        with self.refused(Code.UNAVAILABLE, naming="steered"):
            self.infer("steered", x)

        onnx_models.write(self.folder, "steered", onnx_models.model(node("in", "out", 2.0)))
        self.client.load_model("steered")
        self.assertSameBits(self.infer("steered", x), thresholded_relu(x, 2))
        for call in (self.client.load_model, self.client.unload_model):
            with self.refused(Code.NOT_FOUND, naming="no_such_model"):
                call("no_such_model")

    def test_built_in_models_are_there_too_and_stay(self):
        x = numbers("FP32", 4)
        for call in (self.client.load_model, self.client.unload_model):
            with self.refused(Code.FAILED_PRECONDITION, naming="thresholded_relu"):
                call("thresholded_relu")
        self.assertSameBits(self.infer("thresholded_relu", x, names="XY"), thresholded_relu(x))


class PolledRepository(unittest.TestCase):
    def test_changes_of_the_folder_are_seen(self):
        x = np.array([0.5, 1.5, 2.5], np.float32)
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        server = Server("--model-repository", folder, "--model-repository-poll", "100ms")
        self.addCleanup(server.stop)
        client = InferenceServerClient(server.address)
        self.addCleanup(client.close)

        def answer():
            return client.infer("new", [tensor_input("FP32", x, "in")]).as_numpy("out").tolist()

        onnx_models.write(folder, "new", onnx_models.model(node("in", "out", 1.0)))
        until(lambda: client.is_model_ready("new"), "a new model is ready")
        self.assertEqual(answer(), [0, 1.5, 2.5])
        onnx_models.write(folder, "new", onnx_models.model(node("in", "out", 2.0)))
        until(lambda: answer() == [0, 0, 2.5], "a changed model answers anew")
        shutil.rmtree(os.path.join(folder, "new"))
        until(lambda: not client.is_model_ready("new"), "a removed model is gone")


if __name__ == "__main__":
    unittest.main()
