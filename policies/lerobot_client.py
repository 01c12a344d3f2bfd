"""Speaks with LeRobot's PolicyServer (lerobot.async_inference, transport/services.proto) for `pons watchdog policy`.

    lerobot_client.py CONFIG     {"endpoint": "HOST:PORT", "policy_type", "checkpoint", "actions_per_chunk", "device"}

    Ready, SendPolicyInstructions (once), then for each line: SendObservations (in parts of 2 MB), GetActions

A line {"inputs": [{"key", "text" | "numbers" | "rgb", "width", "height"}]} is answered by {"data": base64 of the pickled
actions}. It is not read here: unpickle_actions.py does that, in a sandbox. {"error": "unreachable" | "refused" | "bad" |
"lacks", "message": "…"} is a fault. Needs grpcio and protobuf, and neither numpy, torch nor LeRobot: what goes out is
pickled by their names.
"""

import base64
import json
import pickle
import sys
import time
import types

PART = 2 * 1024 * 1024
MESSAGE_MAX = 4 * 1024 * 1024  # LeRobot's own
MIDDLE, BEGIN, END = 2, 1, 3  # TransferState


def named(module, name):
    """A class that is pickled under that name, as if it were that module's."""
    parts = module.split(".")
    for i in range(len(parts)):
        sys.modules.setdefault(".".join(parts[: i + 1]), types.ModuleType(".".join(parts[: i + 1])))
    cls = type(name, (), {"__module__": module, "__init__": lambda self, **state: vars(self).update(state)})
    setattr(sys.modules[module], name, cls)
    return cls


HELPERS = "lerobot.async_inference.helpers"
TimedObservation = named(HELPERS, "TimedObservation")
RemotePolicyConfig = named(HELPERS, "RemotePolicyConfig")
ndarray = named("numpy", "ndarray")


class Picture:
    """Pickled as the call numpy.ndarray((height, width, 3), "uint8", bytes)."""

    def __init__(self, data, width, height):
        self.args = ((height, width, 3), "uint8", data)

    def __reduce__(self):
        return ndarray, self.args


def observation(inputs):
    """(features as a dataset has them, the raw observation)"""
    features, raw, names = {}, {}, []
    for one in inputs:
        key = one["key"]
        if "text" in one:
            raw[key] = one["text"]
        elif "numbers" in one:
            these = [f"{key}.{i}" for i in range(len(one["numbers"]))]
            names += these
            raw.update(zip(these, one["numbers"]))
        else:
            shape = (one["height"], one["width"], 3)
            features[f"observation.images.{key}"] = {"dtype": "image", "shape": shape, "names": ["height", "width", "channels"]}
            raw[key] = Picture(base64.b64decode(one["rgb"]), one["width"], one["height"])
    if names:
        features["observation.state"] = {"dtype": "float32", "shape": (len(names),), "names": names}
    return features, raw


def messages():
    """The four messages of services.proto, made here: LeRobot's package is not needed for them."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    fields = {"Observation": [("transfer_state", 1, 5), ("data", 2, 12)], "Actions": [("data", 1, 12)], "PolicySetup": [("data", 1, 12)], "Empty": []}
    file = descriptor_pb2.FileDescriptorProto(name="pons_lerobot.proto", package="transport", syntax="proto3")
    for name, members in fields.items():
        m = file.message_type.add(name=name)
        for member, place, kind in members:  # an enum is on the wire what an int32 (5) is; 12: bytes
            m.field.add(name=member, number=place, type=kind, label=1)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    make = getattr(message_factory, "GetMessageClass", None) or message_factory.MessageFactory(pool).GetPrototype
    return {name: make(pool.FindMessageTypeByName(f"transport.{name}")) for name in fields}


class Server:
    def __init__(self, config):
        import grpc

        self.config, self.m, self.step, self.set_up = config, messages(), 0, False
        sizes = [("grpc.max_receive_message_length", MESSAGE_MAX), ("grpc.max_send_message_length", MESSAGE_MAX), ("grpc.enable_http_proxy", 0)]
        channel = grpc.insecure_channel(config["endpoint"], sizes)

        def method(kind, name, request, answer):
            return getattr(channel, kind)(f"/transport.AsyncInference/{name}", self.m[request].SerializeToString, self.m[answer].FromString)

        self.ready = method("unary_unary", "Ready", "Empty", "Empty")
        self.setup = method("unary_unary", "SendPolicyInstructions", "PolicySetup", "Empty")
        self.observe = method("stream_unary", "SendObservations", "Observation", "Empty")
        self.actions = method("unary_unary", "GetActions", "Empty", "Actions")

    def begin(self, features):
        c = self.config
        self.ready(self.m["Empty"](), timeout=5)
        policy = RemotePolicyConfig(
            policy_type=c["policy_type"],
            pretrained_name_or_path=c["checkpoint"],
            lerobot_features=features,
            actions_per_chunk=c["actions_per_chunk"],
            device=c["device"],
            rename_map={},
        )
        self.setup(self.m["PolicySetup"](data=pickle.dumps(policy)))
        self.set_up = True

    def parts(self, data):
        for at in range(0, len(data), PART):
            last = at + PART >= len(data)
            yield self.m["Observation"](transfer_state=END if last else MIDDLE if at else BEGIN, data=data[at : at + PART])

    def ask(self, inputs):
        features, raw = observation(inputs)
        if not self.set_up:
            self.begin(features)
        seen = TimedObservation(timestamp=time.time(), timestep=self.step, observation=raw, must_go=True)
        self.step += 1
        self.observe(self.parts(pickle.dumps(seen)))
        return self.actions(self.m["Empty"]()).data


def answer(server, line):
    import grpc

    try:
        data = server.ask(json.loads(line)["inputs"])
    except grpc.RpcError as e:
        code, text = e.code().name, " ".join((e.details() or "").split())
        kind = {"UNAVAILABLE": "unreachable", "DEADLINE_EXCEEDED": "unreachable", "RESOURCE_EXHAUSTED": "bad"}.get(code, "refused")
        return {"error": kind, "message": f"{server.config['endpoint']}: {code}: {text}"[:240]}
    if not data:
        return {"error": "refused", "message": "the server gives no actions: its own log says why"}
    return {"data": base64.b64encode(data).decode()}


def main():
    try:
        server = Server(json.loads(sys.argv[1]))
        lacks = None
    except ImportError as e:
        lacks = {"error": "lacks", "message": f"{sys.executable} lacks {e.name}: LeRobot's protocol needs grpcio and protobuf (policy_client.python names another one)"}
    for line in sys.stdin:
        print(json.dumps(lacks or answer(server, line)), flush=True)


if __name__ == "__main__":
    main()
