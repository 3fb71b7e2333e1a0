"""A client made from the plain Open Inference Protocol, which knows nothing of Triton, and no options of gRPC.

Triton's stubs cannot be in the same process: they have messages of the same names.
"""
import os
import sys
import tempfile
import unittest

import grpc
import numpy as np
from grpc_tools import protoc

from operator_oracle import TYPES, numbers, thresholded_relu
from running_server import Server

here = os.path.dirname(os.path.abspath(__file__))


class OpenInference(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        stubs = tempfile.TemporaryDirectory()
        cls.addClassCleanup(stubs.cleanup)
        if protoc.main(["protoc", f"-I{here}", f"--python_out={stubs.name}", f"--grpc_python_out={stubs.name}",
                        "open_inference.proto"]) != 0:
            raise AssertionError("open_inference.proto cannot be compiled")
        sys.path.insert(0, stubs.name)
        global pb
        import open_inference_pb2 as pb
        import open_inference_pb2_grpc
        server = Server()
        cls.addClassCleanup(server.stop)
        channel = grpc.insecure_channel(server.address)
        cls.addClassCleanup(channel.close)
        cls.stub = open_inference_pb2_grpc.GRPCInferenceServiceStub(channel)

    def request(self, x, datatype="FP32", **rest):
        return pb.ModelInferRequest(model_name="thresholded_relu", inputs=[
            pb.ModelInferRequest.InferInputTensor(name="X", datatype=datatype, shape=x.shape)], **rest)

    def test_health_and_metadata(self):
        self.assertTrue(self.stub.ServerLive(pb.ServerLiveRequest()).live)
        self.assertTrue(self.stub.ServerReady(pb.ServerReadyRequest()).ready)
        self.assertTrue(self.stub.ModelReady(pb.ModelReadyRequest(name="thresholded_relu")).ready)
        self.assertFalse(self.stub.ModelReady(pb.ModelReadyRequest(name="no_such_model")).ready)
        self.assertEqual(self.stub.ServerMetadata(pb.ServerMetadataRequest()).name, "trelu")
        metadata = self.stub.ModelMetadata(pb.ModelMetadataRequest(name="thresholded_relu"))
        self.assertEqual([(t.name, t.datatype, list(t.shape)) for t in metadata.inputs], [("X", "FP32", [-1])])

    def test_raw_data_of_every_type(self):
        for datatype in TYPES:
            with self.subTest(datatype):
                x = numbers(datatype, (2, 500))
                answer = self.stub.ModelInfer(self.request(x, datatype, id="7", raw_input_contents=[x.tobytes()]))
                self.assertEqual((answer.id, answer.outputs[0].name, answer.outputs[0].datatype), ("7", "Y", datatype))
                self.assertEqual(list(answer.outputs[0].shape), [2, 500])
                self.assertEqual(list(answer.raw_output_contents), [thresholded_relu(x).tobytes()])

    def test_typed_contents_and_an_alpha_without_fraction(self):
        x = np.array([-3, -1, 0.5, 3], np.float32)
        request = self.request(x)
        request.inputs[0].contents.fp32_contents.extend(x)
        request.parameters["alpha"].int64_param = -2
        self.assertEqual(list(self.stub.ModelInfer(request).raw_output_contents), [thresholded_relu(x, -2).tobytes()])

    def test_answer_as_large_as_plain_grpc_takes(self):
        x = numbers("FP32", (1 << 20) - 64)  # gRPC's own limit for answers is 4 MiB
        answer = self.stub.ModelInfer(self.request(x, raw_input_contents=[x.tobytes()]))
        self.assertEqual(answer.raw_output_contents[0], thresholded_relu(x).tobytes())


if __name__ == "__main__":
    unittest.main()
