// cmd_replay.c - `pons replay FILE.mcap`: a recording's telemetry, into a brain that knows no better.
//
//     FILE: /body/hello, /body/telemetry … --> link in process --> K2, K3 (and K4) --> a line each
//     its own times --> a clock that moves from message to message
//
// The brain is the real one, with a store in memory and no goals: what it makes of the robot and of the
// world is shown whenever it changes. It starts nothing, for nobody asks it to, and it speaks to no
// robot. The same file gives the same lines, byte for byte.
#include "cli/cli.h"
#include "cli/record/record.h"
#include "pons/mcap.h"
#include "pons/rule_policy.h"

#include <string.h>

#define THREAD  "replay"
#define TICK_NS (100 * PONS_NS_PER_MS) // the kernel's
#define GAP_MAX_NS                                                                                 \
    (60 * PONS_NS_PER_S) // of a recording in which nobody spoke: no more ticks than these
#define SEED 1

typedef struct player {
    cli *c;
    pons_clock_manual manual;
    pons_brain *brain;
    pons_link *body;   // our end: what the body would say
    pons_value *hello; // the newest
    uint64_t first_ns; // of the recording's clock; 0: not begun
    uint64_t hellos, telemetries, changes;
    pons_value *robot, *world; // the newest that were shown
    pons_store store;
    pons_policy policy;
    pons_value *config;
    pons_error err;
    const char *path;
} player;

static int connect_body(void *user, pons_link **ret, pons_error *err)
{
    player *p = user;
    if (!p->hello) {
        return PONS_EAGAIN;
    }
    pons_link_close(p->body);
    p->body = NULL;
    return pons_link_pair(ret, &p->body, err);
}

// What the brain says; a hello is answered with the recorded one, as a controller's.
static void hear(player *p)
{
    pons_error none = PONS_ERROR_INIT;
    while (p->body) {
        pons_autovalue message = NULL;
        if (pons_link_recv(p->body, &message, &none) <= 0) {
            return;
        }
        if (strcmp(pons_get_str(message, "type", ""), "hello") == 0) {
            pons_value *hello = json_copy(p->hello);
            json_object_set_new(hello, "epoch", json_integer(1));
            pons_link_send(p->body, hello, &none);
        }
    }
}

static double seconds(const player *p)
{
    return (double)p->manual.now_ns / 1e9;
}

static void show(player *p, const char *node, const pons_value *value)
{
    pons_autovalue at = json_real(seconds(p));
    p->changes++;
    if (p->c->json) {
        pons_autovalue line = pons_object("type", json_string(node), "at_s", pons_value_ref(at),
                                          "value", pons_value_ref(value), NULL);
        cli_print_json(line);
    } else if (strcmp(node, "world") == 0) {
        cli_out("%9.3f  world  %s\n", seconds(p), pons_get_str(value, "summary", ""));
    } else if (strcmp(node, "mode") == 0) {
        cli_out("%9.3f  mode   %s: %s\n", seconds(p), pons_get_str(value, "mode", ""),
                pons_get_str(value, "reason", ""));
    } else {
        const pons_value *pose = pons_get(value, "pose");
        cli_out("%9.3f  robot  %.2f %.2f %.2f in %s, battery %.1f%%\n", seconds(p),
                pons_get_num(pose, "x", 0), pons_get_num(pose, "y", 0),
                pons_get_num(pose, "yaw", 0), pons_get_str(value, "zone", "no zone"),
                pons_get_num(value, "battery_pct", 0));
    }
}

static void changed(player *p, const char *what, pons_value **newest, const pons_value *value)
{
    if (value && !json_equal(*newest, value)) {
        pons_value_unref(*newest);
        *newest = pons_value_ref(value);
        show(p, what, value);
    }
}

static void on_event(void *user, const pons_event *ev)
{
    player *p = user;
    if (strcmp(ev->type, "mode") == 0) {
        show(p, "mode", ev->payload);
    }
    if (strcmp(ev->type, "stream.updates") == 0 && strcmp(ev->ns, "kernel") == 0) {
        pons_each_member(node, update, ev->payload) {
            changed(p, "robot", &p->robot, pons_get(update, "robot"));
            changed(p, "world", &p->world, pons_get(update, "world"));
        }
    }
}

static int open_brain(player *p, pons_error *err)
{
    const pons_brain_options o = {.store = p->store,
                                  .thread = THREAD,
                                  .clock = pons_clock_from_manual(&p->manual),
                                  .seed = SEED,
                                  .config = p->config,
                                  .policy = p->policy,
                                  .connect = connect_body,
                                  .on_event = on_event,
                                  .user = p,
                                  .keep_running = true,
                                  .stream = PONS_STREAM_UPDATES,
                                  .stream_kernel = true};
    return pons_brain_open(&o, &p->brain, err);
}

static int poll_brain(player *p)
{
    const int rc = pons_brain_poll(p->brain, &p->err);
    hear(p);
    return rc < 0 ? rc : PONS_OK;
}

// To the time of the next message, with the kernel's ticks between.
static int wait_until(player *p, int64_t to_ns)
{
    int rc = PONS_OK;
    if (to_ns - p->manual.now_ns > GAP_MAX_NS) {
        p->manual.now_ns = to_ns - GAP_MAX_NS;
    }
    while (rc >= 0 && p->manual.now_ns + TICK_NS < to_ns) {
        p->manual.now_ns += TICK_NS;
        rc = poll_brain(p);
    }
    p->manual.now_ns = to_ns > p->manual.now_ns ? to_ns : p->manual.now_ns;
    return rc < 0 ? rc : poll_brain(p);
}

static int on_message(void *user, const pons_mcap_message *m)
{
    player *p = user;
    const bool hello = strcmp(m->topic, "/body/hello") == 0;
    pons_autovalue value = NULL;
    if (!hello && strcmp(m->topic, "/body/telemetry") != 0) {
        return PONS_OK;
    }
    int rc = strcmp(m->encoding, "json") == 0
                 ? pons_value_parse(m->data, m->n, &value, &p->err)
                 : pons_error_set(&p->err, PONS_EUNSUPPORTED, "replay", "%s is %.20s, not JSON",
                                  m->topic, m->encoding);
    if (rc < 0) {
        return pons_error_source(&p->err, "%s: message %u of %s", p->path, m->sequence, m->topic);
    }
    if (!p->first_ns) {
        p->first_ns = m->time_ns;
        p->manual.wall_epoch_ms = (int64_t)(m->time_ns / PONS_NS_PER_MS) - 1000;
    }
    // Time begins at a second, and never goes back.
    const int64_t at = m->time_ns > p->first_ns ? (int64_t)(m->time_ns - p->first_ns) : 0;
    rc = wait_until(p, PONS_NS_PER_S + at);
    if (rc < 0) {
        return rc;
    }
    if (hello) {
        p->hellos++;
        pons_value_unref(p->hello);
        p->hello = pons_value_ref(value);
        pons_link_close(p->body); // another body: the brain greets it anew
        p->body = NULL;
        return poll_brain(p);
    }
    p->telemetries++;
    if (p->body) {
        pons_error none = PONS_ERROR_INIT;
        pons_link_send(p->body, pons_value_ref(value), &none);
    }
    return poll_brain(p);
}

static int replay(player *p, const char *path, pons_error *err)
{
    pons_mcap_about about;
    p->manual = (pons_clock_manual){.now_ns = PONS_NS_PER_S};
    p->path = path;
    int rc = app_config(&p->c->app, &p->config, err);
    rc = rc < 0 ? rc : app_policy(&p->c->app, &p->policy, err);
    rc = rc < 0 ? rc : pons_store_memory_open(&p->store, err);
    rc = rc < 0 ? rc : open_brain(p, err);
    if (rc < 0) {
        return rc;
    }
    rc = pons_mcap_read(path, on_message, p, &about, err);
    if (rc < 0 && p->err.status) {
        *err = p->err;
    }
    rc = cli_recording_read(rc, err);
    if (rc >= 0) {
        rc = wait_until(p, p->manual.now_ns + 2 * TICK_NS); // the last of it is thought of too
    }
    if (rc >= 0 && p->telemetries == 0) {
        rc = pons_error_set(err, PONS_EINVAL, "replay",
                            "nothing of a body is in it: /body/hello, /body/telemetry");
        pons_error_source(err, "%s", path);
    }
    if (rc >= 0) {
        cli_err("pons: replayed %llu telemetry messages of %llu bodies, %.1f s: %llu changes%s%s\n",
                (unsigned long long)p->telemetries, (unsigned long long)p->hellos, seconds(p) - 1.0,
                (unsigned long long)p->changes,
                about.whole ? "" : "; the file is cut off: ", about.whole ? "" : about.why);
    }
    pons_mcap_about_clear(&about);
    return rc < 0 ? rc : PONS_OK;
}

int cmd_replay(cli *c, pons_error *err)
{
    const cli_option options[] = {{NULL, NULL, NULL, NULL}};
    player p = {.c = c};
    int rc = cli_parse(c, options, err);
    if (rc >= 0 && c->argc != 1) {
        rc = app_bad(err, "replay takes one recording: `pons replay FILE.mcap`");
    }
    rc = rc < 0 ? rc : replay(&p, c->argv[0], err);
    if (p.brain) {
        pons_brain_close(p.brain);
    }
    pons_link_close(p.body);
    pons_value_unref(p.hello);
    pons_value_unref(p.robot);
    pons_value_unref(p.world);
    pons_rules_close(&p.policy);
    pons_store_close(&p.store);
    pons_value_unref(p.config);
    return rc;
}
