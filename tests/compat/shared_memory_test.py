"""Triton's helpers for system shared memory: tensors that never cross the socket."""
import itertools
import mmap
import os
import queue
import unittest

import numpy as np
import tritonclient.grpc as triton
import tritonclient.utils.shared_memory as shm

from operator_oracle import TYPES, numbers, thresholded_relu
from served_test_case import Code, ServedTestCase, raw_request, raw_result, tensor_input

PREFIX = f"/trelu_compat_{os.getpid()}_"
PAGE = mmap.PAGESIZE
count = itertools.count()


def shared(name, size, offset=0):
    """Triton's description of an input that lies in a region."""
    return triton.InferInput("X", [size // 4], "FP32").set_shared_memory(name, size, offset)


def into(name, size, offset=0):
    output = triton.InferRequestedOutput("Y")
    output.set_shared_memory(name, size, offset)
    return output


class SharedMemoryTestCase(ServedTestCase):
    def create(self, size, prefix=PREFIX):
        """A new object of `size` bytes: its handle, and its key."""
        key = f"{prefix}{next(count)}"
        handle = shm.create_shared_memory_region(key, key, size, create_only=True)
        self.addCleanup(shm.destroy_shared_memory_region, handle)
        return handle, key

    def region(self, name, size):
        """The same, registered with the server as `name`."""
        handle, key = self.create(size)
        self.client.register_system_shared_memory(name, key, size)
        self.addCleanup(self.client.unregister_system_shared_memory, name)
        return handle, key


class SharedMemory(SharedMemoryTestCase):
    FLAGS = ("--shared-memory-prefix", PREFIX)

    def test_input_and_output_of_every_type(self):
        for datatype, (dtype, _) in TYPES.items():
            for shape in ([], [1000], [0], [3, 5, 7]):
                with self.subTest(datatype=datatype, shape=shape):
                    x = numbers(datatype, shape)
                    source, _ = self.region(f"source {datatype} {shape}", max(x.nbytes, 1))
                    target, _ = self.region(f"target {datatype} {shape}", max(x.nbytes, 1))
                    shm.set_shared_memory_region(source, [x.reshape(-1)])
                    given = triton.InferInput("X", shape, datatype)
                    given.set_shared_memory(f"source {datatype} {shape}", x.nbytes)
                    answer = self.client.infer("thresholded_relu", [given], request_id="shared",
                                               outputs=[into(f"target {datatype} {shape}", x.nbytes)]).get_response()
                    self.assertEqual(answer.id, "shared")
                    self.assertEqual([(y.name, y.datatype, list(y.shape)) for y in answer.outputs], [("Y", datatype, shape)])
                    self.assertEqual(list(answer.raw_output_contents), [b""])
                    y = shm.get_contents_as_numpy(target, dtype, shape)
                    self.assertSameBits(y, thresholded_relu(x))
                    del y  # the object cannot be closed while an array looks into it

    def test_one_side_alone(self):
        x = numbers("FP32", 1000)
        handle, _ = self.region("side", x.nbytes)
        shm.set_shared_memory_region(handle, [x])
        answer = self.client.infer("thresholded_relu", [shared("side", x.nbytes)])
        self.assertSameBits(answer.as_numpy("Y"), thresholded_relu(x))
        other = numbers("FP32", 1000, seed=2)
        self.client.infer("thresholded_relu", [tensor_input("FP32", other)], outputs=[into("side", x.nbytes)])
        self.assertSameBits(shm.get_contents_as_numpy(handle, np.float32, x.shape).copy(), thresholded_relu(other))

    def test_in_place_and_side_by_side(self):
        x = numbers("FP32", 1000)
        size = x.nbytes
        handle, _ = self.region("both", 3 * size)
        # The same range; the neighbour behind; the neighbour before, not aligned for anything.
        for source, target in ((0, 0), (0, size), (size + 1, 1)):
            with self.subTest(source=source, target=target):
                shm.set_shared_memory_region(handle, [np.full(3 * size, 0xA5, np.uint8)])
                shm.set_shared_memory_region(handle, [np.frombuffer(x.tobytes(), np.uint8)], source)
                self.client.infer("thresholded_relu", [shared("both", size, source)], outputs=[into("both", size, target)])
                expected = np.full(3 * size, 0xA5, np.uint8)
                expected[source:source + size] = np.frombuffer(x.tobytes(), np.uint8)
                expected[target:target + size] = np.frombuffer(thresholded_relu(x).tobytes(), np.uint8)
                self.assertSameBits(shm.get_contents_as_numpy(handle, np.uint8, [3 * size]).copy(), expected)

    def test_partial_overlap_is_refused(self):
        _, key = self.region("one", 4 * 4096)
        self.client.register_system_shared_memory("same object", key, 4 * 4096)
        self.addCleanup(self.client.unregister_system_shared_memory, "same object")
        for name in ("one", "same object"):
            for source, target in ((0, 4), (4, 0), (0, 4092), (100, 99)):
                with self.subTest(name, source=source, target=target):
                    with self.refused(Code.INVALID_ARGUMENT, naming="overlap"):
                        self.client.infer("thresholded_relu", [shared("one", 4096, source)],
                                          outputs=[into(name, 4096, target)])

    def test_range_outside_of_the_region_is_refused(self):
        self.region("small", 4096)
        x = numbers("FP32", 1024)
        for size, offset in ((4096, 4), (4096, 4096), (8192, 0), (4, 4096), (4096, 1 << 62)):
            with self.subTest(size=size, offset=offset):
                with self.refused(Code.INVALID_ARGUMENT, naming="small"):
                    self.client.infer("thresholded_relu", [shared("small", size, offset)])
                with self.refused(Code.INVALID_ARGUMENT, naming="small"):
                    self.client.infer("thresholded_relu", [tensor_input("FP32", x)], outputs=[into("small", size, offset)])
        for size in (4092, 4100, 0):  # not what the shape needs; for an output, less than it needs
            with self.subTest(size=size), self.refused(Code.INVALID_ARGUMENT, naming=[str(size), "4096"]):
                given = triton.InferInput("X", [1024], "FP32").set_shared_memory("small", size)
                self.client.infer("thresholded_relu", [given])
        with self.refused(Code.INVALID_ARGUMENT, naming=["4092", "4096"]):
            self.client.infer("thresholded_relu", [tensor_input("FP32", x)], outputs=[into("small", 4092)])

    def test_unknown_region(self):
        with self.refused(Code.NOT_FOUND, naming="nowhere"):
            self.client.infer("thresholded_relu", [shared("nowhere", 16)])
        with self.refused(Code.NOT_FOUND, naming="nowhere"):
            self.client.infer("thresholded_relu", [tensor_input("FP32", numbers("FP32", 4))], outputs=[into("nowhere", 16)])
        with self.refused(Code.NOT_FOUND, naming="nowhere"):
            self.client.get_system_shared_memory_status("nowhere")
        self.client.unregister_system_shared_memory("nowhere")  # as Triton: well

    def test_raw_data_and_region_together_are_refused(self):
        self.region("twice", 16)
        request = raw_request(numbers("FP32", 4))
        request.inputs[0].parameters["shared_memory_region"].string_param = "twice"
        request.inputs[0].parameters["shared_memory_byte_size"].int64_param = 16
        with self.refused(Code.INVALID_ARGUMENT, naming="raw_input_contents"):
            self.stub.ModelInfer(request)

    def test_status_lists_what_is_registered(self):
        _, key = self.region("listed", 5000)
        for status in (self.client.get_system_shared_memory_status(), self.client.get_system_shared_memory_status("listed")):
            region = status.regions["listed"]
            self.assertEqual((region.name, region.key, region.offset, region.byte_size), ("listed", key, 0, 5000))
        with self.refused(Code.ALREADY_EXISTS, naming="listed"):
            self.client.register_system_shared_memory("listed", key, 5000)
        self.client.register_system_shared_memory("listed again", key, 5000)  # one object, two names
        self.client.unregister_system_shared_memory("listed")
        self.assertNotIn("listed", self.client.get_system_shared_memory_status().regions)
        self.client.unregister_system_shared_memory()
        self.assertEqual(len(self.client.get_system_shared_memory_status().regions), 0)

    def test_part_of_an_object(self):
        handle, key = self.create(3 * PAGE)
        x = numbers("FP32", PAGE // 4)
        for offset in (PAGE, 100):  # at a page, and not
            with self.subTest(offset=offset):
                shm.set_shared_memory_region(handle, [x], offset)
                self.client.register_system_shared_memory("part", key, PAGE, offset)
                answer = self.client.infer("thresholded_relu", [shared("part", PAGE)])
                self.assertSameBits(answer.as_numpy("Y"), thresholded_relu(x))
                self.client.unregister_system_shared_memory("part")

    def test_objects_that_cannot_be_registered(self):
        _, key = self.create(PAGE)
        for what, wrong_key, size, offset in (("larger than the object", key, PAGE * 2, 0), ("empty", key, 0, 0),
                                              ("behind the object", key, PAGE, PAGE), ("wraps", key, PAGE, (1 << 64) - PAGE)):
            with self.subTest(what), self.refused(Code.INVALID_ARGUMENT):
                self.client.register_system_shared_memory("wrong", wrong_key, size, offset)
        with self.refused(Code.NOT_FOUND):
            self.client.register_system_shared_memory("wrong", PREFIX + "no_such_object", PAGE)
        _, foreign = self.create(PAGE, prefix="/trelu_compat_foreign_")
        with self.refused(Code.INVALID_ARGUMENT, naming="--shared-memory-prefix"):
            self.client.register_system_shared_memory("wrong", foreign, PAGE)
        for wrong_key in ("/" + foreign, "", "/", PREFIX + "../" + foreign[1:]):
            with self.subTest(wrong_key), self.refused(Code.INVALID_ARGUMENT, naming="key"):
                self.client.register_system_shared_memory("wrong", wrong_key, PAGE)
        self.assertNotIn("wrong", self.client.get_system_shared_memory_status().regions)

    def test_object_that_shrinks(self):
        x = numbers("FP32", 1 << 20)
        handle, key = self.region("shrinks", x.nbytes)
        shm.set_shared_memory_region(handle, [x])
        os.truncate("/dev/shm" + key, PAGE)
        with self.refused(Code.FAILED_PRECONDITION, naming="shrinks"):
            self.client.infer("thresholded_relu", [shared("shrinks", x.nbytes)], outputs=[into("shrinks", x.nbytes)])
        self.assertTrue(self.client.is_server_live())

    def test_unregister_while_streaming(self):
        x = numbers("FP32", 1 << 18)
        handle, _ = self.region("leaves", x.nbytes)
        shm.set_shared_memory_region(handle, [x])
        answers = queue.Queue()
        self.client.start_stream(lambda result, error: answers.put(error or result))
        for i in range(10):
            self.client.async_stream_infer("thresholded_relu", [shared("leaves", x.nbytes)], request_id=f"early {i}")
        first = answers.get(timeout=60)
        self.client.unregister_system_shared_memory("leaves")
        self.client.async_stream_infer("thresholded_relu", [shared("leaves", x.nbytes)], request_id="late")
        self.client.async_stream_infer("thresholded_relu", [tensor_input("FP32", x)], request_id="socket")
        self.client.stop_stream()
        received = [first] + [answers.get(timeout=60) for _ in range(11)]
        for i, answer in enumerate(received[:10]):  # right, or too late: never wrong
            if isinstance(answer, triton.InferResult):
                self.assertSameBits(answer.as_numpy("Y"), thresholded_relu(x))
            else:
                self.assertNames(answer.message(), [f"early {i}", "leaves"])
        self.assertIsInstance(received[0], triton.InferResult)
        self.assertNames(received[10].message(), ["late", "leaves"])
        self.assertSameBits(received[11].as_numpy("Y"), thresholded_relu(x))

    def test_server_metadata(self):
        self.assertIn("system_shared_memory", self.client.get_server_metadata().extensions)

    def test_cuda(self):
        self.client.unregister_cuda_shared_memory()
        with self.refused(Code.UNIMPLEMENTED):
            self.client.unregister_cuda_shared_memory("cuda")
        with self.refused(Code.UNIMPLEMENTED):
            self.client.register_cuda_shared_memory("cuda", b"AAAA", 0, 16)
        with self.refused(Code.UNIMPLEMENTED):
            self.client.get_cuda_shared_memory_status()


class EveryKey(SharedMemoryTestCase):
    FLAGS = ("--shared-memory-prefix", "/")

    def test_any_key_is_taken(self):
        x = numbers("FP32", 16)
        for prefix in ("/trelu_compat_any_", "trelu_compat_no_slash_"):
            with self.subTest(prefix):
                handle, key = self.create(x.nbytes, prefix=f"{prefix}{os.getpid()}_")
                shm.set_shared_memory_region(handle, [x])
                self.client.register_system_shared_memory("any", key, x.nbytes)
                answer = self.client.infer("thresholded_relu", [shared("any", x.nbytes)])
                self.assertSameBits(answer.as_numpy("Y"), thresholded_relu(x))
                self.client.unregister_system_shared_memory("any")


class SwitchedOff(SharedMemoryTestCase):
    def test_off_by_default(self):
        _, key = self.create(PAGE)
        with self.refused(Code.UNIMPLEMENTED, naming="--shared-memory-prefix"):
            self.client.register_system_shared_memory("off", key, PAGE)
        with self.refused(Code.UNIMPLEMENTED, naming="--shared-memory-prefix"):
            self.client.infer("thresholded_relu", [shared("off", PAGE)])
        self.assertEqual(len(self.client.get_system_shared_memory_status().regions), 0)
        x = numbers("FP32", 4)
        self.assertSameBits(raw_result(self.stub.ModelInfer(raw_request(x))), thresholded_relu(x))


if __name__ == "__main__":
    unittest.main()
