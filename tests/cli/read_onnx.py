#!/usr/bin/env python3
"""Reads an ONNX file without the code that wrote it and evaluates it: protocol buffers field by field, then the graph
operation by operation in plain Python. Also runs onnx.checker where the package is there.

usage: read_onnx.py FILE.onnx X,X,X [X,X,X ...]   prints the outputs, of the last row where there are several
"""
import math
import struct
import sys


def fields(data):
    """(number, value) of every field of a message; value: int or bytes."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = number()
        if key & 7 == 0:
            yield key >> 3, number()
        elif key & 7 == 2:
            length = number()
            if at + length > len(data):
                raise ValueError("a field runs beyond its message")
            yield key >> 3, data[at : at + length]
            at += length
        else:
            raise ValueError(f"wire type {key & 7}")


def tensor(data):
    dims, name, raw, kind = [], "", b"", 0
    for number, value in fields(data):
        if number == 1:
            dims.append(value)
        elif number == 2:
            kind = value
        elif number == 8:
            name = value.decode()
        elif number == 9:
            raw = value
    if kind == 7:
        return name, list(struct.unpack(f"<{math.prod(dims)}q", raw))
    if kind != 11:
        raise ValueError(f"tensor {name}: data type {kind}, expected 11 (double)")
    count = math.prod(dims)
    if len(raw) != 8 * count:
        raise ValueError(f"tensor {name}: {len(raw)} bytes for {count} numbers")
    flat = list(struct.unpack(f"<{count}d", raw))
    if len(dims) > 1 and dims[0] == 1 and name in "WRB":  # one direction of a recurrent layer
        dims = dims[1:]
    if len(dims) == 1:
        return name, flat
    return name, [flat[r * dims[1] : (r + 1) * dims[1]] for r in range(dims[0])]


def node(data):
    inputs, outputs, op, attributes = [], [], "", {}
    for number, value in fields(data):
        if number == 1:
            inputs.append(value.decode())
        elif number == 2:
            outputs.append(value.decode())
        elif number == 4:
            op = value.decode()
        elif number == 5:
            one = dict(fields(value))
            attributes[one[1].decode()] = one[3]
    return op, inputs, outputs[0], attributes


def apply(op, values, attributes):
    a = values[0]
    if op == "Gemm":
        rows = values[1] if attributes.get("transB") else [list(c) for c in zip(*values[1])]
        bias = values[2] if len(values) > 2 else [0.0] * len(rows)
        assert all(len(r) == len(a) for r in rows), "Gemm: sizes"
        return [sum(w * x for w, x in zip(r, a)) + b for r, b in zip(rows, bias)]
    if op == "Concat":
        assert attributes["axis"] == 1, "Concat: rows are samples"
        return a + values[1]
    pairs = {"Add": lambda x, y: x + y, "Sub": lambda x, y: x - y, "Mul": lambda x, y: x * y, "Div": lambda x, y: x / y}
    if op in pairs:
        assert len(a) == len(values[1]), f"{op}: sizes"
        return [pairs[op](x, y) for x, y in zip(a, values[1])]
    single = {
        "Tanh": math.tanh,
        "Sigmoid": lambda x: 1 / (1 + math.exp(-x)),
        "Softplus": lambda x: math.log1p(math.exp(-abs(x))) + max(x, 0),
        "Sin": math.sin,
        "Abs": abs,
        "Identity": lambda x: x,
    }
    return [single[op](x) for x in a]


def recurrent(u, W, R, B):
    """LSTM over the steps of u: gates in the order i, o, f, c."""
    n = len(R[0])
    sigmoid = lambda z: 1 / (1 + math.exp(-z))
    h, c, out = [0.0] * n, [0.0] * n, []
    for x in u:
        z = [
            sum(w * v for w, v in zip(W[r], x)) + sum(w * v for w, v in zip(R[r], h)) + B[r] + B[4 * n + r]
            for r in range(4 * n)
        ]
        c = [sigmoid(z[2 * n + k]) * c[k] + sigmoid(z[k]) * math.tanh(z[3 * n + k]) for k in range(n)]
        h = [sigmoid(z[n + k]) * math.tanh(c[k]) for k in range(n)]
        out.append(h)
    return out


def main():
    path = sys.argv[1]
    rows = [[float(v) for v in text.split(",")] for text in sys.argv[2:]]
    x = rows[0]
    with open(path, "rb") as file:
        model = list(fields(file.read()))
    known = {number: value for number, value in model}
    assert known[1] == 8, "IR version"
    opset = dict(fields(known[8]))
    assert opset[2] == 13, "operator set"
    value, nodes = {"x": x}, []
    for number, data in fields(known[7]):
        if number == 1:
            nodes.append(node(data))
        elif number == 5:
            name, numbers = tensor(data)
            value[name] = numbers
    if any(op == "LSTM" for op, *_ in nodes):
        value["x"] = rows
        for op, inputs, output, attributes in nodes:
            given = [value[i] for i in inputs]
            if op == "Unsqueeze":
                assert given[1] == [1]
                value[output] = given[0]
            elif op == "Squeeze":
                assert given[1] == [1, 2]
                value[output] = given[0]
            elif op == "LSTM":
                assert attributes["hidden_size"] == len(given[2][0])
                value[output] = recurrent(*given)
            elif op == "Gemm":
                value[output] = [apply(op, [row] + given[1:], attributes) for row in given[0]]
            else:  # with a row of scales, or row by row
                other = given[1] if isinstance(given[1][0], list) else [given[1]] * len(given[0])
                value[output] = [apply(op, [a, b], attributes) for a, b in zip(given[0], other)]
        value["y"] = value["y"][-1]
        nodes = []
    for op, inputs, output, attributes in nodes:  # in order: what is used must be there
        value[output] = apply(op, [value[i] for i in inputs], attributes)
    try:
        import onnx

        onnx.checker.check_model(onnx.load(path), full_check=True)
    except ImportError:
        pass
    print(" ".join(f"{v:.12g}" for v in value["y"]))


main()
