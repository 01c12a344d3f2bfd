"""The room of worlds/empty.yaml, a robot in it, and how its Nav2 drives: for the played robots, in whatever DDS they speak."""
import math, os

WALLS = [((3, .05), (6, .1), 0), ((3, 5.95), (6, .1), 0), ((.05, 3), (.1, 6), 0), ((5.95, 3), (.1, 6), 0), ((3.6, 3), (.6, .6), .6)]
MAP_FROM_ODOM = tuple(map(float, os.environ.get("PONS_START", "1.5,1.5").split(",")))  # odometry began where the robot started
LIDAR_X, BEAMS = .1, 360
# What no robot does: a velocity and a turn each time.
WILD = [(1e300, 0.), (math.inf, math.inf), (math.nan, 1.), (-1e39, -1e39), (50., 50.), (-50., -50.), (3., .1)]


def ray(x, y, a):
    best = math.inf
    for (cx, cy), (sx, sy), yaw in WALLS:
        c, s = math.cos(yaw), math.sin(yaw)
        px, py = c * (x - cx) + s * (y - cy), c * (y - cy) - s * (x - cx)
        dx, dy = math.cos(a - yaw), math.sin(a - yaw)
        near, far = -math.inf, math.inf
        for p, d, h in ((px, dx, sx / 2), (py, dy, sy / 2)):
            d = d or 1e-12
            t1, t2 = (-h - p) / d, (h - p) / d
            near, far = max(near, min(t1, t2)), min(far, max(t1, t2))
        if far >= near >= 0:
            best = min(best, near)
    return best


def scan(odom):
    """The angle between beams, and the ranges from -pi on."""
    x, y = (MAP_FROM_ODOM[i] + odom[i] for i in (0, 1))
    x, y = x + LIDAR_X * math.cos(odom[2]), y + LIDAR_X * math.sin(odom[2])
    inc = 2 * math.pi / BEAMS
    return inc, [ray(x, y, odom[2] - math.pi + i * inc) for i in range(BEAMS)]


def wall(x, y):
    """Whether there is one."""
    def inside(at, size, yaw):
        c, s, dx, dy = math.cos(yaw), math.sin(yaw), x - at[0], y - at[1]
        return abs(c * dx + s * dy) <= size[0] / 2 and abs(c * dy - s * dx) <= size[1] / 2
    return any(inside(*w) for w in WALLS)


class Slam:
    """A SLAM's map of the room. Its origin is the robot's start, and it takes only scans that are apart."""
    CELL, APART_M, APART_RAD = .05, .3, .4

    def __init__(self):
        self.cells, self.at = {}, None  # (x, y): 0 or 100

    def look(self, odom):
        if self.at and math.dist(odom[:2], self.at[:2]) < self.APART_M and abs(math.remainder(odom[2] - self.at[2], 2 * math.pi)) < self.APART_RAD:
            return
        self.at, (inc, ranges) = list(odom), scan(odom)
        x, y = odom[0] + LIDAR_X * math.cos(odom[2]), odom[1] + LIDAR_X * math.sin(odom[2])
        for i, r in enumerate(ranges):
            c, s = math.cos(odom[2] - math.pi + i * inc), math.sin(odom[2] - math.pi + i * inc)
            for k in range(int(r / self.CELL)):
                self.cells.setdefault(self.cell(x + k * self.CELL * c, y + k * self.CELL * s), 0)
            if math.isfinite(r):
                self.cells[self.cell(x + r * c, y + r * s)] = 100

    def cell(self, x, y):
        return math.floor(x / self.CELL), math.floor(y / self.CELL)

    def grid(self):
        """Width, height, the corner's x and y, and the cells."""
        xs, ys = [x for x, _ in self.cells], [y for _, y in self.cells]
        x0, y0, w, h = min(xs), min(ys), max(xs) - min(xs) + 1, max(ys) - min(ys) + 1
        return w, h, x0 * self.CELL, y0 * self.CELL, [self.cells.get((x0 + i % w, y0 + i // w), -1) for i in range(w * h)]


def moved(odom, v, w, dt):
    odom[2] = math.remainder(odom[2] + w * dt, 2 * math.pi)
    odom[0] += v * dt * math.cos(odom[2])
    odom[1] += v * dt * math.sin(odom[2])


def too_fast(v, w):
    """Whether the world's robot may not have that velocity; what is no number it may not have."""
    return not (-.301 <= v <= .601 and abs(w) <= 1.501)


def steer(x, y, yaw, odom):
    """Metres to go, and the velocity and the turn towards this pose in the map; None: it is there."""
    dx, dy = x - MAP_FROM_ODOM[0] - odom[0], y - MAP_FROM_ODOM[1] - odom[1]
    far = math.hypot(dx, dy)
    turn = math.remainder((math.atan2(dy, dx) if far > .05 else yaw) - odom[2], 2 * math.pi)
    if far <= .05 and abs(turn) < .05:
        return far, None
    return far, (min(.4, far) if far > .05 and abs(turn) < .5 else 0., max(-1., min(1., 2 * turn)))
