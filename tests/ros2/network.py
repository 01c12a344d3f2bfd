"""The network of these tests, the loopback interface, for each DDS that takes part. Domains are drawn for each case."""
import os

CYCLONE = ('<CycloneDDS><Domain><General><Interfaces><NetworkInterface name="lo"/></Interfaces>'
           "<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>"
           '<Peers><Peer address="127.0.0.1"/></Peers><MaxAutoParticipantIndex>20</MaxAutoParticipantIndex>'
           "</Discovery></Domain></CycloneDDS>")
FAST = """<?xml version="1.0" encoding="UTF-8" ?>
<dds xmlns="http://www.eprosima.com"><profiles>
<transport_descriptors><transport_descriptor><transport_id>loopback</transport_id><type>UDPv4</type>
<maxInitialPeersRange>32</maxInitialPeersRange><interfaceWhiteList><address>127.0.0.1</address></interfaceWhiteList>
</transport_descriptor></transport_descriptors>
<participant profile_name="loopback" is_default_profile="true"><rtps>
<useBuiltinTransports>false</useBuiltinTransports><userTransports><transport_id>loopback</transport_id></userTransports>
<builtin><initialPeersList><locator><udpv4><address>127.0.0.1</address></udpv4></locator></initialPeersList></builtin>
</rtps></participant></profiles></dds>
"""


def of_pons(env):
    """Where pons is given Fast DDS too: that keeps to this machine by ROS's own word for it."""
    return dict(env, ROS_LOCALHOST_ONLY="1")


def of_rclpy(env, folder, interfaces):
    """For a process of rclpy, whose profiles and logs are in that folder."""
    with open(folder + "/fast.xml", "w") as f:
        f.write(FAST)
    env = {k: v for k, v in env.items() if k not in ("ROS_LOCALHOST_ONLY", "ROS_DISTRO", "LD_LIBRARY_PATH")}
    here = os.path.dirname(os.path.abspath(__file__))
    return dict(env, FASTDDS_DEFAULT_PROFILES_FILE=folder + "/fast.xml", RMW_IMPLEMENTATION="rmw_fastrtps_cpp",
                ROS_LOG_DIR=folder + "/log", PYTHONPATH=f"{interfaces}:{here}", LD_LIBRARY_PATH=interfaces + "/lib")
