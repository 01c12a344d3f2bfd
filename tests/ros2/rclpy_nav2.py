"""Nav2 in rclpy, played: its action servers and services by ROS's own code, beside rclpy_body.py.

It is run by a Python with rclpy (requirements-rclpy.txt) and the packages of make_interfaces.py. It hears /odom and steers on
cmd_vel_nav2; with PONS_NAMESPACE everything is in that namespace. Words on the command line or, later, on the standard input, as
robot.py has them:

    abort CODE    reject    never    wild    nan feedback    forget    inactive    active    quit
    mute server|answer      loud server|answer      rival    gone
It prints `goal UUID x y` and `cancel UUID` for what comes, known or not, `taken UUID` once a goal is answered, `end UUID STATUS`,
`wave TIMES SPEED HAND`, `clear local|global`, `manage COMMAND`, `spin YAW`, `backup X SPEED`.
"""
import math, os, sys, threading, time
import rclpy
from action_msgs.msg import GoalStatus
from geometry_msgs.msg import Twist
from lifecycle_msgs.srv import GetState
from my_msgs.action import Wave
from nav2_msgs.action import BackUp, NavigateToPose, Spin
from nav2_msgs.srv import ClearEntireCostmap, ManageLifecycleNodes
from nav_msgs.msg import Odometry
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from std_srvs.srv import Trigger
from room import MAP_FROM_ODOM, WILD, steer

TICK_S = .05
how = {"abort": None, "reject": False, "never": False, "wild": False, "nan": False, "inactive": False}
mute = set()
odom, odom_came = [0., 0., 0.], threading.Event()
newest, life = [None], [0]  # the goal that has the wheels; a server that forgets is another life
lock = threading.Lock()


def say(*words):
    with lock:
        print(*words, flush=True)


def hexed(goal_id):
    return bytes(goal_id.uuid).hex()


def yaw_of(q):
    return 2 * math.atan2(q.z, q.w)


class Server(ActionServer):
    """One that says what comes, also what ROS answers by itself: a used id, a goal that it does not know."""

    async def _execute_goal_request(self, asked):
        self.say_goal(asked[1])
        await super()._execute_goal_request(asked)

    async def _execute_cancel_request(self, asked):
        say("cancel", hexed(asked[1].goal_info.goal_id))
        await super()._execute_cancel_request(asked)


def taken(goal):
    while "answer" in mute:
        time.sleep(TICK_S)
    return GoalResponse.REJECT if how["reject"] else GoalResponse.ACCEPT


def result_of(kind, code=0):
    r = kind.Result()
    if hasattr(r, "error_code"):
        r.error_code, r.error_msg = code, "played" if code else ""
    return r


def ended(handle, status, kind, code=0):
    """The goal's end, said first: who waits for the line may look at once."""
    how_ = {GoalStatus.STATUS_SUCCEEDED: handle.succeed, GoalStatus.STATUS_CANCELED: handle.canceled, GoalStatus.STATUS_ABORTED: handle.abort}
    say("end", hexed(handle.goal_id), status)
    how_[status]()
    return result_of(kind, code)


def twist(v, w):
    t = Twist()
    t.linear.x, t.angular.z = v, w
    return t


def mine(handle, at):
    """Whether the goal still has the wheels; `at` is the life in which it was taken."""
    return newest[0] == hexed(handle.goal_id) and life[0] == at


def navigate(handle):
    u, since, at = hexed(handle.goal_id), time.monotonic(), life[0]
    newest[0], p = u, handle.request.pose.pose
    say("taken", u)
    while True:
        t = time.monotonic() - since
        if handle.is_cancel_requested and not how["never"]:
            return ended(handle, GoalStatus.STATUS_CANCELED, NavigateToPose)
        if life[0] != at:  # nobody asks any more
            return result_of(NavigateToPose)
        if not mine(handle, at):
            return ended(handle, GoalStatus.STATUS_ABORTED, NavigateToPose)
        if how["abort"] is not None and t > .5:
            return ended(handle, GoalStatus.STATUS_ABORTED, NavigateToPose, how["abort"])
        if how["wild"]:
            wheels.publish(twist(*WILD[int(t / TICK_S) % len(WILD)]))
        elif not how["never"]:
            far, way = steer(p.position.x, p.position.y, yaw_of(p.orientation), odom)
            if not way:
                return ended(handle, GoalStatus.STATUS_SUCCEEDED, NavigateToPose)
            wheels.publish(twist(*way))
            if rival[0]:
                rival[0].publish(twist(way[0], 0.))
            handle.publish_feedback(feedback(t, far))
        time.sleep(TICK_S)


def feedback(t, far):
    f = NavigateToPose.Feedback()
    f.current_pose.header.frame_id = "map"
    f.current_pose.header.stamp = brain.get_clock().now().to_msg()
    f.navigation_time.sec, f.estimated_time_remaining.sec, f.number_of_recoveries = int(t), int(far / .4), 1
    at = f.current_pose.pose
    at.position.x, at.position.y = (MAP_FROM_ODOM[i] + odom[i] for i in (0, 1))
    at.orientation.z, at.orientation.w = math.sin(odom[2] / 2), math.cos(odom[2] / 2)
    f.distance_remaining = far
    if how["nan"]:
        at.position.x, at.position.y, at.orientation.w = math.nan, math.inf, 0.
        f.navigation_time.sec, f.number_of_recoveries = -5, -7
        f.distance_remaining = [math.nan, -math.inf, -3., 3e38][int(t / TICK_S) % 4]
    return f


def behave(kind, done, way, tell):
    """An execute callback that moves until done(request, where it began)."""
    def run(handle):
        at, began = life[0], list(odom)
        newest[0] = hexed(handle.goal_id)
        while not done(handle.request, began):
            if handle.is_cancel_requested:
                return ended(handle, GoalStatus.STATUS_CANCELED, kind)
            if not mine(handle, at):
                return ended(handle, GoalStatus.STATUS_ABORTED, kind)
            wheels.publish(twist(*way(handle.request)))
            handle.publish_feedback(tell(began))
            time.sleep(TICK_S)
        return ended(handle, GoalStatus.STATUS_SUCCEEDED, kind)
    return run


def gone_m(began):
    return math.hypot(odom[0] - began[0], odom[1] - began[1])


def turned(began):
    return math.remainder(odom[2] - began[2], 2 * math.pi)


def spin_feedback(began):
    f = Spin.Feedback()
    f.angular_distance_traveled = turned(began)
    return f


def back_feedback(began):
    f = BackUp.Feedback()
    f.distance_traveled = gone_m(began)
    return f


def wave(handle):
    g = handle.request
    say("wave", g.times, g.speed, g.style.hand, *g.style.fingers)
    f, r = Wave.Feedback(), Wave.Result()
    f.left = g.times
    handle.publish_feedback(f)
    r.success, r.message = True, "waved"
    handle.succeed()
    return r


servers = []


def serve(on):
    """All action servers, or none. What was under way belongs to a life that is over."""
    life[0] += 1
    for s in servers:
        s.destroy()
    servers.clear()
    for node, kind, name, execute, say_goal in (
            (brain, NavigateToPose, "navigate_to_pose", navigate,
             lambda r: say("goal", hexed(r.goal_id), round(r.goal.pose.pose.position.x, 3), round(r.goal.pose.pose.position.y, 3))),
            (behaviors, Spin, "spin", behave(Spin, lambda r, b: abs(turned(b) - r.target_yaw) < .1,
                                             lambda r: (0., math.copysign(.6, r.target_yaw)), spin_feedback),
             lambda r: say("spin", round(r.goal.target_yaw, 2))),
            (behaviors, BackUp, "backup", behave(BackUp, lambda r, b: gone_m(b) >= abs(r.target.x) - .02, lambda r: (-abs(r.speed), 0.), back_feedback),
             lambda r: say("backup", round(r.goal.target.x, 2), round(r.goal.speed, 2))),
            (behaviors, Wave, "wave", wave, lambda r: None)) if on else ():
        s = Server(node, kind, name, execute, callback_group=ReentrantCallbackGroup(), goal_callback=taken,
                   cancel_callback=lambda g: CancelResponse.ACCEPT)
        s.say_goal = say_goal
        servers.append(s)


def clear(name):
    def run(asked, answer):
        say("clear", name)
        return answer
    return run


def is_active(asked, answer):
    answer.success = not how["inactive"]
    return answer


def get_state(asked, answer):
    answer.current_state.id, answer.current_state.label = (2, "inactive") if how["inactive"] else (3, "active")
    return answer


def manage(asked, answer):
    say("manage", asked.command)
    how["inactive"] = asked.command not in (0, 2)
    answer.success = True
    return answer


def obey(words):
    w = words.pop(0)
    if w == "abort":
        how["abort"] = int(words.pop(0))
    elif w in ("inactive", "active"):
        how["inactive"] = w == "inactive"
    elif w == "nan":
        how[w] = words.pop(0) == "feedback"
    elif w in ("mute", "loud"):
        x = words.pop(0)
        (mute.add if w == "mute" else mute.discard)(x)
        if x == "server":
            serve(w == "loud")
    elif w == "forget":
        serve(True)
    elif w == "rival":
        rival[0] = brain.create_publisher(Twist, "cmd_vel", 10)
    elif w == "gone":
        if rival[0]:
            brain.destroy_publisher(rival[0])
        rival[0] = None
    elif w == "quit":
        os._exit(0)
    else:
        assert w in how, w
        how[w] = True


def heard(m):
    p = m.pose.pose
    odom[:] = p.position.x, p.position.y, yaw_of(p.orientation)
    odom_came.set()


ns = os.environ.get("PONS_NAMESPACE", "")
rclpy.init()
brain, behaviors, manager = (rclpy.create_node(n, namespace=ns) for n in ("bt_navigator", "behavior_server", "lifecycle_manager_navigation"))
maps = {x: rclpy.create_node(f"{x}_costmap", namespace=f"{ns}/{x}_costmap") for x in ("local", "global")}
rival = [None]
wheels = brain.create_publisher(Twist, "cmd_vel_nav2", QoSProfile(depth=1))
brain.create_subscription(Odometry, "odom", heard, qos_profile_sensor_data)
brain.create_service(GetState, "bt_navigator/get_state", get_state)
manager.create_service(Trigger, "lifecycle_manager_navigation/is_active", is_active)
manager.create_service(ManageLifecycleNodes, "lifecycle_manager_navigation/manage_nodes", manage)
for x, node in maps.items():
    node.create_service(ClearEntireCostmap, f"clear_entirely_{x}_costmap", clear(x))
words = sys.argv[1:]
serve(True)
while words:
    obey(words)
executor = MultiThreadedExecutor(num_threads=12)
for n in (brain, behaviors, manager, *maps.values()):
    executor.add_node(n)


def listen():
    for line in sys.stdin:
        obey(line.split())
    os._exit(0)


threading.Thread(target=listen, daemon=True).start()
threading.Thread(target=lambda: (odom_came.wait(), say("ready")), daemon=True).start()
try:
    executor.spin()
except (KeyboardInterrupt, ExternalShutdownException):
    os._exit(0)
