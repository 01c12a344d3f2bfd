#!/usr/bin/env python3
"""pons's body as rclpy sees it: `pons body --ros2`, asked by ROS's own client library over rmw_fastrtps.

    rclpy_shown.py PROGRAM [CASE…]        ends with 1 if a case fails

Run by a Python with requirements-rclpy.txt, with PONS_INTERFACES: the folder of make_interfaces.py's packages of Kilted. Beside it
ask clients of PyPI's cyclonedds (peers.py). Everything stays on the loopback interface, in a domain drawn for each case.
"""
import collections, json, os, random, shutil, subprocess, sys, tempfile, threading, time, uuid
import network

interfaces = os.environ["PONS_INTERFACES"]
if os.environ.get("PYTHONPATH", "").split(":")[0] != interfaces:  # ROS finds its libraries when a process begins
    made = tempfile.mkdtemp(prefix="pons-rclpy-")
    keep = {k: v for k, v in os.environ.items() if not k.startswith("_ROS_WHEELS")}
    with open(made + "/said", "w+") as said:  # by DDS, of what is of the other RMW
        code = subprocess.run([sys.executable, *sys.argv], env=network.of_rclpy(keep, made, interfaces), stderr=said).returncode
        said.seek(0)
        print(said.read()[-3000:] if code else "", end="", flush=True)
    shutil.rmtree(made, ignore_errors=True)
    sys.exit(code)

import rclpy
from action_msgs.msg import GoalStatusArray
from ament_index_python import get_package_share_directory
from geometry_msgs.msg import PoseWithCovarianceStamped
from nav2_msgs.action import NavigateToPose, Spin
from nav_msgs.msg import OccupancyGrid, Odometry
from peers import Action, Body, Ros, near, wait
from rclpy.action import ActionClient, get_action_server_names_and_types_by_node
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from rcl_interfaces.msg import Log
from sensor_msgs.msg import BatteryState, LaserScan
from tf2_msgs.msg import TFMessage
from unique_identifier_msgs.msg import UUID

LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
DONE, CANCELED, ABORTED = 4, 5, 6
GOALS = int(os.environ.get("PONS_SOAK_GOALS", "200"))


class Looker:
    """A node of rclpy in a domain, and the thread that lets it hear."""

    def __init__(self, domain):
        self.context = Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = rclpy.create_node("looker", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.thread = threading.Thread(target=self.spin, daemon=True)
        self.heard = collections.defaultdict(list)
        self.thread.start()

    def spin(self):
        try:
            self.executor.spin()
        except rclpy.executors.ExternalShutdownException:
            pass

    def listen(self, kind, topic, qos=10):
        self.node.create_subscription(kind, topic, self.heard[topic].append, qos)

    def got(self, what, future):
        wait(what, future.done)
        return future.result()

    def client(self, kind, name):
        c = ActionClient(self.node, kind, name)
        wait(f"the server of {name}", c.server_is_ready)
        return c

    def close(self):
        self.context.shutdown()
        self.thread.join()


class Shown(Body):
    """A body that is looked at from rclpy too."""

    def __init__(self, *words, **k):
        super().__init__(*words, release="kilted", **k)

    def begin(self):
        self.env = {k: v for k, v in network.of_pons(self.env).items() if k not in ("LD_LIBRARY_PATH", "PYTHONPATH")}
        super().begin()
        self.look = Looker(self.domain)

    def __exit__(self, *error):
        self.look.close()
        super().__exit__(*error)


def pose(x, y):
    g = NavigateToPose.Goal()
    g.pose.header.frame_id = "map"
    g.pose.pose.position.x, g.pose.pose.position.y, g.pose.pose.orientation.w = x, y, 1.
    return g


def turn(yaw, seconds=20):
    g = Spin.Goal()
    g.target_yaw, g.time_allowance.sec = yaw, seconds
    return g


def ready(b):
    """The body has a pose: goals are taken from now on."""
    b.look.listen(Odometry, "odom", qos_profile_sensor_data)
    b.look.listen(PoseWithCovarianceStamped, "amcl_pose", LATCHED)
    b.look.listen(Log, "rosout", LATCHED)
    wait("odometry and a pose", lambda: b.look.heard["odom"] and b.look.heard["amcl_pose"])


def at(b):
    p = b.look.heard["amcl_pose"][-1].pose.pose.position
    return p.x, p.y


def topics():
    with Shown(driver="kinematic") as b:
        for kind, topic, qos in ((OccupancyGrid, "map", LATCHED), (LaserScan, "scan", qos_profile_sensor_data), (BatteryState, "battery_state", 10),
                                 (TFMessage, "/tf", 100), (TFMessage, "/tf_static", LATCHED)):
            b.look.listen(kind, topic, qos)
        ready(b)
        heard = b.look.heard
        wait("every topic", lambda: all(heard[t] for t in ("map", "scan", "battery_state", "/tf", "/tf_static")))
        grid, scan = heard["map"][0], heard["scan"][0]
        assert (grid.info.width, grid.info.height) == (200, 160) and set(grid.data) == {0, 100}, grid.info
        assert scan.header.frame_id == "laser" and all(x > scan.range_max or scan.range_min <= x for x in scan.ranges)
        assert .5 < heard["battery_state"][0].percentage <= 1
        assert [(t.header.frame_id, t.child_frame_id) for t in heard["/tf_static"][0].transforms] == [("base_link", "laser")]


def hashed(kind):
    """The hash that ROS's generator gave a type, from the description beside it."""
    package, folder, name = kind.split("/")
    try:
        root = get_package_share_directory(package)
    except LookupError:
        root = f"{interfaces}/{package}"
    with open(f"{root}/{folder}/{name}.json") as f:
        return next(h["hash_string"] for h in json.load(f)["type_hashes"] if h["type_name"] == kind)


def node():
    """What `ros2 node list` and `info`, `ros2 action list` and `ros2 topic info -v` ask."""
    os.environ.setdefault("AMENT_PREFIX_PATH", sys.prefix)
    with Shown() as b:
        n = b.look.node
        wait("the node", lambda: ("pons", "/") in n.get_node_names_and_namespaces())
        assert n.get_node_names().count("pons") == 1, n.get_node_names()

        def names(of):
            return {name for name, _ in of("pons", "/")}
        wait("its topics", lambda: {"/odom", "/scan", "/tf", "/map", "/amcl_pose"} <= names(n.get_publisher_names_and_types_by_node))
        wait("what it hears", lambda: {"/cmd_vel", "/goal_pose", "/initialpose"} <= names(n.get_subscriber_names_and_types_by_node))
        wait("its services", lambda: {"/pons/get_parameters", "/pons/list_parameters"} <= names(n.get_service_names_and_types_by_node))
        actions = wait("its actions", lambda: dict(get_action_server_names_and_types_by_node(n, "pons", "/")))
        assert actions["/navigate_to_pose"] == ["nav2_msgs/action/NavigateToPose"] and {"/spin", "/backup"} <= set(actions), actions
        seen = 0
        for topic, kinds in n.get_topic_names_and_types():
            for of in (n.get_publishers_info_by_topic, n.get_subscriptions_info_by_topic):
                for end in of(topic):
                    # Whose it is, is asked by the node above: of endpoints of another vendor Fast DDS 3 does not say it here.
                    if end.node_name == "looker":
                        continue
                    if kinds[0].startswith(("nav2_msgs/action/BackUp", "nav2_msgs/action/Drive")):
                        continue  # no description of them was made here
                    assert str(end.topic_type_hash) == hashed(kinds[0]), f"{topic}, {kinds[0]}: {end.topic_type_hash}"
                    seen += 1
        assert seen >= 10, seen


def parameters():
    with Shown() as b:
        ready(b)
        c = AsyncParameterClient(b.look.node, "pons")
        wait("the parameters' services", c.services_are_ready)
        names = b.look.got("a list", c.list_parameters()).result.names
        assert {"use_sim_time", "robot_id", "radius_m"} <= set(names), names
        values = b.look.got("values", c.get_parameters(["robot_id", "radius_m", "nothing"])).values
        assert (values[0].type, values[0].string_value) == (4, "pons-1") and .1 < values[1].double_value < 1 and values[2].type == 0, values
        told = b.look.got("a description", c.describe_parameters(["radius_m"])).descriptors[0]
        assert told.read_only and told.description
        answer = b.look.got("a refusal", c.set_parameters([Parameter("radius_m", Parameter.Type.DOUBLE, .01)])).results[0]
        assert not answer.successful and "cannot be set" in answer.reason


def navigate():
    with Shown() as b:
        ready(b)
        nav, way = b.look.client(NavigateToPose, "navigate_to_pose"), []
        h = b.look.got("an answer", nav.send_goal_async(pose(3.2, 2.9), feedback_callback=lambda f: way.append(f.feedback)))
        assert h.accepted
        r = b.look.got("its end", h.get_result_async())
        assert (r.status, r.result.error_code) == (DONE, 0) and near(at(b), (3.2, 2.9), .35), r
        far = [f.distance_remaining for f in way]
        assert len(far) > 3 and far[-1] < far[0] and way[0].current_pose.header.frame_id == "map", far
        spin = b.look.client(Spin, "spin")
        h = b.look.got("an answer", spin.send_goal_async(turn(1.)))
        r = b.look.got("its end", h.get_result_async())
        assert h.accepted and r.status == DONE and r.result.total_elapsed_time.sec >= 0, r


def cancel():
    with Shown() as b:
        ready(b)
        nav = b.look.client(NavigateToPose, "navigate_to_pose")
        h = b.look.got("an answer", nav.send_goal_async(pose(6.7, 6.4)))
        wait("motion", lambda: b.look.heard["odom"][-1].twist.twist.linear.x > .1)
        answer = b.look.got("an answer to the cancel", h.cancel_goal_async())
        assert answer.return_code == 0 and [bytes(g.goal_id.uuid) for g in answer.goals_canceling] == [bytes(h.goal_id.uuid)], answer
        assert b.look.got("its end", h.get_result_async()).status == CANCELED
        wait("standstill", lambda: abs(b.look.heard["odom"][-1].twist.twist.linear.x) < .01)
        assert b.look.got("an answer", h.cancel_goal_async()).return_code == 3


def used_ids():
    """An id is taken once, while its goal runs, after its end, and by whomever."""
    with Shown() as b:
        ready(b)
        nav = b.look.client(NavigateToPose, "navigate_to_pose")
        cyclone = Action(b.ros, "navigate_to_pose", "NavigateToPose")
        id_ = uuid.uuid4().bytes
        first = b.look.got("an answer", nav.send_goal_async(pose(3.2, 2.9), goal_uuid=UUID(uuid=list(id_))))
        assert first.accepted
        other = Looker(b.domain)
        again = other.client(NavigateToPose, "navigate_to_pose")
        try:
            assert not other.got("an answer", again.send_goal_async(pose(3.2, 2.9), goal_uuid=UUID(uuid=list(id_)))).accepted
            assert not cyclone.send(cyclone.a.Goal(b.ros.pose(3.2, 2.9), ""), id_)[1].accepted
            assert b.look.got("its end", first.get_result_async()).status == DONE
            assert not other.got("an answer", again.send_goal_async(pose(2., 1.6), goal_uuid=UUID(uuid=list(id_)))).accepted
        finally:
            other.close()
        assert [line["state"] for line in b.ledger() if line.get("goal_id") == id_.hex()].count("started") == 1


def two_clients():
    """Twenty goals of a client of each RMW at once: each gets its own answers, and the robot has one goal at the end."""
    with Shown() as b:
        ready(b)
        nav, cyclone = b.look.client(NavigateToPose, "navigate_to_pose"), Action(b.ros, "navigate_to_pose", "NavigateToPose")
        answers, wrong = {}, []

        def by_cyclone():
            for i in range(20):
                id_, a = cyclone.send(cyclone.a.Goal(b.ros.pose(2. + .04 * i, 2.8), ""))
                answers[id_] = a.accepted
        t = threading.Thread(target=by_cyclone)
        t.start()
        handles = []
        for i in range(20):
            id_ = uuid.uuid4().bytes
            h = b.look.got("an answer", nav.send_goal_async(pose(2. + .04 * i, 2.8), goal_uuid=UUID(uuid=list(id_))))
            if bytes(h.goal_id.uuid) != id_:
                wrong.append(id_.hex())
            answers[id_] = h.accepted
            handles.append(h)
        t.join()
        taken = [i for i, accepted in answers.items() if accepted]
        assert len(answers) == 40 and taken and not wrong, (len(answers), wrong)
        mine = {bytes(h.goal_id.uuid): b.look.got("an end", h.get_result_async()).status for h in handles if h.accepted}
        ends = mine | {i: cyclone.result(i).status for i in taken if i not in mine}
        assert sorted(ends.values()).count(DONE) == 1 and set(ends.values()) <= {DONE, ABORTED}, collections.Counter(ends.values())
        # Each RMW is told the same of the other's goals.
        for i in taken:
            assert cyclone.result(i).status == ends[i], i.hex()
        started = [line["goal_id"] for line in b.ledger() if line.get("state") == "started"]
        assert sorted(started) == sorted(i.hex() for i in taken), "what was accepted is not what was started"


def killed_body():
    with Shown() as b:
        ready(b)
        nav = b.look.client(NavigateToPose, "navigate_to_pose")
        h = b.look.got("an answer", nav.send_goal_async(pose(6.7, 6.4)))
        wait("motion", lambda: b.look.heard["odom"][-1].twist.twist.linear.x > .1)
        end = h.get_result_async()
        time.sleep(.3)  # the question is out
        b.p.kill()
        r = b.look.got("an end", end)
        assert (r.status, r.result.error_code) == (0, 9909), r
        b.p.wait()


def soak():
    """Goals one after the other, of which each third is canceled: what each becomes is what was asked, and none is forgotten."""
    seed = random.randrange(1 << 30)
    rng, counts, began = random.Random(seed), collections.Counter(), time.monotonic()
    with Shown("--speed", "4") as b:
        ready(b)
        spin = b.look.client(Spin, "spin")
        b.look.listen(GoalStatusArray, "spin/_action/status", LATCHED)
        for i in range(GOALS):
            kept, id_ = rng.random() < .66, uuid.uuid4().bytes
            h = b.look.got("an answer", spin.send_goal_async(turn(rng.choice((-.2, .2)) if kept else 3.), goal_uuid=UUID(uuid=list(id_))))
            asked = h.get_result_async() if h.accepted else None
            if h.accepted and not kept:
                h.cancel_goal_async()
            try:
                status = b.look.got("an end", asked).status if asked else None
            except AssertionError:
                status = "hung"
            right = bytes(h.goal_id.uuid) == id_ and status == (DONE if kept else CANCELED)
            counts["right" if right else "hung" if status == "hung" else f"wrong: {status} of {'one to its end' if kept else 'a canceled one'}"] += 1
        started = [line["goal_id"] for line in b.ledger() if line.get("state") == "started"]
        assert len(started) == len(set(started)) == GOALS, (len(started), len(set(started)))
    print(f"      {GOALS} goals in {time.monotonic() - began:.0f} s, seed {seed}: {dict(counts)}", flush=True)
    assert counts["right"] == GOALS, dict(counts)


CASES = {"topics": topics, "node and type hashes": node, "parameters": parameters, "navigate": navigate, "cancel": cancel, "used ids": used_ids,
         "two clients": two_clients, "killed body": killed_body, "soak": soak}
failed = 0
for name, case in CASES.items():
    if sys.argv[2:] and not any(w in name for w in sys.argv[2:]):
        continue
    began = time.monotonic()
    try:
        case()
        print(f"ok    {name}, rclpy ({time.monotonic() - began:.1f} s)", flush=True)
    except AssertionError as e:
        failed += 1
        print(f"FAIL  {name}, rclpy: {e}", flush=True)
print(f"{failed} failed")
sys.stdout.flush()
os._exit(1 if failed else 0)  # what threads of two DDS leave behind is nobody's concern here
