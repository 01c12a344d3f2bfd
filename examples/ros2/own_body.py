#!/usr/bin/env python3
"""A body of your own, as a ROS 2 node: a disc in an empty room that `pons run --driver ros2` drives (docs/reference/ros2-own-body.md).

    RMW_IMPLEMENTATION=rmw_cyclonedds_cpp python3 own_body.py
    python3 own_body.py --try            the room and the steering alone, without ROS: where a goal ends

Room is the robot; a real one has motors and sensors there. Node is what pons asks of it.
"""
import math, sys, threading, time

WALLS, LIDAR_BEAMS, RANGE_M = (0.0, 0.0, 6.0, 6.0), 180, 10.0  # worlds/empty.yaml, without its pillar
HAND_OFF_S = 0.5  # a velocity that is older counts as zero: pons may have died


class Room:
    def __init__(self, x=1.0, y=3.0, yaw=0.0):
        self.x, self.y, self.yaw, self.v, self.w, self.said = x, y, yaw, 0.0, 0.0, -math.inf

    def drive(self, v, w, now):
        if math.isfinite(v) and math.isfinite(w):
            self.v, self.w, self.said = v, w, now

    def step(self, dt, now):
        if now - self.said > HAND_OFF_S:
            self.v = self.w = 0.0
        self.yaw = math.remainder(self.yaw + self.w * dt, 2 * math.pi)
        self.x = min(max(self.x + self.v * math.cos(self.yaw) * dt, WALLS[0]), WALLS[2])
        self.y = min(max(self.y + self.v * math.sin(self.yaw) * dt, WALLS[1]), WALLS[3])

    def scan(self):
        ranges = []
        for i in range(LIDAR_BEAMS):
            a = self.yaw - math.pi + 2 * math.pi * i / LIDAR_BEAMS
            c, s = math.cos(a), math.sin(a)
            ways = [(WALLS[2 if c > 0 else 0] - self.x) / c if c else math.inf, (WALLS[3 if s > 0 else 1] - self.y) / s if s else math.inf]
            ranges.append(min(ways) if min(ways) < RANGE_M else math.inf)
        return ranges

    def steer(self, x, y, yaw):
        """What a goal's controller would like: (v, w); None: it is there."""
        far = math.hypot(x - self.x, y - self.y)
        turn = math.remainder((math.atan2(y - self.y, x - self.x) if far > 0.05 else yaw) - self.yaw, 2 * math.pi)
        if far <= 0.05 and abs(turn) < 0.05:
            return None
        return min(0.4, far) if far > 0.05 and abs(turn) < 0.5 else 0.0, max(-1.0, min(1.0, 2 * turn))


def try_it():
    room, now = Room(), 0.0
    while (want := room.steer(4.5, 1.5, 1.0)) and now < 60:
        room.drive(*want, now)
        room.step(0.05, now)
        now += 0.05
    print(f"{room.x:.2f} {room.y:.2f} {room.yaw:.2f} after {now:.1f} s")
    room.drive(0.4, 0.0, now)
    room.step(0.05, now + 1.0)
    print("stands" if room.v == 0.0 else "drives on", "when nobody says anything any more")


def main():
    import rclpy
    from geometry_msgs.msg import TransformStamped, Twist
    from nav2_msgs.action import NavigateToPose
    from nav_msgs.msg import Odometry
    from rclpy.action import ActionServer, CancelResponse
    from rclpy.callback_groups import ReentrantCallbackGroup
    from rclpy.executors import MultiThreadedExecutor
    from rclpy.qos import DurabilityPolicy, QoSProfile
    from sensor_msgs.msg import BatteryState, LaserScan
    from tf2_msgs.msg import TFMessage

    rclpy.init()
    node, room, lock = rclpy.create_node("own_body"), Room(), threading.Lock()
    odom = node.create_publisher(Odometry, "odom", 10)
    scan = node.create_publisher(LaserScan, "scan", 10)
    battery = node.create_publisher(BatteryState, "battery_state", 10)
    tf = node.create_publisher(TFMessage, "/tf", 100)
    fixed = node.create_publisher(TFMessage, "/tf_static", QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL))
    wish = node.create_publisher(Twist, "cmd_vel_nav2", 1)  # never cmd_vel: pons's gate is between

    def said(m):
        with lock:
            room.drive(m.linear.x, m.angular.z, time.monotonic())

    def frame(parent, child, x=0.0, y=0.0, yaw=0.0):
        t = TransformStamped()
        t.header.stamp, t.header.frame_id, t.child_frame_id = node.get_clock().now().to_msg(), parent, child
        t.transform.translation.x, t.transform.translation.y = x, y
        t.transform.rotation.z, t.transform.rotation.w = math.sin(yaw / 2), math.cos(yaw / 2)
        return t

    def tick():  # 20 Hz
        with lock:
            room.step(0.05, time.monotonic())
            x, y, yaw, v, w, ranges = room.x, room.y, room.yaw, room.v, room.w, room.scan()
        at = frame("odom", "base_link", x, y, yaw)
        o = Odometry()
        o.header, o.child_frame_id = at.header, "base_link"
        o.pose.pose.position.x, o.pose.pose.position.y, o.pose.pose.orientation = x, y, at.transform.rotation
        o.twist.twist.linear.x, o.twist.twist.angular.z = v, w
        odom.publish(o)
        tf.publish(TFMessage(transforms=[at, frame("map", "odom")]))  # who localises says map -> odom; this one cannot drift
        s = LaserScan(angle_min=-math.pi, angle_max=math.pi, angle_increment=2 * math.pi / LIDAR_BEAMS, range_min=0.02, range_max=RANGE_M)
        s.header.stamp, s.header.frame_id, s.ranges = at.header.stamp, "laser", ranges
        scan.publish(s)

    def charge():
        battery.publish(BatteryState(percentage=0.8, power_supply_status=BatteryState.POWER_SUPPLY_STATUS_DISCHARGING, present=True))

    def go(handle):
        p = handle.request.pose.pose
        yaw = 2 * math.atan2(p.orientation.z, p.orientation.w)
        while rclpy.ok() and not handle.is_cancel_requested:
            with lock:
                want = room.steer(p.position.x, p.position.y, yaw)
            m = Twist()
            m.linear.x, m.angular.z = want or (0.0, 0.0)
            wish.publish(m)
            if want is None:
                handle.succeed()
                return NavigateToPose.Result()
            time.sleep(0.05)
        handle.canceled()
        return NavigateToPose.Result()

    node.create_subscription(Twist, "cmd_vel", said, 10)
    node.create_timer(0.05, tick)
    node.create_timer(1.0, charge)
    server = ActionServer(node, NavigateToPose, "navigate_to_pose", go, cancel_callback=lambda _: CancelResponse.ACCEPT,
                          callback_group=ReentrantCallbackGroup())  # kept: it serves as long as it is referred to
    fixed.publish(TFMessage(transforms=[frame("base_link", "laser")]))
    executor = MultiThreadedExecutor()
    executor.add_node(node)
    executor.spin()
    server.destroy()


if __name__ == "__main__":
    try_it() if "--try" in sys.argv else main()
