"""Reads the ROS 2 topics of a recording with PyPI's mcap-ros2-support, by their own schemas.

Prints {topic: [type, messages, a value of the newest]} as JSON; a fault is an exception."""
import json
import sys

from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory


def value(kind, m):
    if kind == "sensor_msgs/msg/LaserScan":
        return [m.header.stamp.sec, m.header.frame_id, len(m.ranges), round(min(m.ranges), 4)]
    if kind == "nav_msgs/msg/Odometry":
        return [m.header.stamp.nanosec, m.child_frame_id, round(m.pose.pose.position.x, 6)]
    if kind == "tf2_msgs/msg/TFMessage":
        return [[t.header.frame_id, t.child_frame_id] for t in m.transforms]
    if kind == "nav_msgs/msg/OccupancyGrid":
        return [m.info.width, m.info.height, len(m.data)]
    if kind == "sensor_msgs/msg/BatteryState":
        return [round(m.percentage, 4), m.power_supply_status]
    return None


found = {}
with open(sys.argv[1], "rb") as file:
    reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
    wanted = [c.topic for c in reader.get_summary().channels.values() if c.message_encoding == "cdr"]
    for schema, channel, message, decoded in reader.iter_decoded_messages(topics=wanted):
        assert schema.encoding == "ros2msg", channel.topic
        count = found.get(channel.topic, [0, 0])[1]
        found[channel.topic] = [schema.name, count + 1, value(schema.name, decoded)]
print(json.dumps(found))
