"""Triton's client streams: answers in order, and errors that leave the stream open."""
import asyncio
import queue
import unittest

import tritonclient.grpc as triton
import tritonclient.grpc.aio as triton_aio

from operator_oracle import TYPES, numbers, thresholded_relu
from served_test_case import Code, ServedTestCase, raw_request, raw_result, tensor_input

BAD = triton.InferInput("Wrong", [1], "FP32").set_data_from_numpy(numbers("FP32", [1]))


class Stream(ServedTestCase):
    def setUp(self):
        self.answers = queue.Queue()

    def open(self, **rest):
        """A client with an open stream; a client has one stream at most."""
        client = triton.InferenceServerClient(self.server.address)
        self.addCleanup(client.close)
        client.start_stream(lambda result, error: self.answers.put(error or result), **rest)
        return client

    def next(self):
        return self.answers.get(timeout=60)

    def assertIsResult(self, answer, request_id, x):
        self.assertIsInstance(answer, triton.InferResult)
        response = answer.get_response()
        self.assertEqual(response.id, request_id)
        self.assertIs(response.parameters["triton_final_response"].bool_param, True)
        self.assertSameBits(answer.as_numpy("Y"), thresholded_relu(x))

    def test_answers_come_in_order(self):
        # Large ones between small ones: they are computed elsewhere, and later.
        sent = []
        for i in range(120):
            datatype = list(TYPES)[i % 4]
            sent.append((datatype, numbers(datatype, 1_000_000 if i % 10 == 3 else i, seed=i)))
        client = self.open()
        for i, (datatype, x) in enumerate(sent):
            client.async_stream_infer("thresholded_relu", [tensor_input(datatype, x)], request_id=str(i))
        for i, (_, x) in enumerate(sent):
            self.assertIsResult(self.next(), str(i), x)
        client.stop_stream()
        self.assertTrue(self.answers.empty())

    def test_one_answer_a_request_with_the_empty_final_one_asked_for(self):
        client = self.open()
        x = numbers("FP32", 5)
        for request_id in "ab":
            client.async_stream_infer("thresholded_relu", [tensor_input("FP32", x)], request_id=request_id,
                                      enable_empty_final_response=True)
        client.stop_stream()
        self.assertIsResult(self.next(), "a", x)
        self.assertIsResult(self.next(), "b", x)
        self.assertTrue(self.answers.empty())

    def test_stream_without_a_request_ends_well(self):
        self.open().stop_stream()
        self.assertTrue(self.answers.empty())

    def test_error_leaves_the_stream_open(self):
        client = self.open()
        x = numbers("FP32", 5)
        client.async_stream_infer("thresholded_relu", [tensor_input("FP32", x)], request_id="before")
        client.async_stream_infer("thresholded_relu", [BAD], request_id="bad-7")
        client.async_stream_infer("no_such_model", [tensor_input("FP32", x)], request_id="bad-8")
        client.async_stream_infer("thresholded_relu", [tensor_input("FP32", x)], request_id="after")
        self.assertIsResult(self.next(), "before", x)
        for words in (("bad-7", "Wrong"), ("bad-8", "no_such_model")):
            error = self.next()
            self.assertIsInstance(error, triton.InferenceServerException)
            self.assertNames(error.message(), words)
        self.assertIsResult(self.next(), "after", x)
        client.stop_stream()
        self.assertTrue(self.answers.empty())

    def test_error_has_a_code_that_programs_can_read(self):
        x = numbers("FP32", 4)
        large = numbers("FP32", 4 << 20)
        requests = [
            (raw_request(x, model="no_such_model", request_id="1"), Code.NOT_FOUND),
            (raw_request(x, request_id="2", alpha="text"), Code.INVALID_ARGUMENT),
            (raw_request(large, request_id="3", timeout=1), Code.DEADLINE_EXCEEDED),
            (raw_request(x, request_id="4"), None),
        ]
        answers = list(self.stub.ModelStreamInfer(iter([request for request, _ in requests]), timeout=60))
        self.assertEqual(len(answers), len(requests))
        for answer, (request, code) in zip(answers, requests):
            with self.subTest(request.id):
                self.assertEqual(answer.infer_response.id, request.id)
                if code:
                    self.assertIn(request.id, answer.error_message)
                    self.assertEqual(answer.infer_response.parameters["grpc_status_code"].int64_param, code.value[0])
                    self.assertFalse(answer.infer_response.outputs)
                else:
                    self.assertEqual(answer.error_message, "")
                    self.assertSameBits(raw_result(answer.infer_response), thresholded_relu(x))

    def test_triton_grpc_error_ends_the_stream_with_the_status(self):
        client = self.open(headers={"triton_grpc_error": "true"})
        x = numbers("FP32", 5)
        client.async_stream_infer("thresholded_relu", [tensor_input("FP32", x)], request_id="good")
        client.async_stream_infer("thresholded_relu", [BAD], request_id="bad")
        self.assertIsResult(self.next(), "good", x)
        with self.refused(Code.INVALID_ARGUMENT, naming="Wrong"):
            raise self.next()
        client.stop_stream()
        self.assertTrue(self.answers.empty())

    def test_client_leaves_in_the_middle(self):
        client = self.open()
        x = numbers("FP32", 1_000_000)
        for i in range(20):
            client.async_stream_infer("thresholded_relu", [tensor_input("FP32", x)], request_id=str(i))
        self.assertIsResult(self.next(), "0", x)
        client.stop_stream(cancel_requests=True)
        self.assertTrue(self.client.is_server_live())

    def test_asyncio(self):
        async def ask():
            async def requests():
                for i, x in enumerate(sent):
                    yield {"model_name": "thresholded_relu", "inputs": [tensor_input("FP32", x)], "request_id": str(i)}
                yield {"model_name": "thresholded_relu", "inputs": [BAD], "request_id": "last"}

            async with triton_aio.InferenceServerClient(self.server.address) as client:
                return [pair async for pair in client.stream_infer(requests(), stream_timeout=60)]

        sent = [numbers("FP32", i, seed=i) for i in range(50)]
        answers = asyncio.run(ask())
        self.assertEqual(len(answers), len(sent) + 1)
        for i, x in enumerate(sent):
            self.assertIsNone(answers[i][1])
            self.assertIsResult(answers[i][0], str(i), x)
        self.assertNames(answers[-1][1].message(), ("last", "Wrong"))


if __name__ == "__main__":
    unittest.main()
