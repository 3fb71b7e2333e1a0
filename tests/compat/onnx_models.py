"""ONNX models of ThresholdedRelu nodes, and a folder of them laid out as a model repository."""
import os

import onnx
from onnx import TensorProto, helper

ELEMENT_TYPES = {"FP16": TensorProto.FLOAT16, "BF16": TensorProto.BFLOAT16, "FP32": TensorProto.FLOAT,
                 "FP64": TensorProto.DOUBLE}
ABSENT = object()


def node(x, y, alpha=ABSENT, op_type="ThresholdedRelu"):
    made = helper.make_node(op_type, [x], [y])
    if alpha is not ABSENT:  # by hand: the attribute is there also when it is 0
        made.attribute.add(name="alpha", type=onnx.AttributeProto.FLOAT, f=alpha)
    return made


def model(*nodes, datatype="FP32", shape=("n",), opset=22):
    """A model from the first node's input to the last node's output."""
    element = ELEMENT_TYPES[datatype]
    x, y = nodes[0].input[0], nodes[-1].output[0]
    graph = helper.make_graph(list(nodes), "graph", [helper.make_tensor_value_info(x, element, shape)],
                              [helper.make_tensor_value_info(y, element, shape)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def write(repository, name, content, version=1):
    """NAME/VERSION/model.onnx, there at once or not at all; `content` is a model or bytes."""
    folder = os.path.join(repository, name, str(version))
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "model.onnx")
    with open(path + ".part", "wb") as file:
        file.write(content if isinstance(content, bytes) else content.SerializeToString())
    os.replace(path + ".part", path)
