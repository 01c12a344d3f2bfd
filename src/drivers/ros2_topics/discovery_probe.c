// discovery_probe.c - which RMW the participants of a robot's domain have, whether Nav2 is there, and whether anybody publishes
// where it should. A participant of its own hears discovery, and has no endpoint.
#include "drivers/ros2_topics/discovery_probe.h"

#include "drivers/dds/dds_node.h"

#include <stdio.h>
#include <string.h>

enum { PARTICIPANTS = 256, LOOK_MS = 100, QUIET_MS = 800 };

typedef struct network {
    pons_topics_network at;
    char serves[ROS2_NAME_MAX + 32], wants[ROS2_NAME_MAX + 2]; // topics of DDS
    dds_guid_t mine, known[PARTICIPANTS];
    int n;
} network;

static void count(network *w, const dds_guid_t *participant)
{
    for (int i = 0; i < w->n; i++) {
        if (memcmp(w->known[i].v, participant->v, sizeof participant->v) == 0) {
            return;
        }
    }
    if (w->n == PARTICIPANTS || memcmp(w->mine.v, participant->v, sizeof participant->v) == 0) {
        return;
    }
    w->known[w->n++] = *participant;
    const uint8_t *vendor = participant->v; // a GUID begins with it
    int *of = &w->at.rmw_other;
    if (vendor[0] == 0x01 && vendor[1] == 0x10) {
        of = &w->at.rmw_cyclonedds;
    } else if (vendor[0] == 0x01 && vendor[1] == 0x0f) {
        of = &w->at.rmw_fastrtps;
    }
    (*of)++;
}

static bool is_of_ros(const char *topic)
{
    return topic[0] == 'r' && strchr("tqr", topic[1]) && topic[1] && topic[2] == '/';
}

static bool see_publication(const dds_builtintopic_endpoint_t *e, void *user)
{
    network *w = user;
    if (is_of_ros(e->topic_name)) {
        count(w, &e->participant_key);
        w->at.publishers += strcmp(e->topic_name, w->wants) == 0;
    }
    return true;
}

static bool see_subscription(const dds_builtintopic_endpoint_t *e, void *user)
{
    network *w = user;
    if (is_of_ros(e->topic_name)) {
        count(w, &e->participant_key);
        w->at.nav2 = w->at.nav2 || strcmp(e->topic_name, w->serves) == 0;
    }
    return true;
}

static void look(const ros2_node *n, network *w)
{
    w->n = w->at.publishers = 0;
    w->at.rmw_cyclonedds = w->at.rmw_fastrtps = w->at.rmw_other = 0;
    w->at.nav2 = false;
    ros2_node_each(n, true, see_publication, w);
    ros2_node_each(n, false, see_subscription, w);
}

int ros2_discovery_probe(const char *workspace, int wait_ms, pons_topics_network *ret,
                         pons_error *err)
{
    ros2_config c = {0};
    ros2_node node = {0};
    network w = {.n = 0};
    int rc = ros2_config_load(workspace, &c, err);
    rc = rc < 0 ? rc : ros2_node_open(&node, c.domain, err);
    if (rc >= 0) {
        const bool nav2 = c.nav2 && *c.actions[ROS2_TO_POSE];
        w.at.domain = c.domain;
        snprintf(w.at.wants, sizeof w.at.wants, "%s", nav2 ? c.t_cmd_vel_in.name : "");
        snprintf(w.wants, sizeof w.wants, "rt%s", w.at.wants);
        snprintf(w.serves, sizeof w.serves, "rq%s/_action/send_goalRequest",
                 c.actions[ROS2_TO_POSE]);
        dds_get_guid(node.participant, &w.mine);
        int known = 0, quiet_ms = 0; // nobody new has come for so long
        for (int ms = 0; ms < wait_ms; ms += LOOK_MS) {
            dds_sleepfor(DDS_MSECS(LOOK_MS));
            look(&node, &w);
            quiet_ms = w.n == known ? quiet_ms + LOOK_MS : 0;
            known = w.n;
            const bool all = w.n > 0 && (!nav2 || (w.at.nav2 && w.at.publishers > 0));
            if (all && quiet_ms >= QUIET_MS) {
                break;
            }
        }
        *ret = w.at;
    }
    ros2_node_close(&node);
    ros2_config_fini(&c);
    return rc < 0 ? rc : PONS_OK;
}
