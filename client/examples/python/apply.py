"""Calls a trelu server with nothing but grpcio and generated stubs.

    pip install -r requirements.txt
    python -m grpc_tools.protoc -I ../../../proto --python_out=. --grpc_python_out=. trelu/v1/trelu.proto
    python apply.py localhost:8001
"""
import sys

import grpc
import numpy as np
from trelu.v1 import trelu_pb2 as pb, trelu_pb2_grpc


def chunks(x, alpha, size=1 << 20):
    """One tensor as a stream: what it is first, then its bytes in pieces."""
    data = x.tobytes()  # row-major, little-endian: what numpy holds on common machines
    yield pb.ApplyRequest(tensor=pb.TensorSpec(dtype=pb.DATA_TYPE_FLOAT, shape=x.shape), alpha=alpha)
    for i in range(0, len(data), size):
        yield pb.ApplyRequest(data=data[i : i + size])


with grpc.insecure_channel(sys.argv[1]) as channel:
    trelu = trelu_pb2_grpc.ThresholdedReluStub(channel)

    x = np.array([-1.5, 0.0, 1.2, 2.0, 2.2], dtype=np.float32)
    spec = pb.TensorSpec(dtype=pb.DATA_TYPE_FLOAT, shape=x.shape)
    y = trelu.Apply(pb.ApplyRequest(tensor=spec, alpha=2.0, data=x.tobytes()), timeout=10)
    print("unary: ", np.frombuffer(y.data, np.float32).reshape(y.tensor.shape))

    x = np.arange(4_000_000, dtype=np.float32).reshape(1000, 4000)
    y = b"".join(part.data for part in trelu.ApplyStream(chunks(x, 1000.0), timeout=60))
    y = np.frombuffer(y, np.float32).reshape(x.shape)
    print("stream:", y.shape, "passed", np.count_nonzero(y), "equal", np.array_equal(y, np.where(x > 1000, x, 0)))
