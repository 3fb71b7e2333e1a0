"""Triton's client asks for results: blocking, with callbacks, and with asyncio."""
import asyncio
import threading
import unittest

import numpy as np
import tritonclient.grpc as triton
import tritonclient.grpc.aio as triton_aio

from operator_oracle import ALPHAS, TYPES, numbers, telling_values, thresholded_relu
from served_test_case import Code, ServedTestCase, raw_request, raw_result, tensor_input

SHAPES = ([], [1], [0], [2, 0, 3], [5], [3, 4], [2, 3, 5, 7], [1] * 8, [2] * 8, [1] * 30 + [3])


class BlockingClient(ServedTestCase):
    def infer(self, x, datatype, model="thresholded_relu", **rest):
        return self.client.infer(model, [tensor_input(datatype, x)], **rest)

    def test_every_type_and_alpha_to_the_last_bit(self):
        for datatype in TYPES:
            x = telling_values(datatype)
            for model in ("thresholded_relu", f"thresholded_relu_{datatype.lower()}"):
                for alpha in ALPHAS:
                    with self.subTest(model=model, datatype=datatype, alpha=alpha):
                        y = self.infer(x, datatype, model, parameters={"alpha": float(alpha)}).as_numpy("Y")
                        self.assertSameBits(y, thresholded_relu(x, alpha))

    def test_every_shape(self):
        for datatype in TYPES:
            for shape in SHAPES:
                for model in ("thresholded_relu", f"thresholded_relu_{datatype.lower()}"):
                    with self.subTest(model=model, datatype=datatype, shape=shape):
                        x = numbers(datatype, shape)
                        self.assertSameBits(self.infer(x, datatype, model).as_numpy("Y"), thresholded_relu(x))

    def test_alpha_is_one_unless_given(self):
        x = np.array([0.5, 1, 1.5, -1], np.float32)
        for parameters, expected in ((None, [0, 0, 1.5, 0]), ({"alpha": 0}, [0.5, 1, 1.5, 0]),
                                     ({"alpha": 0.0}, [0.5, 1, 1.5, 0]), ({"alpha": -2}, [0.5, 1, 1.5, -1]),
                                     ({"alpha": 1.25}, [0, 0, 1.5, 0])):
            with self.subTest(parameters):
                y = self.infer(x, "FP32", parameters=parameters).as_numpy("Y")
                self.assertSameBits(y, np.array(expected, np.float32))

    def test_alpha_is_a_float32_before_all_else(self):
        # 0.1 as float32, and as double, which is less; 2^24 + 1 is no float32.
        x = np.array([0.1, np.float64(np.float32(0.1)), 0.11], np.float64)
        self.assertSameBits(self.infer(x, "FP64", parameters={"alpha": 0.1}).as_numpy("Y"), np.array([0, 0, 0.11]))
        x = np.array([2.0**24, 2.0**24 + 1], np.float64)
        self.assertSameBits(self.infer(x, "FP64", parameters={"alpha": 2**24 + 1}).as_numpy("Y"),
                            np.array([0, 2.0**24 + 1]))

    def test_large_tensor(self):
        x = numbers("FP32", (4, 1024, 1024))
        self.assertSameBits(self.infer(x, "FP32").as_numpy("Y"), thresholded_relu(x))

    def test_answer_tells_whose_it_is(self):
        x = numbers("FP32", 3)
        for version in ("", "1"):
            for request_id in ("", "one", "\u00e9 \U0001f600", "x" * 1000):
                with self.subTest(version=version, request_id=request_id):
                    answer = self.infer(x, "FP32", model_version=version, request_id=request_id,
                                        outputs=[triton.InferRequestedOutput("Y")]).get_response()
                    self.assertEqual(answer.id, request_id)
                    self.assertEqual((answer.model_name, answer.model_version), ("thresholded_relu", "1"))
                    self.assertEqual([(y.name, y.datatype, list(y.shape)) for y in answer.outputs], [("Y", "FP32", [3])])
                    self.assertNotIn("triton_final_response", answer.parameters)

    def test_known_and_unknown_parameters_are_accepted(self):
        x = numbers("FP32", 8)
        minute = 60_000_000
        self.infer(x, "FP32", priority=1, timeout=minute, parameters={"text": "t", "flag": True, "n": 7, "ratio": 0.5})
        for parameters in ({"priority": 1}, {"priority": 0}, {"timeout": minute}, {"timeout": 0},
                           {"triton_enable_empty_final_response": True}, {"triton_enable_empty_final_response": False}):
            with self.subTest(parameters):
                self.assertSameBits(raw_result(self.stub.ModelInfer(raw_request(x, **parameters))), thresholded_relu(x))

    def test_typed_contents_are_answered_raw(self):
        for datatype, field in (("FP32", "fp32_contents"), ("FP64", "fp64_contents")):
            for shape in ([], [4], [2, 3], [0]):
                with self.subTest(datatype=datatype, shape=shape):
                    x = numbers(datatype, shape)
                    request = raw_request(x, datatype)
                    del request.raw_input_contents[:]
                    getattr(request.inputs[0].contents, field).extend(x.ravel().tolist())
                    answer = self.stub.ModelInfer(request)
                    self.assertEqual(len(answer.raw_output_contents), 1)
                    self.assertFalse(answer.outputs[0].HasField("contents"))
                    self.assertSameBits(raw_result(answer), thresholded_relu(x))

    def test_out_of_time(self):
        x = numbers("FP32", 4 << 20)
        with self.refused(Code.DEADLINE_EXCEEDED):
            self.infer(x, "FP32", timeout=1)  # a microsecond, by request parameter
        with self.refused(Code.DEADLINE_EXCEEDED):
            self.infer(x, "FP32", client_timeout=1e-3)  # by gRPC's deadline
        self.assertSameBits(self.infer(x, "FP32", client_timeout=60).as_numpy("Y"), thresholded_relu(x))


class CallbackClient(ServedTestCase):
    def test_many_in_flight(self):
        tensors = [numbers("FP32", (i * 37) % 5000, seed=i) for i in range(200)]
        answers, done = {}, threading.Semaphore(0)

        def answered(result, error, key):
            answers[key] = error or result
            done.release()

        for i, x in enumerate(tensors):
            self.client.async_infer("thresholded_relu", [tensor_input("FP32", x)], request_id=str(i),
                                    callback=lambda result, error, key=i: answered(result, error, key))
        for _ in tensors:
            self.assertTrue(done.acquire(timeout=60))
        for i, x in enumerate(tensors):
            with self.subTest(i):
                self.assertIsInstance(answers[i], triton.InferResult)
                self.assertEqual(answers[i].get_response().id, str(i))
                self.assertSameBits(answers[i].as_numpy("Y"), thresholded_relu(x))


class AsyncioClient(ServedTestCase):
    def test_many_in_flight(self):
        async def ask():
            async with triton_aio.InferenceServerClient(self.server.address) as client:
                self.assertTrue(await client.is_server_live())
                self.assertTrue(await client.is_model_ready("thresholded_relu"))
                return await asyncio.gather(*(
                    client.infer("thresholded_relu", [tensor_input(datatype, x)], request_id=str(i), client_timeout=60)
                    for i, (datatype, x) in enumerate(tensors)))

        tensors = [(datatype, numbers(datatype, (i, 7), seed=i)) for i in range(50) for datatype in TYPES]
        for i, (answer, (datatype, x)) in enumerate(zip(asyncio.run(ask()), tensors, strict=True)):
            with self.subTest(i, datatype=datatype):
                self.assertEqual(answer.get_response().id, str(i))
                self.assertSameBits(answer.as_numpy("Y"), thresholded_relu(x))


if __name__ == "__main__":
    unittest.main()
