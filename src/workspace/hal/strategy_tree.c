// strategy_tree.c - strategy{tree}.
//
//     START of a leaf --> see the body --> judge --> start under the leaf's key --> its end is noted, then the tree is ticked
//
// A leaf's key is made of the action's, its own words and how often they have been said, so the same tree finds the same
// keys in every life. What a life before has noted (run/tree-KEY, synced) its leaf is told again; the first leaf that is
// not there may be under way in the body, and is adopted; from there on all is new. A tree looks at nothing but its
// leaves' ends: it goes the same way again.
#include "pons/bt.h"
#include "pons/out_of_memory.h"
#include "pons/watchdog_trees.h"
#include "pons/workspace_critic.h"
#include "workspace/hal/action_skills.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WHERE         "strategy"
#define QUERY         "query_world"
#define TREE_MAX      (256 * 1024)
#define LEAVES_MAX    1000 // of one action
#define TICK_MS       100  // a tree that waits for no leaf has timers
#define LOOK_MS       10
#define TIMEOUT_S     600.0
#define TIMEOUT_MAX_S 1e9

typedef enum step { NONE, SEE, ADOPT, CALL } step;

typedef struct trees {
    pons_hal_trees_options o;
    uint64_t call, next_call; // call 0: none runs
    pons_bt *bt;
    pons_bt_registry *leaves;
    pons_bt_tree *tree;
    char key[64], why[400];
    bool due;          // a tick
    bool resumed;      // a life before had begun it, and the leaf that comes may be under way
    int notes;         // fd of run/tree-KEY
    pons_value *known; // what it says: {key: whether it ended well}
    int64_t until_ms, tick_ms, look_ms;
    pons_value *counts; // how often each leaf was said
    int n;
    struct {
        step step;
        bool unheard; // the body has never heard of it
        uint32_t node;
        uint64_t run, call;
        pons_value *action; // {action_type, params}
        char key[64];
    } leaf;
    bool ended; // a leaf has: the body must have looked again
    int64_t stale_at;
} trees;

static int64_t now(const trees *t)
{
    return pons_now_ms(&t->o.clock);
}

// ---- leaves -------------------------------------------------------------------------------------

static const char *const texts[] = {"object_id", "object",       "target",
                                    "target_id", "target_label", "zone"};
static const char *const others[] = {"target_pose",        "target_position",     "pose",
                                     "success_distance_m", "success_heading_deg", "timeout_s"};
static const char *const types[] = {
    "move_to",  "pick_up",           "place",           "put_down", "stop",
    "localize", "target_navigation", "check_connection"};

// What XML has as a text is the number, list or word that it says.
static pons_value *meant(const pons_value *v, bool text)
{
    const char *s = json_string_value(v);
    pons_value *read = NULL;
    if (s && !text && pons_value_parse(s, strlen(s), &read, NULL) == PONS_OK) {
        return read;
    }
    return pons_value_ref((pons_value *)(uintptr_t)v);
}

static void take_input(pons_bt_call *c, const char *name, bool text, pons_value *params)
{
    pons_autovalue v = NULL;
    pons_error none = PONS_ERROR_INIT;
    if (!pons_get(params, name) && pons_bt_call_input(c, name, &v, &none) == PONS_OK && v) {
        json_object_set_new(params, name, meant(v, text));
    }
}

static pons_value *params_of(const trees *t, pons_bt_call *c)
{
    pons_autovalue args = pons_bt_call_args(c);
    pons_value *params = json_object();
    for (size_t i = 0; i + 1 < json_array_size(args); i += 2) {
        const char *name = json_string_value(json_array_get(args, i));
        if (name) {
            json_object_set(params, name, json_array_get(args, i + 1));
        }
    }
    if (pons_bt_format_of(t->bt) != PONS_BT_XML) {
        return params;
    }
    pons_autovalue tools = NULL;
    pons_error none = PONS_ERROR_INIT;
    t->o.robot.ops->list(t->o.robot.self, &tools, &none);
    const pons_value *own =
        pons_get(pons_get(pons_find(tools, "name", c->name), "parameters"), "properties");
    const char *name;
    const pons_value *schema;
    json_object_foreach((json_t *)(uintptr_t)own, name, schema) {
        take_input(c, name, strcmp(pons_get_str(schema, "type", ""), "string") == 0, params);
    }
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        take_input(c, texts[i], true, params);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        take_input(c, others[i], false, params);
    }
    return params;
}

static void name_leaf(trees *t, const pons_value *action)
{
    char hash[33];
    pons_value_hash(action, hash);
    const int64_t nth = pons_get_int(t->counts, hash, 0);
    json_object_set_new(t->counts, hash, json_integer(nth + 1));
    pons_autovalue what = pons_object("tree", json_string(t->key), "leaf", pons_value_ref(action),
                                      "nth", json_integer(nth), NULL);
    pons_value_hash(what, hash);
    snprintf(t->leaf.key, sizeof t->leaf.key, "tree-%s", hash);
}

static int on_leaf(pons_bt_call *c, void *user, pons_error *err)
{
    trees *t = user;
    if (c->reason == PONS_BT_HALT) {
        if (t->leaf.step != NONE && t->leaf.node == c->node) {
            if (t->leaf.step == CALL) {
                t->o.robot.ops->cancel(t->o.robot.self, t->leaf.call);
            }
            t->leaf.step = NONE;
        }
        return PONS_BT_READY;
    }
    if (t->leaf.step != NONE) {
        snprintf(t->why, sizeof t->why, "%.60s: one leaf at a time", c->name);
        return PONS_BT_FAILURE;
    }
    if (++t->n > LEAVES_MAX) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "more than %d leaves", LEAVES_MAX);
    }
    pons_value_unref(t->leaf.action);
    t->leaf.action =
        pons_object("action_type", json_string(c->name), "params", params_of(t, c), NULL);
    t->leaf.node = c->node;
    t->leaf.run = c->run;
    t->leaf.call = 0;
    t->leaf.step = SEE;
    t->leaf.unheard = false;
    t->look_ms = 0;
    name_leaf(t, t->leaf.action);
    const pons_value *was = pons_get(t->known, t->leaf.key);
    if (was) {
        t->leaf.step = NONE;
        return json_is_true(was) ? PONS_BT_SUCCESS : PONS_BT_FAILURE;
    }
    c->deferred = true;
    return PONS_BT_RUNNING;
}

// A line a leaf; one may be a part of one, which is none.
static void open_notes(trees *t)
{
    char path[4200], line[256], word[128];
    int good;
    snprintf(path, sizeof path, "%.4000s/run/%.80s.tree", t->o.dir, t->key);
    t->known = json_object();
    t->notes = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_EXCL, 0600);
    t->resumed = t->notes < 0;
    if (t->resumed) {
        t->notes = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    }
    const int copy = t->resumed && t->notes >= 0 ? dup(t->notes) : -1;
    FILE *f = copy >= 0 ? fdopen(copy, "r") : NULL;
    while (f && fgets(line, sizeof line, f)) {
        if (strchr(line, '\n') && sscanf(line, "%127s %d", word, &good) == 2) {
            json_object_set_new(t->known, word, json_boolean(good));
        }
    }
    if (f) {
        fclose(f);
    }
}

static void note(const trees *t, bool good)
{
    char line[128];
    const int n = snprintf(line, sizeof line, "\n%s %d\n", t->leaf.key, good);
    if (t->notes >= 0 && write(t->notes, line, (size_t)n) == n) {
        fdatasync(t->notes);
    }
}

static void end_leaf(trees *t, bool good, const char *why)
{
    note(t, good);
    t->resumed = false;
    if (!good) {
        snprintf(t->why, sizeof t->why, "%.60s: %.300s",
                 pons_get_str(t->leaf.action, "action_type", ""), why);
    }
    t->leaf.step = NONE;
    t->ended = t->due = true;
    t->stale_at = -1;
    pons_bt_resolve(t->tree, t->leaf.node, t->leaf.run, good ? PONS_BT_SUCCESS : PONS_BT_FAILURE);
}

// ---- a leaf and the body ------------------------------------------------------------------------

static bool passes_files(trees *t, const pons_value *robot)
{
    pons_ws_judgement j = {0};
    pons_error ignored = PONS_ERROR_INIT;
    const pons_ws_asked asked = {.action_type = pons_get_str(t->leaf.action, "action_type", ""),
                                 .params = pons_get(t->leaf.action, "params"),
                                 .robot_id = t->o.robot_id,
                                 .robot = robot};
    pons_ws_judge(t->o.place, &asked, &j);
    const bool ok = j.ok;
    if (!ok) {
        pons_ws_learn(t->o.place, &asked, &j, &ignored);
        end_leaf(t, false, j.why);
    }
    pons_ws_judgement_clear(&j);
    return ok;
}

static void begin_leaf(trees *t, const pons_value *status)
{
    pons__ws_call c;
    pons_autovalue tools = NULL;
    pons_error err = PONS_ERROR_INIT;
    char why[256] = "";
    const pons_tools *robot = &t->o.robot;
    if (!passes_files(t, pons_get(status, "robot"))) {
        return;
    }
    robot->ops->list(robot->self, &tools, &err);
    pons__ws_call_of(t->leaf.action, tools, pons_get(status, "world"),
                     pons_ws_place_doc(t->o.place, PONS_WS_ENVIRONMENT), &c);
    int rc = PONS_OK;
    if (c.code || c.errand) {
        end_leaf(t, false, c.code ? c.what : "no task in words within a tree");
    } else if (c.at_once) {
        end_leaf(t, true, "");
    } else {
        rc = t->o.judge ? t->o.judge(t->o.user, c.skill, c.args, why, sizeof why) : PONS_OK;
        if (rc == PONS_EREFUSED) {
            end_leaf(t, false, why);
        } else if (rc >= 0) {
            t->leaf.call = ++t->next_call;
            t->leaf.step = CALL;
            rc = robot->ops->start(robot->self, t->leaf.call, c.skill, c.args, t->leaf.key, &err);
            if (rc < 0) {
                end_leaf(t, false, err.message);
            }
        } // else there is no body: it is looked for again
    }
    pons_value_unref(c.args);
}

static void seen(trees *t, const pons_value *status)
{
    const int64_t at = pons_get_int(pons_get(status, "robot"), "robot_ms", 0);
    pons_error err = PONS_ERROR_INIT;
    const pons_tools *robot = &t->o.robot;
    t->leaf.call = 0;
    if (!pons_get_bool(status, "connected", false)) {
        return;
    }
    if (t->ended && at > 0 && (t->stale_at < 0 || at == t->stale_at)) {
        t->stale_at = at;
        return;
    }
    t->ended = false;
    if (!t->resumed || t->leaf.unheard) {
        begin_leaf(t, status);
        return;
    }
    t->leaf.call = ++t->next_call;
    t->leaf.step = ADOPT;
    if (!robot->ops->adopt ||
        robot->ops->adopt(robot->self, t->leaf.call,
                          pons_get_str(t->leaf.action, "action_type", ""), t->leaf.key, &err) < 0) {
        end_leaf(t, false, "what became of it cannot be known");
    }
}

static void on_event(trees *t, const pons_tool_event *e)
{
    if (e->call != t->leaf.call || t->leaf.step == NONE || e->kind == PONS_TOOL_PROGRESS) {
        return;
    }
    if (t->leaf.step == SEE) {
        seen(t, e->kind == PONS_TOOL_DONE ? pons_get(e->value, "data") : NULL);
    } else if (t->leaf.step == ADOPT && e->kind != PONS_TOOL_DONE &&
               e->error.status == PONS_ENOTFOUND) {
        t->leaf.unheard = true; // it was certainly not started
        t->leaf.step = SEE;
        t->leaf.call = 0;
    } else {
        end_leaf(t, e->kind == PONS_TOOL_DONE, e->error.message);
    }
}

// ---- the provider -------------------------------------------------------------------------------

static int list(void *self, pons_value **ret, pons_error *err)
{
    *ret = json_pack("[{ss}]", "name", WHERE);
    return PONS_OK;
}

static void forget(trees *t)
{
    pons_bt_tree_destroy(t->tree);
    pons_bt_unref(t->bt);
    pons_bt_registry_destroy(t->leaves);
    pons_value_unref(t->counts);
    pons_value_unref(t->known);
    if (t->notes >= 0) {
        close(t->notes);
    }
    t->notes = -1;
    t->known = NULL;
    pons_value_unref(t->leaf.action);
    t->tree = NULL;
    t->bt = NULL;
    t->leaves = NULL;
    t->counts = NULL;
    t->leaf.action = NULL;
    t->leaf.step = NONE;
    t->call = 0;
}

static int know(trees *t, pons_error *err)
{
    pons_autovalue tools = NULL;
    pons_error none = PONS_ERROR_INIT;
    size_t i;
    t->leaves = pons_bt_registry_create();
    if (!t->leaves) {
        return pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for a tree");
    }
    for (i = 0; i < sizeof types / sizeof types[0]; i++) {
        const pons_bt_leaf leaf = {.name = types[i], .fn = on_leaf, .user = t};
        pons_bt_register(t->leaves, &leaf, &none);
    }
    t->o.robot.ops->list(t->o.robot.self, &tools, &none);
    pons_each(v, tools) {
        const pons_bt_leaf leaf = {.name = pons_get_str(v, "name", ""), .fn = on_leaf, .user = t};
        pons_bt_register(t->leaves, &leaf, &none); // some are types already
    }
    return PONS_OK;
}

// A file of the workspace's trees/, and no way out of it.
static char *read_tree(const trees *t, const char *path, pons_error *err)
{
    const char *name = path + strlen("trees/");
    char full[4200];
    struct stat is;
    char *text = NULL;
    if (strncmp(path, "trees/", 6) != 0 || strchr(name, '/') || *name == '.' || !*name) {
        pons_error_set(err, PONS_EINVAL, WHERE, "a tree is a text, or a file trees/NAME.xml");
        return NULL;
    }
    snprintf(full, sizeof full, "%s/%.120s", t->o.dir, path);
    const int fd = open(full, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &is) == 0 && S_ISREG(is.st_mode) && is.st_size <= TREE_MAX) {
        text = pons_need_zeroed(1, (size_t)is.st_size + 1);
        const ssize_t n = read(fd, text, (size_t)is.st_size);
        text[n > 0 ? n : 0] = '\0';
    } else {
        pons_error_set(err, PONS_ENOTFOUND, WHERE, "there is no tree %.120s, or it is no file",
                       path);
    }
    if (fd >= 0) {
        close(fd);
    }
    return text;
}

static pons_bt_format format_of(const char *words, bool file)
{
    const char *dot = file ? strrchr(words, '.') : NULL;
    const char *first = words + strspn(words, " \t\r\n");
    if (file) {
        return dot && strcmp(dot, ".xml") == 0    ? PONS_BT_XML
               : dot && strcmp(dot, ".json") == 0 ? PONS_BT_JSON
                                                  : PONS_BT_MDSL;
    }
    return *first == '<' ? PONS_BT_XML : PONS_BT_MDSL;
}

static int load(trees *t, const pons_value *params, pons_error *err)
{
    const pons_value *tree = pons_get(params, "tree");
    const char *words = json_string_value(tree);
    const bool file = words && strncmp(words, "trees/", 6) == 0;
    char *text = !words ? json_dumps(tree, JSON_COMPACT)
                 : file ? read_tree(t, words, err)
                        : pons_need_text(words);
    int rc = text ? know(t, err) : PONS_EINVAL;
    const pons_bt_load_options o = {.format = words ? format_of(words, file) : PONS_BT_JSON,
                                    .name = file ? words : "tree",
                                    .leaves = t->leaves};
    const pons_bt_tree_options work = {.clock = t->o.clock, .leaves = t->leaves, .seed = 1};
    rc = rc < 0 ? rc : pons_bt_load(text, strlen(text), &o, &t->bt, NULL, err);
    rc = rc < 0 ? rc : pons_bt_tree_create(t->bt, &work, &t->tree, err);
    free(text);
    return rc;
}

static int start(void *self, uint64_t call, const char *tool, const pons_value *args,
                 const char *key, pons_error *err)
{
    trees *t = self;
    if (t->call || strcmp(tool, WHERE) != 0) {
        return pons_error_set(err, PONS_EBUSY, WHERE, "another tree is under way");
    }
    const int rc = load(t, args, err);
    if (rc < 0) {
        forget(t);
        return rc;
    }
    snprintf(t->key, sizeof t->key, "%s", key);
    t->call = call;
    t->counts = json_object();
    t->n = 0;
    t->why[0] = '\0';
    open_notes(t);
    t->due = true;
    t->ended = false;
    t->until_ms = now(t) + (int64_t)(fmin(fmax(pons_get_num(args, "timeout_s", TIMEOUT_S), 0.0),
                                          TIMEOUT_MAX_S) *
                                     1000.0);
    return PONS_OK;
}

static void cancel(void *self, uint64_t call)
{
    trees *t = self;
    pons_error ignored = PONS_ERROR_INIT;
    if (t->call == call) {
        pons_bt_halt(t->tree, &ignored);
        forget(t);
    }
}

static int event_fd(void *self)
{
    const trees *t = self;
    return t->o.robot.ops->event_fd(t->o.robot.self);
}

static bool over(trees *t, bool good, const char *why, pons_tool_event *ret)
{
    *ret = (pons_tool_event){.call = t->call};
    if (good) {
        ret->kind = PONS_TOOL_DONE;
        ret->value = pons_object("output", json_string("done"), "data",
                                 pons_object("leaves", json_integer(t->n), NULL), NULL);
    } else {
        ret->kind = PONS_TOOL_FAILED;
        pons_error_set(&ret->error, PONS_ECANCELED, WHERE, "%s", why);
    }
    forget(t);
    return true;
}

static void look(trees *t)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue none = json_object();
    if (t->leaf.step == SEE && !t->leaf.call && now(t) - t->look_ms >= LOOK_MS) {
        t->look_ms = now(t);
        t->leaf.call = ++t->next_call;
        if (t->o.robot.ops->start(t->o.robot.self, t->leaf.call, QUERY, none, QUERY, &err) < 0) {
            t->leaf.call = 0;
        }
    }
}

static bool next(void *self, pons_tool_event *ret)
{
    trees *t = self;
    pons_tool_event e;
    pons_error err = PONS_ERROR_INIT;
    pons_bt_status is = PONS_BT_RUNNING;
    while (t->o.robot.ops->next(t->o.robot.self, &e)) {
        if (t->call) {
            on_event(t, &e);
        }
        pons_tool_event_clear(&e);
    }
    if (!t->call) {
        return false;
    }
    if (now(t) >= t->until_ms) {
        pons_bt_halt(t->tree, &err);
        return over(t, false, "the tree's time is over", ret);
    }
    if (t->due || (t->leaf.step == NONE && now(t) - t->tick_ms >= TICK_MS)) {
        t->due = false;
        t->tick_ms = now(t);
        if (pons_bt_tick(t->tree, PONS_BT_ONCE, &is, &err) < 0) {
            return over(t, false, err.message, ret);
        }
    }
    look(t);
    return is == PONS_BT_RUNNING || is == PONS_BT_READY
               ? false
               : over(t, is == PONS_BT_SUCCESS, *t->why ? t->why : "the tree failed", ret);
}

static void close_trees(void *self)
{
    trees *t = self;
    if (t) {
        forget(t);
        t->o.robot.ops->close(t->o.robot.self);
    }
    free(t);
}

static const pons_tools_ops ops = {.abi = PONS_TOOL_ABI,
                                   .name = "trees",
                                   .close = close_trees,
                                   .list = list,
                                   .start = start,
                                   .cancel = cancel,
                                   .event_fd = event_fd,
                                   .next = next};

int pons_hal_trees_open(const pons_hal_trees_options *options, pons_tools *ret, pons_error *err)
{
    trees *t = pons_need_zeroed(1, sizeof *t);
    t->o = *options;
    t->notes = -1;
    *ret = (pons_tools){&ops, t};
    return PONS_OK;
}
