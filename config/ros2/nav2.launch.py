"""Nav2 behind the velocity gate of pons: what its last stage publishes goes to cmd_vel_nav2 instead of cmd_vel.

    ros2 launch nav2.launch.py robot:=ROBOT [what that launch file takes]

ROBOT: nav2 (the plain nav2_bringup), turtlebot3, turtlebot4; Humble, Jazzy and later. It starts the robot's own launch file
with two more remappings, each of one node. Rules of SetRemap come before those of the launch file.
"""
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction, IncludeLaunchDescription, OpaqueFunction
from launch.substitutions import PathJoinSubstitution
from launch_ros.actions import SetRemap
from launch_ros.substitutions import FindPackageShare

LAUNCH_FILES = {  # robot: package, launch file in its launch/
    "nav2": ("nav2_bringup", "bringup_launch.py"),
    "turtlebot3": ("turtlebot3_navigation2", "navigation2.launch.py"),
    "turtlebot4": ("turtlebot4_navigation", "nav2.launch.py"),
}
HUMBLE = ["velocity_smoother:cmd_vel_smoothed", "behavior_server:cmd_vel"]  # its last stages
LATER = ["collision_monitor:cmd_vel", "docking_server:cmd_vel"]


def nav2(context):
    import os
    package, file = LAUNCH_FILES[context.launch_configurations["robot"]]
    last = HUMBLE if os.environ.get("ROS_DISTRO") == "humble" else LATER
    return [GroupAction([SetRemap(topic, "cmd_vel_nav2") for topic in last]
                        + [IncludeLaunchDescription(PathJoinSubstitution([FindPackageShare(package), "launch", file]))])]


def generate_launch_description():
    return LaunchDescription([
        DeclareLaunchArgument("robot", default_value="nav2", choices=list(LAUNCH_FILES), description="whose Nav2"),
        OpaqueFunction(function=nav2),
    ])
