#!/usr/bin/env python3
"""Goals through a played Nav2: `pons run --driver ros2` beside robot.py, which PyPI's cyclonedds speaks for.

    run.py PROGRAM PYTHON [--rclpy PYTHON INTERFACES] [CASE…]        ends with 1 if a case fails

PYTHON has requirements.txt installed. With --rclpy the robot is rclpy_body.py and rclpy_nav2.py, run by the second PYTHON, which
has requirements-rclpy.txt, with rmw_fastrtps; INTERFACES has make_interfaces.py's packages, a folder for each release. Everything
stays on the loopback interface, in a domain drawn for each case.
"""
import json, math, os, queue, random, re, shutil, signal, socket, subprocess, sys, tempfile, threading, time, types
import network
from room import wall

HERE = os.path.dirname(os.path.abspath(__file__))
program, python, wanted = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:]
rclpy, interfaces = (wanted[1], os.path.abspath(wanted[2])) if wanted[:1] == ["--rclpy"] else (None, None)
wanted = wanted[3:] if rclpy else wanted
NEWEST = "kilted" if rclpy else "jazzy"  # the release whose forms are spoken where a case says none
WAIT_S = 60  # for what must come; a machine that is busy is no failure


class Lines:
    """A process whose lines are waited for."""

    def __init__(self, args, env, beside=None):
        """beside: whose lines these are too."""
        self.p = subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
        self.all, self.new = (beside.all, beside.new) if beside else ([], queue.Queue())
        self.beside = beside
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.p.stdout:
            self.new.put(line.rstrip())
        if not self.beside:
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

    def saw(self, pattern):
        """A line that may have come already."""
        if not any(re.search(pattern, line) for line in self.all):
            self.wait(pattern)

    def waits(self, *patterns):
        """Lines that come in any order."""
        left = list(patterns)
        while left:
            line = self.wait("|".join(left))
            left = [x for x in left if not re.search(x, line)]

    def rest(self):
        """All lines so far."""
        while not self.new.empty():
            self.all.append(self.new.get() or "")
        return self.all

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


TWO = ("abort", "mute", "loud", "nan", "well", "qos", "type")  # words with one that follows
NAV2 = ("abort", "reject", "never", "wild", "forget", "inactive", "active", "rival", "gone", "mute server", "mute answer",
        "loud server", "loud answer", "nan feedback")


def divided(words):
    """What is said to the body, and what to Nav2."""
    words, to = list(words), ([], [])
    while words:
        said = [words.pop(0) for _ in range(2 if words[0] in TWO else 1)]
        to[said[0] in NAV2 or " ".join(said) in NAV2].extend(said)
    return to


class Pair:
    """A robot of two processes. Its lines are those of both."""

    def __init__(self, body, nav2):
        self.body, self.nav2 = body, nav2
        self.p = types.SimpleNamespace(kill=self.kill, wait=lambda s: (body.p.wait(s), nav2.p.wait(s)))
        self.all, self.wait, self.waits, self.rest = body.all, body.wait, body.waits, body.rest

    def say(self, words):
        for one, said in zip((self.body, self.nav2), divided(words.split())):
            if said or words == "quit":
                one.say(" ".join(said) or words)

    def kill(self):
        self.body.p.kill()
        self.nav2.p.kill()


class Case:
    def __init__(self, config=""):
        self.dir = tempfile.mkdtemp(prefix="pons-ros2-")
        self.work = self.dir + "/work"
        self.env = dict(os.environ, CYCLONEDDS_URI=network.CYCLONE, ROS_DOMAIN_ID=str(random.randint(1, 200)), ROS_DISTRO=NEWEST)
        self.env = network.of_pons(self.env) if rclpy else self.env
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

    def began(self, args, env, beside=None):
        r = Lines(args, env, beside)
        self.made.append(r)
        return r

    def robot(self, *words):
        """The played robot, or with the word `alone` its Nav2 alone."""
        if "humble" in words:
            self.env["ROS_DISTRO"] = "humble"
        if not rclpy:
            r = self.began([python, HERE + "/robot.py", *words], self.env)
            r.wait("ready")
            return r
        release = "humble" if "humble" in words else NEWEST
        to = divided(w for w in words if w not in ("humble", "alone"))
        assert set(to[0]) <= {"maps"}, f"rclpy_body.py knows no {to[0]}"
        env = network.of_rclpy(self.env, self.dir, f"{interfaces}/{release}")
        body = None if "alone" in words else self.began([rclpy, HERE + "/rclpy_body.py", *to[0]], env)
        nav2 = self.began([rclpy, HERE + "/rclpy_nav2.py", *to[1]], env, body)
        for r in (body, nav2):
            if r:
                r.wait("ready")
        return Pair(body, nav2) if body else nav2

    def run(self, goal):
        return self.began([program, "run", "--workspace", self.work, "--driver", "ros2", "--world", self.world, goal], self.env)

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
        c.env["CYCLONEDDS_URI"] = network.CYCLONE.replace(">20<", ">60<")
        crowd = c.began([python, HERE + "/crowd.py", "48"], c.env)
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
        robot.waits(r"^cmd 0\.0 0\.0", f"^cancel {uuid}")
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
        again = c.began([program, "resume", "--workspace", c.work], c.env)
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


def goals_of_a_new_attempt(c, robot, run):
    """A body came up after a death; a person lets it go on. The ids of all goals that Nav2 got, once it is there.

    That "nothing is missing any more" is not waited for: the new body may have heard the robot before its brain comes, and
    then nothing was ever missing for that brain. The first brain may start a body itself, and say it, before it is ended."""
    run.end()
    again = c.began([program, "resume", "--workspace", c.work], c.env)
    again.wait("latched: boot: the body had ended while goal")
    end = "outcome_unknown: the body restarted while the goal was under way"
    if not any(end in line for line in run.rest()):
        again.wait(end)
    assert c.pons("reset").returncode == 0
    assert c.pons("continue").returncode == 0
    again.wait(r"^  done +succeeded")
    robot.say("quit")
    robot.p.wait(WAIT_S)
    ids = [line.split()[1] for line in robot.rest() if line.startswith("goal ")]
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
        assert goals_of_a_new_attempt(c, robot, run).count(uuid) == 0, "the goal of the dead body was sent"
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
        assert goals_of_a_new_attempt(c, robot, run).count(uuid) == 1, "the goal was sent again"
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
        run = c.run(WEST)
        uuid = nav2.wait("^goal ").split()[1]
        run.wait("navigate_to_pose .* accepted")
        nav2.wait(f"^taken {uuid}")
        nav2.p.kill()
        again = c.robot("alone", "never", *words)
        run.wait("outcome_unknown: OUTCOME_UNKNOWN: Nav2 has forgotten")
        again.saw(f"^cancel {uuid}")  # it may be ready later: it waits for the odometry
    finally:
        c.close()


def never_ends():
    """Nav2 takes the goal and says nothing any more, also when it is canceled: the goal has its own clock, and the robot stands."""
    c = Case()
    try:
        robot = c.robot("never")
        run = c.run('do navigate_to_pose {"zone": "west", "timeout_s": 6}')
        uuid = robot.wait("^goal ").split()[1]
        # The server says that it is canceling, and what becomes of that is not known.
        run.wait("outcome_unknown: OUTCOME_UNKNOWN: Nav2 did not say how the canceled goal ended")
        robot.waits(f"^cancel {uuid}")
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
        assert not any(l.startswith("fast") for l in robot.rest()), [l for l in robot.all if l.startswith("fast")]
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
        assert not any(l.startswith("goal ") for l in robot.rest()), "a goal was sent"
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
"""
with open(HERE + "/my.msgs") as of_robot:  # the action's text, without its name, and what it needs
    WAVE += "".join("      " + line for line in of_robot.read().split("Wave\n", 1)[1].splitlines(True))


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
        assert not any(l.startswith("goal ") for l in robot.rest()), "the goal was sent"
    finally:
        c.close()


def costmaps(*words):
    c = Case()
    try:
        robot = c.robot(*words)
        run = c.run('do clear_costmaps {"costmap": "both"}')
        for _ in "12":
            robot.wait("^clear (local|global)")
        run.wait(r"^  done +succeeded")
        assert len([l for l in robot.all if l.startswith("clear ")]) == 2, robot.all
    finally:
        c.close()


def behaviors():
    """The actions beside the navigation, each by ROS's own server."""
    c = Case()
    try:
        robot = c.robot()
        run = c.run('do spin {"angle_rad": 1.0}')
        robot.wait(r"^spin 1\.0")
        run.wait(r"^  done +succeeded")
        run.p.wait(WAIT_S)
        run = c.run('do back_up {"distance_m": 0.2}')
        robot.wait(r"^backup -?0\.2 ")
        run.wait(r"^  done +succeeded")
    finally:
        c.close()


def restarted():
    """Nav2 ends between two goals and comes again as another process: the second goal goes to that one."""
    c = Case("limits: {server_s: 40}\n")
    try:
        c.robot("mute", "server")
        nav2 = c.robot("alone")
        run = c.run(WEST)
        run.wait(r"^  done +succeeded")
        run.p.wait(WAIT_S)
        nav2.p.kill()
        nav2 = c.robot("alone")
        run = c.run('do navigate_to_pose {"zone": "west"}')
        nav2.wait("^goal ")
        run.wait(r"^  done +succeeded")
    finally:
        c.close()


class Link:
    """A controller of a body, in place of a brain."""

    def __init__(self, work):
        self.s, until = socket.socket(socket.AF_UNIX), time.monotonic() + WAIT_S
        while self.s.connect_ex(work + "/run/body.sock") and time.monotonic() < until:
            time.sleep(.05)
        self.f, self.lock, self.adopts = self.s.makefile("r"), threading.Lock(), 0
        self.say(type="hello", protocol=1, role="controller", name="run.py", pid=os.getpid())
        self.hello = self.until(lambda m: m["type"] == "hello")
        threading.Thread(target=self.beat, daemon=True).start()

    def say(self, **m):
        with self.lock:
            self.s.sendall((json.dumps(m) + "\n").encode())

    def beat(self):
        while True:
            try:
                self.say(type="heartbeat")
            except OSError:
                return
            time.sleep(.1)

    def until(self, wanted):
        self.s.settimeout(WAIT_S)
        for line in self.f:
            m = json.loads(line)
            held = m.get("goal") if m["type"] == "telemetry" and m.get("held") else None
            if held and held["state"] == "held":  # where the machine is busy a heartbeat is late, and a brain adopts
                self.adopts += 1
                self.say(type="adopt", goal_id=held["goal_id"], epoch=self.hello["epoch"])
            if wanted(m):
                return m
        raise AssertionError("the body closed the link")

    def goal(self, skill, args):
        u = os.urandom(16).hex()
        self.say(type="goal", goal_id=u, epoch=self.hello["epoch"], robot_id=self.hello["robot_id"], skill=skill, args=args, args_hash=u,
                 expires_ms=int(time.clock_gettime(time.CLOCK_BOOTTIME) * 1000) + 10000, thread="t1", task_id="k1", attempt=0)
        return u


def one_after_another():
    """Goals at Nav2 without a pause between them, each third canceled on its way: each ends once, and as Nav2 says. One that the body
    ends, for a sense has been late, says why."""
    goals = int(os.environ.get("PONS_ROS2_GOALS", "12"))
    c, ends = Case(), {}
    try:
        robot = c.robot()
        c.began([program, "body", "--workspace", c.work, "--driver", "ros2", "--world", c.world], c.env)
        link = Link(c.work)
        link.until(lambda m: m["type"] == "telemetry" and not m.get("lacks"))
        for i in range(goals):
            u = link.goal("navigate_to_pose", {"pose": {"x": 1.5, "y": 1.5 + .6 * ((i + 1) % 2), "yaw": 1.57}})
            link.until(lambda m: m.get("goal_id") == u and m["type"] in ("accepted", "rejected"))
            if i % 3 == 2:
                robot.wait("^goal " + u)
                link.say(type="cancel", goal_id=u, epoch=link.hello["epoch"])
            m = link.until(lambda m: m["type"] == "result" and m["goal_id"] == u)
            end = m["status"] if m["status"] != "failed" else m["error_msg"]
            ends[end] = ends.get(end, 0) + 1
            assert end != "canceled" or i % 3 == 2, f"goal {i}: {m}"
            assert end in ("done", "canceled") or "lacks" in end, f"goal {i}: {m}"
            robot.wait(f"^end {u} {4 if end == 'done' else 5}")
        assert sum(line.startswith("goal ") for line in robot.rest()) == goals, "a goal came twice, or never"
        print(f"      {goals} goals: {ends}; {link.adopts} late heartbeats")
    finally:
        c.close()


def not_understood():
    """Without the module dds-fast nothing is sent to a Nav2 of another RMW, and that is said at once."""
    c = Case("limits: {server_s: 40}\n")
    try:
        robot = c.robot()
        modules = c.dir + "/modules"
        os.mkdir(modules)
        for name in os.listdir(os.path.dirname(program) + "/lib/pons"):
            if name != "dds-fast.so":
                os.symlink(f"{os.path.dirname(program)}/lib/pons/{name}", f"{modules}/{name}")
        os.mkdir(c.dir + "/bin")
        shutil.copy(program, c.dir + "/bin/pons")  # beside which there is no lib/pons
        c.env["PONS_MODULE_PATH"] = modules
        run = c.began([c.dir + "/bin/pons", "run", "--workspace", c.work, "--driver", "ros2", "--world", c.world,
                       'do clear_costmaps {"costmap": "local"}'], c.env)
        run.wait("its RMW is not Cyclone's, and the module dds-fast is not installed")
        run.end()
        said = subprocess.run([c.dir + "/bin/pons", "doctor", "--workspace", c.work], env=c.env, capture_output=True, text=True).stdout
        assert re.search("absent +dds fast +the module dds-fast is not installed; without it no goal", said), said
        assert not any(l.startswith(("goal ", "clear ")) for l in robot.rest()), robot.all
    finally:
        c.close()


def nobody_publishes():
    """Nav2's last stage publishes elsewhere: the doctor, the driver's line and the goal's error all name the topic."""
    c = Case("topics: {cmd_vel_in: cmd_vel_nobody}\n")
    try:
        robot = c.robot()
        line = "/cmd_vel_nobody: nobody publishes it, Nav2 should"
        said = c.pons("doctor").stdout
        assert re.search("absent +ros2 nav2 +" + line + "; no goal moves the robot: `pons ros2 setup`", said), said
        run = c.run(WEST)
        run.wait("says lacks: " + line + ": see `pons ros2 setup`")
        run.wait("ROBOT_LACKS: " + line)
        assert not any(l.startswith("cmd ") for l in robot.rest()), robot.all
    finally:
        c.close()


def three_robots():
    """In one domain, each in a namespace: a robot of rclpy, one of Cyclone's binding, and a body of ours. A goal to each at once."""
    a, b = Case("namespace: a\ntopics: {tf: /a/tf, tf_static: /a/tf_static}\n"), Case("namespace: b\ntopics: {tf: /b/tf, tf_static: /b/tf_static}\n")
    ours = Case("namespace: ours\n")
    try:
        for c in (a, b, ours):
            c.env["ROS_DOMAIN_ID"] = a.env["ROS_DOMAIN_ID"]
            c.env["CYCLONEDDS_URI"] = network.CYCLONE.replace(">20<", ">40<")

        a.env["PONS_NAMESPACE"], b.env["PONS_NAMESPACE"] = "/a", "/b"
        by_ros = a.robot()
        by_cyclone = b.began([python, HERE + "/robot.py"], b.env)
        by_cyclone.wait("ready")
        ours.began([program, "body", "--ros2", "--driver", "kinematic", "--workspace", ours.work, "--world", ours.world], ours.env)
        env = network.of_rclpy(ours.env, ours.dir, f"{interfaces}/{NEWEST}")
        client = ours.began([rclpy, HERE + "/rclpy_client.py", "/ours/navigate_to_pose", "1.5", "4.2"], env)
        runs = [c.run(WEST) for c in (a, b)]
        client.wait("^accepted ")
        ids = [r.wait("^goal ").split()[1] for r in (by_ros, by_cyclone)]
        for r, id_, run in zip((by_ros, by_cyclone), ids, runs):
            r.wait(f"^end {id_} 4")
            run.wait(r"^  done +succeeded")
        client.wait("^end 4")
        for r in (by_ros, by_cyclone):
            assert sum(l.startswith("goal ") for l in r.rest()) == 1, "one robot got another one's goal"
    finally:
        for c in (a, b, ours):
            c.close()


FLEET_MAP = """name: room
zones:
  - {id: south, x: 3.0, y: 1.0, to: [east]}
  - {id: east, x: 5.0, y: 3.0, to: [north]}
  - {id: north, x: 3.0, y: 5.0, to: [west]}
  - {id: west, x: 1.0, y: 3.0, to: [south]}
  - {id: p1, kind: park, x: 1.5, y: 1.5, at: south}
  - {id: p2, kind: park, x: 4.8, y: 1.2, at: east}
  - {id: p3, kind: park, x: 1.2, y: 4.8, at: north}
  - {id: a, kind: station, x: 4.8, y: 4.8, at: north}
  - {id: b, kind: station, x: 2.2, y: 2.6, at: west}
  - {id: c, kind: station, x: 4.2, y: 1.9, at: east}
"""
FLEET = {"fast": ("p1", "1.5,1.5", "a"), "cyclone": ("p2", "4.8,1.2", "b"), "ours": ("p3", "1.2,4.8", "c")}  # park, start, where its task is


def fleet():
    """One fleet: a robot whose Nav2 is rclpy's over rmw_fastrtps, one over Cyclone DDS, and a body of ours. Each does the task that
    only it can do, and comes back; the status knows all three."""
    c = Case()
    try:
        lab, goals, world = c.dir + "/lab", {}, c.dir + "/mapped.yaml"
        with open(c.world) as f, open(world, "w") as to:  # its walls by a map, as a robot with Nav2 has them
            text = f.read()
            to.write(text[:text.index("map:")].replace("bounds: [0, 0, 6, 6]\n", "") + "map: {file: room.map.yaml}\n")
        with open(c.dir + "/room.map.yaml", "w") as f:
            f.write("image: room.pgm\nresolution: 0.05\norigin: [0, 0, 0]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.25\n")
        with open(c.dir + "/room.pgm", "wb") as f:
            f.write(b"P5 120 120 255\n" + bytes(0 if wall((i % 120 + .5) * .05, (119.5 - i // 120) * .05) else 254 for i in range(120 * 120)))
        c.env["CYCLONEDDS_URI"] = network.CYCLONE.replace(">20<", ">40<")
        text = "map: map.yaml\nrobots:\n"
        for robot, (park, start, _) in FLEET.items():
            driver = "kinematic" if robot == "ours" else "ros2"
            os.makedirs(f"{lab}/robots/{robot}/config", mode=0o700)
            text += f"  - {{id: {robot}, driver: {driver}, world: {world}, workspace: robots/{robot}, start: {park}, capabilities: [{robot}]}}\n"
            with open(f"{lab}/robots/{robot}/config/ros2.yaml", "w") as f:
                f.write(f"namespace: {robot}\ntopics: {{tf: /{robot}/tf, tf_static: /{robot}/tf_static}}\nlimits: {{server_s: 20}}\n")
        for path in (lab, lab + "/robots", *(f"{lab}/robots/{robot}" for robot in FLEET)):
            os.chmod(path, 0o700)
        for name, words in (("fleet.yaml", text), ("map.yaml", FLEET_MAP)):
            with open(f"{lab}/{name}", "w") as f:
                f.write(words)
        for robot in ("fast", "cyclone"):
            env = dict(c.env, PONS_NAMESPACE="/" + robot, PONS_START=FLEET[robot][1])
            if robot == "fast":
                env = network.of_rclpy(env, c.dir, f"{interfaces}/{NEWEST}")
                body = c.began([rclpy, HERE + "/rclpy_body.py"], env)
                goals[robot] = c.began([rclpy, HERE + "/rclpy_nav2.py"], env, body)
                body.wait("ready")
            else:
                goals[robot] = c.began([python, HERE + "/robot.py"], env)
            goals[robot].wait("ready")

        def says(*words):
            done = subprocess.run([program, "fleet", *words, "--workspace", lab], env=c.env, capture_output=True, text=True)
            assert done.returncode == 0, done
            return done.stdout
        for robot, (_, _, stop) in FLEET.items():
            says("assign", robot + "s-task", "--stops", stop, "--needs", robot)
        run = c.began([program, "fleet", "run", "--once", "--workspace", lab], c.env)
        run.waits(*(f"^{robot}s-task +assigned {robot}" for robot in FLEET))
        while_at_work = says("status")
        assert all(re.search(rf"(?m)^{robot} +busy +{park} ", while_at_work) for robot, (park, *_) in FLEET.items()), while_at_work
        run.waits(*(f"^{robot}s-task +done {robot}" for robot in FLEET))
        run.p.wait(2 * WAIT_S)
        after = says("status")
        for robot in FLEET:
            assert re.search(rf"(?m)^{robot} +idle +p[123] +" + ("" if robot == "ours" else "8[23] %"), after), after
            with open(f"{lab}/robots/{robot}/run/body.ledger") as f:
                done = {m["goal_id"] for m in map(json.loads, f) if m.get("state") == "done"}
            if robot in goals:
                ids = [line.split()[1] for line in goals[robot].rest() if line.startswith("goal ")]
                assert ids and len(ids) == len(set(ids)) and set(ids) <= done, (robot, ids, done)
            print(f"      {robot}: {len(done)} goals done")
    finally:
        c.close()


def explores():
    """Explores without a SLAM module: the robot's own SLAM makes the map. Then an ordinary goal in that world."""
    c = Case()
    try:
        robot = c.robot("maps")
        flat = c.work + "/worlds/flat"
        run = c.began([program, "explore", "flat", "--workspace", c.work, "--driver", "ros2", "--world", c.world], c.env)
        robot.wait("^cmd ")
        run.wait(r"^  done +succeeded")
        run.p.wait(WAIT_S)
        assert os.path.exists(flat + ".map.yaml") and not os.path.exists(flat + ".map.g2o"), os.listdir(c.work + "/worlds")
        room = json.loads(c.pons("map", "rooms", "flat", "--json").stdout.splitlines()[0])
        assert abs(room["area_m2"] - 33.3) < 1.5, room  # 5.8 by 5.8 m less the pillar
        with open(c.work + "/config/ros2.yaml", "w") as f:
            f.write("navigation: pons\n")
        run = c.began([program, "run", "--workspace", c.work, "--driver", "ros2", "--world", "flat",
                       'do navigate_to_pose {"pose": {"x": 0.2, "y": 1.5, "yaw": 0}}'], c.env)
        robot.wait("^cmd ")
        run.wait(r"^  done +succeeded")
        assert not any(l.startswith("fast") for l in robot.rest()), robot.all
    finally:
        c.close()


CAMERA = """navigation: pons
cameras:
  front: {image: camera/image_raw, info: camera/camera_info}
qos: {cameras: {reliability: reliable}}
"""
TAGS = "detectors:\n  - {name: tags, kind: apriltag, camera: front, period_s: 0.2, size_m: 0.3, labels: {7: crate}}\n"


def camera():
    """A tag is where it is, though its pictures come late and the robot turns, and its camera on it. The world does not say where that is."""
    if not os.path.exists(os.path.dirname(program) + "/lib/pons/detector-apriltag.so"):
        print("SKIP  a camera on a robot that turns: built without libapriltag")
        return
    c = Case(CAMERA)
    try:
        with open(c.world, "a") as f:
            f.write("cameras:\n  - {id: front}\n")
        with open(c.work + "/config/sight.yaml", "w") as f:
            f.write(TAGS)
        env = network.of_rclpy(c.env, c.dir, f"{interfaces}/{NEWEST}")
        c.began([rclpy, HERE + "/rclpy_body.py", "camera"], env).wait("ready")
        taken = subprocess.run([program, "body", "camera", "front", "--workspace", c.work, "--driver", "ros2", "--world", c.world, "--out",
                                c.dir + "/front.jpg"], env=c.env, capture_output=True, text=True)
        assert taken.returncode == 0 and "480 × 360" in taken.stdout, taken
        c.run("wait 600 seconds")
        until, seen = time.monotonic() + 2 * WAIT_S, {}  # detectors yield the processor to all others
        while seen.get("seen", 0) < 4:
            assert time.monotonic() < until, (seen, open(c.work + "/run/sight.log").read()[-2000:])
            said = c.pons("seen", "crate", "--json", "--world", c.world)
            seen = json.loads(said.stdout.splitlines()[0]) if said.returncode == 0 and said.stdout else {}
            time.sleep(.5)
        off = math.dist(seen["position"], (3.2, 1.9, .45))
        assert off < .05 and len(said.stdout.splitlines()) == 1, f"off by {off:.3f} m: {said.stdout}"
        print(f"      off by {1000 * off:.0f} mm")
    finally:
        c.close()


def bad_config(text, expect):
    c = Case(text)
    try:
        run = c.run(WEST)
        run.wait(expect)
    finally:
        c.close()


def doctor():
    """The robot's RMW, what speaks with it, and who publishes where Nav2 should; without a robot, that there is none."""
    c = Case()
    try:
        assert "nobody was heard in domain" in c.pons("doctor").stdout
        c.robot()
        said = c.pons("doctor").stdout
        assert re.search("rmw_fastrtps_cpp [12], others 0" if rclpy else "rmw_cyclonedds_cpp 1, rmw_fastrtps_cpp 0, others 0", said), said
        assert "ok       ros2 nav2          /cmd_vel_nav2 is published" in said, said
        assert ("ok       dds fast" in said) == bool(rclpy), said
    finally:
        c.close()


CASES = {
    "arrives": lambda: arrives(),
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
    "Nav2 restarted": restarted,
    "one after another": one_after_another,
    "spin, back up": behaviors,
    "an RMW that is not understood": not_understood,
    "a camera on a robot that turns": camera,
    "doctor": doctor,
    "nobody publishes where Nav2 should": nobody_publishes,
    "three robots in a domain": three_robots,
    "three robots in a fleet": fleet,
    "explores with its own map": explores,
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


# Of these nothing goes by a service, or ROS's own server does not do so.
CYCLONE_ONLY = {"among fifty", "many ends", "many ends, a failure", "transforms in a circle", "a megabyte", "two odometries", "silent odometry",
          "silent scan", "NaN odometry", "NaN scan", "NaN transforms", "silent transforms", "stamps go back", "wrong QoS", "wrong type",
          "config: unknown key", "config: past the gate"}
RCLPY_ONLY = {"spin, back up", "a camera on a robot that turns", "an RMW that is not understood", "three robots in a domain", "three robots in a fleet"}
failed = 0
for name, case in CASES.items():
    if name in (CYCLONE_ONLY if rclpy else RCLPY_ONLY) or (wanted and not any(w in name for w in wanted)):
        continue
    began = time.monotonic()
    try:
        case()
        print(f"ok    {name}{', rclpy' if rclpy else ''} ({time.monotonic() - began:.1f} s)", flush=True)
    except AssertionError as e:
        failed += 1
        print(f"FAIL  {name}{', rclpy' if rclpy else ''}: {e}", flush=True)
print(f"{failed} failed")
sys.exit(1 if failed else 0)
