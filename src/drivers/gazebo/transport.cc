// transport.cc - see transport.h. Messages become plain C as they come; no exception leaves this file.
#include "drivers/gazebo/transport.h"

#include <cmath>
#include <cstdio>
#include <exception>
#include <ignition/msgs.hh>
#include <ignition/transport.hh>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace msgs = ignition::msgs;
using ignition::transport::Node;
using ignition::transport::NodeOptions;

namespace
{

// Outlives the wire, for a message that is on its way when that is closed.
struct Gate {
    std::mutex mtx;
    bool open = true;
    gazebo_ears ears;
};

// -1: no simulation has run so long.
int64_t nanoseconds(const msgs::Time &t)
{
    const int64_t second = 1000000000;
    const bool good = t.sec() >= 0 && t.sec() <= second && t.nsec() >= 0 && t.nsec() < second;
    return good ? t.sec() * second + t.nsec() : -1;
}

double yaw_of(const msgs::Quaternion &q)
{
    return std::atan2(2 * (q.w() * q.z() + q.x() * q.y()), 1 - 2 * (q.y() * q.y() + q.z() * q.z()));
}

void tell(const gazebo_ears &e, const msgs::Odometry &m)
{
    const gazebo_odom o = {nanoseconds(m.header().stamp()), m.pose().position().x(),
                           m.pose().position().y(),         yaw_of(m.pose().orientation()),
                           m.twist().linear().x(),          m.twist().angular().z()};
    e.odom(e.user, &o);
}

void tell(const gazebo_ears &e, const msgs::LaserScan &m)
{
    const size_t all = (size_t)m.ranges_size();
    const size_t rows = m.vertical_count() > 1 ? m.vertical_count() : 1;
    size_t n = rows > 1 ? m.count() : all, row = 0;
    if (n * rows != all) {
        n = 0; // nobody knows which is which
    } else if (rows > 1 && m.vertical_angle_step() > 0) {
        const double level = std::round(-m.vertical_angle_min() / m.vertical_angle_step());
        row = !(level > 0) ? 0 : level < (double)rows ? (size_t)level : rows - 1;
    }
    const gazebo_scan s = {nanoseconds(m.header().stamp()),
                           m.angle_min(),
                           m.angle_step(),
                           m.range_min(),
                           m.range_max(),
                           n,
                           m.ranges().data() + row * n};
    e.scan(e.user, &s);
}

void tell(const gazebo_ears &e, const msgs::BatteryState &m)
{
    e.battery(e.user, m.percentage(), (int)m.power_supply_status());
}

void tell(const gazebo_ears &e, const msgs::Clock &m)
{
    e.clock(e.user, nanoseconds(m.sim()));
}

void tell(const gazebo_ears &e, const msgs::WorldStatistics &m)
{
    e.stats(e.user, m.paused(), m.has_step_size() ? nanoseconds(m.step_size()) : 0);
}

void tell(const gazebo_ears &e, const msgs::Pose_V &m)
{
    for (const msgs::Pose &p : m.pose()) {
        e.pose(e.user, p.name().c_str(), p.position().x(), p.position().y(),
               yaw_of(p.orientation()));
    }
}

void tell(const gazebo_ears &e, const msgs::Contacts &m)
{
    for (const msgs::Contact &c : m.contact()) {
        for (const msgs::Vector3d &p : c.position()) {
            e.contact(e.user, p.x(), p.y());
        }
    }
}

NodeOptions options(const char *partition)
{
    NodeOptions o;
    if (*partition) {
        o.SetPartition(partition);
    }
    return o;
}

} // namespace

struct gazebo_wire {
    explicit gazebo_wire(const char *partition) : node(options(partition))
    {
    }

    template <typename M> bool hear(const char *topic)
    {
        const std::shared_ptr<Gate> g = gate;
        std::function<void(const M &)> received = [g](const M &m) {
            const std::lock_guard<std::mutex> lock(g->mtx);
            if (g->open) {
                tell(g->ears, m);
            }
        };
        return node.Subscribe<M>(topic, received);
    }

    template <typename M> bool ask(const char *service, const M &m, unsigned timeout_ms)
    {
        msgs::Boolean reply;
        bool done = false;
        return node.Request(service, m, timeout_ms, reply, done) && done && reply.data();
    }

    std::shared_ptr<Gate> gate = std::make_shared<Gate>();
    Node::Publisher velocities;
    Node node;
};

gazebo_wire *gazebo_wire_open(const char *partition, const gazebo_ears *ears, char *why,
                              size_t why_size)
{
    try {
        auto w = std::make_unique<gazebo_wire>(partition);
        w->gate->ears = *ears;
        return w.release();
    } catch (const std::exception &e) {
        std::snprintf(why, why_size, "%s", e.what());
        return nullptr;
    }
}

void gazebo_wire_close(gazebo_wire *w)
{
    if (w) {
        {
            const std::lock_guard<std::mutex> lock(w->gate->mtx);
            w->gate->open = false;
        }
        delete w;
    }
}

bool gazebo_wire_hear(gazebo_wire *w, gazebo_topic what, const char *topic)
{
    try {
        switch (what) {
        case GAZEBO_ODOM:
            return w->hear<msgs::Odometry>(topic);
        case GAZEBO_SCAN:
            return w->hear<msgs::LaserScan>(topic);
        case GAZEBO_BATTERY:
            return w->hear<msgs::BatteryState>(topic);
        case GAZEBO_CLOCK:
            return w->hear<msgs::Clock>(topic);
        case GAZEBO_STATS:
            return w->hear<msgs::WorldStatistics>(topic);
        case GAZEBO_POSES:
            return w->hear<msgs::Pose_V>(topic);
        case GAZEBO_CONTACTS:
            return w->hear<msgs::Contacts>(topic);
        }
    } catch (const std::exception &) {
    }
    return false;
}

static std::string type_of(gazebo_topic what)
{
    switch (what) {
    case GAZEBO_ODOM:
        return msgs::Odometry().GetTypeName();
    case GAZEBO_SCAN:
        return msgs::LaserScan().GetTypeName();
    case GAZEBO_BATTERY:
        return msgs::BatteryState().GetTypeName();
    case GAZEBO_CLOCK:
        return msgs::Clock().GetTypeName();
    default:
        return "";
    }
}

bool gazebo_wire_other(gazebo_wire *w, gazebo_topic what, const char *topic, char *ret, size_t cap)
{
    try {
        std::vector<ignition::transport::MessagePublisher> all;
        const std::string type = type_of(what);
        bool other = false;
        w->node.TopicInfo(topic, all);
        for (const auto &p : all) {
            if (p.MsgTypeName() == type) {
                return false;
            }
            std::snprintf(ret, cap, "%s", p.MsgTypeName().c_str());
            other = true;
        }
        return other;
    } catch (const std::exception &) {
        return false;
    }
}

bool gazebo_wire_drive(gazebo_wire *w, const char *topic)
{
    try {
        w->velocities = w->node.Advertise<msgs::Twist>(topic);
        return w->velocities.Valid();
    } catch (const std::exception &) {
        return false;
    }
}

void gazebo_wire_twist(gazebo_wire *w, double v, double w_radps)
{
    try {
        msgs::Twist m;
        m.mutable_linear()->set_x(v);
        m.mutable_angular()->set_z(w_radps);
        w->velocities.Publish(m);
    } catch (const std::exception &) {
    }
}

bool gazebo_wire_listened(gazebo_wire *w)
{
    try {
        return w->velocities.HasConnections();
    } catch (const std::exception &) {
        return false;
    }
}

bool gazebo_wire_control(gazebo_wire *w, const char *service, bool pause, uint32_t steps,
                         unsigned timeout_ms)
{
    try {
        msgs::WorldControl m;
        m.set_pause(pause);
        m.set_multi_step(steps);
        return w->ask(service, m, timeout_ms);
    } catch (const std::exception &) {
        return false;
    }
}

bool gazebo_wire_create(gazebo_wire *w, const char *service, const char *sdf, unsigned timeout_ms)
{
    try {
        msgs::EntityFactory m;
        m.set_sdf(sdf);
        return w->ask(service, m, timeout_ms);
    } catch (const std::exception &) {
        return false;
    }
}

bool gazebo_wire_remove(gazebo_wire *w, const char *service, const char *name, unsigned timeout_ms)
{
    try {
        msgs::Entity m;
        m.set_name(name);
        m.set_type(msgs::Entity::MODEL);
        return w->ask(service, m, timeout_ms);
    } catch (const std::exception &) {
        return false;
    }
}

bool gazebo_wire_tell(gazebo_wire *w, const char *service, bool on)
{
    try {
        msgs::Boolean m;
        m.set_data(on);
        return w->node.Request(service, m);
    } catch (const std::exception &) {
        return false;
    }
}
