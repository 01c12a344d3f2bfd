#include "brain_bench.h"

#include "pons/body.h"
#include "pons/llm.h"
#include "pons/rule_policy.h"
#include "pons/yaml.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP_MS      20
#define SHORT_MS     100 // of a skill that does not use the base
#define ROUTE_M      4.0 // what feedback says at the start of a way
#define FEEDBACK_MS  100
#define TELEMETRY_MS 100

static bench *live; // callbacks of the store have no place for a pointer of ours

static void body_step(bench *b);
static void body_message(bench *b, const pons_value *msg);
static void body_goal(bench *b, const pons_value *msg);
static bool telemetry_is_due(const bench *b);
static void body_telemetry(bench *b);
static void body_work(bench *b);
static void end_goal(bench *b, bench_goal *g, const char *state, int code);
static void send_result(bench *b, const bench_goal *g);
static bench_goal *find_goal(bench *b, const char *id);
static bool has(const pons_value *v, const char *key, const char *value);

static const char hello_text[] =
    "{'type':'hello','protocol':1,'robot_id':'fake-1','driver':'fake','simulated':true,'speed':1.0,"
    "'world':{'name':'flat','bounds':[0,0,10,10],'zones':["
    "{'id':'kitchen','names':{'zh':['厨房'],'en':['kitchen']},"
    "'polygon':[[6,6],[9,6],[9,9],[6,9]],'target':{'x':7.5,'y':7.5,'yaw':0},"
    "'approaches':[{'x':6.5,'y':6.5},{'x':8.5,'y':8.5,'yaw':1.5}]},"
    "{'id':'living_room','names':{'zh':['客厅'],'en':['living room']},"
    "'polygon':[[1,1],[4,1],[4,4],[1,4]],'target':{'x':2.5,'y':2.5,'yaw':0}},"
    "{'id':'bedroom','names':{'zh':['卧室'],'en':['bedroom']},"
    "'polygon':[[6,1],[9,1],[9,4],[6,4]],'target':{'x':7.5,'y':2.5,'yaw':0}}],"
    "'charger':{'pose':{'x':1,'y':9,'yaw':0}},'objects':[]},"
    "'skills':["
    "{'name':'navigate_to_pose','interface_type':'internal','resources_required':['base'],"
    "'args_schema':{'type':'object','additionalProperties':false,'minProperties':1,"
    "'properties':{'zone':{'type':'string'},'pose':{'type':'object','required':['x','y'],"
    "'properties':{'x':{'type':'number'},'y':{'type':'number'},'yaw':{'type':'number'}}}}},"
    "'timeout_s':120.0,'error_map':{'105':'retry','203':'abort','9902':'ask_human',"
    "'default':'replan'}},"
    "{'name':'stop_base','interface_type':'internal','resources_required':['base'],"
    "'args_schema':{'type':'object'},'timeout_s':5.0,'error_map':{'default':'retry'}},"
    "{'name':'dock_to_charger','interface_type':'internal','resources_required':['base'],"
    "'args_schema':{'type':'object'},'timeout_s':60.0,'error_map':{'default':'retry'}},"
    "{'name':'wait','interface_type':'internal','resources_required':[],"
    "'args_schema':{'type':'object'},'timeout_s':60.0,'error_map':{'default':'retry'}},"
    "{'name':'look','interface_type':'internal','resources_required':[],"
    "'args_schema':{'type':'object'},'timeout_s':5.0,'error_map':{'default':'retry'}},"
    "{'name':'speak','interface_type':'internal','resources_required':[],"
    "'args_schema':{'type':'object','required':['text']},'timeout_s':5.0,"
    "'error_map':{'default':'retry'}}]}";

// JSON with ' for ", so that it can be read in C.
static pons_value *json_of(const char *text)
{
    char *copy = strdup(text);
    pons_error err = PONS_ERROR_INIT;
    pons_value *v = NULL;
    for (char *p = copy; *p; p++) {
        *p = *p == '\'' ? '"' : *p;
    }
    if (pons_value_parse(copy, strlen(copy), &v, &err) < 0) {
        fail_msg("%s at %s: %s", err.message, err.source, copy);
    }
    free(copy);
    return v;
}

static void must(int rc, const pons_error *err)
{
    char line[1200];
    if (rc < 0) {
        fail_msg("%s", pons_error_line(err, line, sizeof line));
    }
}

// What schemas/skill.json wants of every skill and no test cares about; and what the body's own skills
// tell of themselves: which goals they meet.
static void complete_skills(pons_value *hello)
{
    static const char *const reported[] = {"meets", "beside", "stops", "no_way", "alternates"};
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue registry = NULL;
    must(pons_body_skills(NULL, 0, &registry, &err), &err);
    pons_autovalue rest =
        json_of("{'preemptible':true,'cancel_supported':true,'success_criteria':'it ends',"
                "'requires_approval':false,'ask_on_unknown':false}");
    size_t i;
    json_t *skill;
    json_array_foreach(pons_get(hello, "skills"), i, skill) {
        json_object_update_missing(skill, rest);
        size_t k;
        json_t *own;
        json_array_foreach(registry, k, own) {
            const bool same =
                strcmp(pons_get_str(own, "name", ""), pons_get_str(skill, "name", "")) == 0;
            for (size_t m = 0; same && m < sizeof reported / sizeof reported[0]; m++) {
                if (pons_get(own, reported[m])) {
                    json_object_set(skill, reported[m], (json_t *)pons_get(own, reported[m]));
                }
            }
        }
    }
}

// ---- the store ----------------------------------------------------------------------------------

static int counting_commit(void *self, const pons_commit *c, pons_error *err)
{
    bench *b = live;
    bool last = false;
    for (size_t i = 0; i < c->n_effects && b->kill_state >= 0; i++) {
        last = last || (c->effects[i].state == b->kill_state &&
                        memmem(c->effects[i].data.data, c->effects[i].data.len, "navigate_to_pose",
                               strlen("navigate_to_pose")));
    }
    last = last || (b->kill_at > 0 && b->commits + 1 == b->kill_at);
    b->dead = b->dead || (last && b->kill_before);
    if (b->dead) {
        return pons_error_set(err, PONS_EIO, "bench", "the brain was killed here");
    }
    b->commits++;
    const int rc = b->memory.ops->commit(self, c, err);
    b->dead = last;
    for (int64_t ms = 0; ms < b->commit_ms; ms += STEP_MS) {
        b->time.now_ns += STEP_MS * PONS_NS_PER_MS;
        body_step(b);
    }
    return rc < 0 || !last ? rc
                           : pons_error_set(err, PONS_EIO, "bench", "the brain was killed here");
}

// ---- the model ----------------------------------------------------------------------------------

static int counting_start(void *self, uint64_t call, const pons_value *request, pons_error *err)
{
    live->llm_starts++;
    pons_value_unref(live->llm_request);
    live->llm_request = pons_value_ref(request);
    return pons_llm_script.start(self, call, request, err);
}

static void counting_cancel(void *self, uint64_t call)
{
    live->llm_cancels++;
    pons_llm_script.cancel(self, call);
}

static const char *thread_of(const bench *b)
{
    return b->thread ? b->thread : "t1";
}

// ---- life ---------------------------------------------------------------------------------------

static pons_value *load(const char *name)
{
    char path[512];
    pons_error err = PONS_ERROR_INIT;
    pons_yaml *yaml = NULL;
    snprintf(path, sizeof path, "%s/config/%s", PONS_SOURCE_DIR, name);
    must(pons_yaml_load(path, &yaml, &err), &err);
    pons_value *copy = json_deep_copy(pons_yaml_value(yaml));
    pons_yaml_destroy(yaml);
    return copy;
}

void bench_open(bench *b, const char *script)
{
    static pons_llm_ops model;
    pons_error err = PONS_ERROR_INIT;
    setenv("PONS_SHARE", PONS_SOURCE_DIR, 0);
    memset(b, 0, sizeof *b);
    live = b;
    b->time = (pons_clock_manual){.now_ns = 100 * PONS_NS_PER_S, .wall_epoch_ms = 1700000000000};
    b->clock = pons_clock_from_manual(&b->time);
    b->config = load("kernel.yaml");
    pons_autovalue intents = load("intents.yaml");
    must(pons_rules_open(intents, &b->policy, &err), &err);
    must(pons_store_memory_open(&b->memory, &err), &err);
    b->ops = *b->memory.ops;
    b->ops.commit = counting_commit;
    b->ops.commit_async = counting_commit;
    b->store = (pons_store){.ops = &b->ops, .self = b->memory.self};
    b->kill_state = -1;
    if (script) {
        pons_autovalue config = pons_object("replies", json_of(script), NULL);
        model = pons_llm_script;
        model.start = counting_start;
        model.cancel = counting_cancel;
        b->llm.ops = &model;
        must(model.open(config, &b->clock, &b->llm.self, &err), &err);
    }
    b->events = json_array();
    b->got = json_array();
    b->battery = 90.0;
    b->battery_state = "discharging";
    b->x = b->y = 2.5; // in the living room
    b->stop_reason = "";
    b->boot = "boot-1";
    b->base_ms = 1000;
    b->keep_running = true;
}

void bench_store(bench *b, pons_store s)
{
    pons_store_close(&b->memory);
    b->memory = s;
    b->ops = *s.ops;
    b->ops.commit = counting_commit;
    b->ops.commit_async = counting_commit;
    b->store = (pons_store){.ops = &b->ops, .self = s.self};
}

void bench_close(bench *b)
{
    if (!b->schemas_fail) { // what the brain makes is as published
        assert_int_equal(bench_count(b, "schema.failed", NULL, NULL), 0);
    }
    pons_brain_close(b->brain);
    pons_link_close(b->link);
    for (size_t i = 0; i < b->n_goals; i++) {
        pons_value_unref(b->goals[i].args);
    }
    if (b->llm.ops) {
        b->llm.ops->close(b->llm.self);
    }
    pons_rules_close(&b->policy);
    pons_store_close(&b->memory);
    pons_value_unref(b->llm_request);
    pons_value_unref(b->objects);
    pons_value_unref(b->config);
    pons_value_unref(b->events);
    pons_value_unref(b->got);
    pons_value_unref(b->charger);
    pons_value_unref(b->told);
}

static int connect_body(void *user, pons_link **ret, pons_error *err)
{
    bench *b = user;
    pons_link *mine = NULL;
    if (b->away) {
        return pons_error_set(err, PONS_EAGAIN, "bench", "nobody listens");
    }
    pons_link_close(b->link);
    b->link = NULL;
    const int rc = pons_link_pair(ret, &mine, err);
    b->link = rc < 0 ? NULL : mine;
    return rc;
}

static void on_event(void *user, const pons_event *ev)
{
    bench *b = user;
    json_array_append_new(b->events,
                          pons_object("type", json_string(ev->type), "seq", json_integer(ev->seq),
                                      "payload", pons_value_ref(ev->payload), NULL));
}

static bool schedules_keep(void *user, bool take)
{
    bench *b = user;
    assert_int_equal(b->schedules_kept, !take); // taken and let go of by turns
    b->schedules_kept = take && !b->schedules_elsewhere;
    return b->schedules_kept;
}

static int charger_keep(void *user, double x, double y, double yaw, pons_value **ret,
                        pons_error *err)
{
    bench *b = user;
    if (b->no_world_file) {
        return pons_error_set(err, PONS_EINVAL, "test", "the world is one that pons ships");
    }
    pons_value_unref(b->charger);
    b->charger =
        json_pack("{s:{s:f,s:f,s:f},s:f}", "pose", "x", x, "y", y, "yaw", yaw, "contact_m", 0.12);
    *ret = pons_value_ref(b->charger);
    return PONS_OK;
}

static int room_keep(void *user, double x, double y, const char *name, pons_value **ret_zones,
                     pons_error *err)
{
    bench *b = user;
    (void)err;
    if (!b->in_room) {
        return PONS_ENOTFOUND;
    }
    assert_true(x == b->x && y == b->y);
    *ret_zones = json_pack("[{s:s,s:{s:[s]}}]", "id", "room_1", "names", "en", name);
    b->in_room = false;
    return PONS_OK;
}

void bench_brain(bench *b)
{
    pons_error err = PONS_ERROR_INIT;
    b->dead = false;
    b->kill_state = -1;
    b->kill_at = 0;
    b->error = (pons_error)PONS_ERROR_INIT;
    const pons_brain_options o = {.store = b->store,
                                  .thread = thread_of(b),
                                  .clock = b->clock,
                                  .seed = (uint64_t)b->time.now_ns,
                                  .config = b->config,
                                  .policy = b->policy,
                                  .llm = b->llm.ops ? &b->llm : NULL,
                                  .connect = connect_body,
                                  .picture = b->picture,
                                  .pictures_to = b->pictures_to,
                                  .on_event = on_event,
                                  .user = b,
                                  .keep_running = b->keep_running,
                                  .stream = b->stream,
                                  .resumed = b->resumed,
                                  .schedules = b->schedules,
                                  .places = b->places,
                                  .charger_keep = charger_keep,
                                  .room_keep = room_keep,
                                  .objects = b->seen,
                                  .object_words = b->seen_words,
                                  .map = b->map,
                                  .schedules_keep = b->schedules ? schedules_keep : NULL,
                                  .stop_body = true};
    must(pons_brain_open(&o, &b->brain, &err), &err);
}

void bench_kill(bench *b)
{
    pons_brain_kill(b->brain);
    b->brain = NULL;
    b->dead = false;
    bench_drop(b);
}

void bench_drop(bench *b)
{
    pons_link_close(b->link);
    b->link = NULL;
    for (size_t i = 0; i < b->n_goals; i++) {
        b->goals[i].held = true;
    }
}

static void step(bench *b)
{
    b->time.now_ns += STEP_MS * PONS_NS_PER_MS;
    body_step(b);
    if (b->brain && b->error.status == PONS_OK && pons_brain_poll(b->brain, &b->error) < 0 &&
        !b->dead) {
        char line[1200];
        fail_msg("poll: %s", pons_error_line(&b->error, line, sizeof line));
    }
}

void bench_run(bench *b, double seconds)
{
    for (int i = 0; i < (int)(seconds * 1e3 / STEP_MS + 0.5); i++) {
        step(b);
    }
}

void bench_settle(bench *b, double seconds)
{
    const int64_t quiet_ns = rounds(ROUNDS_brain_quiet) * PONS_NS_PER_S;
    int64_t commits = b->commits, since_ns = b->time.now_ns;
    for (const int64_t end_ns = b->time.now_ns + (int64_t)(seconds * 1e9);
         b->time.now_ns < end_ns && b->time.now_ns - since_ns < quiet_ns;) {
        step(b);
        since_ns = b->commits == commits ? since_ns : b->time.now_ns;
        commits = b->commits;
    }
}

bool bench_due(rounds_of of, int i, int n)
{
    int stride =
        (int)(n *
              0.618); // of the golden ratio: no loop inside another one meets the same again and again
    for (int a = n, k = stride; stride > 1; a = n, k = --stride) {
        while (k) {
            const int rest = a % k;
            a = k;
            k = rest;
        }
        if (a == 1) {
            break;
        }
    }
    const int64_t at = (int64_t)i * (stride > 0 ? stride : 1) % n; // from 0 to n - 1, each once
    const long some = rounds(of);
    return i == n - 1 || at < (some < n ? some - 1 : n);
}

// ---- what is seen -------------------------------------------------------------------------------

static bool has(const pons_value *v, const char *key, const char *value)
{
    return !key || strcmp(pons_get_str(v, key, ""), value) == 0 ||
           strcmp(pons_get_str(pons_get(v, "decision"), key, ""), value) == 0 ||
           strcmp(pons_get_str(pons_get(v, "task"), key, ""), value) == 0 ||
           strcmp(pons_get_str(json_array_get(pons_get(v, "rules"), 0), key, ""), value) == 0;
}

const pons_value *bench_await(bench *b, const char *type, const char *key, const char *value,
                              double seconds)
{
    for (int64_t end = b->time.now_ns + (int64_t)(seconds * 1e9);; step(b)) {
        while (b->mark < json_array_size(b->events)) {
            const pons_value *ev = json_array_get(b->events, b->mark++);
            if (strcmp(pons_get_str(ev, "type", ""), type) == 0 &&
                has(pons_get(ev, "payload"), key, value)) {
                return pons_get(ev, "payload");
            }
        }
        if (b->time.now_ns >= end) {
            break;
        }
    }
    size_t i;
    json_t *ev;
    json_array_foreach(b->events, i, ev) {
        char *text = NULL;
        if (pons_get_int(ev, "seq", 0) > 0 &&
            strcmp(pons_get_str(ev, "type", ""), "observation") != 0 &&
            pons_value_line(ev, &text) > 0) {
            print_error("  %.240s\n", text);
        }
        free(text);
    }
    fail_msg("no event %s %s %s within %.1f s", type, key ? key : "", key ? value : "", seconds);
    return NULL;
}

int bench_count(const bench *b, const char *type, const char *key, const char *value)
{
    int n = 0;
    size_t i;
    json_t *ev;
    json_array_foreach(b->events, i, ev) {
        n += strcmp(pons_get_str(ev, "type", ""), type) == 0 &&
             has(pons_get(ev, "payload"), key, value);
    }
    return n;
}

void bench_goal_text(bench *b, const char *text)
{
    pons_error err = PONS_ERROR_INIT;
    must(pons_brain_add_goals(b->brain, &text, 1, &err), &err);
}

void bench_say(bench *b, const char *text)
{
    pons_error err = PONS_ERROR_INIT;
    must(pons_brain_say(b->brain, text, &err), &err);
}

void bench_post(bench *b, const char *kind, const char *json)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue value = json_of(json);
    const bool words = strcmp(kind, "say") == 0 || strcmp(kind, "control") == 0;
    if (words && !pons_get(value, "stop_boot")) { // as the command line looks at the body
        const bool latched = pons_get_bool(value, "stop_latched", b->latched);
        json_object_set_new(value, "stop_boot", json_string(b->boot));
        json_object_set_new(value, "stop_number", json_integer(b->latches));
        json_object_set_new(value, "stop_latched", json_boolean(latched));
    }
    must(pons_inbox_post(b->memory, thread_of(b), "kernel", kind, value, &err), &err);
}

const char *bench_mode(bench *b)
{
    static char mode[16];
    pons_autovalue status = pons_brain_status(b->brain);
    snprintf(mode, sizeof mode, "%s", pons_get_str(status, "mode", ""));
    return mode;
}

int bench_sent(const bench *b, const char *type, const char *key, const char *value)
{
    int n = 0;
    size_t i;
    json_t *msg;
    json_array_foreach(b->got, i, msg) {
        n += strcmp(pons_get_str(msg, "type", ""), type) == 0 &&
             (!key || strcmp(pons_get_str(msg, key, ""), value) == 0);
    }
    return n;
}

bench_goal *bench_newest(bench *b, const char *skill)
{
    for (size_t i = b->n_goals; i-- > 0;) {
        if (strcmp(b->goals[i].skill, skill) == 0) {
            return &b->goals[i];
        }
    }
    return NULL;
}

int bench_starts(const bench *b, const char *skill)
{
    int n = 0;
    for (size_t i = 0; i < b->n_goals; i++) {
        n += strcmp(b->goals[i].skill, skill) == 0;
    }
    return n;
}

void bench_forget(bench *b, bench_goal *g)
{
    pons_value_unref(g->args);
    *g = b->goals[--b->n_goals];
}

// ---- the body -----------------------------------------------------------------------------------

static void tell(bench *b, pons_value *msg)
{
    if (!b->link) {
        pons_value_unref(msg);
        return;
    }
    pons_error ignored = PONS_ERROR_INIT;
    pons_link_send(b->link, msg, &ignored);
}

static void body_step(bench *b)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *msg = NULL;
    while (b->link && pons_link_recv(b->link, &msg, &err) == 1) {
        body_message(b, msg);
        pons_value_unref(msg);
    }
    body_work(b);
    if (b->link && !b->silent && b->hellos > 0 && telemetry_is_due(b)) {
        body_telemetry(b);
    }
}

static void body_message(bench *b, const pons_value *msg)
{
    const char *type = pons_get_str(msg, "type", "");
    bench_goal *g = find_goal(b, pons_get_str(msg, "goal_id", ""));
    if (strcmp(type, "heartbeat") == 0) {
        b->heartbeats++;
        return;
    }
    json_array_append(b->got, (json_t *)msg);
    if (strcmp(type, "hello") == 0) {
        pons_value *hello = json_of(hello_text);
        json_t *registry = json_object_get(hello, "skills");
        for (size_t k = json_array_size(registry); b->lacks && k > 0; k--) {
            if (has(json_array_get(registry, k - 1), "name", b->lacks)) {
                json_array_remove(registry, k - 1);
            }
        }
        if (b->skills_more) {
            pons_autovalue more = json_of(b->skills_more);
            json_array_extend(json_object_get(hello, "skills"), more);
        }
        if (b->resources) {
            json_object_set_new(hello, "resources", json_of(b->resources));
        }
        complete_skills(hello);
        if (b->objects) {
            json_object_set(json_object_get(hello, "world"), "objects", b->objects);
        }
        if (b->bad_skill) {
            json_array_append_new(json_object_get(hello, "skills"),
                                  json_of("{'name':'fly','timeout_s':'soon'}"));
        }
        json_object_set_new(hello, "boot_id", json_string(b->boot));
        json_object_set_new(hello, "epoch", json_integer(++b->epoch));
        b->hellos++;
        tell(b, hello);
    } else if (strcmp(type, "goal") == 0) {
        body_goal(b, msg);
    } else if (strcmp(type, "status") == 0) {
        tell(b, pons_object("type", json_string("status"), "goal_id",
                            json_string(pons_get_str(msg, "goal_id", "")), "known",
                            json_boolean(g != NULL), "state", json_string(g ? g->state : ""),
                            "same_boot", json_boolean(g && strcmp(g->boot, b->boot) == 0),
                            "error_code", json_integer(g ? g->code : 0), "error_msg",
                            json_string(""), "metrics", json_object(), NULL));
    } else if (strcmp(type, "cancel") == 0 && g && strcmp(g->state, "accepted") == 0) {
        end_goal(b, g, "canceled", 0);
    } else if (strcmp(type, "adopt") == 0 && g) {
        g->held = false;
        tell(b, pons_object("type", json_string("adopted"), "goal_id", json_string(g->id), "state",
                            json_string(g->state), NULL));
        if (strcmp(g->state, "accepted") != 0) {
            send_result(b, g);
        }
    } else if (strcmp(type, "reset") == 0) {
        const int64_t number = pons_get_int(msg, "number", 0);
        b->resets++;
        b->reset_number = number;
        b->latched = b->latched && (!b->lifts || (number && number != b->latches));
    } else if (strcmp(type, "pace") == 0 && !b->pace_mute) {
        const int percent = (int)pons_get_int(msg, "percent", 0);
        const int from = (int)pons_get_int(msg, "from", 0);
        const char *code = b->pace_refuse                         ? b->pace_refuse
                           : percent > b->pace && from != b->pace ? "changed"
                                                                  : NULL;
        b->pace = code ? b->pace : percent;
        tell(b,
             code ? pons_object("type", json_string("error"), "code", json_string(code), "re",
                                json_string("pace"), "message", json_string("the test wants it so"),
                                "percent", json_integer(percent), NULL)
                  : pons_object("type", json_string("ok"), "re", json_string("pace"), "percent",
                                json_integer(percent), NULL));
    } else if (strcmp(type, "world.places") == 0) {
        pons_autovalue hello = json_pack("{s:s}", "type", "hello");
        pons_value_unref(b->told);
        b->told = pons_value_ref(msg);
        b->lacks = NULL; // it can be driven onto now
        b->epoch--;      // the same one
        body_message(b, hello);
    } else if (strcmp(type, "stop") == 0) {
        b->stops++;
        bench_latch(b, "a person said stop");
    } else if (strcmp(type, "bye") == 0) {
        b->bye = true;
        b->bye_stop = pons_get_bool(msg, "stop_body", false);
    }
}

void bench_ok_pace(bench *b, int percent)
{
    tell(b, pons_object("type", json_string("ok"), "re", json_string("pace"), "percent",
                        json_integer(percent), NULL));
}

void bench_no_pace(bench *b, int percent, const char *code)
{
    tell(b, pons_object("type", json_string("error"), "code", json_string(code), "re",
                        json_string("pace"), "percent", json_integer(percent), NULL));
}

// The ends of goals go out first: a test may lift the latch before any telemetry shows it.
void bench_latch(bench *b, const char *reason)
{
    for (size_t i = 0; i < b->n_goals; i++) {
        bench_goal *g = &b->goals[i];
        const bool base =
            strcmp(g->skill, "navigate_to_pose") == 0 || strcmp(g->skill, "dock_to_charger") == 0;
        if (base && strcmp(g->state, "accepted") == 0) {
            end_goal(b, g, "failed", 9902);
        }
    }
    b->latched = true;
    b->latches++;
    b->stop_reason = reason;
}

static void body_goal(bench *b, const pons_value *msg)
{
    const char *id = pons_get_str(msg, "goal_id", ""), *skill = pons_get_str(msg, "skill", "");
    const bool stop = strcmp(skill, "stop_base") == 0;
    if (b->deaf) {
        return;
    }
    if ((b->reject && !stop) || pons_get_int(msg, "epoch", 0) != b->epoch) {
        tell(b, pons_object("type", json_string("rejected"), "goal_id", json_string(id), "code",
                            json_string(b->reject ? b->reject : "stale_epoch"), "message",
                            json_string("not now"), NULL));
        return;
    }
    bench_goal *g = find_goal(b, id);
    if (!g) {
        assert_true(b->n_goals < BENCH_GOALS_MAX);
        g = &b->goals[b->n_goals++];
        *g = (bench_goal){.left_ms = SHORT_MS, .args = pons_value_ref(pons_get(msg, "args"))};
        snprintf(g->id, sizeof g->id, "%s", id);
        snprintf(g->skill, sizeof g->skill, "%s", skill);
        snprintf(g->state, sizeof g->state, "accepted");
        snprintf(g->boot, sizeof g->boot, "%s", b->boot);
        if (strcmp(skill, "navigate_to_pose") == 0 || strcmp(skill, "dock_to_charger") == 0) {
            g->left_ms = b->base_ms;
        }
        g->left_ms = pons_get_int(g->args, "ms", g->left_ms);
    }
    if (!b->mute) {
        tell(b, pons_object("type", json_string("accepted"), "goal_id", json_string(id), "state",
                            json_string(g->state), NULL));
    }
}

static int code_of(bench *b, const bench_goal *g) // 0: it ends well
{
    const bool other = b->fail_skill && strcmp(g->skill, b->fail_skill) == 0;
    const bool goes = strcmp(g->skill, "navigate_to_pose") == 0;
    return other && b->fail_skill_times-- > 0                      ? b->fail_skill_code
           : goes && (!b->fail_zones || pons_get(g->args, "zone")) ? b->fail_code
                                                                   : 0;
}

static void body_work(bench *b)
{
    for (size_t i = 0; i < b->n_goals; i++) {
        bench_goal *g = &b->goals[i];
        if (strcmp(g->state, "accepted") != 0 || g->held || strcmp(g->boot, b->boot) != 0) {
            continue;
        }
        const bool base =
            strcmp(g->skill, "navigate_to_pose") == 0 || strcmp(g->skill, "dock_to_charger") == 0;
        if (base && b->time.now_ns / PONS_NS_PER_MS % FEEDBACK_MS == 0) {
            const double left = b->stuck || g->left_ms < 0 ? (double)(b->stuck ? 0 : b->time.now_ns)
                                                           : (double)g->left_ms;
            tell(b, pons_object("type", json_string("feedback"), "goal_id", json_string(g->id),
                                "skill", json_string(g->skill), "robot_ms",
                                json_integer(b->time.now_ns / PONS_NS_PER_MS),
                                "distance_remaining_m", json_real(ROUTE_M + left * 1e-3),
                                "distance_m", json_real(b->driven_m), NULL));
        }
        if (g->left_ms == BENCH_NEVER) {
            continue;
        }
        g->left_ms -= STEP_MS;
        if (g->left_ms <= 0) {
            const int code = code_of(b, g);
            end_goal(b, g, code ? "failed" : "done", code);
        }
    }
}

static void end_goal(bench *b, bench_goal *g, const char *state, int code)
{
    static const struct {
        const char *zone;
        double x, y;
    } places[] = {{"kitchen", 7.5, 7.5}, {"living_room", 2.5, 2.5}, {"bedroom", 7.5, 2.5}};
    snprintf(g->state, sizeof g->state, "%s", state);
    g->code = code;
    if (strcmp(state, "done") == 0 && strcmp(g->skill, "navigate_to_pose") == 0) {
        const pons_value *pose = pons_get(g->args, "pose");
        b->x = pons_get_num(pose, "x", b->x);
        b->y = pons_get_num(pose, "y", b->y);
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
            if (strcmp(pons_get_str(g->args, "zone", ""), places[i].zone) == 0) {
                b->x = places[i].x;
                b->y = places[i].y;
            }
        }
    } else if (strcmp(state, "done") == 0 && strcmp(g->skill, "dock_to_charger") == 0) {
        b->docked = true;
        b->battery_state = "charging";
    }
    body_telemetry(b); // what a result claims can be seen when it comes
    send_result(b, g);
}

static void send_result(bench *b, const bench_goal *g)
{
    tell(b, pons_object("type", json_string("result"), "goal_id", json_string(g->id), "skill",
                        json_string(g->skill), "status", json_string(g->state), "error_code",
                        json_integer(g->code), "error_msg",
                        json_string(g->code ? "the test wants it so" : ""), "metrics",
                        json_pack("{s:f}", "distance_m", 1.5), NULL));
}

static bool is_busy(const bench *b)
{
    bool busy = false;
    for (size_t i = 0; i < b->n_goals; i++) {
        busy = busy || strcmp(b->goals[i].state, "accepted") == 0;
    }
    return busy;
}

static bench_shown show_now(const bench *b)
{
    bench_shown s;
    memset(&s, 0, sizeof s); // it is compared as bytes
    s.battery = b->battery;
    s.x = b->x;
    s.y = b->y;
    s.latches = b->latches;
    s.hellos = b->hellos;
    s.pace = b->pace;
    s.battery_state = b->battery_state;
    s.stop_reason = b->stop_reason;
    s.boot = b->boot;
    s.flags[0] = b->docked;
    s.flags[1] = b->latched;
    s.flags[2] = b->risk;
    s.flags[3] = b->astray;
    s.flags[4] = is_busy(b);
    return s;
}

// Each change at once, and ten times a second while there is none.
static bool telemetry_is_due(const bench *b)
{
    const bench_shown now = show_now(b);
    return memcmp(&now, &b->shown, sizeof now) != 0 ||
           b->time.now_ns - b->shown_ns >= TELEMETRY_MS * PONS_NS_PER_MS;
}

static void body_telemetry(bench *b)
{
    const bool busy = is_busy(b);
    b->shown = show_now(b);
    b->shown_ns = b->time.now_ns;
    tell(b,
         pons_object(
             "type", json_string("telemetry"), "robot_ms",
             json_integer(b->time.now_ns / PONS_NS_PER_MS), "pose",
             json_pack("{s:f,s:f,s:f}", "x", b->x, "y", b->y, "yaw", b->yaw), "localization",
             json_pack("{s:s}", "state", b->astray ? "lost" : "sure"), "pose_std_m",
             json_real(b->std_m), "twist", json_pack("{s:f,s:f}", "v", 0.0, "w", 0.0),
             "battery_pct", json_real(b->battery), "battery_state", json_string(b->battery_state),
             "docked", json_boolean(b->docked), "distance_remaining_m", json_null(), "goal",
             json_null(), "resources", json_pack("{s:b}", "base_busy", busy), "stop",
             json_pack("{s:b,s:s,s:I,s:s}", "latched", b->latched, "reason", b->stop_reason,
                       "number", (json_int_t)b->latches, "origin",
                       strncmp(b->stop_reason, "boot", 4) == 0 ? "boot" : "stop"),
             "held", json_false(), "nearest_m", json_real(2.0), "obstacles", json_array(),
             "collision_risk", json_boolean(b->risk), "pace_percent",
             b->pace ? json_integer(b->pace) : NULL, "boot_id", json_string(b->boot), NULL));
}

static bench_goal *find_goal(bench *b, const char *id)
{
    for (size_t i = 0; i < b->n_goals; i++) {
        if (strcmp(b->goals[i].id, id) == 0) {
            return &b->goals[i];
        }
    }
    return NULL;
}
