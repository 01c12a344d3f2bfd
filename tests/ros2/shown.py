#!/usr/bin/env python3
"""pons's body as ROS 2 tools see it: `pons body --ros2`, asked by PyPI's cyclonedds as RViz, Nav2's clients and ros2's commands ask.

    shown.py PROGRAM [CASE…]        run by a Python with requirements.txt installed; ends with 1 if a case fails

Everything stays on the loopback interface, in a domain drawn for each case.
"""
import json, math, os, re, signal, socket, subprocess, sys, threading, time, uuid
from peers import RELIABLE, Action, Body, Ros, ended, near, program, qos, wait
from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsPublication, BuiltinTopicDcpsSubscription
from cyclonedds.core import Policy, Qos
from cyclonedds.pub import DataWriter
from cyclonedds.topic import Topic

# As Jazzy's own tools print them: ros2 topic info -v.
HASHES = {"rt/cmd_vel": "9c45bf16fe0983d80e3cfe750d6835843d265a9a6c46bd2e609fcddde6fb8d2a",
          "rt/clock": "692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564",
          "rt/battery_state": "4bee5dfce981c98faa6828b868307a0a73f992ed0789f374ee96c8f840e69741"}


# ---- what is published -----------------------------------------------------------------------------

def topics(release, driver):
    with Body(release=release, driver=driver) as b:
        r, f = b.ros, b.ros.f
        grid = wait("the map", lambda: r.heard("rt/map", f.OccupancyGrid, True))[0]
        assert grid.header.frame_id == "map" and (grid.info.width, grid.info.height) == (200, 160), grid.info
        assert set(grid.data) == {0, 100} and .02 < grid.data.count(100) / len(grid.data) < .4, "walls are a part of the map"
        scan = wait("a scan", lambda: len(r.heard("rt/scan", f.Scan)) > 3 and r.heard("rt/scan", f.Scan))[-1]
        assert scan.header.frame_id == "laser" and abs(len(scan.ranges) * scan.angle_increment - 2 * math.pi) < .2
        assert all(x > scan.range_max or scan.range_min <= x for x in scan.ranges), "a range is no number"
        odom = r.odom()
        assert (odom.header.frame_id, odom.child_frame_id) == ("odom", "base_link")
        now = odom.header.stamp.sec + odom.header.stamp.nanosec * 1e-9
        assert abs(now - time.time()) < 5, f"the stamp is {now - time.time()} s off"
        battery = wait("the battery", lambda: r.heard("rt/battery_state", f.Battery))[-1]
        assert .5 < battery.percentage <= 1 and battery.present and math.isnan(battery.voltage)
        static = wait("static transforms", lambda: r.heard("rt/tf_static", f.TF, True))[0].transforms
        assert [(t.header.frame_id, t.child_frame_id) for t in static] == [("base_link", "laser")]
        tf = wait("transforms", lambda: [m for m in r.heard("rt/tf", f.TF) if len(m.transforms) == 2])[-1].transforms
        (ob, mo), at = tf, r.at()
        assert (ob.header.frame_id, ob.child_frame_id, mo.header.frame_id, mo.child_frame_id) == ("odom", "base_link", "map", "odom")
        yaw = 2 * math.atan2(mo.transform.rotation.z, mo.transform.rotation.w)
        x, y = ob.transform.translation.x, ob.transform.translation.y
        found = (mo.transform.translation.x + x * math.cos(yaw) - y * math.sin(yaw), mo.transform.translation.y + x * math.sin(yaw) + y * math.cos(yaw))
        assert near(found, at), f"the transforms say {found}, the pose is {at}"
        # The scan, seen from the pose, lies on the map's walls.
        hits = on = 0
        for i, d in enumerate(scan.ranges):
            if d < scan.range_max:
                a = at[2] + scan.angle_min + i * scan.angle_increment
                cx, cy = int((at[0] + d * math.cos(a)) / grid.info.resolution), int((at[1] + d * math.sin(a)) / grid.info.resolution)
                hits += 1
                on += any(grid.data[yy * 200 + xx] == 100 for xx in range(max(0, cx - 3), min(200, cx + 4))
                          for yy in range(max(0, cy - 3), min(160, cy + 4)))
        assert hits > 20 and on > .85 * hits, f"{on} of {hits} beams end at walls"


def graph(release):
    with Body(release=release) as b:
        r, f = b.ros, b.ros.f
        readers = [(BuiltinDataReader(r.dp, t), w) for t, w in ((BuiltinTopicDcpsPublication, True), (BuiltinTopicDcpsSubscription, False))]
        info = wait("ros_discovery_info", lambda: r.heard("ros_discovery_info", f.ParticipantEntities, True))[0]
        assert [(n.node_namespace, n.node_name) for n in info.nodes] == [("/", "pons")]
        found = {}

        def look():
            for reader, writes in readers:
                for s in reader.take(500):
                    if s.participant_key != r.dp.guid and s.topic_name != "ros_discovery_info":
                        found[s.key.bytes] = (s, writes)
            return len(found) == len(info.nodes[0].readers) + len(info.nodes[0].writers)
        wait("all endpoints of the node", look)
        for gids, writes in ((info.nodes[0].readers, False), (info.nodes[0].writers, True)):
            for g in gids:
                assert found[bytes(g.data)[:16]][1] == writes, "an endpoint that is none of the node's, or of the other kind"
        names = {s.topic_name for s, _ in found.values()}
        for n in ("rt/scan", "rt/odom", "rt/tf", "rt/tf_static", "rt/map", "rt/battery_state", "rt/amcl_pose", "rt/cmd_vel",
                  "rt/goal_pose", "rt/initialpose", "rt/rosout", "rq/navigate_to_pose/_action/send_goalRequest",
                  "rr/spin/_action/get_resultReply", "rt/backup/_action/status", "rq/pons/list_parametersRequest"):
            assert n in names, f"{n} is not there"
        for s, writes in found.values():
            data = bytes(s.qos[Policy.Userdata].data).decode() if Policy.Userdata in s.qos else ""
            assert ("serviceid=" in data) == (s.topic_name[:2] in ("rq", "rr")), f"{s.topic_name}: {data}"
            assert bool(re.search(r"typehash=RIHS01_[0-9a-f]{64};", data)) == (release != "humble"), f"{s.topic_name}: {data}"
            if release != "humble" and s.topic_name in HASHES:
                assert HASHES[s.topic_name] in data, f"{s.topic_name}: {data}"


def parameters(release):
    with Body(release=release) as b:
        r, s = b.ros, b.ros.f.services
        wait("odometry", lambda: r.heard("rt/odom", r.f.Odometry))
        names = r.call("/pons/list_parameters", *s["list_parameters"], prefixes=[], depth=0).result.names
        assert {"use_sim_time", "robot_id", "radius_m"} <= set(names), names
        got = r.call("/pons/get_parameters", *s["get_parameters"], names=["robot_id", "radius_m", "nothing"]).values
        assert (got[0].type, got[0].string_value) == (4, "pons-1") and got[1].type == 3 and .1 < got[1].double_value < 1, got
        assert got[2].type == 0
        kinds = r.call("/pons/get_parameter_types", *s["get_parameter_types"], names=["use_sim_time", "nothing"]).types
        assert list(kinds) == [1, 0], kinds
        told = r.call("/pons/describe_parameters", *s["describe_parameters"], names=["radius_m"]).descriptors[0]
        assert told.read_only and told.name == "radius_m" and told.description
        p = r.f.Parameter("radius_m", r.f.ParameterValue(3, False, 0, .01, "", [], [], [], [], []))
        answer = r.call("/pons/set_parameters", *s["set_parameters"], parameters=[p]).results[0]
        assert not answer.successful and "cannot be set" in answer.reason


# ---- actions ---------------------------------------------------------------------------------------

def navigate(release, driver):
    with Body(release=release, driver=driver) as b:
        r, nav = b.ros, Action(b.ros, "navigate_to_pose", "NavigateToPose")
        r.at()
        id_, answer = nav.send(nav.a.Goal(r.pose(3.2, 2.9), ""))
        assert answer.accepted and answer.stamp.sec > 0, r.said()
        again = nav.send(nav.a.Goal(r.pose(3.2, 2.9), ""), id_)[1]
        assert not again.accepted, "the same UUID was taken twice"
        result = nav.result(id_)
        assert result.status == 4, (result, r.said())
        assert release == "humble" or (result.error_code, result.error_msg) == (0, "")
        assert near(r.at(), (3.2, 2.9), .35), r.at()
        seen = [s for i, s in enumerate(nav.statuses(id_)) if i == 0 or s != nav.statuses(id_)[i - 1]]
        assert seen[-2:] == [2, 4], seen
        mine = [m.feedback for m in nav.feedback if bytes(m.goal_id.uuid) == id_]
        assert len(mine) > 5 and mine[-1].distance_remaining < mine[len(mine) // 3].distance_remaining, len(mine)
        assert mine[-1].current_pose.header.frame_id == "map" and mine[-1].navigation_time.sec >= 1
        assert any(line.get("goal_id") == id_.hex() and line["state"] == "done" for line in b.ledger()), "the ledger has another id"
        assert nav.result(id_).status == 4, "asked again, it says otherwise"
        assert nav.result(uuid.uuid4().bytes).status == 0
        assert not nav.send(nav.a.Goal(r.pose(3.2, 2.9), ""), id_)[1].accepted
        # In the robot's own frame.
        x, y, yaw = r.at()
        id_, answer = nav.send(nav.a.Goal(r.pose(-.6, 0., 0., "base_link"), ""))
        assert answer.accepted and nav.result(id_).status == 4
        assert near(r.at(), (x - .6 * math.cos(yaw), y - .6 * math.sin(yaw)), .35)


def motions(release):
    with Body(release=release) as b:
        r, f = b.ros, b.ros.f
        spin, back, ahead = Action(r, "spin", "Spin"), Action(r, "backup", "BackUp"), Action(r, "drive_on_heading", "DriveOnHeading")
        before = r.at()
        id_, answer = spin.send(spin.a.Goal(1.2, f.Duration(20, 0)))
        result = spin.result(id_)
        assert answer.accepted and result.status == 4 and result.total_elapsed_time.sec + result.total_elapsed_time.nanosec > 0, result
        assert abs(math.remainder(r.at()[2] - before[2] - 1.2, 2 * math.pi)) < .3
        assert .6 < max(m.feedback.angular_distance_traveled for m in spin.feedback) < 1.5
        x, y, yaw = r.at()
        id_, answer = ahead.send(ahead.a.Goal(f.Point(.5, 0., 0.), .2, f.Duration(20, 0)))
        assert answer.accepted and ahead.result(id_).status == 4, r.said()
        assert near(r.at(), (x + .5 * math.cos(yaw), y + .5 * math.sin(yaw)), .2)
        id_, answer = back.send(back.a.Goal(f.Point(-.4, 0., 0.), -.1, f.Duration(20, 0)))
        assert answer.accepted and back.result(id_).status == 4, r.said()
        assert .2 < max(m.feedback.distance_traveled for m in back.feedback) < .6
        id_, answer = ahead.send(ahead.a.Goal(f.Point(-.2, 0., 0.), -.1, f.Duration(0, 0)))
        assert answer.accepted and ahead.result(id_).status == 4, r.said()
        assert near(r.at(), (x - .1 * math.cos(yaw), y - .1 * math.sin(yaw)), .25), (r.at(), x, y)


def cancels():
    with Body() as b:
        r, nav = b.ros, Action(b.ros, "navigate_to_pose", "NavigateToPose")
        r.at()
        id_, answer = nav.send(nav.a.Goal(r.pose(6.7, 6.4), ""))
        assert answer.accepted
        wait("motion", lambda: r.odom().twist.twist.linear.x > .1)
        assert nav.cancel(uuid.uuid4().bytes).return_code == 2
        answer = nav.cancel(id_)
        assert answer.return_code == 0 and [bytes(g.goal_id.uuid) for g in answer.goals_canceling] == [id_]
        assert nav.result(id_).status == 5
        assert 3 in nav.statuses(id_) and nav.statuses(id_)[-1] == 5, nav.statuses(id_)
        wait("standstill", lambda: abs(r.odom().twist.twist.linear.x) < .01)
        assert nav.cancel(id_).return_code == 3
        # A new goal takes over from the one before, which nobody has canceled: aborted. Then all are canceled.
        first, _ = nav.send(nav.a.Goal(r.pose(6.7, 6.4), ""))
        second, answer = nav.send(nav.a.Goal(r.pose(3.2, 2.9), ""))
        assert answer.accepted and nav.result(first).status == 6
        spin = Action(r, "spin", "Spin")
        assert not spin.send(spin.a.Goal(1., r.f.Duration(20, 0)))[1].accepted, "a spin took the base from a navigation"
        assert [bytes(g.goal_id.uuid) for g in nav.cancel().goals_canceling] == [second]
        assert nav.result(second).status == 5


def bad_goals():
    with Body() as b:
        r, f, nav, nan = b.ros, b.ros.f, Action(b.ros, "navigate_to_pose", "NavigateToPose"), float("nan")
        r.at()
        crooked = r.pose(3., 3.)
        crooked.pose.orientation.w = 0.
        for goal, why in ((r.pose(nan, 3.), "its position is no number"), (r.pose(3., float("inf")), "its position is no number"),
                          (crooked, "its orientation is no rotation"), (r.pose(3., 3., nan), "its orientation is no rotation"),
                          (r.pose(3., 3., 0., "camera"), "the frames map and camera do not connect"),
                          (r.pose(3., 3., 0., ""), "do not connect")):
            answer = nav.send(nav.a.Goal(goal, ""))[1]
            assert not answer.accepted
            wait(why, lambda: any(why in s for s in r.said()))
        assert not nav.send(nav.a.Goal(r.pose(3.2, 2.9), "x" * 300000))[1].accepted, "a line that the link does not take"
        wait("too long", lambda: any("it is too long to be told to the body" in s for s in r.said()))
        spin, ahead = Action(r, "spin", "Spin"), Action(r, "drive_on_heading", "DriveOnHeading")
        assert not spin.send(spin.a.Goal(nan, f.Duration(5, 0)))[1].accepted
        for goal in ((f.Point(nan, 0., 0.), .2), (f.Point(.5, .5, 0.), .2), (f.Point(.5, 0., 0.), -.2), (f.Point(.5, 0., 0.), nan),
                     (f.Point(.5, 0., 0.), 0.), (f.Point(1e9, 0., 0.), .2)):
            assert not ahead.send(ahead.a.Goal(*goal, f.Duration(5, 0)))[1].accepted, goal
        assert not nav.statuses() and near(r.at(), (2., 1.6)), "something moved"
        # Outside the map: taken by Nav2's rules, and it fails with its number.
        id_, answer = nav.send(nav.a.Goal(r.pose(900., 3.), ""))
        if answer.accepted:
            result = nav.result(id_)
            assert result.status == 6 and result.error_code == 204, result


def flood():
    """Two clients, of whom each sends twenty goals at once: every one is answered, and the robot has one of them."""
    with Body() as b:
        peers = [b.ros, Ros(b.domain, "jazzy")]
        navs = [Action(r, "navigate_to_pose", "NavigateToPose") for r in peers]
        b.ros.at()
        answers, lock = [], threading.Lock()

        def send(nav):
            for i in range(20):
                got = nav.send(nav.a.Goal(nav.ros.pose(2. + .04 * i, 2.8), ""))
                with lock:
                    answers.append(got)
        threads = [threading.Thread(target=send, args=(n,)) for n in navs]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        taken = [id_ for id_, a in answers if a.accepted]
        assert len(answers) == 40 and taken
        ends = [navs[0].result(id_).status for id_ in taken]
        assert ends.count(4) == 1 and set(ends) <= {4, 6}, ends
        started = [line["goal_id"] for line in b.ledger() if line.get("state") == "started"]
        assert sorted(started) == sorted(i.hex() for i in taken), "what was accepted is not what was started"


# ---- topics that move it ---------------------------------------------------------------------------

def velocities(kind):
    with Body() as b:
        r, f = b.ros, b.ros.f
        start = r.at()
        w = r.writer("rt/cmd_vel", getattr(f, kind)) if kind == "Twist" else r.endpoint(DataWriter, "rt/cmd_vel", f.TwistStamped)

        def send(v, turn=0., stamp=None):
            t = r.twist(v, turn)
            if kind != "Twist":
                now = time.time() if stamp is None else stamp
                t = f.TwistStamped(f.Header(f.Time(int(now), int(now % 1 * 1e9)), "base_link"), t)
            w.write(t)
        wait("somebody who listens", lambda: w.get_matched_subscriptions())

        def drive(v, seconds, **k):
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                send(v, **k)
                time.sleep(.05)
        drive(0., .5)  # a joystick on the table takes no control
        assert not any(line.get("skill") == "drive_by_hand" for line in b.ledger())
        wait("motion by cmd_vel", lambda: (send(.3), r.odom().twist.twist.linear.x > .15)[1])
        wait("standstill after silence", lambda: abs(r.odom().twist.twist.linear.x) < .01)
        assert r.at()[0] > start[0] + .03
        wait("the hand's goal to end", lambda: any(line.get("skill") == "drive_by_hand" and line["state"] == "done" for line in b.ledger()))
        before = r.at()
        for bad in (float("nan"), float("inf"), 1e9):
            drive(bad, .3)
        if kind != "Twist":
            drive(.3, .5, stamp=time.time() - 30)
            wait("a word on old stamps", lambda: any("not of now" in s for s in r.said()))
        wait("a word on what is no velocity", lambda: any("no velocity" in s for s in r.said()))
        assert near(before, r.at(), .02), "it moved by what is no velocity"
        # The gate: full speed at the wall ends before it. And a protective stop is not driven away from.
        wait("motion again", lambda: (send(.5), r.odom().twist.twist.linear.x > .1)[1])
        assert b.pons("stop").returncode == 0
        wait("standstill", lambda: (send(.5), abs(r.odom().twist.twist.linear.x) < .01)[1])
        before = r.at()
        drive(.5, 1.)
        assert near(before, r.at(), .03), "it moved while latched"
        wait("a word on the stop", lambda: any("protective stop" in s for s in r.said()))


def gate():
    """Somebody drives at a wall: the gate stops before it."""
    with Body() as b:
        r = b.ros
        scan = wait("a scan", lambda: r.heard("rt/scan", r.f.Scan))[-1]
        w, until = r.writer("rt/cmd_vel", r.f.Twist), time.monotonic() + 12
        while time.monotonic() < until:
            w.write(r.twist(2.))
            time.sleep(.05)
            for scan in r.heard("rt/scan", r.f.Scan)[-1:]:
                assert min(scan.ranges) > .2, f"{min(scan.ranges)} m to the wall: it was touched"
        assert abs(r.odom().twist.twist.linear.x) < .02, "it still moves"


def goal_pose():
    with Body() as b:
        r, f, nav = b.ros, b.ros.f, Action(b.ros, "navigate_to_pose", "NavigateToPose")
        r.at()
        r.writer("rt/goal_pose", f.PoseStamped).write(r.pose(1., 1., 0., "nowhere"))
        wait("a word on the frame", lambda: any("goal_pose: the frames map and nowhere" in s for s in r.said()))
        r.writer("rt/goal_pose", f.PoseStamped).write(r.pose(3.2, 2.9))
        wait("a goal in the status", lambda: 2 in nav.statuses())
        wait("its end", lambda: nav.statuses()[-1:] == [4])
        assert near(r.at(), (3.2, 2.9), .35)
        # RViz's other button.
        told = r.writer("rt/initialpose", f.PoseCovStamped)

        def say(p):
            told.write(f.PoseCovStamped(p.header, f.PoseCov(p.pose, [0.] * 36)))
        say(r.pose(float("nan"), 1.))
        wait("a word on no numbers", lambda: any("initialpose: its position" in s for s in r.said()))
        say(r.pose(4., 1., 0., "odom"))
        wait("a word on the frame", lambda: any("initialpose: it is in the frame 'odom'" in s for s in r.said()))
        say(r.pose(-50., 1.))
        wait("a word on a place outside", lambda: any("outside the map" in s for s in r.said()))
        x, y, yaw = r.at()
        say(r.pose(x + .1, y, yaw))
        wait("its answer", lambda: any("takes itself to be" in s for s in r.said()))


def misfits():
    """What never matches is told by its name."""
    with Body() as b:
        r, f = b.ros, b.ros.f
        w = [DataWriter(r.dp, Topic(r.dp, "rt/goal_pose", f.Twist), qos=qos()), DataWriter(r.dp, Topic(r.dp, "rt/cmd_vel", f.Battery), qos=qos()),
             DataWriter(r.dp, Topic(r.dp, "rt/initialpose", f.PoseCovStamped), qos=Qos(Policy.Reliability.BestEffort))]
        for line in ("/goal_pose is geometry_msgs/msg/Twist there, geometry_msgs/msg/PoseStamped is needed",
                     "/cmd_vel is sensor_msgs/msg/BatteryState there, geometry_msgs/msg/Twist is needed",
                     "/initialpose: reliability is offered as best_effort, reliable is wanted"):
            wait(line, lambda: any(line in s for s in r.said()))
        assert len(w) == 3 and near(r.at(), (2., 1.6))


def thousand():
    """A publisher of a kilohertz drives like another one, and its silence stops as soon."""
    with Body() as b:
        r = b.ros
        start, w = r.at(), r.writer("rt/cmd_vel", r.f.Twist)
        until, n = time.monotonic() + 2, 0
        while time.monotonic() < until:
            w.write(r.twist(.3))
            n += 1
            time.sleep(.001)
        wait("standstill", lambda: abs(r.odom().twist.twist.linear.x) < .01)
        assert n > 200 and r.at()[0] > start[0] + .1, (n, r.at(), r.said())
        assert not r.said(), r.said()


# ---- who is in control, and what ends --------------------------------------------------------------

def brain_in_control():
    with Body() as b:
        r, nav = b.ros, Action(b.ros, "navigate_to_pose", "NavigateToPose")
        r.at()
        s = socket.socket(socket.AF_UNIX)
        s.connect(b.dir + "/run/body.sock")
        s.sendall(b'{"type":"hello","protocol":1,"role":"controller","name":"a brain"}\n')
        ends = threading.Event()

        def live():
            while not ends.wait(.05):
                try:
                    s.sendall(b'{"type":"heartbeat"}\n')
                    s.recv(1 << 20)
                except OSError:
                    return
        t = threading.Thread(target=live)
        t.start()
        try:
            assert not nav.send(nav.a.Goal(r.pose(3.2, 2.9), ""))[1].accepted
            wait("who is in control", lambda: any("a brain) is in control" in x for x in r.said()))
            w, until = r.writer("rt/cmd_vel", r.f.Twist), time.monotonic() + 1.5
            before = r.at()
            while time.monotonic() < until:
                w.write(r.twist(.4))
                time.sleep(.05)
            assert near(before, r.at(), .03), "cmd_vel moved what a brain controls"
        finally:
            ends.set()
            t.join()
            s.close()
        id_, answer = nav.send(nav.a.Goal(r.pose(2.2, 2.7), ""))
        assert answer.accepted and nav.result(id_).status == 4, "ROS has no control after the brain has gone"


def killed_body():
    with Body() as b:
        r, nav = b.ros, Action(b.ros, "navigate_to_pose", "NavigateToPose")
        r.at()
        done, answer = nav.send(nav.a.Goal(r.pose(2.2, 2.7), ""))
        assert answer.accepted and nav.result(done).status == 4
        id_, answer = nav.send(nav.a.Goal(r.pose(6.7, 6.4), ""))
        assert answer.accepted
        wait("motion", lambda: r.odom().twist.twist.linear.x > .1)
        got = []
        t = threading.Thread(target=lambda: got.append(nav.result(id_)))
        t.start()
        time.sleep(.3)  # the question is out
        bridge = b.bridge()
        b.p.kill()
        t.join()
        assert got and (got[0].status, got[0].error_code) == (0, 9909), got
        wait("the end of the body's bridge", lambda: ended(bridge))
        b.p.wait()
        b.begin()
        ros = Ros(b.domain, "jazzy")
        nav = Action(ros, "navigate_to_pose", "NavigateToPose")
        ros.at()
        result = nav.result(id_)
        assert (result.status, result.error_code) == (0, 9909), result
        result = nav.result(done)
        assert (result.status, result.error_code) == (4, 0), result
        answer = nav.send(nav.a.Goal(ros.pose(6.7, 6.4), ""), id_)[1]
        assert not answer.accepted, "a UUID of the body's last life was taken again"
        assert b.pons("reset").returncode == 0
        assert not nav.send(nav.a.Goal(ros.pose(6.7, 6.4), ""), id_)[1].accepted
        id_, answer = nav.send(nav.a.Goal(ros.pose(3.2, 2.9), ""))
        assert answer.accepted and nav.result(id_).status == 4, ros.said()


def killed_bridge():
    """The bridge dies while a goal runs: the robot stands; another one shows the body again."""
    with Body() as b:
        r, nav = b.ros, Action(b.ros, "navigate_to_pose", "NavigateToPose")
        r.at()
        id_, answer = nav.send(nav.a.Goal(r.pose(6.7, 6.4), ""))
        assert answer.accepted
        wait("motion", lambda: r.odom().twist.twist.linear.x > .1)
        os.kill(b.bridge(), signal.SIGKILL)
        wait("a hold", lambda: '"held":true' in b.pons("status", "--json").stdout.replace(" ", "") or
             any(line.get("goal_id") == id_.hex() and line["state"] == "held" for line in b.ledger()))
        again = subprocess.Popen([program, "body", "ros2", "--workspace", b.dir], env=b.env, stdout=subprocess.DEVNULL, stderr=b.log)
        try:
            ros = Ros(b.domain, "jazzy")
            wait("standstill", lambda: abs(ros.odom().twist.twist.linear.x) < .01)
        finally:
            again.terminate()
            again.wait(30)


def virtual_clock():
    with Body("--speed", "4") as b:
        r, f = b.ros, b.ros.f
        first = wait("/clock", lambda: r.heard("rt/clock", f.Clock))[0].clock
        began = time.monotonic()
        time.sleep(2)  # what the clock makes of two seconds
        last, took = r.heard("rt/clock", f.Clock)[-1].clock, time.monotonic() - began
        passed = last.sec - first.sec + 1e-9 * (last.nanosec - first.nanosec)
        assert passed > 1.2 * took, f"{passed} s in {took} s"
        times = [m.clock.sec + 1e-9 * m.clock.nanosec for m in r.heard("rt/clock", f.Clock)]
        assert times == sorted(times)
        stamp = r.odom().header.stamp
        assert abs(stamp.sec - r.heard("rt/clock", f.Clock)[-1].clock.sec) <= 2 and stamp.sec < 1e6
        got = r.call("/pons/get_parameters", *f.services["get_parameters"], names=["use_sim_time"]).values
        assert got[0].bool_value


def namespaces():
    config = "namespace: robot1\nnode: body\nframes: {laser: base_scan}\ntopics: {tf: tf, battery: null}\nactions: {spin: turn}\n"
    with Body(config=config) as b:
        r, f = b.ros, b.ros.f
        assert wait("a scan", lambda: r.heard("rt/robot1/scan", f.Scan))[0].header.frame_id == "base_scan"
        wait("transforms", lambda: r.heard("rt/robot1/tf", f.TF))
        info = wait("ros_discovery_info", lambda: r.heard("ros_discovery_info", f.ParticipantEntities, True))[0]
        assert [(n.node_namespace, n.node_name) for n in info.nodes] == [("/robot1", "body")]
        assert r.call("/robot1/body/list_parameters", *f.services["list_parameters"], prefixes=["driver"], depth=0).result.names == ["driver"]
        spin = Action(r, "turn", "Spin", "/robot1")
        id_, answer = spin.send(spin.a.Goal(.5, f.Duration(10, 0)))
        assert answer.accepted and spin.result(id_).status == 4


def refusals():
    b = Body(config="node: 'a b'\n")
    with b:
        assert b.p.wait(60) != 0 and re.search(r"ros2\.yaml:1:", b.text()) and "cannot be shown" in b.text(), b.text()
        assert not os.path.exists(b.dir + "/run/body.sock"), "the body began all the same"
    b = Body(driver="ros2")
    with b:
        assert b.p.wait(60) == 2 and "--ros2 shows pons's own body" in b.text(), b.text()


CASES = {
    "topics, jazzy": lambda: topics("jazzy", "mujoco"),
    "topics, humble": lambda: topics("humble", "kinematic"),
    "node, jazzy": lambda: graph("jazzy"),
    "node, humble": lambda: graph("humble"),
    "parameters, jazzy": lambda: parameters("jazzy"),
    "parameters, humble": lambda: parameters("humble"),
    "navigate, jazzy": lambda: navigate("jazzy", "mujoco"),
    "navigate, humble": lambda: navigate("humble", "kinematic"),
    "motions, jazzy": lambda: motions("jazzy"),
    "motions, humble": lambda: motions("humble"),
    "cancel": cancels,
    "bad goals": bad_goals,
    "two clients, a flood": flood,
    "cmd_vel, Twist": lambda: velocities("Twist"),
    "cmd_vel, TwistStamped": lambda: velocities("TwistStamped"),
    "cmd_vel at a wall": gate,
    "goal_pose, initialpose": goal_pose,
    "wrong types and QoS": misfits,
    "cmd_vel at 1 kHz": thousand,
    "brain in control": brain_in_control,
    "killed body": killed_body,
    "killed bridge": killed_bridge,
    "virtual clock": virtual_clock,
    "namespaces": namespaces,
    "refusals": refusals,
}
failed = 0
for name, case in CASES.items():
    if sys.argv[2:] and not any(w in name for w in sys.argv[2:]):
        continue
    began = time.monotonic()
    try:
        case()
        print(f"ok    {name} ({time.monotonic() - began:.1f} s)", flush=True)
    except AssertionError as e:
        failed += 1
        print(f"FAIL  {name}: {e}", flush=True)
print(f"{failed} failed")
sys.exit(1 if failed else 0)
