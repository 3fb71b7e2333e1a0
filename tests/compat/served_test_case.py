"""A test case with a server of its own and the clients that tests talk to it with."""
import contextlib
import unittest

import grpc
import numpy as np
import tritonclient.grpc as triton
from tritonclient.grpc import service_pb2, service_pb2_grpc

from operator_oracle import bits
from running_server import Server

Code = grpc.StatusCode


class ServedTestCase(unittest.TestCase):
    FLAGS = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.FLAGS)
        cls.addClassCleanup(cls.server.stop)
        # Triton's client, and its generated stub for what the client itself would never send.
        cls.client = triton.InferenceServerClient(cls.server.address)
        cls.addClassCleanup(cls.client.close)
        cls.channel = grpc.insecure_channel(cls.server.address, options=[
            ("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)])
        cls.addClassCleanup(cls.channel.close)
        cls.stub = service_pb2_grpc.GRPCInferenceServiceStub(cls.channel)

    @contextlib.contextmanager
    def refused(self, *codes, naming=()):
        """The body fails with one of `codes`, and the message has every word of `naming`."""
        with self.assertRaises((triton.InferenceServerException, grpc.RpcError)) as caught:
            yield
        error = caught.exception
        if isinstance(error, grpc.RpcError):
            code, message = error.code(), error.details()
        else:
            code, message = Code[error.status().removeprefix("StatusCode.")], error.message()
        self.assertIn(code, codes, message)
        self.assertNames(message, naming)

    def assertNames(self, message, words):
        for word in [words] if isinstance(words, str) else words:
            self.assertIn(word, message)

    def assertSameBits(self, actual, expected, what=""):
        self.assertEqual(actual.dtype, expected.dtype, what)
        self.assertEqual(actual.shape, expected.shape, what)
        differ = np.flatnonzero(bits(actual).ravel() != bits(expected).ravel())
        self.assertEqual(differ.size, 0, f"{what}: first of them at {differ[:1]}: {actual.ravel()[differ[:1]]}, "
                                         f"expected {expected.ravel()[differ[:1]]}")


def tensor_input(datatype, x, name="X"):
    """`x` as Triton's client sends it."""
    return triton.InferInput(name, list(x.shape), datatype).set_data_from_numpy(x)


def raw_request(x, datatype="FP32", model="thresholded_relu", request_id="", **parameters):
    """The message itself, to be bent; a parameter's kind follows Python's type, as Triton's client has it."""
    request = service_pb2.ModelInferRequest(
        model_name=model, id=request_id, raw_input_contents=[x.tobytes()],
        inputs=[service_pb2.ModelInferRequest.InferInputTensor(name="X", datatype=datatype, shape=x.shape)])
    kinds = {bool: "bool_param", int: "int64_param", float: "double_param", str: "string_param"}
    for key, value in parameters.items():
        setattr(request.parameters[key], kinds[type(value)], value)
    return request


def raw_result(response):
    return triton.InferResult(response).as_numpy("Y")
