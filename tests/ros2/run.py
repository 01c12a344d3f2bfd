#!/usr/bin/env python3
"""Goals through a played Nav2: `pons run --driver ros2` beside robot.py, which PyPI's cyclonedds speaks for.

    run.py PROGRAM PYTHON [CASE…]        PYTHON: with requirements.txt installed; ends with 1 if a case fails

Everything stays on the loopback interface, in a domain drawn for each case.
"""
import json, os, queue, random, re, shutil, signal, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
DDS = ('<CycloneDDS><Domain><General><Interfaces><NetworkInterface name="lo"/></Interfaces>'
       "<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>"
       '<Peers><Peer address="127.0.0.1"/></Peers><MaxAutoParticipantIndex>20</MaxAutoParticipantIndex>'
       "</Discovery></Domain></CycloneDDS>")
program, python = os.path.abspath(sys.argv[1]), sys.argv[2]
WAIT_S = 60  # for what must come; a machine that is busy is no failure


class Lines:
    """A process whose lines are waited for."""

    def __init__(self, args, env):
        self.p = subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
        self.all, self.new = [], queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.p.stdout:
            self.new.put(line.rstrip())
        self.new.put(None)

    def wait(self, pattern):
        until = time.monotonic() + WAIT_S
        while True:
            try:
                line = self.new.get(timeout=max(0.01, until - time.monotonic()))
            except queue.Empty:
                line = None
            if line is None:
                raise AssertionError(f"no line /{pattern}/ came; there were:\n    " + "\n    ".join(self.all[-12:]))
            self.all.append(line)
            if re.search(pattern, line):
                return line

    def say(self, words):
        self.p.stdin.write(words + "\n")
        self.p.stdin.flush()

    def end(self):
        if self.p.poll() is None:
            self.p.send_signal(signal.SIGINT)
        try:
            self.p.wait(20)
        except subprocess.TimeoutExpired:
            self.p.kill()


class Case:
    def __init__(self, config=""):
        self.dir = tempfile.mkdtemp(prefix="pons-ros2-")
        self.work = self.dir + "/work"
        self.env = dict(os.environ, CYCLONEDDS_URI=DDS, ROS_DOMAIN_ID=str(random.randint(1, 200)))
        os.makedirs(self.work + "/config", mode=0o700)
        with open(self.work + "/config/ros2.yaml", "w") as f:
            f.write(config or "limits: {server_s: 2}\n")
        os.chmod(self.work, 0o700)
        with open(HERE + "/../../worlds/empty.yaml") as f:  # its west side is where the robot starts: make it a place to go to
            world = f.read().replace("[[0, 0], [3, 0], [3, 6], [0, 6]]", "[[0.8, 3], [2.4, 3], [2.4, 5.5], [0.8, 5.5]]")
        self.world = self.dir + "/room.yaml"
        with open(self.world, "w") as f:
            f.write(world.replace("target: {x: 1.5, y: 3.0,", "target: {x: 1.5, y: 4.2,"))
        self.made = []

    def robot(self, *words):
        r = Lines([python, HERE + "/robot.py", *words], self.env)
        self.made.append(r)
        r.wait("ready")
        return r

    def run(self, goal):
        r = Lines([program, "run", "--workspace", self.work, "--driver", "ros2", "--world", self.world, goal], self.env)
        self.made.append(r)
        return r

    def pons(self, *words):
        return subprocess.run([program, *words, "--workspace", self.work], env=self.env, capture_output=True, text=True)

    def close(self):
        for r in self.made[::-1]:
            r.end()
        shutil.rmtree(self.dir, ignore_errors=True)


WEST, EAST = "go to the west side", "go to the east side"


def arrives(*words):
    c = Case()
    try:
        robot, run = c.robot(*words), None
        if "humble" in words:
            c.env["ROS_DISTRO"] = "humble"
        run = c.run(WEST)
        uuid = robot.wait("^goal ").split()[1]
        robot.wait(f"^end {uuid} 4")
        run.wait(r"^  done +succeeded")
        with open(c.work + "/run/body.ledger") as f:
            assert f'"goal_id":"{uuid}"' in f.read(), "the goal's UUID is not the goal's id in the ledger"
        assert sum(l.startswith("goal ") for l in robot.all) == 1, "the goal was sent more than once"
    finally:
        c.close()


def ends(expect, robot_says=(), *words):
    """A goal that ends with this line; the robot is told these words while the goal runs."""
    c = Case()
    try:
        robot = c.robot(*words)
        run = c.run(WEST)
        robot.wait("^goal ")
        if robot_says:
            robot.wait("^cmd ")
        for w in robot_says:
            robot.say(w)
        run.wait(expect)
    finally:
        c.close()


def lacks(word, line, back=None):
    """While something is missing the robot stands, and says what; then it goes on."""
    c = Case()
    try:
        robot = c.robot()
        run = c.run(WEST)
        robot.wait("^cmd ")
        robot.say(word)
        run.wait("says lacks: .*" + line)
        robot.wait(r"^cmd 0\.0 0\.0")
        robot.say(back)
        run.wait("nothing is missing any more")
        run.wait(r"^  done +succeeded")
    finally:
        c.close()


def told(line, *words):
    """What is wrong from the start is told by its name."""
    c = Case()
    try:
        c.robot(*words)
        c.run(WEST).wait("says lacks: .*" + line)
    finally:
        c.close()


def among_fifty():
    """The robot, pons and 48 others that were there before: all of them see who drives, and nobody else's odometry is the robot's."""
    c = Case()
    try:
        c.env["CYCLONEDDS_URI"] = DDS.replace(">20<", ">60<")
        crowd = Lines([python, HERE + "/crowd.py", "48"], c.env)
        c.made.append(crowd)
        for _ in range(48):
            crowd.wait("^there ")
        robot = c.robot()
        run = c.run(WEST)
        uuid = robot.wait("^goal ").split()[1]
        for _ in range(48):
            crowd.wait("^drives ")
        robot.wait(f"^end {uuid} 4")
        run.wait(r"^  done +succeeded")
    finally:
        c.close()


def stopped():
    c = Case()
    try:
        robot = c.robot()
        run = c.run(WEST)
        uuid = robot.wait("^goal ").split()[1]
        robot.wait("^cmd ")
        assert c.pons("stop").returncode == 0
        robot.wait(r"^cmd 0\.0 0\.0")
        robot.wait(f"^cancel {uuid}")
        run.wait("STOPPED")
    finally:
        c.close()


def gate():
    """Nav2 steers at the pillar; the gate lets nothing through that would touch it."""
    c = Case()
    try:
        robot = c.robot()
        run = c.run(EAST)
        robot.wait("^goal ")
        run.wait(r"under way, 1\d\.\d s, 2\.[12]\d m to go")
    finally:
        c.close()


def killed():
    """A brain that was killed adopts: Nav2 hears of the goal once."""
    c = Case()
    try:
        robot = c.robot()
        run = c.run(WEST)
        uuid = robot.wait("^goal ").split()[1]
        robot.wait("^cmd ")
        run.p.kill()
        again = Lines([program, "resume", "--workspace", c.work], c.env)
        c.made.append(again)
        again.wait(r"^  done +succeeded")
        robot.wait(f"^end {uuid} 4")
        assert sum(l.startswith("goal ") for l in robot.all) == 1, "the goal was sent again"
    finally:
        c.close()


def gone():
    """The whole robot goes from DDS: that is told, and nobody says what its goal became."""
    c = Case()
    try:
        robot = c.robot()
        run = c.run(WEST)
        robot.wait("^cmd ")
        robot.p.kill()
        run.wait("says lacks: /odom: nothing comes any more")
        run.wait("says lacks: /odom: nobody publishes it")
        run.wait("outcome_unknown: (OUTCOME_UNKNOWN|LOCALIZATION_LOST)")
    finally:
        c.close()


def body_of(c):
    with open(c.work + "/run/body.json") as f:
        return json.load(f)["pid"]


def ledger(c, state):
    """The ids of the goals that the ledger has in that state."""
    with open(c.work + "/run/body.ledger") as f:
        return re.findall(r'"goal_id":"([0-9a-f]+)"[^\n]*"state":"' + state + '"', f.read())


def goals_of_a_new_attempt(c, robot, again):
    """A body came up after a death; a person lets it go on. The ids of all goals that Nav2 got, once it is there.

    That "nothing is missing any more" is not waited for: the new body may have heard the robot before its brain comes, and
    then nothing was ever missing for that brain."""
    again.wait("outcome_unknown: the body restarted while the goal was under way")
    assert c.pons("reset").returncode == 0
    assert c.pons("continue").returncode == 0
    again.wait(r"^  done +succeeded")
    robot.say("quit")
    robot.p.wait(WAIT_S)
    while not robot.new.empty():
        robot.all.append(robot.new.get() or "")
    ids = [line.split()[1] for line in robot.all if line.startswith("goal ")]
    assert ids and set(ids) <= set(ledger(c, "started")), "Nav2 got a goal that the ledger has not"
    return ids


def killed_before_sending():
    """A body that was killed with a goal in its ledger that Nav2 has not got: that goal is never sent."""
    c = Case("limits: {server_s: 40}\n")
    try:
        robot = c.robot("mute", "server")
        run = c.run(WEST)
        until = time.monotonic() + WAIT_S
        while not (os.path.exists(c.work + "/run/body.ledger") and ledger(c, "started")):
            assert time.monotonic() < until, "no goal was started"
            time.sleep(0.1)
        uuid = ledger(c, "started")[0]
        os.kill(body_of(c), signal.SIGKILL)
        robot.say("loud server")
        run.end()
        again = Lines([program, "resume", "--workspace", c.work], c.env)
        c.made.append(again)
        assert goals_of_a_new_attempt(c, robot, again).count(uuid) == 0, "the goal of the dead body was sent"
    finally:
        c.close()


def killed_body():
    """A body that was killed while Nav2 has its goal: it is not sent again; a new attempt has an id of its own."""
    c = Case()
    try:
        robot = c.robot()
        run = c.run(WEST)
        uuid = robot.wait("^goal ").split()[1]
        robot.wait("^cmd ")
        os.kill(body_of(c), signal.SIGKILL)
        robot.wait(r"^cmd 0\.0 0\.0")
        run.end()
        again = Lines([program, "resume", "--workspace", c.work], c.env)
        c.made.append(again)
        assert goals_of_a_new_attempt(c, robot, again).count(uuid) == 1, "the goal was sent again"
    finally:
        c.close()


def brain_lost():
    """A brain that does not come back: the robot stands, and after half a minute the goal is canceled at Nav2."""
    c = Case()
    try:
        robot = c.robot()
        run = c.run(WEST)
        uuid = robot.wait("^goal ").split()[1]
        robot.wait("^cmd ")
        run.p.kill()
        robot.wait(r"^cmd 0\.0 0\.0")
        robot.wait(f"^cancel {uuid}")
        robot.wait(f"^end {uuid} 5")
    finally:
        c.close()


def nav2_killed(*words):
    """Nav2 alone is killed, and started again before its lease is over: it has never heard of the goal, and that is said."""
    c = Case("limits: {server_s: 20}\n")
    try:
        robot = c.robot("mute", "server", *words)
        nav2 = c.robot("alone", "never", *words)
        if "humble" in words:
            c.env["ROS_DISTRO"] = "humble"
        run = c.run(WEST)
        uuid = nav2.wait("^goal ").split()[1]
        run.wait("navigate_to_pose .* accepted")
        nav2.p.kill()
        again = c.robot("alone", "never", *words)
        run.wait("outcome_unknown: OUTCOME_UNKNOWN: Nav2 has forgotten")
        again.wait(f"^cancel {uuid}")
    finally:
        c.close()


def never_ends():
    """Nav2 takes the goal and says nothing any more, also when it is canceled: the goal ends by its own clock, and the robot stands."""
    c = Case()
    try:
        robot = c.robot("never")
        run = c.run('do navigate_to_pose {"zone": "west", "timeout_s": 6}')
        uuid = robot.wait("^goal ").split()[1]
        run.wait("failed: not done after 6 s")
        robot.wait(f"^cancel {uuid}")
        assert not any(l.startswith("cmd") for l in robot.all), "it moved"
    finally:
        c.close()


def many_ends(*words):
    """Results twice, results that are nobody's, a status list that goes back: the first answer to what was asked is the end."""
    c = Case()
    try:
        robot = c.robot("twice", *words)
        run = c.run(WEST)
        uuid = robot.wait("^goal ").split()[1]
        run.wait(r"^  done +succeeded" if not words else "208")
        run.end()
        with open(c.work + "/run/body.ledger") as f:
            ends = [json.loads(l)["state"] for l in f if uuid in l and '"state":"' in l]
        assert ends.count("done") + ends.count("failed") == 1, ends
    finally:
        c.close()


def drives(*words):
    """Whatever it says, the robot arrives, and its status can be read meanwhile."""
    c = Case()
    try:
        robot = c.robot(*words)
        run = c.run(WEST)
        robot.wait("^cmd ")
        for _ in range(8):
            json.loads(c.pons("status", "--json").stdout)
        run.wait(r"^  done +succeeded")
        assert not any(l.startswith("fast") for l in robot.all), robot.all
    finally:
        c.close()


def wild():
    """What Nav2 wants is cut to what the robot may do, or is nothing."""
    c = Case()
    try:
        robot = c.robot("wild")
        run = c.run('do navigate_to_pose {"zone": "west", "timeout_s": 8}')
        robot.wait("^goal ")
        robot.wait("^cmd ")
        run.wait("failed: ")
        robot.say("quit")
        robot.p.wait(WAIT_S)
        while not robot.new.empty():
            robot.all.append(robot.new.get() or "")
        assert not any(l.startswith("fast") for l in robot.all), [l for l in robot.all if l.startswith("fast")]
    finally:
        c.close()


def rival():
    """Nav2 reaches the wheels past the gate: no goal is sent to it until it does not."""
    c = Case()
    try:
        robot = c.robot("rival")
        run = c.run(WEST)
        run.wait("says lacks: /cmd_vel: somebody else publishes it too, past the gate")
        robot.say("gone")
        assert not any(l.startswith("goal ") for l in robot.all + list(robot.new.queue)), "a goal was sent"
        uuid = robot.wait("^goal ").split()[1]
        robot.wait("^cmd ")
        robot.say("rival")
        robot.wait(f"^cancel {uuid}")
        run.wait("failed: .*somebody else publishes")
    finally:
        c.close()


WAVE = """limits: {server_s: 5}
skills:
  - name: wave
    interface_type: ros2_action
    type: my_msgs/action/Wave
    description: Wave with the hand.
    success_criteria: the hand has waved so many times
    timeout_s: 30
    goal: {speed: 0.5}
    definition: |
      int32 times
      float32 speed
      Style style
      ---
      bool success
      string message
      ---
      int32 left
      === my_msgs/msg/Style
      string hand "left"
      uint8[] fingers [1, 2]
"""


def own_skill():
    """An action that nobody but the configuration and the robot knows."""
    c = Case(WAVE)
    try:
        robot = c.robot()
        run = c.run('do wave {"times": 3, "style": {"hand": "right"}}')
        robot.wait(r"^wave 3 0\.5 right 1 2")
        run.wait(r"^  done +succeeded")
        with open(c.work + "/run/body.ledger") as f:
            ends = [l for l in f if '"skill":"wave"' in l and '"answer"' in l]
        assert len(ends) == 1 and '"message":"waved"' in ends[0], ends
    finally:
        c.close()


def not_active(*words):
    """Nav2 is not active: that is said, no goal is sent, and the goal is driven when it is."""
    c = Case()
    try:
        robot = c.robot("inactive", *words)
        if "humble" in words:
            c.env["ROS_DISTRO"] = "humble"
        run = c.run(WEST)
        run.wait("says lacks: Nav2 is not active: bt_navigator is inactive")
        robot.say("active")
        robot.wait("^goal ")
        run.wait(r"^  done +succeeded")
        assert not any(l.startswith("goal ") for l in robot.all[:-1]), "the goal was sent before"
    finally:
        c.close()


def never_active():
    """Nav2 stays as it is: the goal fails, with the reason, and nothing was sent."""
    c = Case()
    try:
        robot = c.robot("inactive")
        run = c.run(WEST)
        run.wait("ROBOT_LACKS: Nav2 is not active: bt_navigator is inactive")
        while not robot.new.empty():
            assert not (robot.new.get() or "").startswith("goal "), "the goal was sent"
    finally:
        c.close()


def costmaps(*words):
    c = Case()
    try:
        robot = c.robot(*words)
        if "humble" in words:
            c.env["ROS_DISTRO"] = "humble"
        run = c.run('do clear_costmaps {"costmap": "both"}')
        for _ in "12":
            robot.wait("^clear (local|global)")
        run.wait(r"^  done +succeeded")
        assert len([l for l in robot.all if l.startswith("clear ")]) == 2, robot.all
    finally:
        c.close()


def bad_config(text, expect):
    c = Case(text)
    try:
        run = c.run(WEST)
        run.wait(expect)
    finally:
        c.close()


CASES = {
    "arrives, jazzy": lambda: arrives(),
    "arrives, humble": lambda: arrives("humble"),
    "among fifty": among_fifty,
    "killed brain": killed,
    "killed body": killed_body,
    "killed body before it sent": killed_before_sending,
    "lost brain": brain_lost,
    "a robot's own skill": own_skill,
    "Nav2's failure": lambda: ends(r"failed.*208|208.*Nav2 gave up: played", (), "abort", "208"),
    "not taken": lambda: ends("Nav2 did not take the goal", (), "reject"),
    "no answer": lambda: ends("outcome_unknown: OUTCOME_UNKNOWN: Nav2 did not answer", (), "mute", "answer"),
    "forgetful server": lambda: ends("outcome_unknown: OUTCOME_UNKNOWN: Nav2 has forgotten", ("forget",)),
    "lost server": lambda: ends("outcome_unknown: OUTCOME_UNKNOWN: Nav2's server is gone", ("mute server",)),
    "no server": lambda: told_no_server(),
    "not active yet": lambda: not_active(),
    "not active yet, humble": lambda: not_active("humble"),
    "never active": never_active,
    "costmaps": lambda: costmaps(),
    "costmaps, humble": lambda: costmaps("humble"),
    "stop": stopped,
    "gate": gate,
    "Nav2 killed and back": lambda: nav2_killed(),
    "Nav2 killed and back, humble": lambda: nav2_killed("humble"),
    "never ends": never_ends,
    "many ends": lambda: many_ends(),
    "many ends, a failure": lambda: many_ends("abort", "208"),
    "feedback of no numbers": lambda: drives("nan", "feedback"),
    "transforms in a circle": lambda: drives("loop"),
    "a megabyte": lambda: drives("huge"),
    "wild wishes": wild,
    "Nav2 past the gate": rival,
    "two odometries": lambda: lacks("second", "/odom: two publish it", "gone"),
    "silent odometry": lambda: lacks("mute odom", "/odom: nothing comes", "loud odom"),
    "silent scan": lambda: lacks("mute scan", "/scan: nothing comes", "loud scan"),
    "robot gone": gone,
    "NaN odometry": lambda: lacks("nan odom", "/odom: its pose or its twist is no number", "well odom"),
    "NaN scan": lambda: lacks("nan scan", "/scan: its angles are no numbers", "well scan"),
    "NaN transforms": lambda: lacks("nan tf", "tf: odom in map is no number", "well tf"),
    "silent transforms": lambda: lacks("mute tf", "map -> odom is old", "loud tf"),
    "stamps go back": lambda: ends("says lacks: /odom: its stamps are not by|says lacks: .*stamps", ("back",)),
    "wrong QoS": lambda: told("tf_static: durability is offered as volatile", "qos", "tf_static"),
    "wrong type": lambda: told("/scan is sensor_msgs/msg/BatteryState there, sensor_msgs/msg/LaserScan is needed", "type", "scan"),
    "config: unknown key": lambda: bad_config("distro: jazzy\nframe: {}\n", r"ros2\.yaml:2:"),
    "config: past the gate": lambda: bad_config("topics: {cmd_vel_in: cmd_vel}\n", r"ros2\.yaml:1:.*|past the gate"),
}


def told_no_server():
    c = Case()
    try:
        c.robot("mute", "server")
        c.run(WEST).wait("Nav2 does not serve it: .*send_goal")
    finally:
        c.close()


failed = 0
for name, case in CASES.items():
    if sys.argv[3:] and not any(w in name for w in sys.argv[3:]):
        continue
    began = time.monotonic()
    try:
        case()
        print(f"ok    {name} ({time.monotonic() - began:.1f} s)", flush=True)
    except AssertionError as e:
        failed += 1
        print(f"FAIL  {name}: {e}", flush=True)
print(f"{failed} failed")
sys.exit(1 if failed else 0)
