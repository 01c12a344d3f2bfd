"""The DDS of a played robot: relay.py NAMESPACE DOMAIN. tests/drivers/ros2/relay.c plays the robot behind it.

On the standard input, packed as relay.c has it: `S` the senses (clock, transforms, scan, battery, odometry) or `B` a battery. On the
standard output: `M`, once the driver's ends are there, and `C` for each velocity, each with two doubles.
"""
import math, struct, sys, threading
import messages
from cyclonedds.core import Policy, Qos, ReadCondition, SampleState, InstanceState, ViewState, WaitSet
from cyclonedds.domain import DomainParticipant
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

HEAD = struct.Struct("<c7xqq3d2d9d3ddiiffff")  # kind, time, time of ROS, odometry, twist, its covariance, map -> odom, battery, scan
f, ns = messages.forms("jazzy"), sys.argv[1]
dp = DomainParticipant(int(sys.argv[2]), qos=Qos(Policy.Userdata(b"enclave=/;")))


def qos(reliable=True):
    return Qos(Policy.Reliability.Reliable(duration(milliseconds=100)) if reliable else Policy.Reliability.BestEffort,
               Policy.Durability.Volatile, Policy.History.KeepLast(10))


def writer(name, t, q=qos()):
    return DataWriter(dp, Topic(dp, f"rt{ns}/{name}", t), qos=q)


clock, odom, battery, tf = writer("clock", f.Clock), writer("odom", f.Odometry), writer("battery_state", f.Battery), writer("tf", f.TF)
scan = writer("scan", f.Scan, qos(False))
cmd = DataReader(dp, Topic(dp, f"rt{ns}/cmd_vel", f.Twist), qos=qos())


def emit(kind, v=0., w=0.):
    sys.stdout.buffer.write(struct.pack("<c7xdd", kind, v, w))
    sys.stdout.buffer.flush()


def listen():
    matched, ws = False, WaitSet(dp)
    ws.attach(ReadCondition(cmd, SampleState.Any | ViewState.Any | InstanceState.Any))
    while True:
        ws.wait(duration(milliseconds=5 if not matched else 200))
        if not matched and cmd.get_matched_publications() and all(w.get_matched_subscriptions() for w in (odom, battery, tf, scan)):
            matched = True
            emit(b"M")
        for m in cmd.take(100):
            if m.sample_info.valid_data:
                emit(b"C", m.linear.x, m.angular.z)


def stamp(t):
    return f.Time(t // 10**9, t % 10**9)


def turned(yaw):
    return f.Quaternion(0., 0., math.sin(yaw / 2), math.cos(yaw / 2))


def transform(parent, child, t, x, y, yaw):
    tf.write(f.TF([f.TransformStamped(f.Header(stamp(t), parent), child, f.Transform(f.Vector3(x, y, 0.), turned(yaw)))]))


def relay(source):
    while len(head := source.read(HEAD.size)) == HEAD.size:
        kind, t, scan_t, x, y, yaw, v, w, *rest = HEAD.unpack(head)
        cov, place, (pct, state, n, begin, inc, near, far) = rest[:9], rest[9:12], rest[12:]
        ranges = list(struct.unpack(f"<{n}f", source.read(4 * n)))
        if kind == b"S":
            clock.write(f.Clock(stamp(t)))
            transform("map", "odom", t + 10**9, *place)
            transform("odom", "base_link", t, x, y, yaw)
            if n:
                scan.write(f.Scan(f.Header(stamp(scan_t), "base_link"), begin, begin + (n - 1) * inc, inc, 0., 0., near, far, ranges, []))
        battery.write(f.Battery(f.Header(stamp(t), ""), 0., 0., 0., 0., 0., 0., .01 * pct, state, 0, 0, True, [], [], "", ""))
        if kind == b"S":
            wide = [0.] * 36
            for i in range(3):
                for j in range(3):
                    wide[(30 if i == 2 else 6 * i) + (5 if j == 2 else j)] = cov[3 * i + j]
            odom.write(f.Odometry(f.Header(stamp(t), "odom"), "base_link", f.PoseCov(f.Pose(f.Point(x, y, 0.), turned(yaw)), wide),
                                  f.TwistCov(f.Twist(f.Vector3(v, 0., 0.), f.Vector3(0., 0., w)), [0.] * 36)))


threading.Thread(target=listen, daemon=True).start()
relay(sys.stdin.buffer)
