#include "body_bench.h"

#include "pons/drivers.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEP_NS (10 * PONS_NS_PER_MS)

static void create(bench *t);
static void read_messages(bench *t);
static const char *in_dir(const bench *t, const char *name);

void bench_open(bench *t, const char *world_path)
{
    bench_open_with(t, world_path, &pons_robot_kinematic, 7);
}

const char *bench_disk(void)
{
    return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

void bench_open_with(bench *t, const char *world_path, const pons_robot_ops *robot, uint64_t seed)
{
    *t = (bench){.beats = true, .results = json_object(), .inbox = json_array()};
    snprintf(t->dir, sizeof t->dir, "%s/pons-body-XXXXXX", bench_disk());
    assert_non_null(mkdtemp(t->dir));
    t->time.wall_epoch_ms = 1700000000000;
    t->time.now_ns = 1000 * PONS_NS_PER_S;
    pons_error err = PONS_ERROR_INIT;
    char line[1024];
    if (pons_world_load(world_path, &t->world, &err) < 0) {
        fail_msg("%s", pons_error_line(&err, line, sizeof line));
    }
    t->opts = (pons_body_options)PONS_BODY_OPTIONS_INIT;
    t->opts.robot = robot;
    t->opts.world = t->world;
    t->opts.clock = pons_clock_from_manual(&t->time);
    t->opts.seed = seed;
    create(t);
}

void bench_reboot(bench *t)
{
    pons_link_close(t->link);
    t->link = NULL;
    pons_body_destroy(t->body);
    create(t);
}

void bench_close(bench *t)
{
    static const char *const files[] = {"body.ledger", "body.epoch", "sim.json"};
    pons_link_close(t->link);
    pons_body_destroy(t->body);
    pons_value_unref(t->world);
    pons_value_unref(t->telemetry);
    pons_value_unref(t->feedback);
    pons_value_unref(t->results);
    pons_value_unref(t->inbox);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        unlink(in_dir(t, files[i]));
    }
    assert_int_equal(rmdir(t->dir), 0); // nothing else was left there
}

pons_link *bench_join(bench *t)
{
    pons_link *ours = NULL, *theirs = NULL;
    assert_int_equal(pons_link_pair(&ours, &theirs, NULL), PONS_OK);
    assert_int_equal(pons_body_attach(t->body, theirs, NULL), PONS_OK);
    return ours;
}

void bench_hello(bench *t)
{
    t->link = bench_join(t);
    bench_send(t, pons_object("type", json_string("hello"), "protocol", json_integer(1), "role",
                              json_string("controller"), "name", json_string("bench"), "pid",
                              json_integer(42), NULL));
    bench_step(t, 0.01);
    t->epoch = pons_get_int(bench_last(t, "hello"), "epoch", -1);
    assert_true(t->epoch > 0);
}

void bench_drop(bench *t)
{
    pons_link_close(t->link);
    t->link = NULL;
}

void bench_send(bench *t, pons_value *msg)
{
    assert_int_equal(pons_link_send(t->link, msg, NULL), PONS_OK);
}

const char *bench_goal(bench *t, const char *id, const char *skill, const char *args)
{
    static char fresh[32];
    if (!id) {
        snprintf(fresh, sizeof fresh, "g%d", ++t->next_id);
        id = fresh;
    }
    pons_value *value = NULL;
    assert_int_equal(pons_value_parse(args, strlen(args), &value, NULL), PONS_OK);
    char hash[33];
    pons_value_hash(value, hash);
    bench_send(t,
               pons_object("type", json_string("goal"), "goal_id", json_string(id), "epoch",
                           json_integer(t->epoch), "expires_ms",
                           json_integer(t->time.now_ns / PONS_NS_PER_MS + 5000), "robot_id",
                           json_string(pons_get_str(pons_get(t->world, "robot"), "id", "pons-1")),
                           "skill", json_string(skill), "args", value, "args_hash",
                           json_string(hash), "thread", json_string("t1"), "task_id",
                           json_string("k1"), "attempt", json_integer(0), NULL));
    return id;
}

void bench_step(bench *t, double seconds)
{
    const int steps = (int)(seconds * (double)PONS_NS_PER_S / (double)STEP_NS + 0.5);
    for (int i = 0; i < steps; i++) {
        t->time.now_ns += STEP_NS;
        if (t->link && t->beats && t->epoch > 0) {
            pons_link_send(t->link, pons_object("type", json_string("heartbeat"), NULL), NULL);
        }
        assert_int_equal(pons_body_step(t->body, STEP_NS, NULL), PONS_OK);
        read_messages(t);
    }
}

const char *bench_until_result(bench *t, const char *goal_id, double seconds)
{
    static char text[256];
    char id[64];
    snprintf(id, sizeof id, "%s", goal_id);
    const pons_value *r = NULL;
    for (double s = 0.0; s < seconds && !(r = pons_get(t->results, id)); s += 0.01) {
        bench_step(t, 0.01);
    }
    if (!r) {
        return "";
    }
    snprintf(text, sizeof text, "%s %d", pons_get_str(r, "status", "?"),
             (int)pons_get_int(r, "error_code", -1));
    return text;
}

const pons_value *bench_last(bench *t, const char *type)
{
    for (size_t i = json_array_size(t->inbox); i-- > 0;) {
        const pons_value *m = json_array_get(t->inbox, i);
        if (strcmp(pons_get_str(m, "type", ""), type) == 0) {
            return m;
        }
    }
    fail_msg("no message %s came", type);
    return NULL;
}

void bench_forget(bench *t)
{
    json_array_clear(t->inbox);
}

int bench_ledger(bench *t, const char *goal_id, const char *state)
{
    FILE *f = fopen(in_dir(t, "body.ledger"), "r");
    assert_non_null(f);
    int n = 0;
    char line[4096];
    while (fgets(line, sizeof line, f)) {
        pons_autovalue v = NULL;
        assert_int_equal(pons_value_parse(line, strlen(line), &v, NULL), PONS_OK);
        n += strcmp(pons_get_str(v, "goal_id", ""), goal_id) == 0 &&
             strcmp(pons_get_str(v, "state", ""), state) == 0;
    }
    fclose(f);
    return n;
}

const pons_value *bench_status(bench *t, const char *goal_id)
{
    bench_send(t,
               pons_object("type", json_string("status"), "goal_id", json_string(goal_id), NULL));
    bench_step(t, 0.01);
    return bench_last(t, "status");
}

double bench_truth_to(bench *t, double x, double y)
{
    pons_pose2 p;
    assert_int_equal(pons_body_truth(t->body, &p, NULL), PONS_OK);
    return hypot(p.x - x, p.y - y);
}

double bench_speed(bench *t)
{
    return fabs(pons_get_num(pons_get(t->telemetry, "twist"), "v", NAN));
}

static void create(bench *t)
{
    static char ledger[128], sim[128];
    snprintf(ledger, sizeof ledger, "%s", in_dir(t, "body.ledger"));
    snprintf(sim, sizeof sim, "%s", in_dir(t, "sim.json"));
    t->opts.ledger_path = ledger;
    t->opts.sim_state_path = sim;
    pons_error err = PONS_ERROR_INIT;
    char line[1024];
    if (pons_body_create(&t->opts, &t->body, &err) < 0) {
        fail_msg("%s", pons_error_line(&err, line, sizeof line));
    }
    t->epoch = 0;
}

static void read_messages(bench *t)
{
    pons_value *m = NULL;
    while (t->link && pons_link_recv(t->link, &m, NULL) == 1) {
        const char *type = pons_get_str(m, "type", "");
        if (strcmp(type, "telemetry") == 0) {
            pons_value_unref(t->telemetry);
            t->telemetry = pons_value_ref(m);
            t->telemetries++;
            t->risks += pons_get_bool(m, "collision_risk", false);
        } else if (strcmp(type, "feedback") == 0) {
            t->feedbacks++;
            pons_value_unref(t->feedback);
            t->feedback = pons_value_ref(m);
        } else {
            json_array_append(t->inbox, m);
            if (strcmp(type, "result") == 0) {
                json_object_set(t->results, pons_get_str(m, "goal_id", ""), m);
            }
        }
        pons_value_unref(m);
    }
}

static const char *in_dir(const bench *t, const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", t->dir, name);
    return path;
}
