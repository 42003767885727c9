"""The oracle of Heddle's tests: NumPy says what a graph's values are.

A long-lived process. A message is the length of its JSON head (8 bytes, little-endian), the head,
and the buffers that the head announces, one after another; so are the answers.

  {"graph": TEXT, "contract": BOOL, "inputs": [{"dtype", "shape"} ...]} + inputs
    -> {"outputs": [{"dtype", "shape", "ambiguous"} ...]} + for each output its values, then its
       tolerances as float64. `ambiguous` counts elements of infinite tolerance (evaluate.py).
  {"python": CODE, "inputs": [{"name", "dtype", "shape"} ...]} + inputs
    -> runs CODE with np, ml_dtypes and the inputs by name. What it leaves in `result`, an array or
       a tuple of arrays, are the outputs; a string is answered as {"text": STRING}.
  Any failure -> {"error": MESSAGE, "type": PYTHON'S TYPE}
"""

import json
import struct
import sys

import ml_dtypes
import numpy as np

import dtypes
import evaluate
import graph_text


def read_exactly(stream, count):
    data = stream.read(count)
    if len(data) != count:
        raise EOFError
    return data


def read_message(stream):
    (length,) = struct.unpack("<Q", read_exactly(stream, 8))
    head = json.loads(read_exactly(stream, length))
    arrays = []
    for entry in head["inputs"]:
        dtype, shape = dtypes.BY_NAME[entry["dtype"]], tuple(entry["shape"])
        count = int(np.prod(shape, dtype=np.int64))
        data = bytearray(read_exactly(stream, count * dtype.itemsize))
        arrays.append(np.frombuffer(data, dtype, count).reshape(shape))
    return head, arrays


def write_message(stream, head, buffers):
    text = json.dumps(head).encode()
    stream.write(struct.pack("<Q", len(text)))
    stream.write(text)
    for buffer in buffers:
        stream.write(np.ascontiguousarray(buffer).tobytes())
    stream.flush()


def describe(array):
    if array.dtype not in dtypes.NAME_OF:
        raise TypeError(f"the result is of dtype {array.dtype}, which Heddle does not have")
    return {"dtype": dtypes.NAME_OF[array.dtype], "shape": list(array.shape)}


def answer_graph(head, inputs):
    graph = graph_text.parse(head["graph"], [x.shape for x in inputs])
    run = evaluate.Evaluation(graph, inputs, head["contract"])
    entries, buffers = [], []
    for id in graph.outputs:
        tolerance = run.tolerance(id)
        assert tolerance.shape == run.values[id].shape
        entries.append(describe(run.values[id]) | {"ambiguous": int(np.isinf(tolerance).sum())})
        buffers += [run.values[id], tolerance.astype(np.float64)]
    return {"outputs": entries}, buffers


def answer_python(head, inputs):
    names = {"np": np, "ml_dtypes": ml_dtypes}
    names |= {entry["name"]: array for entry, array in zip(head["inputs"], inputs)}
    with np.errstate(all="ignore"):
        exec(head["python"], names)
    result = names["result"]
    if isinstance(result, str):
        return {"outputs": [], "text": result}, []
    arrays = [np.asarray(x) for x in (result if isinstance(result, tuple) else (result,))]
    buffers = []
    for array in arrays:
        buffers += [array, np.zeros(array.shape)]
    return {"outputs": [describe(x) | {"ambiguous": 0} for x in arrays]}, buffers


def main():
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    while True:
        try:
            head, inputs = read_message(requests)
        except EOFError:
            return
        try:
            answer = answer_graph if "graph" in head else answer_python
            write_message(answers, *answer(head, inputs))
        except Exception as error:
            write_message(answers, {"error": str(error), "type": type(error).__name__}, [])


if __name__ == "__main__":
    main()
