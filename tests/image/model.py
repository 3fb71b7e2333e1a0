"""A model for --model-repository, and a question to it, without a package for ONNX or for the protocol.

    model.py write FOLDER    makes FOLDER/threshold/1/model.onnx: x -> y, float32 [N], alpha 2
    model.py ask TARGET      sends it ONNX's example; fails unless every bit of the answer is as expected. Needs grpcio
"""
import pathlib
import struct
import sys

X = struct.pack("<5f", -1.5, 0, 1.2, 2, 2.2)
Y = struct.pack("<5f", 0, 0, 0, 0, 2.2)


def varint(number):
    low = number & 0x7f
    return bytes([low]) if number < 0x80 else bytes([low | 0x80]) + varint(number >> 7)


def field(number, value):
    """Of a protobuf message: int as varint, float as 32 bits, text and bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def model():
    """ONNX's ModelProto."""
    def value_info(name):
        shape = field(1, field(2, "N"))
        return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))

    alpha = field(1, "alpha") + field(2, 2.0) + field(20, 1)
    node = field(1, "x") + field(2, "y") + field(4, "ThresholdedRelu") + field(5, alpha)
    graph = field(1, node) + field(2, "threshold") + field(11, value_info("x")) + field(12, value_info("y"))
    return field(1, 8) + field(7, graph) + field(8, field(2, 17))


def request():
    """The protocol's ModelInferRequest."""
    tensor = field(1, "x") + field(2, "FP32") + field(3, 5)
    return field(1, "threshold") + field(5, tensor) + field(7, X)


def ask(target):
    import grpc
    with grpc.insecure_channel(target) as channel:
        answer = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer")(request(), timeout=20)
    if not answer.endswith(field(6, Y)):
        sys.exit(f"model: the answer is {answer.hex()}, expected it to end in {field(6, Y).hex()}")


def main():
    match sys.argv[1:]:
        case ["write", folder]:
            path = pathlib.Path(folder, "threshold/1/model.onnx")
            path.parent.mkdir(parents=True)
            path.write_bytes(model())
        case ["ask", target]:
            ask(target)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
