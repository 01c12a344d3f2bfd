"""The body that is looked at, and peers by PyPI's cyclonedds that look: for shown.py and rclpy_shown.py.

The program is the first word of the command line.
"""
import json, math, os, random, shutil, signal, subprocess, sys, tempfile, time, uuid
import network

os.environ["CYCLONEDDS_URI"] = network.CYCLONE  # before Cyclone is loaded
import messages
from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

program = os.path.abspath(sys.argv[1])
WAIT_S = 60  # for what must come; a machine that is busy is no failure
RELIABLE = Policy.Reliability.Reliable(duration(milliseconds=100))


def wait(what, test, seconds=WAIT_S):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        got = test()
        if got:
            return got
        time.sleep(.02)
    raise AssertionError("this did not come: " + what)


def qos(kept=False, depth=50):
    return Qos(RELIABLE, Policy.Durability.TransientLocal if kept else Policy.Durability.Volatile, Policy.History.KeepLast(depth))


class Ros:
    """One peer: a participant with readers, writers and clients as they are asked for."""

    def __init__(self, domain, release):
        self.f, self.dp = messages.forms(release), DomainParticipant(domain, qos=Qos(Policy.Userdata(b"enclave=/;")))
        self.made, self.kept, self.clients = {}, {}, {}
        self.seq = 0

    def endpoint(self, cls, name, kind, kept=False, depth=50):
        key = (cls, name, kind)
        if key not in self.made:
            self.made[key] = cls(self.dp, Topic(self.dp, name, kind), qos=qos(kept, depth))
            self.kept[key] = []
        return self.made[key]

    def heard(self, name, kind, kept=False):
        """All samples so far."""
        r = self.endpoint(DataReader, name, kind, kept, 2000)
        got = self.kept[(DataReader, name, kind)]
        got += [s for s in r.take(2000) if s.sample_info.valid_data]
        return got

    def writer(self, name, kind):
        w = self.endpoint(DataWriter, name, kind)
        wait(f"a subscriber of {name}", lambda: w.get_matched_subscriptions())
        return w

    def call(self, service, request, response, timeout=WAIT_S, **members):
        """The reply; None: none came in time."""
        w, replies = self.endpoint(DataWriter, f"rq{service}Request", request), self.endpoint(DataReader, f"rr{service}Reply", response)
        wait(f"a server of {service}", lambda: w.get_matched_subscriptions() and replies.get_matched_publications())
        self.seq += 1
        seq, mine = self.seq, id(self) & 0xffffffff
        w.write(request(mine, seq, *members.values()))
        got = self.kept[(DataReader, f"rr{service}Reply", response)]

        def found():
            got.extend(s for s in replies.take(100) if s.sample_info.valid_data)
            return [s for s in got if (s.guid, s.seq) == (mine, seq)]
        try:
            return wait(f"an answer of {service}", found, timeout)[0]
        except AssertionError:
            if timeout == WAIT_S:
                raise
            return None

    def said(self):
        return [s.msg for s in self.heard("rt/rosout", self.f.Log, True)]

    def pose(self, x, y, yaw=0., frame="map"):
        f = self.f
        return f.PoseStamped(f.Header(f.Time(0, 0), frame),
                             f.Pose(f.Point(x, y, 0.), f.Quaternion(0., 0., math.sin(yaw / 2), math.cos(yaw / 2))))

    def twist(self, v, w=0.):
        return self.f.Twist(self.f.Vector3(v, 0., 0.), self.f.Vector3(0., 0., w))

    def odom(self):
        self.heard("rt/odom", self.f.Odometry).clear()
        return wait("odometry", lambda: self.heard("rt/odom", self.f.Odometry))[-1]

    def at(self):
        self.heard("rt/amcl_pose", self.f.PoseCovStamped, True).clear()
        p = wait("a pose", lambda: self.heard("rt/amcl_pose", self.f.PoseCovStamped, True))[-1].pose.pose
        return p.position.x, p.position.y, 2 * math.atan2(p.orientation.z, p.orientation.w)


class Action:
    def __init__(self, ros, name, kind, ns=""):
        self.ros, self.name, self.a = ros, f"{ns}/{name}/_action", getattr(ros.f, kind)
        self.feedback, self.statuses()

    @property
    def feedback(self):
        return self.ros.heard(f"rt{self.name}/feedback", self.a.Message)

    def statuses(self, id_=None):
        """All the states that the status topic has had a goal in."""
        return [g.status for s in self.ros.heard(f"rt{self.name}/status", self.ros.f.GoalStatusArray, True)
                for g in s.status_list if id_ is None or bytes(g.goal_info.goal_id.uuid) == id_]

    def send(self, goal, id_=None, timeout=WAIT_S):
        """The id and the answer."""
        id_ = id_ or uuid.uuid4().bytes
        return id_, self.ros.call(self.name + "/send_goal", self.a.SendRequest, self.a.SendResponse, timeout,
                                  goal_id=self.ros.f.UUID(list(id_)), goal=goal)

    def result(self, id_, timeout=WAIT_S):
        return self.ros.call(self.name + "/get_result", self.a.ResultRequest, self.a.ResultResponse, timeout,
                             goal_id=self.ros.f.UUID(list(id_)))

    def cancel(self, id_=bytes(16)):
        f = self.ros.f
        return self.ros.call(self.name + "/cancel_goal", f.CancelRequest, f.CancelResponse,
                             goal_info=f.GoalInfo(f.UUID(list(id_)), f.Time(0, 0)))


class Body:
    """`pons body --ros2` in a workspace of its own, and a peer that looks at it."""

    def __init__(self, *words, release="jazzy", driver="kinematic", config=""):
        self.dir, self.release = tempfile.mkdtemp(prefix="pons-shown-"), release
        self.domain, self.words = random.randint(1, 200), ["--driver", driver, *words]
        self.env = dict(os.environ, ROS_DOMAIN_ID=str(self.domain), ROS_DISTRO=release)
        os.makedirs(self.dir + "/config", mode=0o700)
        if config:
            with open(self.dir + "/config/ros2.yaml", "w") as f:
                f.write(config)
        self.ros, self.p, self.log = Ros(self.domain, release), None, open(self.dir + "/log", "w+")
        self.begin()

    def __enter__(self):
        return self

    def begin(self):
        self.p = subprocess.Popen([program, "body", "--ros2", "--workspace", self.dir, *self.words], env=self.env,
                                  stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def bridge(self):
        """The process that shows the body."""
        return int(wait("the bridge's process", lambda: subprocess.run(["pgrep", "-P", str(self.p.pid)], capture_output=True, text=True).stdout))

    def pons(self, *words):
        return subprocess.run([program, *words, "--workspace", self.dir], env=self.env, capture_output=True, text=True)

    def text(self):
        with open(self.dir + "/log") as f:
            return f.read()

    def ledger(self):
        with open(self.dir + "/run/body.ledger") as f:
            return [json.loads(line) for line in f]

    def __exit__(self, kind, error, trace):
        if kind:
            print("    " + self.text()[-1500:].replace("\n", "\n    "))
        if self.p.poll() is None:
            self.p.send_signal(signal.SIGTERM)
        try:
            self.p.wait(30)
        except subprocess.TimeoutExpired:
            self.p.kill()
        self.log.close()
        shutil.rmtree(self.dir, ignore_errors=True)


def ended(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def near(a, b, d=.15):
    return math.hypot(a[0] - b[0], a[1] - b[1]) < d
