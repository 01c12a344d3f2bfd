"""Other robots beside one: crowd.py N. Each is a process of its own, with the topics of a robot elsewhere, that listens to /cmd_vel.

It prints `there I` when participant I has its endpoints, and `drives I` when a velocity that is not zero has come to it. It ends
with its standard input.
"""
import os, signal, sys, time
import messages
from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

f = messages.forms("jazzy")
RELIABLE = Qos(Policy.Reliability.Reliable(duration(milliseconds=100)), Policy.Durability.Volatile, Policy.History.KeepLast(10))


def say(*words):
    os.write(1, (" ".join(str(w) for w in words) + "\n").encode())


def one(i):
    dp = DomainParticipant(int(os.environ.get("ROS_DOMAIN_ID", 0)), qos=Qos(Policy.Userdata(b"enclave=/;")))
    listens = DataReader(dp, Topic(dp, "rt/cmd_vel", f.Twist), qos=RELIABLE)
    odom = DataWriter(dp, Topic(dp, f"rt/other{i}/odom", f.Odometry), qos=RELIABLE)
    far = f.Pose(f.Point(1000. + i, 0., 0.), f.Quaternion(0., 0., 0., 1.))
    still = f.TwistCov(f.Twist(f.Vector3(0., 0., 0.), f.Vector3(0., 0., 0.)), [.0] * 36)
    say("there", i)
    drives = False
    while True:
        t = time.time()
        odom.write(f.Odometry(f.Header(f.Time(int(t), int(t % 1 * 1e9)), "odom"), "base_link", f.PoseCov(far, [.0] * 36), still))
        moves = any(s.sample_info.valid_data and (s.linear.x or s.angular.z) for s in listens.take(100))
        if moves and not drives:
            say("drives", i)
        drives = drives or moves
        time.sleep(.25)


made = []
for i in range(int(sys.argv[1])):  # before anything of DDS runs here
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
        one(i)
    made.append(pid)
try:
    sys.stdin.read()
except KeyboardInterrupt:
    pass
for pid in made:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
