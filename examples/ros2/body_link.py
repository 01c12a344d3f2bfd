"""The link's protocol for a body in Python, by the standard library alone: what link_body.py stands on (docs/reference/link.md).

Link keeps what every body promises: a goal is on the disk before it moves anything, and runs once, ever; without its brain
the robot stands; a stop stands, over a restart too. The robot that it is given has

    hello               a dict: what a hello says of it (robot_id, driver, world, skills, limits, …)
    begin(skill, args)  a line that says why not, or None: it runs from now on
    step(now)           twenty times a second while a goal runs; (status, error_code, text) at its end, else None
    stand()             zero to the wheels, at once
    turn()              twenty times a second, whatever runs: senses and wheels
    say()               a dict: pose, twist, battery_pct, …, as telemetry has them; far: metres to go
"""
import fcntl, json, math, os, selectors, socket, time

BRAIN_S, HELD_S, LINE_MAX, PLACES = 0.3, 30.0, 1 << 18, 24


def no_number(word):
    raise ValueError(word)


class Link:
    def __init__(self, run, robot):
        os.makedirs(run, mode=0o700, exist_ok=True)
        self.robot, self.boot, self.began = robot, os.urandom(16).hex(), time.monotonic()
        self.goals, self.active, self.epoch, self.latched, self.stops = {}, None, 0, "", 1
        self.clients, self.controller, self.beat, self.held, self.since = {}, None, 0.0, 0.0, 0.0
        self.lock = open(run + "/body.sock.lock", "w")
        fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # one body a workspace
        self.book = open(run + "/own.ledger", "a+")
        self.book.seek(0)
        for line in self.book:
            try:
                self.learn(json.loads(line))
            except ValueError:  # half a line: it was never answered for
                self.book.write("\n")
        if any(g["state"] == "started" for g in self.goals.values()):
            self.write(latched="boot: the body ended while a goal was under way")
        with open(run + "/body.json.new", "w") as f:  # which robot this is: a command must mean it
            json.dump({"pid": os.getpid(), "driver": robot.hello["driver"], "robot": robot.hello["robot_id"],
                       "world": robot.hello["world"]["name"], "started_ms": int(time.time() * 1000)}, f)
        os.rename(run + "/body.json.new", run + "/body.json")
        self.sel = selectors.DefaultSelector()
        for name, kind, hears in (("body.sock", socket.SOCK_STREAM, self.accept), ("stop.sock", socket.SOCK_DGRAM, self.datagram)):
            if os.path.exists(f"{run}/{name}"):
                os.unlink(f"{run}/{name}")
            s = socket.socket(socket.AF_UNIX, kind)
            s.bind(f"{run}/{name}")
            os.chmod(f"{run}/{name}", 0o600)
            if kind == socket.SOCK_STREAM:
                s.listen(8)
            self.sel.register(s, selectors.EVENT_READ, hears)

    # ---- what outlives it: epochs, goals, the latch ----

    def learn(self, line):
        self.epoch, self.latched = line.get("epoch", self.epoch), line.get("latched", self.latched)
        if "goal_id" in line:
            self.goals[line["goal_id"]] = dict(self.goals.get(line["goal_id"], {}), **line)

    def write(self, **line):
        self.book.write(json.dumps(line) + "\n")
        self.book.flush()
        os.fsync(self.book.fileno())
        self.learn(line)

    # ---- lines ----

    def accept(self, s):
        c = s.accept()[0]
        c.settimeout(0.2)
        if len(self.clients) >= PLACES:
            c.close()
            return
        self.sel.register(c, selectors.EVENT_READ, self.heard)
        self.clients[c] = {"rest": b"", "hello": False}

    def datagram(self, s):
        word, sender = s.recvfrom(4096)
        if word.startswith(b"stop"):
            self.stop(word[5:].decode(errors="replace"))
            for answer in (b"stopped", b"latched") if sender else ():
                s.sendto(b"%s %d" % (answer, time.monotonic_ns()), sender)

    def tell(self, c, kind, **more):
        try:
            c.sendall(json.dumps({"type": kind, **more}, allow_nan=False).encode() + b"\n")
        except OSError:  # gone, or it does not read
            self.close(c)

    def close(self, c):
        if self.clients.pop(c, None) is not None:
            self.sel.unregister(c)
            c.close()
        self.controller = None if c is self.controller else self.controller

    def heard(self, c):
        try:
            got = c.recv(1 << 16)
        except OSError:
            got = b""
        if not got or len(self.clients[c]["rest"]) > LINE_MAX:
            self.close(c)
            return
        *lines, self.clients[c]["rest"] = (self.clients[c]["rest"] + got).split(b"\n")
        for line in lines:
            try:
                m = json.loads(line, parse_constant=no_number)
                on = getattr(self, "on_" + m["type"], None)
            except (ValueError, TypeError, KeyError, RecursionError):
                if b"stop" in line:  # a stop too many is the safe mistake
                    self.stop("a line that cannot be read")
                self.tell(c, "error", code="protocol", message="this is no line of the link", re="")
                continue
            if on:
                on(c, m)
            else:
                self.tell(c, "error", code="unknown_type", message="this body knows no such message", re=m["type"][:40])
            if c not in self.clients:
                return

    # ---- who is in control ----

    def on_hello(self, c, m):
        if m.get("protocol") != 1:
            self.tell(c, "error", code="protocol", message="protocol 1 is spoken here", re="hello")
            return
        controls = m.get("role") == "controller"
        if controls and self.controller not in (None, c) and time.monotonic() - self.beat < BRAIN_S:
            self.tell(c, "error", code="busy", message="another controller is alive", re="hello")
            return
        if controls:
            self.controller, self.beat = c, time.monotonic()
            self.write(epoch=self.epoch + 1)
        self.clients[c]["hello"] = True
        self.tell(c, "hello", protocol=1, boot_id=self.boot, epoch=self.epoch if controls else 0, speed=1.0, pid=os.getpid(), **self.robot.hello)

    def on_heartbeat(self, c, m):
        self.beat = time.monotonic() if c is self.controller else self.beat

    def on_bye(self, c, m):
        if c is self.controller and self.active:
            self.end("canceled")
        self.close(c)

    # ---- goals ----

    def refusal(self, c, m, known):
        id_, ends = m.get("goal_id"), m.get("expires_ms")
        if c is not self.controller:
            return "not_controller"
        if m.get("epoch") != self.epoch:
            return "stale_epoch"
        if known:
            return "" if known["args_hash"] == m.get("args_hash") else "args_mismatch"
        if not isinstance(id_, str) or not 0 < len(id_) <= 200 or not isinstance(m.get("args_hash"), str) or not isinstance(m.get("args"), dict):
            return "bad_args"
        if m.get("robot_id") not in (None, self.robot.hello["robot_id"]):
            return "wrong_robot"
        if m.get("skill") not in [s["name"] for s in self.robot.hello["skills"]]:
            return "unknown_skill"
        if isinstance(ends, (int, float)) and ends < time.clock_gettime(time.CLOCK_BOOTTIME) * 1000:
            return "expired"
        return "latched" if self.latched else "busy" if self.active else ""

    def on_goal(self, c, m):
        id_ = m.get("goal_id")
        known = self.goals.get(id_) if isinstance(id_, str) else None
        code = self.refusal(c, m, known)
        if not code and known:  # it ran, once; nothing moves
            self.tell(c, "accepted", goal_id=id_, state=known["state"], known=True)
            if "result" in known:
                self.tell(c, "result", **known["result"])
            return
        why = code or self.robot.begin(m["skill"], m["args"])
        if why:
            self.tell(c, "rejected", goal_id=str(id_), code=code or "bad_args", message=self.latched if code == "latched" else why)
            return
        self.write(goal_id=id_, args_hash=m["args_hash"], skill=m["skill"], state="started", boot_id=self.boot)  # before anything moves
        self.active, self.held, self.since = id_, 0.0, time.monotonic()
        self.tell(c, "accepted", goal_id=id_, state="started")

    def mine(self, c, m):
        return self.active and m.get("goal_id") == self.active and c is self.controller and m.get("epoch") == self.epoch

    def on_cancel(self, c, m):
        if self.mine(c, m):
            self.end("canceled")

    def on_adopt(self, c, m):
        if self.mine(c, m):
            self.held = 0.0
            self.tell(c, "adopted", goal_id=self.active, state="adopted")
        else:
            self.tell(c, "rejected", goal_id=str(m.get("goal_id")), code="stale_epoch", message="not this goal, or not this controller's")

    def on_status(self, c, m):
        g = self.goals.get(str(m.get("goal_id")), {})
        r, boot = g.get("result", {}), g.get("boot_id", self.boot)
        self.tell(c, "status", goal_id=str(m.get("goal_id")), known=bool(g), skill=g.get("skill"), boot_id=boot, same_boot=boot == self.boot,
                  state="held" if self.held and m.get("goal_id") == self.active else g.get("state"), started=bool(g),
                  error_code=r.get("error_code", 0), error_msg=r.get("error_msg", ""), metrics=r.get("metrics", {}))

    def end(self, status, code=0, text=""):
        self.robot.stand()
        result = {"goal_id": self.active, "skill": self.goals[self.active]["skill"], "status": status, "error_code": code, "error_msg": text,
                  "metrics": {"duration_s": time.monotonic() - self.since}}
        self.active, self.held = None, 0.0
        self.write(goal_id=result["goal_id"], state=status, result=result)
        if self.controller:
            self.tell(self.controller, "result", **result)

    # ---- a stop: the wheels first, then the disk ----

    def stop(self, reason):
        self.robot.stand()
        self.stops += 1
        self.write(latched=reason[:200] or "stop")
        if self.active:
            self.end("failed", 9902, "STOPPED: " + self.latched)

    def on_stop(self, c, m):
        self.stop(str(m.get("reason") or "a person"))
        self.tell(c, "stopped")
        self.tell(c, "latched")

    def on_reset(self, c, m):  # nobody but the body's user may open the socket
        if m.get("auto") or m.get("number", self.stops) != self.stops:
            self.tell(c, "error", code="latched", message="another stop is in force, or a person resets it", re="reset")
        else:
            self.write(latched="")
            self.tell(c, "ok", re="reset")

    # ---- twenty times a second ----

    def tick(self, now):
        alive = self.controller and now - self.beat < BRAIN_S
        if self.active and not alive and not self.held:
            self.held = now  # until somebody adopts it
        if self.active and self.held and now - self.held > HELD_S:
            self.end("failed", 9901, f"BRAIN_LOST: held for {HELD_S:.0f} s")
        over = self.robot.step(now - self.since) if self.active and not self.held else self.robot.stand()
        if over:
            self.end(*over)
        self.robot.turn()
        says = self.robot.say()
        far = says.pop("far", None)
        goal = {"goal_id": self.active, "skill": self.goals[self.active]["skill"], "state": "held" if self.held else "started"} if self.active else None
        for c in [c for c, k in self.clients.items() if k["hello"]]:
            self.tell(c, "telemetry", robot_ms=int((now - self.began) * 1000), goal=goal, resources={"base_busy": bool(goal)}, held=bool(goal and self.held),
                      stop={"latched": bool(self.latched), "reason": self.latched, "origin": "stop" if self.latched else "", "number": self.stops},
                      boot_id=self.boot, latch_durable=True, **says)
        if goal and self.controller and not self.held:
            self.tell(self.controller, "feedback", goal_id=self.active, skill=goal["skill"], distance_remaining_m=far, pose=says.get("pose"))

    def serve(self):
        due = time.monotonic()
        while True:
            for key, _ in self.sel.select(max(0.0, due - time.monotonic())):
                key.data(key.fileobj)
            if time.monotonic() >= due:
                due = max(due + 0.05, time.monotonic())
                self.tick(time.monotonic())
