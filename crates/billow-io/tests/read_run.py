"""Reads a run with nothing but docs/formats.md and the standard library, and compares it with the truth.

usage: read_run.py DIRECTORY TRUTH.json
An independent reader: it shares no code with the writer. Checksums are not verified (XXH3 is not in the library).
The last line is "verified ..." if everything agrees.
"""
import json
import math
import os
import struct
import sys

# Element types: struct code and width of a component, components, whether it is a float.
ELEMENTS = {1: ("d", 8, 3, True), 2: ("i", 4, 1, False), 3: ("f", 4, 1, True), 4: ("f", 4, 3, True),
            18: ("I", 4, 2, False), 19: ("I", 4, 3, False), 20: ("I", 4, 4, False)}


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        assert self.at + n <= len(self.data), "the data end too early"
        self.at += n
        return self.data[self.at - n:self.at]

    def get(self, code):
        values = struct.unpack("<" + code, self.take(struct.calcsize("<" + code)))
        return values[0] if len(values) == 1 else values

    def text(self):
        return self.take(self.get("I")).decode("utf-8")


def payload(path, content):
    data = open(path, "rb").read()
    assert data[:8] == b"BILLOW\x1a" + content, path
    version, length = struct.unpack("<IQ", data[8:20])
    assert version == 1 and len(data) == length + 28, path
    return Bytes(data[20:-8])


def lz4_block(data):
    out, at = bytearray(), 0
    while at < len(data):
        token = data[at]
        at += 1
        literals = token >> 4
        if literals == 15:
            while True:
                literals += data[at]
                at += 1
                if data[at - 1] != 255:
                    break
        out += data[at:at + literals]
        at += literals
        if at >= len(data):
            break
        offset = data[at] | data[at + 1] << 8
        at += 2
        length = (token & 15) + 4
        if token & 15 == 15:
            while True:
                length += data[at]
                at += 1
                if data[at - 1] != 255:
                    break
        for _ in range(length):
            out.append(out[-offset])
    return bytes(out)


def differences(packing, data, n, columns, width):
    if packing == 1:
        planes = lz4_block(data)
        size = n * width
        return [[sum(planes[c * size + b * n + i] << 8 * b for b in range(width)) for i in range(n)]
                for c in range(columns)]
    result, at = [], 0
    for _ in range(columns):
        column = []
        while len(column) < n:
            count, bits = min(64, n - len(column)), data[at]
            size = (count * bits + 7) // 8
            number = int.from_bytes(data[at + 1:at + 1 + size], "little")
            column += [number >> k * bits & (1 << bits) - 1 for k in range(count)]
            at += 1 + size
        result.append(column)
    return result


def restore(column, predictor, row, code, width, is_float):
    modulus, half, numbers = 1 << 8 * width, 1 << 8 * width - 1, []
    unsigned = "Q" if width == 8 else "I"

    def rounded(x):
        if code != "f" or math.isnan(x) or math.isinf(x):
            return x
        try:
            return struct.unpack("<f", struct.pack("<f", x))[0]
        except OverflowError:
            return math.copysign(math.inf, x)

    def plane(a, b, c):
        return rounded(rounded(a + b) - c) if is_float else (a + b - c) % modulus

    def order(x):
        if not is_float:
            return x % modulus
        bits = struct.unpack("<" + unsigned, struct.pack("<" + code, x))[0]
        return bits + half if bits < half else modulus - 1 - bits

    def disorder(o):
        if not is_float:
            return o
        bits = o - half if o >= half else modulus - 1 - o
        return struct.unpack("<" + code, struct.pack("<" + unsigned, bits))[0]

    for i, z in enumerate(column):
        if i == 0 or predictor == 0:
            guess = 0
        elif predictor == 1 or predictor == 2 and i == 1 or predictor == 3 and i <= row:
            guess = numbers[i - 1]
        elif predictor == 2:
            guess = plane(numbers[i - 1], numbers[i - 1], numbers[i - 2])
        else:
            guess = plane(numbers[i - 1], numbers[i - row], numbers[i - row - 1])
        if is_float and math.isnan(guess):
            guess = 0
        d = z // 2 if z % 2 == 0 else -(z + 1) // 2
        numbers.append(disorder((order(guess) + d) % modulus))
    return numbers


def packed_array(source):
    kind, n, packing, predictor, row, size = source.get("BQBBIQ")
    code, width, components, is_float = ELEMENTS[kind]
    data = source.take(size)
    if packing == 0:
        numbers = struct.unpack(f"<{n * components}{code}", data)
        return [list(numbers[k:k + components]) for k in range(0, len(numbers), components)]
    columns = [restore(column, predictor, row, code, width, is_float)
               for column in differences(packing, data, n, components, width)]
    if code == "i":
        columns = [[x - (1 << 32) if x >= 1 << 31 else x for x in column] for column in columns]
    return [list(element) for element in zip(*columns)]


def array(source, run):
    if source.get("B") == 0:
        return packed_array(source)
    name = f"{int.from_bytes(source.take(16), 'little'):032x}.array"
    return packed_array(payload(os.path.join(run, "shared", name), b"A"))


def read_object(source, run):
    found = {"name": source.text(), "pose": source.get("7d")}
    shape = source.get("B")
    if shape == 4:
        found["grid"] = source.get("4d3I")
        found["values"] = array(source, run)
    else:
        found["positions"] = array(source, run)
        if shape != 2:
            found["elements"] = array(source, run)
    found["kind"] = ["triangles", "tets", "points", "lines", "grid"][shape]
    found["attributes"] = {}
    for _ in range(source.get("I")):
        name, _domain, _kind = source.text(), source.get("B"), source.get("B")
        found["attributes"][name] = array(source, run)
    return found


def world(pose, p):
    x, y, z, qx, qy, qz, w = pose
    t = [2 * (qy * p[2] - qz * p[1]), 2 * (qz * p[0] - qx * p[2]), 2 * (qx * p[1] - qy * p[0])]
    return [p[0] + w * t[0] + qy * t[2] - qz * t[1] + x,
            p[1] + w * t[1] + qz * t[0] - qx * t[2] + y,
            p[2] + w * t[2] + qx * t[1] - qy * t[0] + z]


def main():
    run, truth = sys.argv[1], json.load(open(sys.argv[2], encoding="utf-8"))
    manifest = json.load(open(os.path.join(run, "billow.json"), encoding="utf-8"))
    assert manifest["billow_run_format"] == 1 and manifest["fps"] == truth["fps"]
    names = sorted(name for name in os.listdir(os.path.join(run, "frames")) if not name.startswith("."))
    assert names == [f"{frame['index']:06}.frame" for frame in truth["frames"]], names
    compared = 0
    for name, frame in zip(names, truth["frames"]):
        source = payload(os.path.join(run, "frames", name), b"F")
        index, _time = source.get("Id")
        assert index == frame["index"]
        for _ in range(source.get("I")):
            source.text(), source.get("d")
        objects = [read_object(source, run) for _ in range(source.get("I"))]
        assert source.at == len(source.data), "bytes are left over"
        for found in objects:
            if found["kind"] == "grid":
                assert len(found["values"]) == found["grid"][4] * found["grid"][5] * found["grid"][6]
                continue
            expected = frame["objects"][found["name"]]
            assert found["kind"] == expected["kind"]
            moved = [world(found["pose"], p) for p in found["positions"]]
            assert len(moved) == len(expected["positions"])
            if list(found["pose"]) == [0, 0, 0, 0, 0, 0, 1]:
                assert found["positions"] == expected["positions"], found["name"]
            for p, q in zip(moved, expected["positions"]):
                assert all(abs(a - b) < 1e-12 for a, b in zip(p, q)), (found["name"], p, q)
            if found["kind"] == "triangles":
                assert [v for t in found["elements"] for v in t] == expected["indices"]
            if "velocities" in expected:
                assert found["attributes"]["velocity"] == expected["velocities"]
            for primvar, (_, values) in expected.get("primvars", {}).items():
                assert [v for [v] in found["attributes"][primvar]] == values, primvar
            compared += len(moved)
    print(f"verified {len(names)} frames, {compared} points")


main()
