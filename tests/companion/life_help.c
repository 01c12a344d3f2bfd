// life_help.c - see life_help.h.
#include "life_help.h"

#include "pons/llm.h"

enum { NS_A_MINUTE_IN_MS = 60000 };

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *text = calloc(1, 1 << 20);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

static char *edited(char *text, const edit *edits)
{
    for (; edits && edits->from; edits++) {
        char *at = strstr(text, edits->from);
        if (!at) {
            fail_msg("the world view has no '%s'", edits->from);
        }
        char *more = calloc(1, strlen(text) + strlen(edits->to) + 1);
        memcpy(more, text, (size_t)(at - text));
        strcat(more, edits->to);
        strcat(more, at + strlen(edits->from));
        free(text);
        text = more;
    }
    return text;
}

static void must(const life *l, int rc)
{
    char line[1200];
    if (rc < 0) {
        fail_msg("%s", pons_error_line(&l->err, line, sizeof line));
    }
}

void life_init(life *l, const edit *edits, const char *tree)
{
    *l = (life){.events = json_array()};
    pons_value_init();
    char *text = edited(read_file(PONS_SOURCE_DIR "/config/world-view.yaml"), edits);
    must(l, pons_world_view_parse(text, strlen(text), "world-view.yaml", &l->view, &l->err));
    free(text);
    const pons_bt_load_options o = {.format = PONS_BT_MDSL, .name = "a tree"};
    must(l, tree ? pons_bt_load(tree, strlen(tree), &o, &l->tree, NULL, &l->err)
                 : pons_bt_load_file(PONS_SOURCE_DIR "/trees/companion.mdsl", &o, &l->tree, NULL,
                                     &l->err));
    must(l, pons_store_memory_open(&l->store, &l->err));
    l->model_clock = pons_clock_from_manual(&l->clock);
}

void life_model(life *l, const char *replies)
{
    pons_value *list = NULL;
    must(l, pons_value_parse(replies, strlen(replies), &list, &l->err));
    pons_autovalue config = pons_object("replies", list, NULL);
    if (l->llm.ops) {
        l->llm.ops->close(l->llm.self);
    }
    l->llm.ops = &pons_llm_script;
    must(l, pons_llm_script.open(config, &l->model_clock, &l->llm.self, &l->err));
}

static void on_event(void *user, const pons_value *ev)
{
    life *l = user;
    if (strcmp(pons_get_str(ev, "type", ""), "tick") != 0) {
        json_array_append_new(l->events, pons_value_ref(ev));
    }
}

static int wait_model(void *user, int fd, int64_t ms)
{
    life *l = user;
    assert_int_equal(fd, -1);
    l->clock.now_ns += (ms < 100 ? ms : 100) * PONS_NS_PER_MS;
    return 0;
}

int life_try_open(life *l, const char *from, uint64_t seed)
{
    const pons_companion_options o = {.view = l->view,
                                      .tree = l->tree,
                                      .store = l->store,
                                      .seed = seed,
                                      .start_min = life_minute(l, from),
                                      .simulated = !l->real,
                                      .llm = l->llm.ops ? &l->llm : NULL,
                                      .clock = &l->model_clock,
                                      .wait = l->by_clock ? NULL : wait_model,
                                      .on_event = on_event,
                                      .user = l};
    return pons_companion_open(&o, &l->c, &l->err);
}

void life_open(life *l, const char *from, uint64_t seed)
{
    must(l, life_try_open(l, from, seed));
}

void life_run(life *l, const char *until)
{
    const int64_t end = life_minute(l, until);
    while (pons_companion_minute(l->c) < end) {
        l->clock.now_ns = pons_companion_minute(l->c) * NS_A_MINUTE_IN_MS * PONS_NS_PER_MS;
        must(l, pons_companion_tick(l->c, true, &l->err));
    }
}

void life_close(life *l)
{
    pons_companion_close(l->c);
    l->c = NULL;
}

void life_fini(life *l)
{
    life_close(l);
    if (l->llm.ops) {
        l->llm.ops->close(l->llm.self);
    }
    pons_store_close(&l->store);
    pons_bt_unref(l->tree);
    pons_world_view_unref(l->view);
    pons_value_unref(l->events);
}

int64_t life_minute(const life *l, const char *text)
{
    int64_t minute;
    assert_int_equal(pons_world_view_minute(l->view, text, 0, &minute, NULL), PONS_OK);
    return minute;
}

const pons_value *life_find(const life *l, const char *type, const char *action, size_t n)
{
    size_t i;
    pons_value *ev;
    json_array_foreach(l->events, i, ev) {
        if (strcmp(pons_get_str(ev, "type", ""), type) == 0 &&
            (!action || strcmp(pons_get_str(pons_get(ev, "action"), "type", ""), action) == 0) &&
            n-- == 0) {
            return ev;
        }
    }
    return NULL;
}

size_t life_count(const life *l, const char *type, const char *action)
{
    size_t n = 0;
    while (life_find(l, type, action, n)) {
        n++;
    }
    return n;
}

const char *life_time(const pons_value *event)
{
    static char text[17];
    assert_non_null(event);
    snprintf(text, sizeof text, "%.16s", pons_get_str(event, "time", ""));
    return text;
}

char *life_deeds(const life *l)
{
    pons_buf b = PONS_BUF_INIT;
    size_t i;
    pons_value *ev;
    json_array_foreach(l->events, i, ev) {
        if (strncmp(pons_get_str(ev, "type", ""), "action.", 7) == 0) {
            pons_buf_printf(&b, "%s %s %s\n", pons_get_str(ev, "time", ""),
                            pons_get_str(ev, "type", ""),
                            pons_get_str(pons_get(ev, "action"), "type", ""));
        }
    }
    return pons_buf_take(&b, NULL);
}

char *life_text(const life *l)
{
    pons_buf b = PONS_BUF_INIT;
    size_t i;
    pons_value *ev;
    json_array_foreach(l->events, i, ev) {
        char *line = NULL;
        assert_true(pons_value_line(ev, &line) > 0);
        pons_buf_printf(&b, "%s\n", line);
        free(line);
    }
    return pons_buf_take(&b, NULL);
}
