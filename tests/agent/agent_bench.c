// agent_bench.c - see agent_bench.h.
#include "agent_bench.h"

#include "pons/ext/store.h"
#include "pons/llm.h"
#include "pons/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bench *the; // the fuse's store has its inner store's object; there is one bench at a time

// ---- the store ----------------------------------------------------------------------------------

static pons_store_ops fuse_ops;

static int fuse_blown(pons_error *err)
{
    the->commits++;
    if (the->left == 0) {
        the->dead = true;
    } else if (the->left > 0) {
        the->left--;
    }
    return the->dead ? pons_error_set(err, PONS_EIO, "fuse", "the process is dead") : PONS_OK;
}

static int fuse_commit(void *self, const pons_commit *c, pons_error *err)
{
    const int rc = fuse_blown(err);
    return rc < 0 ? rc : the->memory.ops->commit(self, c, err);
}

static int fuse_commit_async(void *self, const pons_commit *c, pons_error *err)
{
    const int rc = fuse_blown(err);
    return rc < 0 ? rc : the->memory.ops->commit_async(self, c, err);
}

// ---- the tools ----------------------------------------------------------------------------------

static void job_add(world *w, uint64_t call, int64_t due_ns, pons_tool_event event)
{
    struct job *j = calloc(1, sizeof *j), **at = &w->jobs;
    *j = (struct job){.call = call, .due_ns = due_ns, .event = event};
    while (*at && (*at)->due_ns <= due_ns) {
        at = &(*at)->next;
    }
    j->next = *at;
    *at = j;
    w->open++;
    w->open_most = w->open > w->open_most ? w->open : w->open_most;
}

static const char TOOLS[] =
    "["
    "{'name':'look','category':'core','description':'look','risk':'safe','read_only':true,"
    "'parameters':{'type':'object','properties':{'at':{'type':'string'}},'required':['at'],"
    "'additionalProperties':false}},"
    "{'name':'write','category':'core','description':'write','risk':'warn','read_only':false,"
    "'parameters':{'type':'object','properties':{'text':{'type':'string'}},'required':['text']}},"
    "{'name':'erase','category':'core','description':'erase','risk':'dangerous','read_only':false,"
    "'parameters':{'type':'object','properties':{'what':{'type':'string'}},'required':['what']}},"
    "{'name':'explode','category':'core','description':'no','risk':'blocked','read_only':false,"
    "'parameters':{'type':'object'}},"
    "{'name':'break','category':'core','description':'fails','risk':'warn','read_only':false,"
    "'parameters':{'type':'object'}},"
    "{'name':'slow','category':'core','description':'takes 5 s','risk':'warn','read_only':false,"
    "'parameters':{'type':'object'}},"
    "{'name':'big','category':'core','description':'says much','risk':'safe','read_only':true,"
    "'parameters':{'type':'object'}},"
    "{'name':'tail','category':'core','description':'says much, and ends','risk':'safe',"
    "'read_only':true,'parameters':{'type':'object'}},"
    "{'name':'server.far','category':'mcp','description':'far','risk':'safe','read_only':true,"
    "'parameters':{'type':'object'}},"
    "{'name':'news','category':'core','description':'says what is new','risk':'safe',"
    "'read_only':true,'parameters':{'type':'object'}},"
    "{'name':'fetch','category':'core','description':'asks an address','risk':'warn',"
    "'read_only':true,'address':'url','parameters':{'type':'object'}},"
    "{'name':'drive','category':'robot','description':'drives','risk':'warn','read_only':false,"
    "'parameters':{'type':'object'}}"
    "]";

static void tools_close(void *self)
{
    (void)self;
}

static int tools_list(void *self, pons_value **ret, pons_error *err)
{
    (void)self;
    (void)err;
    *ret = json(TOOLS);
    return PONS_OK;
}

static pons_tool_risk tools_assess(void *self, const char *tool, const pons_value *args,
                                   char *reason, size_t cap)
{
    (void)self;
    if (strcmp(tool, "write") == 0 && strcmp(pons_get_str(args, "text", ""), "rm -rf /") == 0) {
        snprintf(reason, cap, "it would delete everything");
        return PONS_TOOL_DANGEROUS;
    }
    return PONS_TOOL_SAFE; // at least the tool's own
}

static pons_tool_event done(uint64_t call, const char *output)
{
    return (pons_tool_event){.call = call,
                             .kind = PONS_TOOL_DONE,
                             .value = pons_object("output", json_string(output), NULL)};
}

static int tools_start(void *self, uint64_t call, const char *tool, const pons_value *args,
                       const char *key, pons_error *err)
{
    (void)err;
    bench *b = self;
    world *w = &b->world;
    json_object_set_new(w->starts, key, json_integer(pons_get_int(w->starts, key, 0) + 1));
    json_array_append_new(w->calls,
                          pons_object("tool", json_string(tool), "args", pons_value_ref(args),
                                      "key", json_string(key), NULL));
    const int64_t now = pons_now_ns(&b->clock);
    char output[8192];
    if (strcmp(tool, "break") == 0) {
        pons_tool_event ev = {.call = call, .kind = PONS_TOOL_FAILED};
        pons_error_set(&ev.error, PONS_EIO, "break", "it broke");
        job_add(w, call, now, ev);
        return PONS_OK;
    }
    if (strcmp(tool, "big") == 0) {
        for (size_t i = 0; i + 4 < sizeof output; i += 3) {
            memcpy(output + i, "門", 4);
        }
    } else if (strcmp(tool, "tail") == 0) {
        size_t n = 0;
        for (int i = 0; i < 400; i++) {
            n += (size_t)snprintf(output + n, sizeof output - n, "line %d\n", i);
        }
        snprintf(output + n, sizeof output - n, "done\n[exit status 7]");
    } else if (strcmp(tool, "news") == 0 ||
               strcmp(pons_get_str(args, "url", ""), "https://given.org/news") == 0) {
        snprintf(output, sizeof output, "more at https://found.org/.");
    } else {
        snprintf(
            output, sizeof output, "%s %s", tool,
            pons_get_str(args, "at", pons_get_str(args, "text", pons_get_str(args, "what", ""))));
    }
    json_object_set_new(w->results, key, json_string(output));
    pons_tool_event ev = done(call, output);
    if (strcmp(pons_get_str(args, "at", ""), "camera") == 0) {
        json_object_set_new(
            ev.value, "pictures",
            json_pack("[{ssss}]", "sha256", BENCH_PICTURE, "caption", "camera front"));
    }
    job_add(w, call, now + (strcmp(tool, "slow") == 0 ? 5 * PONS_NS_PER_S : 0), ev);
    return PONS_OK;
}

static int tools_adopt(void *self, uint64_t call, const char *tool, const char *key,
                       pons_error *err)
{
    (void)tool;
    bench *b = self;
    const char *output = pons_get_str(b->world.results, key, NULL);
    if (b->world.amnesia) {
        return pons_error_set(err, PONS_ECLOSED, "tools", "nobody knows");
    }
    if (!output) {
        return pons_error_set(err, PONS_ENOTFOUND, "tools", "never started");
    }
    job_add(&b->world, call, pons_now_ns(&b->clock), done(call, output));
    return PONS_OK;
}

static void tools_cancel(void *self, uint64_t call)
{
    bench *b = self;
    for (struct job **at = &b->world.jobs; *at; at = &(*at)->next) {
        if ((*at)->call == call) {
            struct job *j = *at;
            *at = j->next;
            pons_tool_event_clear(&j->event);
            free(j);
            b->world.open--;
            return;
        }
    }
}

static int no_fd(void *self)
{
    (void)self;
    return -1;
}

static bool tools_next(void *self, pons_tool_event *ret)
{
    bench *b = self;
    struct job *j = b->world.jobs;
    if (!j || j->due_ns > pons_now_ns(&b->clock)) {
        return false;
    }
    b->world.jobs = j->next;
    *ret = j->event;
    ret->call = j->call;
    free(j);
    b->world.open--;
    return true;
}

static const pons_tools_ops tools_ops = {.abi = PONS_TOOL_ABI,
                                         .name = "world",
                                         .close = tools_close,
                                         .list = tools_list,
                                         .assess = tools_assess,
                                         .start = tools_start,
                                         .adopt = tools_adopt,
                                         .cancel = tools_cancel,
                                         .event_fd = no_fd,
                                         .next = tools_next};

// ---- a model that is a function -----------------------------------------------------------------

static int fn_start(void *self, uint64_t call, const pons_value *request, pons_error *err)
{
    bench *b = self;
    if (pons_get_bool(request, "models", false)) {
        b->lists++;
        return pons_error_set(err, PONS_EUNSUPPORTED, "llm", "a function has no list of models");
    }
    json_array_append(b->requests, (pons_value *)(uintptr_t)request);
    if (b->model_mute) {
        return PONS_OK;
    }
    struct answer *a = calloc(1, sizeof *a), **at = &b->answers;
    pons_value *reply = b->model(b->model_user, request);
    a->call = call;
    a->event = (pons_llm_event){
        .call = call, .kind = reply ? PONS_LLM_DONE : PONS_LLM_ERROR, .value = reply};
    if (!reply) {
        pons_error_set(&a->event.error, PONS_EIO, "llm", "%s",
                       b->model_error ? b->model_error : "the model is away");
    }
    while (*at) {
        at = &(*at)->next;
    }
    *at = a;
    return PONS_OK;
}

static void fn_cancel(void *self, uint64_t call)
{
    bench *b = self;
    for (struct answer **at = &b->answers; *at; at = &(*at)->next) {
        if ((*at)->call == call) {
            struct answer *a = *at;
            *at = a->next;
            pons_value_unref(a->event.value);
            free(a);
            return;
        }
    }
}

static bool fn_next(void *self, pons_llm_event *ret)
{
    bench *b = self;
    struct answer *a = b->answers;
    if (!a) {
        return false;
    }
    b->answers = a->next;
    *ret = a->event;
    free(a);
    return true;
}

static void fn_close(void *self)
{
    (void)self;
}

static const pons_llm_ops fn_ops = {.abi = PONS_LLM_ABI,
                                    .name = "function",
                                    .close = fn_close,
                                    .start = fn_start,
                                    .cancel = fn_cancel,
                                    .event_fd = no_fd,
                                    .next = fn_next};

// ---- the bench ----------------------------------------------------------------------------------

static void on_event(void *user, const pons_event *ev)
{
    bench *b = user;
    pons_value *e = pons_object("type", json_string(ev->type), "seq", json_integer(ev->seq), NULL);
    json_object_update_missing(e, (pons_value *)(uintptr_t)ev->payload);
    json_array_append_new(b->events, e);
}

static void open_script(bench *b, const char *script)
{
    pons_yaml *y = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons_yaml_parse(script, strlen(script), "script", &y, &err) < 0) {
        fail_msg("script: %s [%s]", err.message, err.source);
    }
    pons_autovalue config = pons_object("replies", pons_value_ref(pons_yaml_value(y)), NULL);
    b->llm.ops = &pons_llm_script;
    if (pons_llm_script.open(config, &b->clock, &b->llm.self, &err) < 0) {
        fail_msg("script: %s", err.message);
    }
    pons_yaml_destroy(y);
}

void bench_open(bench *b, const char *yaml, const char *script)
{
    pons_value_init();
    pons_error err = PONS_ERROR_INIT;
    the = b;
    b->left = -1;
    b->time.wall_epoch_ms = 1700000000000;
    b->clock = pons_clock_from_manual(&b->time);
    assert_int_equal(pons_store_memory_open(&b->memory, &err), PONS_OK);
    fuse_ops = *b->memory.ops;
    fuse_ops.commit = fuse_commit;
    fuse_ops.commit_async = fuse_commit_async;
    b->store = (pons_store){&fuse_ops, b->memory.self};
    if ((*yaml ? pons_agent_config_parse(yaml, strlen(yaml), "graph_config.yaml", &b->config, &err)
               : pons_agent_config_load(NULL, &b->config, &err)) < 0) {
        fail_msg("%s [%s]", err.message, err.source);
    }
    b->events = json_array();
    b->requests = json_array();
    b->world.starts = json_object();
    b->world.calls = json_array();
    b->world.results = json_object();
    b->tools = (pons_tools){&tools_ops, b};
    if (script) {
        open_script(b, script);
    } else {
        b->llm = (pons_llm){&fn_ops, b};
    }
    bench_agent(b);
}

void bench_agent(bench *b)
{
    const pons_agent_options opts = {.store = b->store,
                                     .thread = "s1",
                                     .clock = b->clock,
                                     .seed = 7,
                                     .config = b->config,
                                     .llm = &b->llm,
                                     .model = "test-model",
                                     .tools = &b->tools,
                                     .n_tools = 1,
                                     .middleware = b->middleware,
                                     .n_middleware = b->n_middleware,
                                     .judge = b->judge,
                                     .judge_user = b->judge_user,
                                     .pictures_to = b->pictures_to,
                                     .look = b->look,
                                     .look_user = b->look_user,
                                     .about = b->about,
                                     .on_event = on_event,
                                     .user = b};
    b->left = -1;
    b->dead = false;
    if (pons_agent_open(&opts, &b->a, &b->err) < 0) {
        fail_msg("%s [%s]", b->err.message, b->err.source);
    }
}

void bench_kill(bench *b)
{
    b->left = 0;
    b->dead = true;
    pons_agent_close(b->a);
    b->a = NULL;
}

void bench_close(bench *b)
{
    pons_agent_close(b->a);
    while (b->world.jobs) {
        tools_cancel(b, b->world.jobs->call);
    }
    while (b->answers) {
        fn_cancel(b, b->answers->call);
    }
    b->llm.ops->close(b->llm.self);
    pons_agent_config_destroy(b->config);
    pons_store_close(&b->memory);
    pons_value_unref(b->events);
    pons_value_unref(b->requests);
    pons_value_unref(b->world.starts);
    pons_value_unref(b->world.calls);
    pons_value_unref(b->world.results);
}

void bench_settle(bench *b)
{
    for (int i = 0; i < 1000 && !b->dead; i++) {
        const int rc = pons_agent_poll(b->a, &b->err);
        if (rc < 0 && !b->dead) {
            fail_msg("poll: %s [%s]", b->err.message, b->err.source);
        }
        if (rc <= 0) {
            return;
        }
    }
}

void bench_say(bench *b, const char *text)
{
    if (pons_agent_say(b->a, text, &b->err) < 0 && !b->dead) {
        fail_msg("say: %s [%s]", b->err.message, b->err.source);
    }
    bench_settle(b);
}

void bench_answer(bench *b, const char *text)
{
    pons_autovalue answer = json(text);
    if (pons_agent_answer(b->a, pons_get_str(answer, "id", NULL), answer, &b->err) < 0 &&
        !b->dead) {
        fail_msg("answer: %s", b->err.message);
    }
    bench_settle(b);
}

void bench_advance(bench *b, double s)
{
    b->time.now_ns += (int64_t)(s * 1e9);
    bench_settle(b);
}

pons_agent_state bench_state(bench *b)
{
    return pons_agent_state_get(b->a);
}

// ---- looking ------------------------------------------------------------------------------------

pons_value *json(const char *text)
{
    char *copy = strdup(text);
    for (char *c = copy; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    pons_value *v = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons_value_parse(copy, strlen(copy), &v, &err) < 0) {
        fail_msg("%s: %s", copy, err.message);
    }
    free(copy);
    return v;
}

const char *bench_types(bench *b, const char *but)
{
    static char line[8192];
    size_t used = 0;
    line[0] = '\0';
    for (size_t i = 0; i < json_array_size(b->events); i++) {
        const pons_value *e = json_array_get(b->events, i);
        const char *type = pons_get_str(e, "type", "");
        const char *hit = strstr(but, type);
        const size_t n = strlen(type);
        const bool left_out =
            hit && (hit[n] == ' ' || hit[n] == '\0') && (hit == but || hit[-1] == ' ');
        if (pons_get_int(e, "seq", 0) > 0 && !left_out && used + n + 2 < sizeof line) {
            used +=
                (size_t)snprintf(line + used, sizeof line - used, "%s%s", used ? " " : "", type);
        }
    }
    json_array_clear(b->events);
    return line;
}

size_t bench_count(const bench *b, const char *type, const char *key, const char *value)
{
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(b->events); i++) {
        const pons_value *e = json_array_get(b->events, i);
        n += strcmp(pons_get_str(e, "type", ""), type) == 0 &&
             (!key || strcmp(pons_get_str(e, key, ""), value) == 0);
    }
    return n;
}

const pons_value *bench_event(const bench *b, const char *type, size_t nth)
{
    for (size_t i = 0; i < json_array_size(b->events); i++) {
        const pons_value *e = json_array_get(b->events, i);
        if (strcmp(pons_get_str(e, "type", ""), type) == 0 && nth-- == 0) {
            return e;
        }
    }
    return NULL;
}

const char *bench_last_message(bench *b, const char *role)
{
    const pons_value *list = pons_agent_messages(b->a);
    for (size_t i = json_array_size(list); i-- > 0;) {
        const pons_value *m = json_array_get(list, i);
        if (strcmp(pons_get_str(m, "role", ""), role) == 0) {
            return pons_get_str(m, "content", "");
        }
    }
    return "";
}

size_t bench_starts(const bench *b, const char *tool)
{
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(b->world.calls); i++) {
        n += strcmp(pons_get_str(json_array_get(b->world.calls, i), "tool", ""), tool) == 0;
    }
    return n;
}

void bench_check_messages(bench *b)
{
    const pons_value *list = pons_agent_messages(b->a);
    const size_t n = json_array_size(list);
    for (size_t i = 0; i < n; i++) {
        const pons_value *m = json_array_get(list, i), *calls = pons_get(m, "tool_calls");
        if (strcmp(pons_get_str(m, "role", ""), "tool") == 0 &&
            !json_is_array(pons_get(json_array_get(list, i - 1), "tool_calls")) &&
            strcmp(pons_get_str(json_array_get(list, i - 1), "role", ""), "tool") != 0) {
            fail_msg("message %zu is a result without a call", i);
        }
        for (size_t k = 0; k < json_array_size(calls); k++) {
            const char *id = pons_get_str(json_array_get(calls, k), "id", "");
            int results = 0;
            for (size_t j = i + 1; j < n && j <= i + json_array_size(calls); j++) {
                results +=
                    strcmp(pons_get_str(json_array_get(list, j), "tool_call_id", ""), id) == 0;
            }
            if (results != 1) {
                fail_msg("call %s of message %zu has %d results", id, i, results);
            }
        }
    }
}
