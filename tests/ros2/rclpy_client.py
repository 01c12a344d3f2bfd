"""A client of NavigateToPose in rclpy: rclpy_client.py ACTION X Y sends one goal in the map, and prints `accepted UUID`, `end STATUS`."""
import sys
import rclpy
from nav2_msgs.action import NavigateToPose
from rclpy.action import ActionClient

rclpy.init()
node = rclpy.create_node("client")
c = ActionClient(node, NavigateToPose, sys.argv[1])
c.wait_for_server()
g = NavigateToPose.Goal()
g.pose.header.frame_id = "map"
g.pose.pose.position.x, g.pose.pose.position.y, g.pose.pose.orientation.w = float(sys.argv[2]), float(sys.argv[3]), 1.
asked = c.send_goal_async(g)
rclpy.spin_until_future_complete(node, asked)
handle = asked.result()
print("accepted" if handle.accepted else "refused", bytes(handle.goal_id.uuid).hex(), flush=True)
if handle.accepted:
    end = handle.get_result_async()
    rclpy.spin_until_future_complete(node, end)
    print("end", end.result().status, flush=True)
