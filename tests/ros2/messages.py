"""The ROS 2 interfaces that the tests speak, as PyPI's cyclonedds has types: named as ROS 2 names them on DDS.

forms("humble" or "jazzy") has all of them as attributes; where the releases differ, that release's.
"""
import types
from dataclasses import dataclass
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, float32, float64, int8, int16, int32, int64, sequence, uint8, uint16, uint32, uint64


def struct(name, /, **members):
    """A final struct NAME ("pkg::msg::dds_::X_") with these members."""
    body = {"__annotations__": members, "__module__": __name__}
    return dataclass(types.new_class(name.split("::")[-1], (IdlStruct,), {"typename": name}, lambda ns: ns.update(body)))


def m(pkg, kind, /, **members):
    return struct(f"{pkg}::msg::dds_::{kind}_", **members)


def forms(release):
    humble, f = release == "humble", types.SimpleNamespace()
    f.Time = m("builtin_interfaces", "Time", sec=int32, nanosec=uint32)
    f.Duration = m("builtin_interfaces", "Duration", sec=int32, nanosec=uint32)
    f.Header = m("std_msgs", "Header", stamp=f.Time, frame_id=str)
    f.Clock = m("rosgraph_msgs", "Clock", clock=f.Time)
    f.Vector3 = m("geometry_msgs", "Vector3", x=float64, y=float64, z=float64)
    f.Point = m("geometry_msgs", "Point", x=float64, y=float64, z=float64)
    f.Quaternion = m("geometry_msgs", "Quaternion", x=float64, y=float64, z=float64, w=float64)
    f.Pose = m("geometry_msgs", "Pose", position=f.Point, orientation=f.Quaternion)
    f.PoseStamped = m("geometry_msgs", "PoseStamped", header=f.Header, pose=f.Pose)
    f.PoseCov = m("geometry_msgs", "PoseWithCovariance", pose=f.Pose, covariance=array[float64, 36])
    f.PoseCovStamped = m("geometry_msgs", "PoseWithCovarianceStamped", header=f.Header, pose=f.PoseCov)
    f.Twist = m("geometry_msgs", "Twist", linear=f.Vector3, angular=f.Vector3)
    f.TwistStamped = m("geometry_msgs", "TwistStamped", header=f.Header, twist=f.Twist)
    f.TwistCov = m("geometry_msgs", "TwistWithCovariance", twist=f.Twist, covariance=array[float64, 36])
    f.Transform = m("geometry_msgs", "Transform", translation=f.Vector3, rotation=f.Quaternion)
    f.TransformStamped = m("geometry_msgs", "TransformStamped", header=f.Header, child_frame_id=str, transform=f.Transform)
    f.TF = m("tf2_msgs", "TFMessage", transforms=sequence[f.TransformStamped])
    f.Odometry = m("nav_msgs", "Odometry", header=f.Header, child_frame_id=str, pose=f.PoseCov, twist=f.TwistCov)
    f.MapMetaData = m("nav_msgs", "MapMetaData", map_load_time=f.Time, resolution=float32, width=uint32, height=uint32, origin=f.Pose)
    f.OccupancyGrid = m("nav_msgs", "OccupancyGrid", header=f.Header, info=f.MapMetaData, data=sequence[int8])
    f.Scan = m("sensor_msgs", "LaserScan", header=f.Header, angle_min=float32, angle_max=float32, angle_increment=float32,
               time_increment=float32, scan_time=float32, range_min=float32, range_max=float32, ranges=sequence[float32],
               intensities=sequence[float32])
    f.Battery = m("sensor_msgs", "BatteryState", header=f.Header, voltage=float32, temperature=float32, current=float32,
                  charge=float32, capacity=float32, design_capacity=float32, percentage=float32, status=uint8, health=uint8,
                  technology=uint8, present=bool, cell_voltage=sequence[float32], cell_temperature=sequence[float32],
                  location=str, serial_number=str)
    f.UUID = m("unique_identifier_msgs", "UUID", uuid=array[uint8, 16])
    f.GoalInfo = m("action_msgs", "GoalInfo", goal_id=f.UUID, stamp=f.Time)
    f.GoalStatus = m("action_msgs", "GoalStatus", goal_info=f.GoalInfo, status=int8)
    f.GoalStatusArray = m("action_msgs", "GoalStatusArray", status_list=sequence[f.GoalStatus])
    f.CancelRequest = struct("action_msgs::srv::dds_::CancelGoal_Request_", guid=uint64, seq=int64, goal_info=f.GoalInfo)
    f.CancelResponse = struct("action_msgs::srv::dds_::CancelGoal_Response_", guid=uint64, seq=int64, return_code=int8,
                              goals_canceling=sequence[f.GoalInfo])

    def action(x, goal, result, feedback):
        a, name = types.SimpleNamespace(), f"nav2_msgs::action::dds_::{x}_"
        a.Goal, a.Feedback = struct(name + "Goal_", **goal), struct(name + "Feedback_", **feedback)
        a.Message = struct(name + "FeedbackMessage_", goal_id=f.UUID, feedback=a.Feedback)
        a.SendRequest = struct(name + "SendGoal_Request_", guid=uint64, seq=int64, goal_id=f.UUID, goal=a.Goal)
        a.SendResponse = struct(name + "SendGoal_Response_", guid=uint64, seq=int64, accepted=bool, stamp=f.Time)
        a.ResultRequest = struct(name + "GetResult_Request_", guid=uint64, seq=int64, goal_id=f.UUID)
        a.ResultResponse = struct(name + "GetResult_Response_", guid=uint64, seq=int64, status=int8, **result)
        return a

    error = {} if humble else {"error_code": uint16, "error_msg": str}
    f.NavigateToPose = action("NavigateToPose", {"pose": f.PoseStamped, "behavior_tree": str},
                              {"empty": uint8} if humble else error,
                              {"current_pose": f.PoseStamped, "navigation_time": f.Duration, "estimated_time_remaining": f.Duration,
                               "number_of_recoveries": int16, "distance_remaining": float32})
    spent = dict({"total_elapsed_time": f.Duration}, **error)
    f.Spin = action("Spin", {"target_yaw": float32, "time_allowance": f.Duration}, spent, {"angular_distance_traveled": float32})
    way = {"target": f.Point, "speed": float32, "time_allowance": f.Duration}
    f.BackUp = action("BackUp", way, spent, {"distance_traveled": float32})
    f.DriveOnHeading = action("DriveOnHeading", way, spent, {"distance_traveled": float32})
    f.Gid = m("rmw_dds_common", "Gid", data=array[uint8, 24 if humble else 16])
    f.NodeEntities = m("rmw_dds_common", "NodeEntitiesInfo", node_namespace=str, node_name=str, readers=sequence[f.Gid],
                       writers=sequence[f.Gid])
    f.ParticipantEntities = m("rmw_dds_common", "ParticipantEntitiesInfo", gid=f.Gid, nodes=sequence[f.NodeEntities])
    f.Log = m("rcl_interfaces", "Log", stamp=f.Time, level=uint8, name=str, msg=str, file=str, function=str, line=uint32)
    f.ParameterValue = m("rcl_interfaces", "ParameterValue", type=uint8, bool_value=bool, integer_value=int64, double_value=float64,
                         string_value=str, byte_array_value=sequence[uint8], bool_array_value=sequence[bool],
                         integer_array_value=sequence[int64], double_array_value=sequence[float64], string_array_value=sequence[str])
    f.Parameter = m("rcl_interfaces", "Parameter", name=str, value=f.ParameterValue)
    f.FloatRange = m("rcl_interfaces", "FloatingPointRange", from_value=float64, to_value=float64, step=float64)
    f.IntRange = m("rcl_interfaces", "IntegerRange", from_value=int64, to_value=int64, step=uint64)
    f.Descriptor = m("rcl_interfaces", "ParameterDescriptor", name=str, type=uint8, description=str, additional_constraints=str,
                     read_only=bool, dynamic_typing=bool, floats=sequence[f.FloatRange], ints=sequence[f.IntRange])
    f.ListResult = m("rcl_interfaces", "ListParametersResult", names=sequence[str], prefixes=sequence[str])
    f.SetResult = m("rcl_interfaces", "SetParametersResult", successful=bool, reason=str)

    def service(x, request, response):
        name = f"rcl_interfaces::srv::dds_::{x}_"
        return (struct(name + "Request_", guid=uint64, seq=int64, **request), struct(name + "Response_", guid=uint64, seq=int64, **response))

    f.services = {"describe_parameters": service("DescribeParameters", {"names": sequence[str]}, {"descriptors": sequence[f.Descriptor]}),
                  "get_parameters": service("GetParameters", {"names": sequence[str]}, {"values": sequence[f.ParameterValue]}),
                  "get_parameter_types": service("GetParameterTypes", {"names": sequence[str]}, {"types": sequence[uint8]}),
                  "list_parameters": service("ListParameters", {"prefixes": sequence[str], "depth": uint64}, {"result": f.ListResult}),
                  "set_parameters": service("SetParameters", {"parameters": sequence[f.Parameter]}, {"results": sequence[f.SetResult]})}
    return f
