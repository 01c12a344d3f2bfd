// peer.cc - what a Gazebo server with our world says and hears, without Gazebo: the same topics, services and
// message types over Ignition Transport, with the kinematic robot's motion and rays behind them.
//
//     peer WORLD.yaml [--free] [--stay] [--start X Y YAW] [--seed N] [--battery PCT] [--wrong]
//
// It shares nothing with the driver but the library: messages are made and read here by their C++ classes.
// As Gazebo does, it obeys the last velocity for ever, says nothing of odometry and scans while it is
// paused, begins paused (--free: running, in real time), and answers `create` before it has created.
// --wrong: its scans are of another type. Standard input has words of the test: pause, run, mute WHAT, unmute WHAT, spoil WHAT
// and unspoil WHAT (odom, scan, empty: a scan without beams, battery, share: the battery from 0 to 1), shift WHAT S (stamps of
// odom or scan, by seconds), rows N (of the lidar), hang and unhang (`create` is answered by nobody), reset, touch X Y, quit; standard output says `ready`, and `cmd V W` whenever the velocity changes.
#include "pons/clock.h"
#include "pons/drivers.h"
#include "pons/yaml.h"

#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <ignition/msgs.hh>
#include <ignition/transport.hh>
#include <iostream>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace msgs = ignition::msgs;
using ignition::transport::Node;

namespace
{

const int64_t MS = 1000000, ODOM_EVERY = 10 * MS, BATTERY_EVERY = 10 * MS;

struct Change { // of the world, at the beginning of the next iteration
    std::string name, sdf;
};

class Peer
{
  public:
    Peer(const pons_value *world, const pons_value *config, bool other_scan, int64_t step_ns)
        : name(pons_get_str(world, "name", "w")), wrong(other_scan), iteration_ns(step_ns)
    {
        pons_error err = PONS_ERROR_INIT;
        if (ops->open(world, config, &robot, &err) < 0) {
            std::fprintf(stderr, "peer: %s\n", err.message);
            std::exit(2);
        }
        const std::string m = "/model/robot", w = "/world/" + name;
        odom = node.Advertise<msgs::Odometry>(m + "/odometry");
        scan = wrong ? node.Advertise<msgs::Clock>(m + "/scan")
                     : node.Advertise<msgs::LaserScan>(m + "/scan");
        battery = node.Advertise<msgs::BatteryState>(m + "/battery/battery/state");
        contacts = node.Advertise<msgs::Contacts>(m + "/contacts");
        clock = node.Advertise<msgs::Clock>("/clock");
        stats = node.Advertise<msgs::WorldStatistics>(w + "/stats");
        poses = node.Advertise<msgs::Pose_V>(w + "/pose/info");
        node.Subscribe(m + "/cmd_vel", &Peer::on_twist, this);
        node.Advertise(w + "/control", &Peer::on_control, this);
        node.Advertise(w + "/create", &Peer::on_create, this);
        node.Advertise(w + "/remove", &Peer::on_remove, this);
        node.Advertise(m + "/battery/battery/recharge/start", &Peer::on_charge, this);
        node.Advertise(m + "/battery/battery/recharge/stop", &Peer::on_charge_end, this);
    }

    ~Peer()
    {
        ops->close(robot);
    }

    void run(bool free)
    {
        running = free;
        auto next = std::chrono::steady_clock::now();
        for (std::unique_lock<std::mutex> lock(mtx); !quit;) {
            if (steps > 0) {
                steps--;
                iterate();
                continue;
            }
            if (running) {
                for (int64_t ns = 0; ns < 10 * MS; ns += iteration_ns) {
                    iterate();
                }
                next += std::chrono::milliseconds(10);
                woken.wait_until(lock, next, [this] { return quit; });
                continue;
            }
            say_time(); // also while it is paused
            woken.wait_for(lock, std::chrono::milliseconds(50),
                           [this] { return quit || steps > 0 || running; });
            next = std::chrono::steady_clock::now();
        }
    }

    void word(const std::string &line)
    {
        std::istringstream in(line);
        std::string verb, what;
        in >> verb >> what;
        const std::lock_guard<std::mutex> lock(mtx);
        if (verb == "pause" || verb == "run") {
            running = verb == "run";
        } else if (verb == "mute") {
            muted.insert(what);
        } else if (verb == "unmute") {
            muted.erase(what);
        } else if (verb == "spoil") {
            spoilt.insert(what);
        } else if (verb == "unspoil") {
            spoilt.erase(what);
        } else if (verb == "shift") {
            double s;
            in >> s;
            (what == "odom" ? odom_shift_ns : scan_shift_ns) = (int64_t)(s * 1e9);
        } else if (verb == "rows") {
            rows = std::stoi(what);
        } else if (verb == "hang") { // nobody answers, as in a server that stands still
            node.UnadvertiseSrv("/world/" + name + "/create");
        } else if (verb == "unhang") {
            node.Advertise("/world/" + name + "/create", &Peer::on_create, this);
        } else if (verb == "reset") {
            epoch_ns = ops->time_ns(robot);
        } else if (verb == "touch") {
            msgs::Contacts m;
            msgs::Vector3d *p = m.add_contact()->add_position();
            p->set_x(std::stod(what));
            double y;
            in >> y;
            p->set_y(y);
            contacts.Publish(m);
        } else if (verb == "quit") {
            quit = true;
        }
        woken.notify_all();
    }

    void end()
    {
        const std::lock_guard<std::mutex> lock(mtx);
        quit = true;
        woken.notify_all();
    }

  private:
    static void put(msgs::Time *t, int64_t ns)
    {
        t->set_sec(ns / 1000000000);
        t->set_nsec((int32_t)(ns % 1000000000));
    }

    static void put(msgs::Pose *p, const pons_pose2 &at)
    {
        p->mutable_position()->set_x(at.x);
        p->mutable_position()->set_y(at.y);
        p->mutable_orientation()->set_z(std::sin(0.5 * at.yaw));
        p->mutable_orientation()->set_w(std::cos(0.5 * at.yaw));
    }

    int64_t sim(int64_t ns) const
    {
        return ns - epoch_ns;
    }

    bool silent(const char *what) const
    {
        return muted.count(what) > 0;
    }

    bool spoils(const char *what) const
    {
        return spoilt.count(what) > 0;
    }

    void iterate() // [mtx]
    {
        for (const Change &c : changes) {
            change(c);
        }
        changes.clear();
        pons_error err = PONS_ERROR_INIT;
        ops->step(robot, iteration_ns, &err);
        const int64_t now = ops->time_ns(robot);
        pons_robot_state s;
        ops->read(robot, &s);
        if (now % ODOM_EVERY == 0) {
            say_truth();
            say_scan();
            say_battery(s);
            say_odom(s);
        }
        say_time();
    }

    void say_odom(const pons_robot_state &s)
    {
        msgs::Odometry m;
        put(m.mutable_header()->mutable_stamp(), sim(s.stamp_ns) + odom_shift_ns);
        put(m.mutable_pose(), s.odom_from_base);
        m.mutable_twist()->mutable_linear()->set_x(spoils("odom") ? NAN : s.twist.v);
        m.mutable_twist()->mutable_angular()->set_z(s.twist.w);
        if (!silent("odom")) {
            odom.Publish(m);
        }
    }

    void say_scan()
    {
        pons_scan s;
        if (!ops->scan(robot, &s) || s.stamp_ns == scan_ns) {
            return;
        }
        scan_ns = s.stamp_ns;
        if (wrong) {
            scan.Publish(msgs::Clock());
            return;
        }
        msgs::LaserScan m;
        put(m.mutable_header()->mutable_stamp(), sim(s.stamp_ns) + scan_shift_ns);
        m.set_angle_min((double)s.angle_min);
        m.set_angle_step((double)s.angle_increment);
        m.set_angle_max((double)s.angle_min + (s.n - 1) * (double)s.angle_increment);
        m.set_range_min((double)s.range_min);
        m.set_range_max((double)s.range_max);
        m.set_count((uint32_t)s.n);
        if (rows >
            1) { // from 30 degrees below to 30 above; all but the level one see nothing but a floor at 0.2 m
            m.set_vertical_count((uint32_t)rows);
            m.set_vertical_angle_min(-0.5);
            m.set_vertical_angle_max(0.5);
            m.set_vertical_angle_step(1.0 / (rows - 1));
        }
        for (int k = 0; k < rows * s.n && !spoils("empty"); k++) {
            const bool level = k / s.n == rows / 2;
            m.add_ranges(spoils("scan") ? NAN : level ? (double)s.ranges[k % s.n] : 0.2);
        }
        if (!silent("scan")) {
            scan.Publish(m);
        }
    }

    void say_battery(const pons_robot_state &s)
    {
        msgs::BatteryState m;
        put(m.mutable_header()->mutable_stamp(), sim(s.stamp_ns));
        m.set_percentage(spoils("battery") ? NAN
                         : spoils("share") ? s.battery_pct / 100
                                           : s.battery_pct);
        m.set_power_supply_status(s.battery == PONS_BATTERY_CHARGING ? msgs::BatteryState::CHARGING
                                  : s.battery == PONS_BATTERY_FULL
                                      ? msgs::BatteryState::FULL
                                      : msgs::BatteryState::DISCHARGING);
        if (!silent("battery")) {
            battery.Publish(m);
        }
    }

    void say_truth()
    {
        pons_pose2 at;
        ops->truth(robot, &at);
        msgs::Pose_V m;
        msgs::Pose *p = m.add_pose();
        p->set_name("robot");
        put(p, at);
        for (const std::string &o : standing) {
            m.add_pose()->set_name(o);
        }
        poses.Publish(m);
    }

    void say_time()
    {
        const int64_t now = sim(ops->time_ns(robot));
        msgs::Clock c;
        put(c.mutable_sim(), now);
        if (!silent("clock")) {
            clock.Publish(c);
        }
        msgs::WorldStatistics s;
        put(s.mutable_sim_time(), now);
        put(s.mutable_step_size(), iteration_ns);
        s.set_paused(!running && steps == 0);
        stats.Publish(s);
    }

    void change(const Change &c)
    {
        std::string json = "{\"id\":\"" + c.name + "\",\"remove\":true}";
        double x, y, z, roll, pitch, yaw, sx, sy, sz;
        const char *pose = std::strstr(c.sdf.c_str(), "<pose>");
        const char *size = std::strstr(c.sdf.c_str(), "<size>");
        if (pose && size &&
            std::sscanf(pose, "<pose>%lf %lf %lf %lf %lf %lf<", &x, &y, &z, &roll, &pitch, &yaw) ==
                6 &&
            std::sscanf(size, "<size>%lf %lf %lf<", &sx, &sy, &sz) == 3) {
            char text[400];
            std::snprintf(
                text, sizeof text,
                "{\"id\":\"%s\",\"x\":%f,\"y\":%f,\"yaw\":%f,\"sx\":%f,\"sy\":%f,\"height\":%f}",
                c.name.c_str(), x, y, yaw, sx, sy, sz);
            json = text;
            standing.insert(c.name);
        } else {
            standing.erase(c.name);
        }
        pons_value *v = nullptr;
        pons_error err = PONS_ERROR_INIT;
        if (pons_value_parse(json.c_str(), json.size(), &v, &err) < 0 ||
            ops->spawn(robot, v, &err) < 0) {
            std::fprintf(stderr, "peer: %s: %s\n", json.c_str(), err.message);
        }
        pons_value_unref(v);
    }

    void on_twist(const msgs::Twist &m)
    {
        const std::lock_guard<std::mutex> lock(mtx);
        const pons_twist2 t = {m.linear().x(), m.angular().z()};
        ops->write_velocity(robot, t);
        if (t.v != was.v || t.w != was.w) {
            char line[64]; // not waited for: who does not read has no use for it
            const int n = std::snprintf(line, sizeof line, "cmd %g %g\n", t.v + 0.0,
                                        t.w + 0.0); // zero is written one way
            (void)!write(1, line, (size_t)n);
        }
        was = t;
    }

    bool on_control(const msgs::WorldControl &m, msgs::Boolean &reply)
    {
        const std::lock_guard<std::mutex> lock(mtx);
        running = !m.pause();
        steps += m.multi_step();
        reply.set_data(true);
        woken.notify_all();
        return true;
    }

    bool on_create(const msgs::EntityFactory &m, msgs::Boolean &reply)
    {
        const char *from = std::strstr(m.sdf().c_str(), "<model name=\"");
        const std::lock_guard<std::mutex> lock(mtx);
        reply.set_data(from != nullptr);
        if (from) {
            from += std::strlen("<model name=\"");
            changes.push_back({std::string(from, std::strcspn(from, "\"")), m.sdf()});
        }
        return true;
    }

    bool on_remove(const msgs::Entity &m, msgs::Boolean &reply)
    {
        const std::lock_guard<std::mutex> lock(mtx);
        changes.push_back({m.name(), ""});
        reply.set_data(true);
        return true;
    }

    void on_charge(const msgs::Boolean &)
    {
        ops->charge(robot, true, nullptr);
    }
    void on_charge_end(const msgs::Boolean &)
    {
        ops->charge(robot, false, nullptr);
    }

    const pons_robot_ops *ops = &pons_robot_kinematic;
    void *robot = nullptr;
    std::string name;
    const bool wrong;
    const int64_t iteration_ns;
    std::mutex mtx;
    std::condition_variable woken;
    bool running = false, quit = false;
    int rows = 1;
    int64_t odom_shift_ns = 0, scan_shift_ns = 0;
    uint64_t steps = 0;
    int64_t scan_ns = -1, epoch_ns = 0;
    pons_twist2 was = {0, 0};
    std::vector<Change> changes;
    std::set<std::string> muted, spoilt, standing;
    Node::Publisher odom, scan, battery, contacts, clock, stats, poses;
    Node node;
};

} // namespace

int main(int argc, char **argv)
{
    pons_error err = PONS_ERROR_INIT;
    pons_yaml *yaml = nullptr;
    bool free_run = false, stay = false, wrong = false;
    pons_value *config = json_object();
    int iteration_ms = 1; // of physics, as Gazebo's usually are
    if (argc < 2 || pons_yaml_load(argv[1], &yaml, &err) < 0) {
        std::fprintf(stderr, "peer: %s\n", argc < 2 ? "which world?" : err.message);
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        const std::string a = argv[i];
        if (a == "--free") {
            free_run = true;
        } else if (a == "--stay") { // also when nobody speaks to it any more
            stay = true;
        } else if (a == "--wrong") {
            wrong = true;
        } else if (a == "--start" && i + 3 < argc) {
            json_object_set_new(config, "start",
                                json_pack("{s:f,s:f,s:f}", "x", std::atof(argv[i + 1]), "y",
                                          std::atof(argv[i + 2]), "yaw", std::atof(argv[i + 3])));
            i += 3;
        } else if (a == "--iteration-ms" && i + 1 < argc) {
            iteration_ms = std::atoi(argv[++i]);
        } else if (a == "--seed" && i + 1 < argc) {
            json_object_set_new(config, "seed", json_integer(std::atoll(argv[++i])));
        } else if (a == "--battery" && i + 1 < argc) {
            json_object_set_new(config, "battery_pct", json_real(std::atof(argv[++i])));
        } else {
            std::fprintf(stderr, "peer: %s?\n", argv[i]);
            return 2;
        }
    }
    {
        Peer peer(pons_yaml_value(yaml), config, wrong, iteration_ms * MS);
        std::printf("ready\n");
        std::fflush(stdout);
        fcntl(1, F_SETFL, fcntl(1, F_GETFL) | O_NONBLOCK);
        std::thread reader([&peer, stay] {
            for (std::string line; std::getline(std::cin, line) && line != "quit";) {
                peer.word(line);
            }
            if (!stay) {
                peer.end(); // whoever started it has gone
            }
        });
        peer.run(free_run);
        reader.join();
    }
    pons_value_unref(config);
    pons_yaml_destroy(yaml);
    return 0;
}
