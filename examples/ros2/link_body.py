#!/usr/bin/env python3
"""A body of your own on the link's protocol: what `pons run` finds at run/body.sock of its workspace (docs/reference/ros2-own-body.md).

    python3 link_body.py WORKSPACE            where ROS is installed: follows /odom, drives by /cmd_vel
    python3 link_body.py WORKSPACE --try      a disc in place of that base, without ROS

body_link.py keeps the protocol; here is the robot. It has no lidar, and so no gate between a goal and the wheels: drive it
where nobody walks, or give it a step() that looks.
"""
import math, sys, time
import body_link

SPEED_MPS, YAW_RADPS, PATIENCE_S = 0.4, 1.0, 60.0
ZONES = [{"id": i, "names": {"en": [i, i + " side"], "zh": [zh]}, "polygon": [[x, 0], [x + 3, 0], [x + 3, 6], [x, 6]],
          "target": {"x": x + 1.5, "y": 3.0, "yaw": 0.0}} for i, zh, x in (("west", "西边", 0), ("east", "东边", 3))]
POSE = {"type": "object", "properties": {k: {"type": "number"} for k in ("x", "y", "yaw")}, "required": ["x", "y"]}
NAVIGATE = {"name": "navigate_to_pose", "description": "Drive straight to a zone or a pose.", "interface_type": "internal",
            "args_schema": {"type": "object", "additionalProperties": False, "properties": {"pose": POSE, "zone": {"type": "string"}},
                            "oneOf": [{"required": ["pose"]}, {"required": ["zone"]}]},
            "resources_required": ["base"], "preemptible": False, "cancel_supported": True, "timeout_s": PATIENCE_S,
            "success_criteria": "the robot stands within 0.05 m of the pose", "error_map": {"9902": "ask_human", "default": "retry"},
            "requires_approval": False, "ask_on_unknown": False,
            "meets": [{"intent": "go_to", "args": {a: "$" + a}, "test": "at", "says": "go there"} for a in ("pose", "zone")]}


class Disc:
    """A base that is no more than numbers."""

    def __init__(self):
        self.x, self.y, self.yaw, self.v, self.w, self.at = 1.0, 3.0, 0.0, 0.0, 0.0, time.monotonic()

    def drive(self, v, w):
        self.v, self.w = v, w

    def turn(self):
        dt, self.at = time.monotonic() - self.at, time.monotonic()
        self.yaw = math.remainder(self.yaw + self.w * dt, 2 * math.pi)
        self.x, self.y = self.x + self.v * math.cos(self.yaw) * dt, self.y + self.v * math.sin(self.yaw) * dt


class Base:
    """One that ROS 2 drives. It needs a time-out of its own: when this process dies nobody says zero."""

    def __init__(self):
        import rclpy
        from geometry_msgs.msg import Twist
        from nav_msgs.msg import Odometry
        rclpy.init()
        self.rclpy, self.Twist, self.node = rclpy, Twist, rclpy.create_node("link_body")
        self.x = self.y = self.yaw = self.v = self.w = 0.0
        self.heard_at = -math.inf
        self.wheels = self.node.create_publisher(Twist, "cmd_vel", 10)
        self.node.create_subscription(Odometry, "odom", self.heard, 10)

    def heard(self, m):
        p, q = m.pose.pose.position, m.pose.pose.orientation
        self.x, self.y, self.yaw = p.x, p.y, math.atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y * q.y + q.z * q.z))
        self.heard_at = time.monotonic()

    def drive(self, v, w):
        m = self.Twist()
        self.v, self.w = (v, w) if time.monotonic() - self.heard_at < 0.5 else (0.0, 0.0)  # blind, it stands
        m.linear.x, m.angular.z = self.v, self.w
        self.wheels.publish(m)

    def turn(self):
        self.rclpy.spin_once(self.node, timeout_sec=0.0)


class Robot:
    def __init__(self, base):
        self.base, self.turn, self.goal = base, base.turn, ZONES[0]["target"]
        self.hello = {"robot_id": "own-1", "driver": "own", "simulated": False, "skills": [NAVIGATE],
                      "world": {"name": "empty", "bounds": [0, 0, 6, 6], "zones": ZONES, "objects": []},
                      "limits": {"radius_m": 0.2, "speed_max_mps": SPEED_MPS, "yaw_rate_max_radps": YAW_RADPS, "heartbeat_ms": 300, "held_s": 30}}

    def begin(self, skill, args):
        zone = [z["target"] for z in ZONES if args.get("zone") in z["names"]["en"] + z["names"]["zh"]]
        goal = zone[0] if zone else args.get("pose")
        if not isinstance(goal, dict) or not all(isinstance(goal.get(k), (int, float)) and 0 <= goal[k] <= 6 for k in ("x", "y")):
            return "neither a zone nor a pose in the room"
        self.goal = dict(goal)

    def step(self, since_s):
        g, b = self.goal, self.base
        far, yaw = math.hypot(g["x"] - b.x, g["y"] - b.y), g.get("yaw", b.yaw)
        turn = math.remainder((math.atan2(g["y"] - b.y, g["x"] - b.x) if far > 0.05 else yaw) - b.yaw, 2 * math.pi)
        if far <= 0.05 and abs(turn) < 0.1:
            return "done", 0, ""
        if since_s > PATIENCE_S:
            return "failed", 9003, "TIMEOUT"
        b.drive(min(SPEED_MPS, far) if far > 0.05 and abs(turn) < 0.5 else 0.0, max(-YAW_RADPS, min(YAW_RADPS, 2 * turn)))

    def stand(self):
        self.base.drive(0.0, 0.0)

    def say(self):
        b = self.base
        return {"pose": {"x": b.x, "y": b.y, "yaw": b.yaw}, "twist": {"v": b.v, "w": b.w}, "battery_pct": 100.0, "battery_state": "unknown",
                "docked": False, "far": math.hypot(self.goal["x"] - b.x, self.goal["y"] - b.y)}


if __name__ == "__main__":
    body_link.Link(sys.argv[1] + "/run", Robot(Disc() if "--try" in sys.argv else Base())).serve()
