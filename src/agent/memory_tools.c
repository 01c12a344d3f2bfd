// memory_tools.c - what an agent keeps for other sessions, as tools: save_memory, search_memory,
// forget_memory over the items of a store.
//
//   agent.memories    KEY        {key, text, tags?, session}             what a search finds
//   agent.memory_log  CALL'S KEY {did, key, session, output, was?}       what was done, for 30 days
//
// A call that changes something is an effect, and its key names it for good. The memory and the line
// of the log are one write of the store, so the log knows exactly the calls that were done: a key
// that is in it is done and is not done again (the agent was killed before it heard of it), and one
// that is not was certainly never started. `was` is what stood there before, so that a person can
// put it back (docs/reference/agent.md).
//
// A call is a few reads and at most one write of the store that the agent commits to anyway, on the
// agent's thread: it is over when start returns, and its event waits to be taken.
#include "pons/agent.h"
#include "pons/buf.h"
#include "pons/items.h"
#include "pons/out_of_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define WHERE         "memory"
#define LOG_DAYS      30
#define MEMORIES_MAX  2000 // of a store: a model that saves without end fills no disk
#define FOUND_DEFAULT 5
#define DAY_MS        INT64_C(86400000)

// Tools, their arguments and what they are, as the model gets them.
static const char TOOLS[] = {
#include "agent/memory_tools.json.h"
};

typedef struct event {
    struct event *next;
    pons_tool_event e;
} event;

typedef struct memory {
    pons_items items;
    char session[PONS_NAME_MAX];
    pons_value *list;
    event *first;
    int fd; // an eventfd: readable while events wait
} memory;

// ---- life ---------------------------------------------------------------------------------------

static void memory_close(void *self)
{
    memory *m = self;
    if (!m) {
        return;
    }
    while (m->first) {
        event *e = m->first;
        m->first = e->next;
        pons_tool_event_clear(&e->e);
        free(e);
    }
    if (m->fd >= 0) {
        close(m->fd);
    }
    pons_value_unref(m->list);
    free(m);
}

static int memory_list(void *self, pons_value **ret, pons_error *err)
{
    const memory *m = self;
    *ret = pons_value_ref(m->list);
    return PONS_OK;
}

static uint64_t memory_generation(void *self)
{
    return 1;
}

static void memory_cancel(void *self, uint64_t call)
{
    memory *m = self;
    for (event **at = &m->first; *at; at = &(*at)->next) {
        if ((*at)->e.call == call) { // it is done; nobody wants to hear of it
            event *e = *at;
            *at = e->next;
            pons_tool_event_clear(&e->e);
            free(e);
            return;
        }
    }
}

static int memory_event_fd(void *self)
{
    const memory *m = self;
    return m->fd;
}

static bool memory_next(void *self, pons_tool_event *ret)
{
    memory *m = self;
    event *e = m->first;
    if (!e) {
        uint64_t count;
        const ssize_t n = read(m->fd, &count, sizeof count);
        (void)n;
        return false;
    }
    m->first = e->next;
    *ret = e->e;
    free(e);
    return true;
}

static void push(memory *m, pons_tool_event e)
{
    event **at = &m->first;
    while (*at) {
        at = &(*at)->next;
    }
    *at = pons_need_zeroed(1, sizeof **at);
    (*at)->e = e;
    eventfd_write(m->fd, 1);
}

// The log's line of a call that was done. PONS_ENOTFOUND: it was not.
static int line_of(const memory *m, const char *call_key, pons_value **ret, pons_error *err)
{
    pons_autovalue item = NULL;
    const int rc = pons_items_get(&m->items, PONS_AGENT_MEMORY_LOG, call_key, &item, err);
    *ret = rc < 0 ? NULL : pons_value_ref(pons_get(item, "value"));
    return rc;
}

// Takes output and data.
static void done(memory *m, uint64_t call, pons_value *output, pons_value *data)
{
    push(m, (pons_tool_event){.call = call,
                              .kind = PONS_TOOL_DONE,
                              .value = pons_object("output", output, "data", data, NULL)});
}

static void say_line(memory *m, uint64_t call, const pons_value *line)
{
    done(m, call, json_string(pons_get_str(line, "output", "")),
         pons_object("key", json_string(pons_get_str(line, "key", "")), NULL));
}

static int write_of(const memory *m, const char *ns, const char *key, const pons_value *value,
                    const pons_item_put *put, pons_item_write **ret, pons_error *err)
{
    const int64_t wall = pons_wall_ms(&m->items.clock);
    return value ? pons_items_write_put(&m->items.opts, wall, ns, key, value, put, ret, err)
                 : pons_items_write_delete(ns, key, ret, err);
}

// The memory (value NULL: without it) and the log's line, both or neither.
static int write_both(const memory *m, const char *key, const pons_value *value,
                      const char *call_key, const pons_value *line, pons_error *err)
{
    const pons_item_put put = {.ttl_ms = LOG_DAYS * DAY_MS, .unsearched = true};
    const pons_store *store = &m->items.store;
    pons_item_write *item = NULL, *log = NULL;
    int rc = write_of(m, PONS_AGENT_MEMORIES, key, value, NULL, &item, err);
    rc = rc < 0 ? rc : write_of(m, PONS_AGENT_MEMORY_LOG, call_key, line, &put, &log, err);
    if (rc >= 0) {
        const pons_item_write both[] = {*item, *log};
        rc = store->ops->items_write(store->self, both, 2, PONS_SYNC_NORMAL, err);
        if (rc < 0 && rc != PONS_EINVAL && rc != PONS_ENOMEM) { // it may have got there
            err->status = rc = PONS_ECLOSED;
        }
    }
    free(item);
    free(log);
    return rc;
}

// Borrowed from *item, NULL: there is none.
static int memory_of(const memory *m, const char *key, pons_value **item, pons_error *err)
{
    const int rc = pons_items_get(&m->items, PONS_AGENT_MEMORIES, key, item, err);
    return rc == PONS_ENOTFOUND ? PONS_OK : rc;
}

static int room_for_one(const memory *m, pons_error *err)
{
    pons_autovalue list = NULL;
    const pons_items_query q = {
        .prefix = PONS_AGENT_MEMORIES, .limit = 1, .offset = MEMORIES_MAX - 1};
    const int rc = pons_items_search(&m->items, &q, &list, err);
    if (rc < 0 || json_array_size(list) == 0) {
        return rc;
    }
    return pons_error_set(err, PONS_EREFUSED, WHERE,
                          "there are %d memories already: forget what is not needed any more first",
                          MEMORIES_MAX);
}

static int save(memory *m, const pons_value *args, const char *call_key, pons_value **ret,
                pons_error *err)
{
    char hash[33], made[16];
    pons_autovalue name = json_string(call_key);
    pons_value_hash(name, hash);
    snprintf(made, sizeof made, "m-%.12s", hash); // the same whenever this call is made
    const char *key = pons_get_str(args, "key", made);
    pons_autovalue old = NULL;
    int rc = memory_of(m, key, &old, err);
    if (rc >= 0 && !old) {
        rc = room_for_one(m, err);
    }
    if (rc < 0) {
        return rc;
    }
    const pons_value *tags = pons_get(args, "tags");
    pons_autovalue value =
        pons_object("key", json_string(key), "text", pons_value_ref(pons_get(args, "text")), "tags",
                    tags ? pons_value_ref(tags) : NULL, "session", json_string(m->session), NULL);
    *ret = pons_object("did", json_string("save"), "key", json_string(key), "session",
                       json_string(m->session), "output",
                       json_sprintf("%s %s", old ? "replaced" : "saved as", key), "was",
                       old ? pons_value_ref(pons_get(old, "value")) : NULL, NULL);
    return write_both(m, key, value, call_key, *ret, err);
}

static int forget(memory *m, const pons_value *args, const char *call_key, pons_value **ret,
                  pons_error *err)
{
    const char *key = pons_get_str(args, "key", "");
    pons_autovalue old = NULL;
    const int rc = memory_of(m, key, &old, err);
    if (rc < 0) {
        return rc;
    }
    if (!old) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "there is no memory %s", key);
    }
    *ret = pons_object("did", json_string("forget"), "key", json_string(key), "session",
                       json_string(m->session), "output", json_sprintf("forgot %s", key), "was",
                       pons_value_ref(pons_get(old, "value")), NULL);
    return write_both(m, key, NULL, call_key, *ret, err);
}

// One line of JSON a memory: what a memory says can't look like another one.
static int search(memory *m, uint64_t call, const pons_value *args, pons_error *err)
{
    const char *query = pons_get_str(args, "query", "");
    pons_autovalue list = NULL;
    const pons_items_query q = {.prefix = PONS_AGENT_MEMORIES,
                                .query = query[strspn(query, " \t\r\n")] ? query : NULL,
                                .limit = pons_get_int(args, "limit", FOUND_DEFAULT)};
    const int rc = pons_items_search(&m->items, &q, &list, err);
    if (rc < 0) {
        return rc;
    }
    pons_autobuf text = PONS_BUF_INIT;
    pons_value *found = json_array();
    pons_each(item, list) {
        const pons_value *v = pons_get(item, "value"), *tags = pons_get(v, "tags");
        pons_value *row = pons_object("key", json_string(pons_get_str(item, "key", "")), "text",
                                      json_string(pons_get_str(v, "text", "")), "tags",
                                      tags ? pons_value_ref(tags) : NULL, "saved_ms",
                                      json_integer(pons_get_int(item, "updated_ms", 0)), NULL);
        char *line = NULL;
        json_array_append_new(found, row);
        if (pons_value_line(row, &line) >= 0) {
            pons_buf_str(&text, item_at ? "\n" : "");
            pons_buf_str(&text, line);
        }
        free(line);
    }
    const char *none = q.query ? "no memory has any of these words" : "there are no memories";
    pons_value *output = json_string(text.len ? text.data : none);
    done(m, call, output, pons_object("memories", found, NULL));
    return PONS_OK;
}

static int memory_start(void *self, uint64_t call, const char *tool, const pons_value *args,
                        const char *key, pons_error *err)
{
    memory *m = self;
    pons_error why = PONS_ERROR_INIT;
    pons_autovalue line = NULL;
    const bool saves = strcmp(tool, "save_memory") == 0;
    int rc;
    if (strcmp(tool, "search_memory") == 0) {
        rc = search(m, call, args, &why);
    } else if (saves || strcmp(tool, "forget_memory") == 0) {
        rc = line_of(m, key, &line, &why);
        if (rc == PONS_ENOTFOUND) {
            why = (pons_error)PONS_ERROR_INIT;
            rc = saves ? save(m, args, key, &line, &why) : forget(m, args, key, &line, &why);
        }
        if (rc >= 0) {
            say_line(m, call, line);
        }
    } else {
        return pons_error_set(err, PONS_ENOTFOUND, WHERE, "there is no tool %s", tool);
    }
    if (rc < 0) {
        push(m, (pons_tool_event){.call = call, .kind = PONS_TOOL_FAILED, .error = why});
    }
    return PONS_OK;
}

static int memory_adopt(void *self, uint64_t call, const char *tool, const char *key,
                        pons_error *err)
{
    memory *m = self;
    pons_autovalue line = NULL;
    const int rc = line_of(m, key, &line, err);
    if (rc >= 0) {
        say_line(m, call, line);
    }
    return rc;
}

static const pons_tools_ops memory_ops = {.abi = PONS_TOOL_ABI,
                                          .name = "memory",
                                          .close = memory_close,
                                          .list = memory_list,
                                          .generation = memory_generation,
                                          .start = memory_start,
                                          .adopt = memory_adopt,
                                          .cancel = memory_cancel,
                                          .event_fd = memory_event_fd,
                                          .next = memory_next};

int pons_memory_tools_open(const pons_memory_tools_options *opts, pons_tools *ret, pons_error *err)
{
    static const char *const searched[] = {"key", "text", "tags[*]", NULL};
    memory *m = calloc(1, sizeof *m);
    if (!m) {
        return pons_error_set(err, PONS_ENOMEM, WHERE, "no room for the memory's tools");
    }
    m->items =
        (pons_items){.store = opts->store, .clock = opts->clock, .opts = {.fields = searched}};
    snprintf(m->session, sizeof m->session, "%s", opts->session ? opts->session : "");
    m->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    const int rc = pons_value_parse(TOOLS, sizeof TOOLS - 1, &m->list, err);
    if (rc < 0 || m->fd < 0) {
        memory_ops.close(m);
        return rc < 0
                   ? rc
                   : pons_error_set(err, PONS_EENV, WHERE, "no descriptor for the memory's tools");
    }
    *ret = (pons_tools){&memory_ops, m};
    return PONS_OK;
}
