"""A robot with Nav2, played: DDS by PyPI's cyclonedds, names and types as ROS 2 has them.

It stands in worlds/empty.yaml, follows /cmd_vel (and nothing else), and serves NavigateToPose by steering on
/cmd_vel_nav2, and a Wave that only it knows. What goes wrong is said by words on the command line or, later, on the standard input:

    humble                  the message forms of that release
    abort CODE              goals end so        reject      goals are not taken
    mute odom|scan|tf|server|answer             that is silent from now on
    loud NAME               and no longer       nan odom|scan|tf   no numbers
    qos tf_static           volatile where latched is needed
    type scan               as another type     forget      the server begins anew and knows nothing
    inactive                its lifecycle manager and bt_navigator say so       active      and no longer
    back                    /clock and stamps   quit
    never                   goals are taken and never end; canceled ones neither
    twice                   each result comes again as another one, and one before it that is nobody's; the status list goes back
    nan feedback            numbers of feedback that are none
    wild                    what it wants of the wheels is no robot's
    alone                   Nav2 without a robot: no senses, no wheels
    rival                   Nav2 has not been remapped: it publishes cmd_vel
    second                  somebody else publishes odometry, of a robot elsewhere
    loop                    transforms that go round in a circle, and two parents of a frame
    huge                    messages of a megabyte
    maps                    a SLAM that makes /map, and begins where the robot stands
It prints one line for each thing that happened: `goal UUID x y`, `taken UUID` once it is answered, `cancel UUID`, `end UUID STATUS`, `cmd V W`, `wave TIMES SPEED HAND`,
`clear local|global`, `manage COMMAND`, `fast V W` for a velocity that the world's robot may not have. With PONS_NAMESPACE its topics
and services are in that namespace.
"""
import math, os, select, sys, time, types
from dataclasses import dataclass
from cyclonedds.core import Qos, Policy
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, float32, float64, int8, int16, int32, int64, sequence, uint8, uint16, uint32, uint64
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration
from room import LIDAR_X, MAP_FROM_ODOM, Slam, WILD, moved, scan, steer, too_fast

humble = "humble" in sys.argv


def msg(name, **members):
    """A final struct NAME ("pkg::msg::dds_::X_") with these members."""
    body = {"__annotations__": members, "__module__": __name__}
    return dataclass(types.new_class(name.split("::")[-1], (IdlStruct,), {"typename": name}, lambda ns: ns.update(body)))


def m(pkg, x):
    return f"{pkg}::msg::dds_::{x}_"


Time = msg(m("builtin_interfaces", "Time"), sec=int32, nanosec=uint32)
Duration = msg(m("builtin_interfaces", "Duration"), sec=int32, nanosec=uint32)
Header = msg(m("std_msgs", "Header"), stamp=Time, frame_id=str)
Vector3 = msg(m("geometry_msgs", "Vector3"), x=float64, y=float64, z=float64)
Point = msg(m("geometry_msgs", "Point"), x=float64, y=float64, z=float64)
Quaternion = msg(m("geometry_msgs", "Quaternion"), x=float64, y=float64, z=float64, w=float64)
Pose = msg(m("geometry_msgs", "Pose"), position=Point, orientation=Quaternion)
PoseStamped = msg(m("geometry_msgs", "PoseStamped"), header=Header, pose=Pose)
PoseCov = msg(m("geometry_msgs", "PoseWithCovariance"), pose=Pose, covariance=array[float64, 36])
Twist = msg(m("geometry_msgs", "Twist"), linear=Vector3, angular=Vector3)
TwistCov = msg(m("geometry_msgs", "TwistWithCovariance"), twist=Twist, covariance=array[float64, 36])
Transform = msg(m("geometry_msgs", "Transform"), translation=Vector3, rotation=Quaternion)
TransformStamped = msg(m("geometry_msgs", "TransformStamped"), header=Header, child_frame_id=str, transform=Transform)
TF = msg(m("tf2_msgs", "TFMessage"), transforms=sequence[TransformStamped])
Odometry = msg(m("nav_msgs", "Odometry"), header=Header, child_frame_id=str, pose=PoseCov, twist=TwistCov)
Scan = msg(m("sensor_msgs", "LaserScan"), header=Header, angle_min=float32, angle_max=float32, angle_increment=float32,
           time_increment=float32, scan_time=float32, range_min=float32, range_max=float32,
           ranges=sequence[float32], intensities=sequence[float32])
Battery = msg(m("sensor_msgs", "BatteryState"), header=Header, voltage=float32, temperature=float32, current=float32,
              charge=float32, capacity=float32, design_capacity=float32, percentage=float32, status=uint8, health=uint8,
              technology=uint8, present=bool, cell_voltage=sequence[float32], cell_temperature=sequence[float32],
              location=str, serial_number=str)
MapMetaData = msg(m("nav_msgs", "MapMetaData"), map_load_time=Time, resolution=float32, width=uint32, height=uint32, origin=Pose)
OccupancyGrid = msg(m("nav_msgs", "OccupancyGrid"), header=Header, info=MapMetaData, data=sequence[int8])
UUID = msg(m("unique_identifier_msgs", "UUID"), uuid=array[uint8, 16])
GoalInfo = msg(m("action_msgs", "GoalInfo"), goal_id=UUID, stamp=Time)
GoalStatus = msg(m("action_msgs", "GoalStatus"), goal_info=GoalInfo, status=int8)
GoalStatusArray = msg(m("action_msgs", "GoalStatusArray"), status_list=sequence[GoalStatus])
CancelRequest = msg("action_msgs::srv::dds_::CancelGoal_Request_", guid=uint64, seq=int64, goal_info=GoalInfo)
CancelResponse = msg("action_msgs::srv::dds_::CancelGoal_Response_", guid=uint64, seq=int64, return_code=int8,
                     goals_canceling=sequence[GoalInfo])
NAV = "nav2_msgs::action::dds_::NavigateToPose_"
Goal = msg(NAV + "Goal_", pose=PoseStamped, behavior_tree=str)
Feedback = msg(NAV + "Feedback_", current_pose=PoseStamped, navigation_time=Duration, estimated_time_remaining=Duration,
               number_of_recoveries=int16, distance_remaining=float32)
FeedbackMessage = msg(NAV + "FeedbackMessage_", goal_id=UUID, feedback=Feedback)
SendRequest = msg(NAV + "SendGoal_Request_", guid=uint64, seq=int64, goal_id=UUID, goal=Goal)
SendResponse = msg(NAV + "SendGoal_Response_", guid=uint64, seq=int64, accepted=bool, stamp=Time)
ResultRequest = msg(NAV + "GetResult_Request_", guid=uint64, seq=int64, goal_id=UUID)
if humble:
    ResultResponse = msg(NAV + "GetResult_Response_", guid=uint64, seq=int64, status=int8, empty=uint8)
else:
    ResultResponse = msg(NAV + "GetResult_Response_", guid=uint64, seq=int64, status=int8, error_code=uint16, error_msg=str)

WAVE = "my_msgs::action::dds_::Wave_"
Style = msg("my_msgs::msg::dds_::Style_", hand=str, fingers=sequence[uint8])
WaveGoal = msg(WAVE + "Goal_", times=int32, speed=float32, style=Style)
WaveSendRequest = msg(WAVE + "SendGoal_Request_", guid=uint64, seq=int64, goal_id=UUID, goal=WaveGoal)
WaveSendResponse = msg(WAVE + "SendGoal_Response_", guid=uint64, seq=int64, accepted=bool, stamp=Time)
WaveResultRequest = msg(WAVE + "GetResult_Request_", guid=uint64, seq=int64, goal_id=UUID)
WaveResult = msg(WAVE + "Result_", success=bool, message=str)
WaveResultResponse = msg(WAVE + "GetResult_Response_", guid=uint64, seq=int64, status=int8, result=WaveResult)
WaveFeedback = msg(WAVE + "FeedbackMessage_", goal_id=UUID, left=int32)

Nothing = lambda name: msg(name, guid=uint64, seq=int64, structure_needs_at_least_one_member=uint8)
ClearRequest, ClearResponse = (Nothing(f"nav2_msgs::srv::dds_::ClearEntireCostmap_{x}_") for x in ("Request", "Response"))
ActiveRequest = Nothing("std_srvs::srv::dds_::Trigger_Request_")
ActiveResponse = msg("std_srvs::srv::dds_::Trigger_Response_", guid=uint64, seq=int64, success=bool, message=str)
StateRequest = Nothing("lifecycle_msgs::srv::dds_::GetState_Request_")
State = msg("lifecycle_msgs::msg::dds_::State_", id=uint8, label=str)
StateResponse = msg("lifecycle_msgs::srv::dds_::GetState_Response_", guid=uint64, seq=int64, current_state=State)
ManageRequest = msg("nav2_msgs::srv::dds_::ManageLifecycleNodes_Request_", guid=uint64, seq=int64, command=uint8)
ManageResponse = msg("nav2_msgs::srv::dds_::ManageLifecycleNodes_Response_", guid=uint64, seq=int64, success=bool)

RELIABLE, BEST = Policy.Reliability.Reliable(duration(milliseconds=100)), Policy.Reliability.BestEffort
VOLATILE, KEPT = Policy.Durability.Volatile, Policy.Durability.TransientLocal


def qos(reliable=True, kept=False, depth=10):
    return Qos(RELIABLE if reliable else BEST, KEPT if kept else VOLATILE, Policy.History.KeepLast(depth))


dp = DomainParticipant(int(os.environ.get("ROS_DOMAIN_ID", 0)), qos=Qos(Policy.Userdata(b"enclave=/;")))
ns = os.environ.get("PONS_NAMESPACE", "")


def spaced(name):
    """rt/odom in the namespace /a is rt/a/odom."""
    return name[:2] + ns + name[2:]


def writer(name, t, q):
    return DataWriter(dp, Topic(dp, spaced(name), t), qos=q)


def reader(name, t, q):
    return DataReader(dp, Topic(dp, spaced(name), t), qos=q)


def taken(r):
    return [s for s in r.take(100) if s.sample_info.valid_data]


def say(*words):
    print(*words, flush=True)


# ---- the world, the robot's body and its senses --------------------------------------------------

odom = [0., 0., 0.]
speed = [0., 0.]
muted, nans, shift = set(), set(), 0.


def stamp(ahead=0.):
    t = time.time() + ahead + shift
    return Time(int(t), int((t % 1) * 1e9))


def quat(yaw):
    return Quaternion(0., 0., math.sin(yaw / 2), math.cos(yaw / 2))


def transform(parent, child, x, y, yaw, ahead=0.):
    return TransformStamped(Header(stamp(ahead), parent), child, Transform(Vector3(x, y, 0.), quat(yaw)))


def say_map(n):
    slam.look(odom)
    if n % 40 == 0:
        w, h, x, y, cells = slam.grid()
        w_map.write(OccupancyGrid(Header(stamp(), "map"), MapMetaData(stamp(), slam.CELL, w, h, Pose(Point(x, y, 0.), quat(0.))), cells))


def senses(n):
    bad = math.nan
    if "odom" not in muted:
        p = Pose(Point(bad if "odom" in nans else odom[0], odom[1], 0.), quat(odom[2]))
        w_odom.write(Odometry(Header(stamp(), "odom"), "base_link", PoseCov(p, [.0] * 36),
                              TwistCov(Twist(Vector3(speed[0], 0., 0.), Vector3(0., 0., speed[1])), [.0] * 36)))
    if "tf" not in muted:
        w_tf.write(TF([transform("odom", "base_link", *odom)]))
        # AMCL's are a second ahead
        at = (0., 0.) if slam else MAP_FROM_ODOM
        w_tf.write(TF([transform("map", "odom", bad if "tf" in nans else at[0], at[1], 0., 1.)]))
    if n % 2 == 0 and "scan" not in muted:
        inc, ranges = scan(odom)
        ranges = [bad] * len(ranges) if "scan" in nans else ranges
        w_scan.write(Scan(Header(stamp(), "laser"), bad if "scan" in nans else -math.pi, math.pi, inc, 0., .1, .05, 8., ranges, []))
    if n % 20 == 0:
        w_battery.write(Battery(Header(stamp(), ""), 12., 20., 0., 0., 0., 0., .83, 2, 0, 0, True, [], [], "x" * 10**6 if how["huge"] else "", ""))
        if how["huge"]:
            w_tf.write(TF([transform("map", f"{i}" * 300, i, 0., 0.) for i in range(1000, 1800)]))
    if how["loop"]:
        w_tf.write(TF([transform("base_link", "map", 1., 1., 1.), transform("base_link", "odom", 1., 1., 1.), transform("a", "a", 0., 0., 0.)]))
    if slam:
        say_map(n)
    if second:
        second.write(Odometry(Header(stamp(), "odom"), "base_link", PoseCov(Pose(Point(40., 40., 0.), quat(1.)), [.0] * 36),
                              TwistCov(Twist(Vector3(0., 0., 0.), Vector3(0., 0., 0.)), [.0] * 36)))


# ---- Nav2 ----------------------------------------------------------------------------------------

goals, order = {}, []  # hex UUID: [x, y, yaw, status, since]
waiting = []  # (guid, seq, uuid)
how = {"abort": None, "reject": False, "inactive": False, "never": False, "twice": False, "wild": False, "loop": False, "huge": False}
second = rival = slam = None
A = "/navigate_to_pose/_action/"


def serve_open():
    global s_send, w_send, s_result, w_result, s_cancel, w_cancel, w_feedback, w_status
    s_send, w_send = reader(f"rq{A}send_goalRequest", SendRequest, qos()), writer(f"rr{A}send_goalReply", SendResponse, qos())
    s_result, w_result = reader(f"rq{A}get_resultRequest", ResultRequest, qos()), writer(f"rr{A}get_resultReply", ResultResponse, qos())
    s_cancel, w_cancel = reader(f"rq{A}cancel_goalRequest", CancelRequest, qos()), writer(f"rr{A}cancel_goalReply", CancelResponse, qos())
    w_feedback = writer(f"rt{A}feedback", FeedbackMessage, qos())
    w_status = writer(f"rt{A}status", GoalStatusArray, qos(kept=True, depth=1))


asked = []  # for a result, and not looked at yet


def serve_close():
    global s_send, w_send, s_result, w_result, s_cancel, w_cancel, w_feedback, w_status
    s_send = w_send = s_result = w_result = s_cancel = w_cancel = w_feedback = w_status = None


def hexed(u):
    return bytes(u.uuid).hex()


def answer(guid, seq, status, code=0):
    if how["twice"] and seq < 10**6:
        answer(guid, seq + 10**6, 6 if status == 4 else 4)
    one_answer(guid, seq, status, code)
    if how["twice"] and seq < 10**6:
        one_answer(guid, seq, 6 if status == 4 else 4, 0)


def one_answer(guid, seq, status, code):
    if humble:
        w_result.write(ResultResponse(guid, seq, status, 0))
    else:
        w_result.write(ResultResponse(guid, seq, status, code, "played" if code else ""))


def tell_status():
    w_status.write(GoalStatusArray([GoalStatus(GoalInfo(UUID(list(bytes.fromhex(u))), stamp()), goals[u][3]) for u in order]))


def end(u, status, code=0):
    if how["twice"]:  # a list that ran ahead, and goes back
        for early in (4, 1, 6, 2):
            goals[u][3] = early
            tell_status()
    goals[u][3] = status
    say("end", u, status)
    for g, s, w in [x for x in waiting if x[2] == u]:
        answer(g, s, status, code)
        waiting.remove((g, s, w))
    tell_status()


def nav2(now):
    for r in taken(s_send):
        u = hexed(r.goal_id)
        p = r.goal.pose.pose
        say("goal", u, round(p.position.x, 3), round(p.position.y, 3))
        if "answer" in muted:
            continue
        ok = not how["reject"] and u not in goals
        if ok:
            for other in [o for o in order if goals[o][3] == 2]:
                end(other, 6)
            goals[u] = [p.position.x, p.position.y, 2 * math.atan2(p.orientation.z, p.orientation.w), 2, now]
            order.append(u)
        w_send.write(SendResponse(r.guid, r.seq, ok, stamp()))
        tell_status()
        say("taken", u)
    asked.extend(taken(s_result))
    while asked and w_result.get_matched_subscriptions():  # who asks hears the answer by now, as ROS's own servers see to
        r = asked.pop(0)
        u = hexed(r.goal_id)
        if u not in goals:
            answer(r.guid, r.seq, 0)
        elif goals[u][3] > 3:
            answer(r.guid, r.seq, goals[u][3])
        else:
            waiting.append((r.guid, r.seq, u))
    for r in taken(s_cancel):
        u = hexed(r.goal_info.goal_id)
        say("cancel", u)
        known = u in goals and goals[u][3] == 2
        w_cancel.write(CancelResponse(r.guid, r.seq, 0 if known else 2, [r.goal_info] if known else []))
        if known and not how["never"]:
            end(u, 5)
    for u in [o for o in order if goals[o][3] == 2]:
        x, y, yaw, _, since = goals[u]
        if how["never"]:
            continue
        if how["wild"]:
            wild = WILD[int(now * 20) % len(WILD)]
            w_in.write(Twist(Vector3(wild[0], 7., 7.), Vector3(7., 7., wild[1])))
            continue
        if how["abort"] is not None and now - since > .5:
            end(u, 6, how["abort"])
            continue
        far, way = steer(x, y, yaw, odom)
        if not way:
            end(u, 4)
            continue
        w_in.write(Twist(Vector3(way[0], 0., 0.), Vector3(0., 0., way[1])))
        if rival:
            rival.write(Twist(Vector3(way[0], 0., 0.), Vector3(0., 0., 0.)))
        t = now - since
        if "feedback" in nans:
            w_feedback.write(FeedbackMessage(UUID(list(bytes.fromhex(u))), Feedback(
                PoseStamped(Header(stamp(), "map"), Pose(Point(math.nan, math.inf, 0.), Quaternion(0., 0., 0., 0.))),
                Duration(-5, 4294967295), Duration(-2147483648, 0), -7, [math.nan, -math.inf, -3., 3e38][int(now * 20) % 4])))
            continue
        w_feedback.write(FeedbackMessage(UUID(list(bytes.fromhex(u))), Feedback(
            PoseStamped(Header(stamp(), "map"), Pose(Point(*[MAP_FROM_ODOM[i] + odom[i] for i in (0, 1)], 0.), quat(odom[2]))),
            Duration(int(t), 0), Duration(int(far / .4), 0), 1, far)))


def services_open():
    global services
    manager = "/lifecycle_manager_navigation"
    services = {name: (reader(f"rq{at}Request", asks, qos()), writer(f"rr{at}Reply", answers, qos())) for name, at, asks, answers in (
        ("local", "/local_costmap/clear_entirely_local_costmap", ClearRequest, ClearResponse),
        ("global", "/global_costmap/clear_entirely_global_costmap", ClearRequest, ClearResponse),
        ("active", manager + "/is_active", ActiveRequest, ActiveResponse), ("manage", manager + "/manage_nodes", ManageRequest, ManageResponse),
        ("bt_navigator", "/bt_navigator/get_state", StateRequest, StateResponse))}


def upkeep():
    for name, (asks, answers) in services.items():
        for r in taken(asks):
            if name in ("local", "global"):
                say("clear", name)
                answers.write(ClearResponse(r.guid, r.seq, 0))
            elif name == "active":
                answers.write(ActiveResponse(r.guid, r.seq, not how["inactive"], ""))
            elif name == "manage":
                say("manage", r.command)
                how["inactive"] = r.command not in (0, 2)
                answers.write(ManageResponse(r.guid, r.seq, True))
            else:
                answers.write(StateResponse(r.guid, r.seq, State(2, "inactive") if how["inactive"] else State(3, "active")))


def wave_open():
    global wave_ends
    a = "/wave/_action/"
    wave_ends = [reader(f"rq{a}send_goalRequest", WaveSendRequest, qos()), writer(f"rr{a}send_goalReply", WaveSendResponse, qos()),
                 reader(f"rq{a}get_resultRequest", WaveResultRequest, qos()), writer(f"rr{a}get_resultReply", WaveResultResponse, qos()),
                 reader(f"rq{a}cancel_goalRequest", CancelRequest, qos()), writer(f"rr{a}cancel_goalReply", CancelResponse, qos()),
                 writer(f"rt{a}feedback", WaveFeedback, qos()), writer(f"rt{a}status", GoalStatusArray, qos(kept=True, depth=1))]


def wave():
    for r in taken(wave_ends[0]):
        say("wave", r.goal.times, r.goal.speed, r.goal.style.hand, *r.goal.style.fingers)
        wave_ends[6].write(WaveFeedback(r.goal_id, r.goal.times))
        wave_ends[1].write(WaveSendResponse(r.guid, r.seq, True, stamp()))
    for r in taken(wave_ends[2]):
        wave_ends[3].write(WaveResultResponse(r.guid, r.seq, 4, WaveResult(True, "waved")))


def obey(words):
    global shift, w_tf_static, w_scan, second, rival, slam, w_map
    w = words.pop(0)
    if w == "abort":
        how["abort"] = int(words.pop(0))
    elif w == "reject":
        how["reject"] = True
    elif w in ("inactive", "active"):
        how["inactive"] = w == "inactive"
    elif w == "forget":
        serve_close()
        goals.clear(), order.clear(), waiting.clear()
        serve_open()
    elif w in ("mute", "loud", "nan", "well"):
        x = words.pop(0)
        (muted if w in ("mute", "loud") else nans).__getattribute__("add" if w in ("mute", "nan") else "discard")(x)
        if x == "server":
            serve_close() if w == "mute" else serve_open()
    elif w in ("never", "twice", "wild", "loop", "huge"):
        how[w] = True
    elif w == "rival":
        rival = writer("rt/cmd_vel", Twist, qos())
    elif w == "second":
        second = writer("rt/odom", Odometry, qos())
    elif w == "gone":
        second = rival = None
    elif w == "maps":
        slam, w_map = Slam(), writer("rt/map", OccupancyGrid, qos(kept=True, depth=1))
    elif w == "back":
        shift -= 30.
    elif w == "quit":
        sys.exit(0)


words = sys.argv[1:]
kinds = {words[i]: words[i + 1] for i in range(len(words) - 1) if words[i] in ("qos", "type")}
alone = "alone" in words
words = [w for i, w in enumerate(words) if w not in ("humble", "qos", "type", "alone") and (i == 0 or words[i - 1] not in ("qos", "type"))]
if not alone:
    w_odom = writer("rt/odom", Odometry, qos(depth=10))
    w_scan = writer("rt/scan", Battery if kinds.get("type") == "scan" else Scan, qos(False, depth=5))
    if kinds.get("type") == "scan":
        muted.add("scan")
    w_battery = writer("rt/battery_state", Battery, qos())
    w_tf = writer("rt/tf", TF, qos(depth=100))
    w_tf_static = writer("rt/tf_static", TF, qos(kept=kinds.get("qos") != "tf_static", depth=1))
w_in = writer("rt/cmd_vel_nav2", Twist, qos(depth=1))
r_cmd = None if alone else reader("rt/cmd_vel", Twist, qos())
r_odom = reader("rt/odom", Odometry, qos(reliable=False)) if alone else None
serve_open()
if not alone:
    services_open()
    wave_open()
    w_tf_static.write(TF([transform("base_link", "laser", LIDAR_X, 0., 0.)]))
while words:
    obey(words)
say("ready")
n, last, cmd, cmd_at, next_at = 0, time.monotonic(), (0., 0.), 0., time.monotonic()
while True:
    now = time.monotonic()
    for c in taken(r_cmd) if r_cmd else []:
        new = (c.linear.x, c.angular.z)
        if (new == (0., 0.)) != (cmd == (0., 0.)):
            say("cmd", *[round(v, 3) for v in new])
        if too_fast(*new):
            say("fast", *new)
        cmd, cmd_at = new, now
    speed[:] = cmd if now - cmd_at < .5 else (0., 0.)
    dt, last = now - last, now
    moved(odom, *speed, dt)
    for o in taken(r_odom) if r_odom else []:
        p = o.pose.pose
        odom[:] = p.position.x, p.position.y, 2 * math.atan2(p.orientation.z, p.orientation.w)
    if not alone:
        senses(n)
        upkeep()
        wave()
    if "server" not in muted:
        nav2(now)
    n, next_at = n + 1, max(next_at + .05, now)
    if select.select([sys.stdin], [], [], max(0., next_at - time.monotonic()))[0]:
        line = sys.stdin.readline()
        if not line:
            sys.exit(0)
        obey(line.split())
