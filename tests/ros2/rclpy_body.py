"""A robot's body in rclpy: senses and wheels by ROS's own code, as robot.py has them. rclpy_nav2.py is its Nav2.

It stands in worlds/empty.yaml and follows cmd_vel, and nothing else; with PONS_NAMESPACE everything is in that namespace, /tf too.
With the word `maps` it has a SLAM that makes the map, and begins where the robot stands. With the word `camera` it turns to and fro, whatever cmd_vel says, and has the camera of rclpy_camera.py.
It prints `ready`, `cmd V W` when it begins or stops to move, and `fast V W` for a velocity that the world's robot may not have. It
ends with its standard input, or with `quit` there.
"""
import math, os, sys, threading, time
import rclpy
from geometry_msgs.msg import TransformStamped, Twist
from nav_msgs.msg import OccupancyGrid, Odometry
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from room import LIDAR_X, MAP_FROM_ODOM, Slam, moved, scan, too_fast
from sensor_msgs.msg import BatteryState, LaserScan
from tf2_msgs.msg import TFMessage

TICK_S, SILENT_S = .05, .5
began = time.monotonic()
odom, cmd, cmd_at, ticks, last = [0., 0., 0.], [0., 0.], [0.], [0], [began]


def say(*words):
    print(*words, flush=True)


def stamped(m, frame, ahead_s=0.):
    ns_ = node.get_clock().now().nanoseconds + int(ahead_s * 1e9)
    m.header.frame_id, m.header.stamp.sec, m.header.stamp.nanosec = frame, ns_ // 10**9, ns_ % 10**9
    return m


def turn(q, yaw):
    q.z, q.w = math.sin(yaw / 2), math.cos(yaw / 2)


def transform(parent, child, x, y, yaw, ahead_s=0.):
    t = stamped(TransformStamped(child_frame_id=child), parent, ahead_s)
    t.transform.translation.x, t.transform.translation.y = x, y
    turn(t.transform.rotation, yaw)
    return t


def heard(m):
    new = [m.linear.x, m.angular.z]
    if (new == [0., 0.]) != (cmd == [0., 0.]):
        say("cmd", *[round(v, 3) for v in new])
    if too_fast(*new):
        say("fast", *new)
    cmd[:], cmd_at[0] = new, time.monotonic()


def look(now):
    turned = rclpy_camera.pan(now)
    t = transform("base_link", "pan", *rclpy_camera.AT[:2], turned)
    t.transform.translation.z = rclpy_camera.AT[2]
    w_tf.publish(TFMessage(transforms=[t]))
    if ticks[0] % rclpy_camera.EVERY == 0:
        camera.take(odom, turned, stamped, now)
    camera.send(now)


def say_map():
    slam.look(odom)
    if ticks[0] % 40 == 0:
        g = stamped(OccupancyGrid(), "map")
        g.info.resolution = slam.CELL
        g.info.width, g.info.height, g.info.origin.position.x, g.info.origin.position.y, g.data = slam.grid()
        w_map.publish(g)


def tick():
    now = time.monotonic()
    speed = cmd if now - cmd_at[0] < SILENT_S else [0., 0.]
    if camera:
        speed = [0., rclpy_camera.turning(now - began)]
    moved(odom, *speed, now - last[0])
    last[0] = now
    o = stamped(Odometry(child_frame_id="base_link"), "odom")
    o.pose.pose.position.x, o.pose.pose.position.y = odom[:2]
    turn(o.pose.pose.orientation, odom[2])
    o.twist.twist.linear.x, o.twist.twist.angular.z = speed
    w_odom.publish(o)
    w_tf.publish(TFMessage(transforms=[transform("odom", "base_link", *odom)]))
    w_tf.publish(TFMessage(transforms=[transform("map", "odom", *((0., 0.) if slam else MAP_FROM_ODOM), 0., 1.)]))  # a second ahead, as AMCL's
    if slam:
        say_map()
    if camera:
        look(now)
    if ticks[0] % 2 == 0:
        inc, ranges = scan(odom)
        w_scan.publish(stamped(LaserScan(angle_min=-math.pi, angle_max=math.pi, angle_increment=inc, scan_time=.1, range_min=.05,
                                         range_max=8., ranges=ranges), "laser"))
    if ticks[0] % 20 == 0:
        w_battery.publish(stamped(BatteryState(voltage=12., percentage=.83, power_supply_status=2, present=True), ""))
    ticks[0] += 1


def listen():
    for line in sys.stdin:
        if line.split() == ["quit"]:
            break
    os._exit(0)


rclpy.init()
ns = os.environ.get("PONS_NAMESPACE", "")
node = rclpy.create_node("base", namespace=ns)
w_odom, w_scan = node.create_publisher(Odometry, "odom", 10), node.create_publisher(LaserScan, "scan", qos_profile_sensor_data)
w_battery = node.create_publisher(BatteryState, "battery_state", 10)
w_tf = node.create_publisher(TFMessage, ns + "/tf", 100)
w_tf_static = node.create_publisher(TFMessage, ns + "/tf_static", QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL))
slam = Slam() if "maps" in sys.argv else None
w_map = node.create_publisher(OccupancyGrid, "map", QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)) if slam else None
fixed, camera = [transform("base_link", "laser", LIDAR_X, 0., 0.)], None
if "camera" in sys.argv:
    import rclpy_camera
    camera = rclpy_camera.Camera(node)
    lens = transform("pan", "lens", 0., 0., 0.)  # right, down, ahead
    lens.transform.rotation.x, lens.transform.rotation.y, lens.transform.rotation.z, lens.transform.rotation.w = -.5, .5, -.5, .5
    fixed.append(lens)
w_tf_static.publish(TFMessage(transforms=fixed))
node.create_subscription(Twist, "cmd_vel", heard, 10)
node.create_timer(TICK_S, tick)
threading.Thread(target=listen, daemon=True).start()
say("ready")
try:
    rclpy.spin(node)
except KeyboardInterrupt:
    os._exit(0)
