// test_place.c - a folder that others write in: what their edits become, what is put back, and that none
// is lost, by editors that write in place and editors that rename over, while pons writes too.
#include "unit.h"
#include "workspace/ws_help.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define EDITS 200 // of each habit

typedef struct folder {
    char dir[64];
    pons_ws_place *place;
    char commands[4096]; // "action a1 pending>cancelled;"
    char notices[8192];
    int64_t now_ms;
} folder;

static void on_command(void *user, pons_ws_file file, const pons_ws_command *c)
{
    folder *f = user;
    char line[256];
    (void)file;
    snprintf(line, sizeof line, "%s%s %s %s>%s;", c->refused ? "refused " : "", c->kind, c->id,
             pons_get_str(c->before, "status", "-"), pons_get_str(c->after, "status", "-"));
    strncat(f->commands, line, sizeof f->commands - strlen(f->commands) - 1);
}

static void on_notice(void *user, const char *file, const char *text)
{
    folder *f = user;
    char line[512];
    snprintf(line, sizeof line, "%s: %s\n", file, text);
    strncat(f->notices, line, sizeof f->notices - strlen(f->notices) - 1);
}

static void put(const folder *f, const char *name, const char *text)
{
    char path[128], temp[160];
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    snprintf(temp, sizeof temp, "%s.tmp", path);
    FILE *out = fopen(temp, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    assert_int_equal(rename(temp, path), 0);
}

static char *get(const folder *f, const char *name) // free()
{
    char path[128];
    char *text = calloc(1, 1 << 20);
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    const size_t n = fread(text, 1, (1 << 20) - 1, in);
    (void)n;
    fclose(in);
    return text;
}

static void open_place(folder *f, pons_ws_role role)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_ws_place_options o = {
        .role = role, .command = on_command, .notice = on_notice, .user = f};
    if (pons_ws_place_open(f->dir, &o, &f->place, &err) < 0) {
        fail_msg("%s", err.message);
    }
}

static void folder_open(folder *f, pons_ws_role role)
{
    *f = (folder){.dir = "/tmp/pons-place-XXXXXX"};
    assert_non_null(mkdtemp(f->dir));
    put(f, "ACTION.md",
        "# Mine\n\nWords.\n\n```json\n{\"queue\": [\n"
        "  {\"action_id\": \"a1\", \"action_type\": \"stop\", \"status\": \"pending\"},\n"
        "  {\"action_id\": \"a2\", \"action_type\": \"stop\", \"status\": \"running\"}\n"
        "]}\n```\n\nMore words.\n");
    open_place(f, role);
}

static void folder_close(folder *f)
{
    char command[128];
    pons_ws_place_close(f->place);
    snprintf(command, sizeof command, "rm -r %s", f->dir);
    assert_int_equal(system(command), 0);
}

static const char *status(const folder *f, const char *id)
{
    const pons_ws_record *r =
        pons_ws_find(pons_ws_place_doc(f->place, PONS_WS_ACTION), "action", id);
    return r ? pons_get_str(r->value, "status", "?") : "none";
}

static void set_status(folder *f, const char *id, const char *to)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_ws_record *r =
        pons_ws_find(pons_ws_place_doc(f->place, PONS_WS_ACTION), "action", id);
    assert_non_null(r);
    pons_value *value = json_copy(r->value);
    json_object_set_new(value, "status", json_string(to));
    const pons_ws_change c = {"action", id, value};
    if (pons_ws_place_change(f->place, PONS_WS_ACTION, &c, 1, &err) < 0) {
        fail_msg("%s", err.message);
    }
    json_decref(value);
}

// The text with one piece replaced; free().
static char *edited(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    assert_non_null(at);
    char *out = calloc(1, strlen(text) + strlen(to) + 1);
    memcpy(out, text, (size_t)(at - text));
    strcat(out, to);
    strcat(out, at + strlen(from));
    return out;
}

static void look(folder *f, pons_ws_file file)
{
    pons_error err = PONS_ERROR_INIT;
    if (pons_ws_place_look(f->place, file, &err) < 0 && err.status != PONS_EBUSY &&
        err.status != PONS_EINVAL) {
        fail_msg("%s", err.message);
    }
}

// ---- commands -----------------------------------------------------------------------------------

static void an_edit_becomes_a_command(void **state)
{
    (void)state;
    folder f;
    folder_open(&f, PONS_WS_BY_HAL);
    set_status(&f, "a2", "completed"); // the file has a stamp now
    char *text = get(&f, "ACTION.md");
    assert_non_null(strstr(text, "<!-- pons generation=2 -->"));
    char *one = edited(text, "\"pending\"", "\"cancelled\"");
    char *two = edited(one, "Words.", "Words of mine.");
    put(&f, "ACTION.md", two);
    look(&f, PONS_WS_ACTION);
    assert_string_equal(f.commands, "action a1 pending>cancelled;");
    assert_string_equal(status(&f, "a1"), "cancelled");
    free(one);
    free(two);
    free(text);
    text = get(&f, "ACTION.md");
    assert_non_null(strstr(text, "Words of mine."));
    assert_non_null(strstr(text, "generation=3"));
    free(text);
    folder_close(&f);
}

static void drop(folder *f, const char *id)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_ws_change c = {"action", id, NULL};
    assert_int_equal(pons_ws_place_change(f->place, PONS_WS_ACTION, &c, 1, &err), PONS_OK);
}

// An editor that goes on from its own text, while what it wrote was taken in, and out again.
static void an_edit_is_a_command_once(void **state)
{
    (void)state;
    static const char *const bodies[] = {"<!-- pons generation=2 -->\n", ""}; // and without a stamp
    for (size_t k = 0; k < 2; k++) {
        folder f;
        folder_open(&f, PONS_WS_BY_HAL);
        set_status(&f, "a2", "completed");
        char texts[3][512];
        for (int i = 0; i < 3; i++) {
            int n =
                snprintf(texts[i], sizeof texts[i], "# Mine\n\nWords.\n\n```json\n{\"queue\": [\n");
            for (int e = 0; e <= i; e++) {
                n += snprintf(texts[i] + n, sizeof texts[i] - (size_t)n,
                              "%s  {\"action_id\": \"e%d\", \"action_type\": \"stop\"}",
                              e ? ",\n" : "", e);
            }
            snprintf(texts[i] + n, sizeof texts[i] - (size_t)n, "\n]}\n```\n\nMore words.\n%s",
                     bodies[k]);
        }
        for (int i = 0; i < 3; i++) {
            char id[8];
            put(&f, "ACTION.md", texts[i]);
            look(&f, PONS_WS_ACTION);
            snprintf(id, sizeof id, "e%d", i);
            drop(&f, id);
        }
        for (int e = 0; e < 3; e++) {
            char said[64];
            snprintf(said, sizeof said, "action e%d ->pending;", e);
            const char *first = strstr(f.commands, said);
            assert_non_null(first);
            assert_null(strstr(first + 1, said));
        }
        folder_close(&f);
    }
}

static void what_runs_is_nobody_elses(void **state)
{
    (void)state;
    folder f;
    folder_open(&f, PONS_WS_BY_HAL);
    set_status(&f, "a1", "running");
    char *text = get(&f, "ACTION.md");
    char *one = edited(text, "\"running\"", "\"completed\"");
    put(&f, "ACTION.md", one);
    look(&f, PONS_WS_ACTION);
    assert_string_equal(f.commands, "refused action a1 running>completed;");
    assert_string_equal(status(&f, "a1"), "running");
    assert_non_null(strstr(f.notices, "an edit of action a1 is put back: the planner may not "
                                      "change action: it is no longer pending"));
    free(one);
    free(text);
    text = get(&f, "LOG.md");
    assert_non_null(strstr(text, "ACTION.md: an edit of action a1 is put back"));
    free(text);
    text = get(&f, "ACTION.md");
    assert_null(strstr(text, "completed"));
    free(text);
    folder_close(&f);
}

static void an_old_text_is_no_loss(void **state)
{
    (void)state;
    folder f;
    folder_open(&f, PONS_WS_BY_HAL);
    set_status(&f, "a2", "completed");
    char *old = get(&f, "ACTION.md"); // an editor reads it
    set_status(&f, "a1", "running");
    set_status(&f, "a1", "completed");
    char *one = edited(old, "\n]}", ",\n  {\"action_id\": \"a3\", \"action_type\": \"stop\"}\n]}");
    char *two = edited(one, "More words.", "More words, added.");
    put(&f, "ACTION.md", two);
    look(&f, PONS_WS_ACTION);
    assert_string_equal(status(&f, "a1"), "completed"); // not pending again
    assert_string_equal(status(&f, "a3"), "pending");
    assert_string_equal(f.commands, "action a3 ->pending;");
    char *now = get(&f, "ACTION.md");
    assert_non_null(strstr(now, "More words, added."));
    free(now);
    free(old);
    free(one);
    free(two);
    folder_close(&f);
}

static void a_deletion_needs_a_stamp(void **state)
{
    (void)state;
    folder f;
    folder_open(&f, PONS_WS_BY_HAL);
    set_status(&f, "a2", "completed");
    put(&f, "ACTION.md", "```json\n{\"queue\": []}\n```\n"); // half of a text has no stamp
    look(&f, PONS_WS_ACTION);
    assert_string_equal(status(&f, "a1"), "pending");
    char *text = get(&f, "ACTION.md");
    assert_non_null(strstr(text, "a1"));
    char *from = strstr(text, "{\"action_id\"");
    assert_non_null(from);
    pons_ws_doc *d = help_read(PONS_WS_ACTION, text, strlen(text));
    const pons_ws_change c = {"action", "a1", NULL};
    pons_autobuf without = PONS_BUF_INIT;
    assert_int_equal(pons_ws_render(d, &c, 1, 0, &without, NULL), PONS_OK);
    put(&f, "ACTION.md", without.data);
    look(&f, PONS_WS_ACTION);
    assert_string_equal(status(&f, "a1"), "none");
    pons_ws_destroy(d);
    free(text);
    folder_close(&f);
}

static void what_cannot_be_read_is_not_overwritten(void **state)
{
    (void)state;
    folder f;
    folder_open(&f, PONS_WS_BY_HAL);
    pons_error err = PONS_ERROR_INIT;
    const char *broken = "```json\n{\"queue\": [ {\n```\n";
    char *good = get(&f, "ACTION.md");
    put(&f, "ACTION.md", broken);
    look(&f, PONS_WS_ACTION);
    assert_true(pons_ws_place_suspended(f.place, PONS_WS_ACTION));
    assert_string_equal(status(&f, "a2"), "running"); // the last good state
    assert_non_null(strstr(f.notices, "ACTION.md:"));
    pons_value *v =
        json_pack("{s:s,s:s,s:s}", "action_id", "a2", "action_type", "stop", "status", "completed");
    const pons_ws_change c = {"action", "a2", v};
    assert_int_equal(pons_ws_place_change(f.place, PONS_WS_ACTION, &c, 1, &err), PONS_EBUSY);
    char *text = get(&f, "ACTION.md");
    assert_string_equal(text, broken);
    free(text);
    char *large = calloc(1, (1 << 20) + 2);
    memset(large, 'x', (1 << 20) + 1);
    put(&f, "ACTION.md", large);
    free(large);
    look(&f, PONS_WS_ACTION); // is told once, though it has been read before
    look(&f, PONS_WS_ACTION);
    const char *reported = strstr(f.notices, "larger than 1 MiB");
    assert_non_null(reported);
    assert_null(strstr(reported + 1, "larger than 1 MiB"));
    assert_non_null(strstr(reported, "the last good state holds"));
    assert_true(pons_ws_place_suspended(f.place, PONS_WS_ACTION));
    put(&f, "ACTION.md", good); // the very text that was there
    look(&f, PONS_WS_ACTION);
    assert_false(pons_ws_place_suspended(f.place, PONS_WS_ACTION));
    free(good);
    put(&f, "ACTION.md", "```json\n{\"queue\": []}\n```\n");
    assert_int_equal(pons_ws_place_change(f.place, PONS_WS_ACTION, &c, 1, &err), PONS_OK);
    assert_string_equal(status(&f, "a2"), "completed");
    assert_string_equal(status(&f, "a1"), "pending");
    json_decref(v);
    folder_close(&f);
}

static void a_late_write_into_the_old_file_counts(void **state)
{
    (void)state;
    folder f;
    folder_open(&f, PONS_WS_BY_HAL);
    char path[128];
    set_status(&f, "a2", "completed");
    char *text = get(&f, "ACTION.md");
    char *one = edited(text, "Words.", "Late words.");
    snprintf(path, sizeof path, "%s/ACTION.md", f.dir);
    const int fd = open(path, O_WRONLY); // an editor has it open
    assert_true(fd >= 0);
    pons_ws_place_poll(f.place, 1000);
    set_status(&f, "a1", "running"); // its file goes to .pons/old
    assert_true(write(fd, one, strlen(one)) == (ssize_t)strlen(one));
    close(fd);
    pons_ws_place_poll(f.place, 5000);
    free(one);
    free(text);
    text = get(&f, "ACTION.md");
    assert_non_null(strstr(text, "Late words."));
    assert_string_equal(status(&f, "a1"), "running");
    free(text);
    folder_close(&f);
}

static void conflict_copies_are_told_only(void **state)
{
    (void)state;
    folder f;
    folder_open(&f, PONS_WS_BY_HAL);
    put(&f, "ACTION.sync-conflict-20250401-120000-ABC.md", "x");
    put(&f, "ACTION (conflicted copy).md", "x");
    pons_ws_place_poll(f.place, 1000);
    pons_ws_place_poll(f.place, 9000);
    const char *first = strstr(f.notices, "sync-conflict");
    assert_non_null(first);
    assert_null(strstr(first + 1, "sync-conflict")); // once
    assert_non_null(strstr(f.notices, "conflicted copy"));
    folder_close(&f);
}

static void a_file_that_was_taken_away_comes_back(void **state)
{
    (void)state;
    folder f;
    folder_open(&f, PONS_WS_BY_HAL);
    char path[128];
    snprintf(path, sizeof path, "%s/ACTION.md", f.dir);
    assert_int_equal(unlink(path), 0);
    pons_ws_place_poll(f.place, 1000);
    pons_ws_place_poll(f.place, 1100);
    assert_int_equal(access(path, F_OK), 0);
    folder_close(&f);
}

static void two_places_of_one_folder(void **state)
{
    (void)state;
    folder f, g;
    folder_open(&f, PONS_WS_BY_HAL);
    g = f;
    open_place(&g, PONS_WS_BY_PLANNER);
    set_status(&f, "a2", "completed");
    set_status(&g, "a1", "cancelled");
    look(&f, PONS_WS_ACTION);
    assert_string_equal(status(&f, "a1"), "cancelled");
    assert_string_equal(status(&g, "a2"), "completed");
    assert_string_equal(f.commands, "");
    pons_ws_place_close(g.place);
    folder_close(&f);
}

// ---- the matrix ---------------------------------------------------------------------------------

static void the_matrix_is_walked(void **state)
{
    (void)state;
    //                                   planner critic hal   orch. runtime fleet person
    static const char *const may[PONS_WS_FILES][PONS_WS_ROLES] = {
        [PONS_WS_ENVIRONMENT] = {"R", "R", "RW", "R", "R", "R", "RW"},
        [PONS_WS_EMBODIED] = {"R", "R", "RW", "", "", "R", "RW"},
        [PONS_WS_ACTION] = {"RW", "R", "RW", "", "", "R", "RW"},
        [PONS_WS_SESSIONS] = {"RW", "", "", "RW", "RW", "R", "RW"},
        [PONS_WS_TARGETS] = {"R", "", "", "R", "R", "R", "RW"},
        [PONS_WS_SKILLS] = {"R", "", "", "R", "R", "R", "RW"},
        [PONS_WS_TASK] = {"RW", "R", "", "RW", "", "R", "RW"},
        [PONS_WS_ORCHESTRATOR] = {"", "", "", "RW", "", "R", "RW"},
        [PONS_WS_LESSONS] = {"R", "RW", "", "R", "RW", "R", "RW"},
        [PONS_WS_ROBOTS] = {"R", "", "", "R", "R", "RW", "RW"},
        [PONS_WS_SKILLRUNTIME] = {"R", "", "", "R", "R", "R", "RW"},
    };
    folder f;
    folder_open(&f, PONS_WS_BY_HAL);
    for (int role = 0; role < PONS_WS_ROLES; role++) {
        pons_ws_place *place = NULL;
        pons_error err = PONS_ERROR_INIT;
        const pons_ws_place_options o = {.role = (pons_ws_role)role};
        assert_int_equal(pons_ws_place_open(f.dir, &o, &place, &err), PONS_OK);
        for (int file = 0; file < PONS_WS_FILES; file++) {
            pons_autobuf text = PONS_BUF_INIT;
            pons_ws_doc *d = NULL;
            char path[128];
            pons_ws_template((pons_ws_file)file, PONS_WS_SEED, &text);
            put(&f, pons_ws_file_name((pons_ws_file)file), text.data);
            const bool r = strchr(may[file][role], 'R'), w = strchr(may[file][role], 'W');
            const int read = pons_ws_load((pons_ws_role)role, f.dir, (pons_ws_file)file, &d, &err);
            assert_int_equal(read, r ? PONS_OK : PONS_EREFUSED);
            pons_ws_destroy(d);
            const int wrote = pons_ws_write((pons_ws_role)role, f.dir, (pons_ws_file)file,
                                            "# written\n", 10, text.data, text.len, &err);
            assert_int_equal(wrote, w ? PONS_OK : PONS_EREFUSED);
            char *now = get(&f, pons_ws_file_name((pons_ws_file)file));
            assert_string_equal(now, w ? "# written\n" : text.data);
            free(now);
            const int changed = pons_ws_place_change(place, (pons_ws_file)file, NULL, 0, &err);
            assert_true(w ? changed != PONS_EREFUSED : changed == PONS_EREFUSED);
            snprintf(path, sizeof path, "%s/%s", f.dir, pons_ws_file_name((pons_ws_file)file));
            unlink(path);
        }
        pons_ws_place_close(place);
    }
    folder_close(&f);
}

// ---- editors ------------------------------------------------------------------------------------

typedef struct editor {
    const folder *f;
    bool in_place; // else it renames over
    int edits;
    atomic_bool done;
} editor;

static void save(const editor *e, const char *path, const char *text, int i)
{
    char temp[160];
    snprintf(temp, sizeof temp, "%s.edit%d", path, i);
    const int fd = e->in_place ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600)
                               : open(temp, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_true(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    if (!e->in_place) {
        assert_int_equal(rename(temp, path), 0);
    }
}

// Adds an action and a line of words each time, to what it reads then. A text that it finds empty or
// half (its own, being replaced) it reads again.
static void *edit(void *user)
{
    editor *e = user;
    char path[128], action[160], words[64];
    snprintf(path, sizeof path, "%s/ACTION.md", e->f->dir);
    for (int i = 0; i < e->edits;) {
        char *text = get(e->f, "ACTION.md");
        char *list = strstr(text, "\n]}"), *more = strstr(text, "More words.");
        if (list && more) {
            snprintf(action, sizeof action,
                     ",\n  {\"action_id\": \"e%d\", \"action_type\": \"stop\"}\n]}", i);
            snprintf(words, sizeof words, "Line %d.\nMore words.", i);
            char *one = edited(text, "\n]}", action);
            char *two = edited(one, "More words.", words);
            save(e, path, two, i);
            free(one);
            free(two);
            i++;
        }
        free(text);
    }
    e->done = true;
    return NULL;
}

static void run_editor(bool in_place)
{
    folder f;
    folder_open(&f, PONS_WS_BY_HAL);
    editor e = {.f = &f, .in_place = in_place, .edits = EDITS};
    pthread_t thread;
    set_status(&f, "a2", "completed");
    assert_int_equal(pthread_create(&thread, NULL, edit, &e), 0);
    struct timespec t;
    for (int k = 0; !e.done; k++) {
        clock_gettime(CLOCK_MONOTONIC, &t);
        pons_ws_place_poll(f.place, t.tv_sec * 1000 + t.tv_nsec / 1000000);
        set_status(&f, "a2", k % 2 ? "completed" : "failed"); // pons writes all the time
    }
    pthread_join(thread, NULL);
    clock_gettime(CLOCK_MONOTONIC, &t);
    pons_ws_place_poll(f.place, t.tv_sec * 1000 + 60000);
    pons_ws_place_poll(f.place, t.tv_sec * 1000 + 70000);
    char *text = get(&f, "ACTION.md");
    for (int i = 0; i < e.edits; i++) {
        char id[16], line[32];
        snprintf(id, sizeof id, "e%d", i);
        snprintf(line, sizeof line, "Line %d.\n", i);
        if (strcmp(status(&f, id), "pending") != 0 || !strstr(text, line)) {
            fail_msg("edit %d is lost\n%s", i, text);
        }
    }
    assert_int_equal(strncmp(text, "# Mine\n\nWords.\n\n```json\n", 24), 0);
    free(text);
    folder_close(&f);
}

static void an_editor_that_writes_in_place(void **state)
{
    (void)state;
    run_editor(true);
}

static void an_editor_that_renames_over(void **state)
{
    (void)state;
    run_editor(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_edit_becomes_a_command),
        cmocka_unit_test(an_edit_is_a_command_once),
        cmocka_unit_test(what_runs_is_nobody_elses),
        cmocka_unit_test(an_old_text_is_no_loss),
        cmocka_unit_test(a_deletion_needs_a_stamp),
        cmocka_unit_test(what_cannot_be_read_is_not_overwritten),
        cmocka_unit_test(a_late_write_into_the_old_file_counts),
        cmocka_unit_test(conflict_copies_are_told_only),
        cmocka_unit_test(a_file_that_was_taken_away_comes_back),
        cmocka_unit_test(two_places_of_one_folder),
        cmocka_unit_test(the_matrix_is_walked),
        cmocka_unit_test(an_editor_that_writes_in_place),
        cmocka_unit_test(an_editor_that_renames_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
