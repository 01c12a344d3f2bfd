"""A camera for rclpy_body.py, on a link that turns against the base: it sees an AprilTag on a board in the room, drawn pixel by pixel.

A picture comes DELAY_S after it was taken, with the stamp of when it was taken: whoever takes the robot's pose of when it comes is
off by half a metre while the robot turns.
"""
import collections, math
import numpy as np
from room import MAP_FROM_ODOM
from rclpy.qos import QoSProfile
from sensor_msgs.msg import CameraInfo, Image

WIDTH, HEIGHT, FOCAL = 480, 360, 300.
DELAY_S, EVERY = .4, 8  # ticks
AT = (.1, 0., .5)  # of the link in the base; the lens is in its middle
TURN_RADPS = .6  # of the robot, to and fro: where it sees the tag, it is not slow
# tag36h11:7, with the white around it; TAG is its middle in the map, SIZE the side of its black square, and it faces WEST by a little.
BITS = """
..........
.########.
.####.###.
.####..##.
.##.#.###.
.#.#...##.
.####...#.
.##.#.###.
.########.
..........
""".split()
TAG, SIZE, FACES = (3.2, 1.9, .45), .3, math.radians(185.)


def pan(t):
    """How the link is turned against the base, at a time in seconds."""
    return .3 * math.sin(1.3 * t)


def turning(t):
    """How fast the robot turns, at a time in seconds."""
    return TURN_RADPS * math.cos(TURN_RADPS * t)


def picture(x, y, yaw):
    """As bytes, from a lens there in the map, which looks along the floor."""
    fine = 2
    v, u = np.mgrid[0:HEIGHT * fine, 0:WIDTH * fine]
    right, down = ((u + .5) / fine - WIDTH / 2) / FOCAL, ((v + .5) / fine - HEIGHT / 2) / FOCAL
    ray = np.stack([math.cos(yaw) + right * math.sin(yaw), math.sin(yaw) - right * math.cos(yaw), -down], -1)
    normal = np.array([math.cos(FACES), math.sin(FACES), 0.])
    eye = np.array([x, y, AT[2]])
    far = (np.array(TAG) - eye) @ normal / (ray @ normal)
    on = eye + far[..., None] * ray - np.array(TAG)
    # As who stands before it sees it: columns to the right, rows down.
    column = np.floor(on @ np.array([-normal[1], normal[0], 0.]) / (SIZE / 8) + 5).astype(int)
    row = np.floor(-on[..., 2] / (SIZE / 8) + 5).astype(int)
    black = np.array([[bit == "#" for bit in line] for line in BITS])
    seen = (far > 0) & (column >= 0) & (column < 10) & (row >= 0) & (row < 10)
    grey = np.full(far.shape, 120.)
    grey[seen] = np.where(black[row[seen], column[seen]], 10., 240.)
    return grey.reshape(HEIGHT, fine, WIDTH, fine).mean((1, 3)).astype(np.uint8).tobytes()


class Camera:
    def __init__(self, node):
        self.image = node.create_publisher(Image, "camera/image_raw", QoSProfile(depth=1))
        self.info = node.create_publisher(CameraInfo, "camera/camera_info", QoSProfile(depth=1))
        self.taken = collections.deque()

    def take(self, odom, turned, stamped, now):
        """What it sees now, and what it saw DELAY_S ago goes out. stamped: as rclpy_body.py has it."""
        c, s = math.cos(odom[2]), math.sin(odom[2])
        at = [MAP_FROM_ODOM[0] + odom[0] + c * AT[0] - s * AT[1], MAP_FROM_ODOM[1] + odom[1] + s * AT[0] + c * AT[1]]
        image = stamped(Image(height=HEIGHT, width=WIDTH, encoding="mono8", step=WIDTH), "lens")
        image.data = picture(*at, odom[2] + turned)
        info = CameraInfo(header=image.header, height=HEIGHT, width=WIDTH, distortion_model="plumb_bob", d=[0.] * 5,
                          k=[FOCAL, 0., WIDTH / 2 - .5, 0., FOCAL, HEIGHT / 2 - .5, 0., 0., 1.])
        self.taken.append((now + DELAY_S, image, info))

    def send(self, now):
        while self.taken and self.taken[0][0] <= now:
            _, image, info = self.taken.popleft()
            self.info.publish(info)
            self.image.publish(image)
