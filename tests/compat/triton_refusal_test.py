"""Wrong requests: each is refused with the right code and a message that names what was wrong; the server lives on."""
import unittest

import numpy as np

from operator_oracle import numbers, thresholded_relu
from served_test_case import Code, ServedTestCase, raw_request, raw_result, tensor_input

X = np.array([0.5, 1.5, 2.5, -1], np.float32)


def request(**changes):
    """A good request for X but for `changes` to it ("input_..." to its input)."""
    bent = raw_request(X)
    for field, value in changes.items():
        target = bent.inputs[0] if field.startswith("input_") else bent
        field = field.removeprefix("input_")
        if isinstance(value, list):
            target.ClearField(field)
            getattr(target, field).extend(value)
        else:
            setattr(target, field, value)
    return bent


def typed(raw=(), datatype="FP32", **contents):
    bent = request(raw_input_contents=list(raw), input_datatype=datatype)
    for field, values in contents.items():
        getattr(bent.inputs[0].contents, field).extend(values)
    return bent


def parameter(key, kind, value):
    bent = request()
    setattr(bent.parameters[key], kind, value)
    return bent


def with_outputs(*names):
    bent = request()
    for name in names:
        bent.outputs.add().name = name
    return bent


def with_inputs(*names):
    bent = request(inputs=[], raw_input_contents=[X.tobytes()] * len(names))
    for name in names:
        bent.inputs.add(name=name, datatype="FP32", shape=[4])
    return bent


# What is wrong: the request, the code, and the words that the message has.
WRONG = {
    "unknown model": (request(model_name="no_such_model"), Code.NOT_FOUND, ["no_such_model"]),
    "no model": (request(model_name=""), Code.NOT_FOUND, []),
    "unknown version": (request(model_version="77"), Code.NOT_FOUND, ["77"]),
    "version in letters": (request(model_version="abc"), Code.INVALID_ARGUMENT, ["version", "abc"]),
    "negative version": (request(model_version="-1"), Code.INVALID_ARGUMENT, ["version", "-1"]),
    "no input": (with_inputs(), Code.INVALID_ARGUMENT, ["input"]),
    "input's name": (with_inputs("Z"), Code.INVALID_ARGUMENT, ["input", "Z", "X"]),
    "input's name in lower case": (with_inputs("x"), Code.INVALID_ARGUMENT, ["input", "x", "X"]),
    "two inputs": (with_inputs("X", "Z"), Code.INVALID_ARGUMENT, ["input"]),
    "an input twice": (with_inputs("X", "X"), Code.INVALID_ARGUMENT, ["input"]),
    "output's name": (with_outputs("W"), Code.INVALID_ARGUMENT, ["output", "W", "Y"]),
    "an output twice": (with_outputs("Y", "Y"), Code.INVALID_ARGUMENT, ["output", "Y"]),
    "no datatype": (request(input_datatype=""), Code.INVALID_ARGUMENT, ["datatype"]),
    "unknown datatype": (request(input_datatype="float32"), Code.INVALID_ARGUMENT, ["datatype", "float32"]),
    "datatype of another operator": (request(input_datatype="INT32"), Code.INVALID_ARGUMENT, ["datatype", "INT32"]),
    "datatype of another model": (request(model_name="thresholded_relu_fp16"), Code.INVALID_ARGUMENT,
                                  ["datatype", "FP32", "FP16"]),
    "negative size": (request(input_shape=[-1]), Code.INVALID_ARGUMENT, ["shape", "-1"]),
    "two negative sizes": (request(input_shape=[-2, -2]), Code.INVALID_ARGUMENT, ["shape", "-2"]),
    "product beyond int64": (request(input_shape=[1 << 32, 1 << 32, 16]), Code.INVALID_ARGUMENT, ["shape"]),
    "bytes beyond int64": (request(input_shape=[(1 << 63) - 1]), Code.INVALID_ARGUMENT, ["shape"]),
    "rank": (request(input_shape=[1] * 1000, raw_input_contents=[b"1234"]), Code.INVALID_ARGUMENT, ["rank"]),
    "shape larger than the data": (request(input_shape=[5]), Code.INVALID_ARGUMENT, ["16", "20"]),
    "shape smaller than the data": (request(input_shape=[3]), Code.INVALID_ARGUMENT, ["16", "12"]),
    "scalar with four numbers": (request(input_shape=[]), Code.INVALID_ARGUMENT, ["16", "4"]),
    "empty shape with data": (request(input_shape=[0]), Code.INVALID_ARGUMENT, ["16", "0"]),
    "part of an element": (request(raw_input_contents=[X.tobytes()[:-1]]), Code.INVALID_ARGUMENT, ["15", "16"]),
    "no data": (request(raw_input_contents=[]), Code.INVALID_ARGUMENT, ["X"]),
    "surplus raw entry": (request(raw_input_contents=[X.tobytes(), b""]), Code.INVALID_ARGUMENT, ["raw_input_contents"]),
    "raw and typed": (typed([X.tobytes()], fp32_contents=X), Code.INVALID_ARGUMENT, ["contents"]),
    "typed, another array": (typed(int_contents=[1, 2, 3, 4]), Code.INVALID_ARGUMENT, ["contents"]),
    "typed, two arrays": (typed(fp32_contents=X, fp64_contents=X), Code.INVALID_ARGUMENT, ["contents"]),
    **{f"typed, beside {field}": (typed(fp32_contents=X, **{field: [value]}), Code.INVALID_ARGUMENT, ["contents"])
       for field, value in {"bool_contents": True, "int_contents": 1, "int64_contents": 1, "uint_contents": 1,
                            "uint64_contents": 1, "bytes_contents": b"1"}.items()},
    "typed, too few": (typed(fp32_contents=X[:3]), Code.INVALID_ARGUMENT, ["3", "4"]),
    "typed, too many": (typed(fp32_contents=[1] * 5), Code.INVALID_ARGUMENT, ["20", "16"]),
    "typed FP16": (typed(datatype="FP16", fp32_contents=X), Code.INVALID_ARGUMENT, ["FP16", "raw"]),
    "typed BF16": (typed(datatype="BF16", fp32_contents=X), Code.INVALID_ARGUMENT, ["BF16", "raw"]),
    "alpha as text": (parameter("alpha", "string_param", "1"), Code.INVALID_ARGUMENT, ["alpha"]),
    "alpha as bool": (parameter("alpha", "bool_param", True), Code.INVALID_ARGUMENT, ["alpha"]),
    "alpha as uint64": (parameter("alpha", "uint64_param", 1), Code.INVALID_ARGUMENT, ["alpha"]),
    "priority as text": (parameter("priority", "string_param", "1"), Code.INVALID_ARGUMENT, ["priority"]),
    "negative priority": (parameter("priority", "int64_param", -1), Code.INVALID_ARGUMENT, ["priority", "-1"]),
    "timeout as text": (parameter("timeout", "string_param", "1"), Code.INVALID_ARGUMENT, ["timeout"]),
    "negative timeout": (parameter("timeout", "int64_param", -1), Code.INVALID_ARGUMENT, ["timeout", "-1"]),
    "empty final response as number": (parameter("triton_enable_empty_final_response", "int64_param", 1),
                                       Code.INVALID_ARGUMENT, ["triton_enable_empty_final_response"]),
    "reserved parameter": (parameter("triton_no_such_thing", "bool_param", True), Code.INVALID_ARGUMENT,
                           ["triton_no_such_thing"]),
    "unknown parameter as uint64": (parameter("mine", "uint64_param", 1), Code.INVALID_ARGUMENT, ["mine"]),
}


class Refusal(ServedTestCase):
    maxDiff = None

    def assertAlive(self):
        self.assertSameBits(raw_result(self.stub.ModelInfer(request())), thresholded_relu(X))

    def test_wrong_requests(self):
        self.assertAlive()  # what all of them are but for one thing
        for what, (wrong, code, words) in WRONG.items():
            with self.subTest(what):
                with self.refused(code, naming=words):
                    self.stub.ModelInfer(wrong)
                self.assertAlive()

    def test_the_same_on_a_stream(self):
        answers = list(self.stub.ModelStreamInfer(iter([wrong for wrong, _, _ in WRONG.values()]), timeout=60))
        self.assertEqual(len(answers), len(WRONG))
        for answer, (what, (_, code, words)) in zip(answers, WRONG.items()):
            with self.subTest(what):
                self.assertEqual(answer.infer_response.parameters["grpc_status_code"].int64_param, code.value[0])
                self.assertNames(answer.error_message, words)

    def test_messages_are_short_and_printable(self):
        nasty = "\n\x1b[31m\u00e9" * 2000
        with self.assertRaises(Exception) as caught:
            self.stub.ModelInfer(request(model_name=nasty))
        self.assertRegex(caught.exception.details(), r"\A[ -~]{1,512}\Z")

    def test_compression_is_refused_and_the_connection_lives(self):
        x = numbers("FP32", 10000)
        for algorithm in ("gzip", "deflate"):
            with self.subTest(algorithm):
                with self.refused(Code.UNIMPLEMENTED):
                    self.client.infer("thresholded_relu", [tensor_input("FP32", x)], compression_algorithm=algorithm)
                answer = self.client.infer("thresholded_relu", [tensor_input("FP32", x)])
                self.assertSameBits(answer.as_numpy("Y"), thresholded_relu(x))

    def test_repository_is_off_by_default(self):
        for call in (self.client.load_model, self.client.unload_model):
            with self.refused(Code.UNIMPLEMENTED, naming="--model-repository"):
                call("thresholded_relu")


class SmallMessages(ServedTestCase):
    FLAGS = ("--max-message-bytes", "1MiB")

    def test_larger_one_is_refused(self):
        with self.refused(Code.RESOURCE_EXHAUSTED):
            self.client.infer("thresholded_relu", [tensor_input("FP32", numbers("FP32", 1 << 18))])  # and a header
        x = numbers("FP32", (1 << 18) - 256)
        answer = self.client.infer("thresholded_relu", [tensor_input("FP32", x)])
        self.assertSameBits(answer.as_numpy("Y"), thresholded_relu(x))


if __name__ == "__main__":
    unittest.main()
