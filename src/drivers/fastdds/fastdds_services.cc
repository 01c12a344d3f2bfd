// fastdds_services.cc - the module dds-fast: a participant of Fast DDS that has services and nothing else. See
// drivers/dds/fastdds_services.h.
//
// It speaks UDP alone: the shared memory of two releases of Fast DDS on one machine does not fit together.
#include "drivers/dds/fastdds_services.h"

#include "pons/module.h"

#include <arpa/inet.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/DataWriterListener.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#if FAST_2 // of the build: Fast DDS 2, or 3 with other names for the same
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastrtps/utils/IPLocator.h>
#else
#include <fastdds/rtps/common/WriteParams.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.hpp>
#include <fastdds/utils/IPLocator.hpp>
#endif
#include <fstream>
#include <ifaddrs.h>
#include <memory>
#include <mutex>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace fast = eprosima::fastdds::dds;
#if FAST_2
namespace rtps = eprosima::fastrtps::rtps;
using duration = eprosima::fastrtps::Duration_t;
static const auto OK = ReturnCode_t::RETCODE_OK;
static const bool WRITTEN = true;
#else
namespace rtps = eprosima::fastdds::rtps;
using duration = fast::Duration_t;
static const auto OK = fast::RETCODE_OK, WRITTEN = OK;
#endif

namespace {

constexpr uint32_t FIRST_BYTES = 4096, MOST_BYTES = 16u << 20;
constexpr int DEPTH = 100, PEERS = 64; // PEERS: participants of this machine that are looked for where only it is spoken to

using bytes = std::vector<uint8_t>;

bool put(const void *data, rtps::SerializedPayload_t &p)
{
    const bytes &b = *static_cast<const bytes *>(data);
    if (b.size() > p.max_size) {
        return false;
    }
    memcpy(p.data, b.data(), b.size());
    p.length = static_cast<uint32_t>(b.size());
    p.encapsulation = CDR_LE;
    return true;
}

bool get(const rtps::SerializedPayload_t &p, void *data)
{
    if (p.length > MOST_BYTES) {
        return false;
    }
    static_cast<bytes *>(data)->assign(p.data, p.data + p.length);
    return true;
}

uint32_t size_of(const void *data)
{
    return static_cast<uint32_t>(static_cast<const bytes *>(data)->size());
}

// A message as its bytes, whatever its type. Fast DDS 2 and 3 ask for the same by other names.
class raw_type : public fast::TopicDataType {
  public:
#if FAST_2
    explicit raw_type(const char *name)
    {
        setName(name);
        m_typeSize = FIRST_BYTES;
        m_isGetKeyDefined = false;
        auto_fill_type_object(false);
        auto_fill_type_information(false);
    }
    bool serialize(void *data, rtps::SerializedPayload_t *p) override
    {
        return put(data, *p);
    }
    bool deserialize(rtps::SerializedPayload_t *p, void *data) override
    {
        return get(*p, data);
    }
    std::function<uint32_t()> getSerializedSizeProvider(void *data) override
    {
        return [data] { return size_of(data); };
    }
    void *createData() override
    {
        return new bytes;
    }
    void deleteData(void *data) override
    {
        delete static_cast<bytes *>(data);
    }
    bool getKey(void *, rtps::InstanceHandle_t *, bool) override
    {
        return false;
    }
#else
    explicit raw_type(const char *name)
    {
        set_name(name);
        max_serialized_type_size = FIRST_BYTES;
    }
    bool serialize(const void *data, rtps::SerializedPayload_t &p,
                   fast::DataRepresentationId_t) override
    {
        return put(data, p);
    }
    bool deserialize(rtps::SerializedPayload_t &p, void *data) override
    {
        return get(p, data);
    }
    uint32_t calculate_serialized_size(const void *data, fast::DataRepresentationId_t) override
    {
        return size_of(data);
    }
    void *create_data() override
    {
        return new bytes;
    }
    void delete_data(void *data) override
    {
        delete static_cast<bytes *>(data);
    }
    bool compute_key(rtps::SerializedPayload_t &, rtps::InstanceHandle_t &, bool) override
    {
        return false;
    }
    bool compute_key(const void *, rtps::InstanceHandle_t &, bool) override
    {
        return false;
    }
#endif
};

// A GUID begins with its vendor: 01 10 is Cyclone's.
bool is_cyclone(const rtps::GUID_t &g)
{
    return g.guidPrefix.value[0] == 0x01 && g.guidPrefix.value[1] == 0x10;
}

void write_guid(const rtps::GUID_t &g, uint8_t ret[16])
{
    memcpy(ret, g.guidPrefix.value, 12);
    memcpy(ret + 12, g.entityId.value, 4);
}

rtps::GUID_t read_guid(const uint8_t guid[16])
{
    rtps::GUID_t g;
    memcpy(g.guidPrefix.value, guid, 12);
    memcpy(g.entityId.value, guid + 12, 4);
    return g;
}

int64_t number(const rtps::SequenceNumber_t &s)
{
    return static_cast<int64_t>(s.to64long());
}

} // namespace

struct ros2_fast {
    fast::DomainParticipant *participant = nullptr;
    fast::Publisher *publisher = nullptr;
    fast::Subscriber *subscriber = nullptr;
    void (*came)(void *user) = nullptr;
    void *user = nullptr;
    std::vector<std::unique_ptr<ros2_fast_end>> ends;
};

struct ros2_fast_end : fast::DataWriterListener, fast::DataReaderListener {
    ros2_fast *f = nullptr;
    bool serves = false;
    fast::DataWriter *writer = nullptr;
    fast::DataReader *reader = nullptr;
    std::mutex mtx;
    std::set<rtps::GUID_t> peers[2]; // [mtx]

    template <typename status>
    void matched(int way, const rtps::InstanceHandle_t &who, const status &s)
    {
        rtps::GUID_t guid;
        rtps::iHandle2GUID(guid, who);
        {
            const std::lock_guard<std::mutex> lock(mtx);
            if (s.current_count_change > 0 && (serves || !is_cyclone(guid))) {
                peers[way].insert(guid);
            } else if (s.current_count_change < 0) {
                peers[way].erase(guid);
            }
        }
        f->came(f->user);
    }
    void on_publication_matched(fast::DataWriter *, const fast::PublicationMatchedStatus &s) override
    {
        matched(0, s.last_subscription_handle, s);
    }
    void on_subscription_matched(fast::DataReader *,
                                 const fast::SubscriptionMatchedStatus &s) override
    {
        matched(1, s.last_publication_handle, s);
    }
    void on_data_available(fast::DataReader *) override
    {
        f->came(f->user);
    }
};

namespace {

fast::Topic *topic(ros2_fast *f, const char *name, const char *type)
{
    if (auto *known = f->participant->lookup_topicdescription(name)) {
        return static_cast<fast::Topic *>(known);
    }
    fast::TypeSupport t(new raw_type(type));
    if (t.register_type(f->participant) != OK) {
        return nullptr;
    }
    return f->participant->create_topic(name, type, fast::TOPIC_QOS_DEFAULT);
}

template <typename qos> qos qos_of(const qos &usual, const char *says)
{
    qos q = usual;
    q.reliability().kind = fast::RELIABLE_RELIABILITY_QOS;
    q.durability().kind = fast::VOLATILE_DURABILITY_QOS;
    q.history().kind = fast::KEEP_LAST_HISTORY_QOS;
    q.history().depth = DEPTH;
    q.endpoint().history_memory_policy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
    q.data_sharing().off();
    q.user_data().assign(says, says + strlen(says));
    return q;
}

// CYCLONEDDS_URI is a file's name or the text itself.
std::string cyclone_config()
{
    const char *uri = getenv("CYCLONEDDS_URI");
    std::string text = uri ? uri : "";
    if (!text.empty() && text.find('<') == std::string::npos) {
        std::ifstream file(text.rfind("file://", 0) == 0 ? text.substr(7) : text);
        text.assign(std::istreambuf_iterator<char>(file), {});
    }
    return text;
}

// The addresses that Cyclone is told to use, so that both halves of pons are in one network; none: all.
std::vector<std::string> interfaces()
{
    const char *local = getenv("ROS_LOCALHOST_ONLY"),
               *range = getenv("ROS_AUTOMATIC_DISCOVERY_RANGE");
    if ((local && strcmp(local, "1") == 0) || (range && strcmp(range, "LOCALHOST") == 0)) {
        return {"127.0.0.1"};
    }
    std::vector<std::string> ret;
    const std::string text = cyclone_config();
    ifaddrs *all = nullptr;
    getifaddrs(&all);
    for (const ifaddrs *i = all; i; i = i->ifa_next) {
        char address[INET_ADDRSTRLEN] = "";
        if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET) {
            inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in *>(i->ifa_addr)->sin_addr,
                      address, sizeof address);
            const std::regex named("NetworkInterface[^>]*[\"'>](" + std::string(i->ifa_name) + "|" +
                                   address + ")[\"'<]");
            if (std::regex_search(text, named)) {
                ret.emplace_back(address);
            }
        }
    }
    freeifaddrs(all);
    return ret;
}

int open_fast(uint32_t domain, void (*came)(void *), void *user, ros2_fast **ret, char *why,
              size_t cap)
try {
    auto f = std::make_unique<ros2_fast>();
    fast::DomainParticipantQos q = fast::PARTICIPANT_QOS_DEFAULT;
    static const char enclave[] = "enclave=/;";
    auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
    udp->interfaceWhiteList = interfaces();
    if (udp->interfaceWhiteList == std::vector<std::string>{"127.0.0.1"}) {
        udp->maxInitialPeersRange = PEERS;
        rtps::Locator_t loopback;
        rtps::IPLocator::setIPv4(loopback, 127, 0, 0, 1);
        q.wire_protocol().builtin.initialPeersList.push_back(loopback);
    }
    q.transport().use_builtin_transports = false;
    q.transport().user_transports.push_back(udp);
    q.user_data().assign(enclave, enclave + sizeof enclave - 1);
    q.name("pons");
    f->came = came;
    f->user = user;
    auto *factory = fast::DomainParticipantFactory::get_instance();
    f->participant = factory->create_participant(domain, q);
    if (f->participant) {
        f->publisher = f->participant->create_publisher(fast::PUBLISHER_QOS_DEFAULT);
        f->subscriber = f->participant->create_subscriber(fast::SUBSCRIBER_QOS_DEFAULT);
    }
    if (!f->publisher || !f->subscriber) {
        snprintf(why, cap, "Fast DDS cannot take part in domain %u", domain);
        return -1;
    }
    *ret = f.release();
    return 0;
} catch (const std::exception &e) {
    snprintf(why, cap, "Fast DDS: %s", e.what());
    return -1;
}

void close_fast(ros2_fast *f)
{
    if (f) {
        for (auto &e : f->ends) { // from here on nothing is told any more
            if (e->writer) {
                e->writer->set_listener(nullptr);
            }
            if (e->reader) {
                e->reader->set_listener(nullptr);
            }
        }
        f->participant->delete_contained_entities();
        fast::DomainParticipantFactory::get_instance()->delete_participant(f->participant);
        delete f;
    }
}

ros2_fast_end *end_of(ros2_fast *f, const ros2_fast_service *s)
try {
    fast::Topic *request = topic(f, s->topics[0], s->types[0]),
               *reply = topic(f, s->topics[1], s->types[1]);
    if (!request || !reply) {
        return nullptr;
    }
    f->ends.push_back(std::make_unique<ros2_fast_end>());
    ros2_fast_end *e = f->ends.back().get();
    const auto writes = qos_of(fast::DATAWRITER_QOS_DEFAULT, s->says[s->serves ? 1 : 0]);
    const auto reads = qos_of(fast::DATAREADER_QOS_DEFAULT, s->says[s->serves ? 0 : 1]);
    e->f = f;
    e->serves = s->serves;
    e->reader = f->subscriber->create_datareader(s->serves ? request : reply, reads, e);
    e->writer = f->publisher->create_datawriter(s->serves ? reply : request, writes, e);
    if (e->reader && e->writer) {
        return e;
    }
    if (e->reader) {
        f->subscriber->delete_datareader(e->reader);
    }
    if (e->writer) {
        f->publisher->delete_datawriter(e->writer);
    }
    f->ends.pop_back();
    return nullptr;
} catch (const std::exception &) {
    return nullptr;
}

void peers_of(ros2_fast_end *e, int ret[2])
{
    const std::lock_guard<std::mutex> lock(e->mtx);
    for (int i = 0; i < 2; i++) {
        ret[i] = static_cast<int>(e->peers[i].size());
    }
}

int64_t write_bytes(ros2_fast_end *e, const void *data, size_t n, const ros2_fast_id *to)
{
    bytes b(static_cast<const uint8_t *>(data), static_cast<const uint8_t *>(data) + n);
    rtps::WriteParams p;
    if (!to) { // a client says where it wants its answer
        p.related_sample_identity().writer_guid(e->reader->guid());
    } else if (!to->in_front) {
        p.related_sample_identity().writer_guid(read_guid(to->guid));
        p.related_sample_identity().sequence_number() =
            rtps::SequenceNumber_t(static_cast<uint64_t>(to->seq));
    }
    return e->writer->write(&b, p) == WRITTEN ? number(p.sample_identity().sequence_number()) : -1;
}

bool is_mine(const ros2_fast_end *e, const rtps::GUID_t &asker)
{
    return asker == e->reader->guid() || asker == e->writer->guid();
}

bool take(ros2_fast_end *e, void **ret, size_t *ret_n, ros2_fast_id *ret_id)
{
    bytes b;
    fast::SampleInfo info;
    while (e->reader->take_next_sample(&b, &info) == OK) {
        const rtps::SampleIdentity &related = info.related_sample_identity;
        if (!info.valid_data || (!e->serves && !is_mine(e, related.writer_guid()))) {
            continue;
        }
        *ret_id = ros2_fast_id{};
        if (!e->serves) {
            ret_id->seq = number(related.sequence_number());
        } else if (is_cyclone(info.sample_identity.writer_guid())) {
            ret_id->in_front = true;
        } else { // where it wants its answer; old ones do not say so
            const bool says = related.writer_guid() != rtps::GUID_t::unknown();
            write_guid(says ? related.writer_guid() : info.sample_identity.writer_guid(),
                       ret_id->guid);
            ret_id->seq = number(info.sample_identity.sequence_number());
        }
        *ret = malloc(b.size() + 1);
        *ret_n = b.size();
        if (*ret) {
            memcpy(*ret, b.data(), b.size());
            return true;
        }
    }
    return false;
}

void flush(ros2_fast_end *e, int ms)
{
    e->writer->wait_for_acknowledgments(duration(ms / 1000, static_cast<uint32_t>(ms % 1000) * 1000000u));
}

void guids(ros2_fast_end *e, uint8_t ret[2][16])
{
    write_guid(e->writer->guid(), ret[0]);
    write_guid(e->reader->guid(), ret[1]);
}

const ros2_fast_ops ops = {ROS2_FAST_ABI, open_fast,   close_fast, end_of,
                           peers_of,      write_bytes, take,       flush, guids};

} // namespace

PONS_MODULE_EXPORT("dds", "fast", &ops);
