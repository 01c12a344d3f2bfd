"""A server of a policy for tests, by the public protocols, of Python's own library alone.

    policy_server.py openvla|openpi MODE     a line {"type": "listening", "port": N}, then it serves

It says what a question lacks; a good one gets a chunk that is made of it, so that a test sees what arrived. MODE "good", or
a way to misbehave. openpi: RFC 6455 and the msgpack of openpi-client's msgpack_numpy, written from the specifications.
"""

import base64
import hashlib
import http.server
import json
import os
import socket
import struct
import sys

MODE = sys.argv[2]


def listening(port):
    print(json.dumps({"type": "listening", "port": port}), flush=True)


def listen():
    server = socket.create_server(("127.0.0.1", 0))
    listening(server.getsockname()[1])
    return server


# ---- what a question has ----------------------------------------------------------------------------------------------


def pixel(data, shape):
    """The picture's first pixel, by which a test knows it."""
    height, width, depth = shape
    assert depth == 3 and len(data) == height * width * 3, f"a picture of {len(data)} bytes, shape {shape}"
    return list(data[:3]) + [width, height]


def row(seen):
    """Seven numbers that tell what came: of the picture, the numbers and the words."""
    return [seen["picture"][0] / 10000.0, seen["picture"][3] / 10000.0, seen.get("number", 0.0), 0.0, 0.0, len(seen["words"]) / 1000.0, 1.0]


# ---- OpenVLA ----------------------------------------------------------------------------------------------------------


def openvla_answer(question):
    image = question["image"]
    assert image["dtype"] in ("|u1", "uint8"), image["dtype"]
    seen = {"picture": pixel(base64.b64decode(image["__numpy__"]), image["shape"]), "words": question["instruction"]}
    seen["number"] = 0.001 if question.get("unnorm_key") == "bridge_orig" else 0.0
    good = row(seen)
    packed = {"__numpy__": base64.b64encode(struct.pack("<7d", *good)).decode(), "dtype": "<f8", "shape": [7]}
    return {
        "good": json.dumps(packed),
        "list": json.dumps([good, good]),
        "error": json.dumps("error"),
        "nan": json.dumps([float("nan")] * 7),  # Python's own JSON has NaN
        "numpy_nan": json.dumps({**packed, "__numpy__": base64.b64encode(struct.pack("<7d", *([float("nan")] * 7))).decode()}),
        "width": json.dumps(good[:6]),
        "shape": json.dumps({**packed, "shape": [700000000]}),
        "negative": json.dumps({**packed, "shape": [-1, -7]}),
        "dtype": json.dumps({**packed, "dtype": "|O"}),
        "bytes": json.dumps({**packed, "__numpy__": "AAAA"}),
        "words": json.dumps(["left"] * 7),
        "ragged": json.dumps([good, good[:3]]),
        "text": "<html>",
    }[MODE]


class OpenVLA(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.path == "/act", self.path
        if MODE == "midway":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n[0.1,")
            return
        if MODE == "huge":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n" + b" " * (5 << 20))
            return
        body = openvla_answer(question).encode()
        self.send_response(500 if MODE == "error" else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


# ---- msgpack, as much of it as openpi has -------------------------------------------------------------------------------


def pack(v):
    if isinstance(v, bool) or v is None:
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[v]
    if isinstance(v, int):
        return struct.pack(">Bq", 0xD3, v)
    if isinstance(v, float):
        return struct.pack(">Bd", 0xCB, v)
    if isinstance(v, bytes):
        return struct.pack(">BI", 0xC6, len(v)) + v
    if isinstance(v, str):
        return struct.pack(">BI", 0xDB, len(v.encode())) + v.encode()
    if isinstance(v, (list, tuple)):
        return struct.pack(">BI", 0xDD, len(v)) + b"".join(map(pack, v))
    return struct.pack(">BI", 0xDF, len(v)) + b"".join(pack(k) + pack(x) for k, x in v.items())


def unpack(data, at=0):
    """(value, where it ends)"""
    code = data[at]
    at += 1

    def number(form):
        size = struct.calcsize(form)
        return struct.unpack_from(form, data, at)[0], at + size

    def many(n, at):
        items = []
        for _ in range(n):
            item, at = unpack(data, at)
            items.append(item)
        return items, at

    def pairs(n, at):
        items, at = many(2 * n, at)
        return dict(zip(items[::2], items[1::2])), at

    def text(n, at):
        return data[at : at + n].decode(), at + n

    if code < 0x80:
        return code, at
    if code < 0x90:
        return pairs(code & 0x0F, at)
    if code < 0xA0:
        return many(code & 0x0F, at)
    if code < 0xC0:
        return text(code & 0x1F, at)
    if code in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[code], at
    if code in (0xC4, 0xC5, 0xC6):
        n, at = number({0xC4: ">B", 0xC5: ">H", 0xC6: ">I"}[code])
        return bytes(data[at : at + n]), at + n
    if code in (0xD9, 0xDA, 0xDB):
        return text(*number({0xD9: ">B", 0xDA: ">H", 0xDB: ">I"}[code]))
    if code in (0xDC, 0xDD):
        return many(*number({0xDC: ">H", 0xDD: ">I"}[code]))
    if code in (0xDE, 0xDF):
        return pairs(*number({0xDE: ">H", 0xDF: ">I"}[code]))
    return number({0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}[code])


def array(values, form, dtype, shape):
    return {b"__ndarray__": True, b"data": struct.pack(f"<{len(values)}{form}", *values), b"dtype": dtype, b"shape": shape}


# ---- openpi -----------------------------------------------------------------------------------------------------------


def openpi_answer(question):
    image, state = question["observation/image"], question["observation/state"]
    assert image[b"__ndarray__"] is True and image[b"dtype"] == "|u1", image.keys()
    assert state[b"dtype"] == "<f4" and state[b"shape"] == [len(state[b"data"]) // 4], state.keys()
    numbers = struct.unpack(f"<{state[b'shape'][0]}f", state[b"data"])
    seen = {"picture": pixel(image[b"data"], image[b"shape"]), "words": question["prompt"], "number": numbers[-1] / 100}
    good = row(seen) * 2
    answer = {
        "good": array(good, "f", "<f4", [2, 7]),
        "wide": array(good, "d", "<f8", [2, 7]),
        "nan": array([float("nan")] * 14, "f", "<f4", [2, 7]),
        "shape": array(good, "f", "<f4", [3, 7]),
        "dims": array(good, "f", "<f4", [1, 1, 2, 7]),
        "long": array(good, "f", "<f4", [1 << 40, 7]),
        "negative": array(good, "f", "<f4", [-2, -7]),
        "dtype": array(good, "f", "|O", [2, 7]),
        "no_array": [[0.1] * 7],
        "no_actions": None,
    }.get(MODE, array(good, "f", "<f4", [2, 7]))
    return pack({"actions": answer, "server_timing": {"infer_ms": 1.5}} if answer else {"state": 1})


def handshake(peer):
    head = b""
    while b"\r\n\r\n" not in head:
        head += peer.recv(4096)
    lines = head.decode().split("\r\n")
    fields = {k.lower(): v.strip() for k, v in (line.split(":", 1) for line in lines[1:] if ":" in line)}
    assert lines[0] == "GET / HTTP/1.1", lines[0]
    assert fields["upgrade"].lower() == "websocket" and fields["sec-websocket-version"] == "13"
    assert fields.get("authorization") == "Api-Key secret", fields
    if MODE == "no_upgrade":
        peer.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        return False
    key = fields["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
    accept = "AAAA" if MODE == "accept" else accept
    peer.sendall(f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n".encode())
    return True


def exactly(peer, n):
    data = b""
    while len(data) < n:
        more = peer.recv(n - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def receive(peer):
    message, last = b"", False
    while not last:
        first, second = exactly(peer, 2)
        assert second & 0x80, "a client masks its frames"
        n = second & 0x7F
        n = struct.unpack(">H", exactly(peer, 2))[0] if n == 126 else struct.unpack(">Q", exactly(peer, 8))[0] if n == 127 else n
        mask = exactly(peer, 4)
        data = exactly(peer, n)
        if first & 0x0F == 8:
            raise EOFError
        message += bytes(b ^ mask[i % 4] for i, b in enumerate(data))
        last = first & 0x80
    return message


def frame(opcode, data):
    n = len(data)
    size = bytes([n]) if n < 126 else struct.pack(">BH", 126, n) if n < 65536 else struct.pack(">BQ", 127, n)
    return bytes([0x80 | opcode]) + size + data


def openpi(peer):
    if not handshake(peer):
        return
    if MODE == "no_metadata":
        return
    peer.sendall(frame(1, b"busy") if MODE == "text_metadata" else frame(2, b"\xc1" if MODE == "bad_metadata" else pack({"policy": "test"})))
    while True:
        question, _ = unpack(receive(peer))
        if MODE == "closes":
            return
        if MODE == "error":
            peer.sendall(frame(1, b"Traceback (most recent call last):\n  ...\nRuntimeError: out of memory\n"))
        elif MODE == "frame":
            peer.sendall(struct.pack(">BBQ", 0x82, 127, 1 << 30) + b"\0" * 100)
        elif MODE == "length":  # not in as few bytes as it takes
            peer.sendall(struct.pack(">BBQ", 0x82, 127, 3) + b"\x80\x80\x80")
        elif MODE == "midway":
            peer.sendall(frame(2, openpi_answer(question))[:60])
            return
        elif MODE == "map":  # a map of two billion pairs in five bytes
            peer.sendall(frame(2, struct.pack(">BI", 0xDF, 1 << 31)))
        elif MODE == "deep":
            peer.sendall(frame(2, b"\x91" * 200000))
        else:
            peer.sendall(frame(9, b"are you there") + frame(2, openpi_answer(question)))


def main():
    if sys.argv[1] == "openvla":
        server = http.server.HTTPServer(("127.0.0.1", 0), OpenVLA)
        listening(server.server_port)
        server.serve_forever()
    server = listen()
    while True:
        peer, _ = server.accept()
        try:
            openpi(peer)
        except (EOFError, ConnectionError):
            pass
        peer.close()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        os._exit(0)
