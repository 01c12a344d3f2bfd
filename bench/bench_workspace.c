// bench_workspace.c - protocol files that others write in. One JSON object a line; arguments choose benches
// by the beginning of their names.
//
//   workspace.lost.in_place   edits lost of 10,000: an editor that writes in place adds an action each
//                             time, while pons takes out each one that it has seen, and writes
//   workspace.lost.rename     the same by an editor that renames over
//   workspace.outside         bytes outside the fence that are not as they were, after both
//   workspace.claim           ms: a SESSIONS.md of 1,000 read, its first pending one made running, rendered
//   workspace.saved           ms from an edit's rename to its command, p99 of 200
#include "bench.h"
#include "pons/out_of_memory.h"
#include "pons/workspace.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

enum { EDITS = 10000, SESSIONS = 1000, SAVES = 200, PACE_US = 5000, TEXT_MAX = 1 << 20 };

#define HEAD "# Mine\n\nWords before.\n\n```json\n"
#define TAIL "```\n\nWords behind.\n"

typedef struct edits {
    char path[128], temp[160];
    bool in_place;
    atomic_bool done;
    char seen[EDITS]; // commands of each
    double at_s;      // of the newest command
    atomic_int waiting;
} edits;

static char folder[64];
static int how_many = EDITS; // PONS_BENCH_EDITS=N: fewer

static char *read_text(const char *path) // free()
{
    char *text = calloc(1, TEXT_MAX);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = 0, at = 0;
    while (fd >= 0 && (n = read(fd, text + at, (size_t)(TEXT_MAX - 1 - at))) > 0) {
        at += n;
    }
    if (fd >= 0) {
        close(fd);
    }
    return text;
}

static void save(const edits *e, const char *text)
{
    const char *path = e->in_place ? e->path : e->temp;
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) {
        perror(path);
        exit(1);
    }
    close(fd);
    if (!e->in_place && rename(e->temp, e->path) < 0) {
        perror(e->path);
        exit(1);
    }
}

// One action more in what the file says now; false: it is being written.
static bool edit_once(const edits *e, int i)
{
    char *text = read_text(e->path);
    char *list = strstr(text, "\"queue\": ["), *tail = strstr(text, "Words behind.");
    char *end = list ? strchr(list, '[') + 1 : NULL;
    char *out = calloc(1, TEXT_MAX);
    if (list && tail) {
        const char *rest = end + strspn(end, " \n");
        snprintf(out, TEXT_MAX, "%.*s\n  {\"action_id\": \"e%d\", \"action_type\": \"stop\"}%s%s",
                 (int)(end - text), text, i, *rest == ']' ? "\n" : ",\n  ", rest);
        save(e, out);
    }
    free(text);
    free(out);
    return list && tail;
}

static void *editor(void *user)
{
    edits *e = user;
    for (int i = 0; i < how_many;) {
        i += edit_once(e, i);
        usleep(PACE_US);
    }
    e->done = true;
    return NULL;
}

static void on_command(void *user, pons_ws_file file, const pons_ws_command *c)
{
    edits *e = user;
    int i;
    (void)file;
    if (!c->refused && !c->before && sscanf(c->id, "e%d", &i) == 1 && i >= 0 && i < EDITS) {
        e->seen[i]++;
        e->at_s = bench_now_s();
        e->waiting = 0;
    }
}

static void make_file(const edits *e)
{
    FILE *f = fopen(e->path, "w");
    if (!f || fputs(HEAD "{\"queue\": []}\n" TAIL, f) < 0 || fclose(f) != 0) {
        perror(e->path);
        exit(1);
    }
}

static pons_ws_place *place_of(edits *e)
{
    pons_ws_place *p = NULL;
    pons_error err = PONS_ERROR_INIT;
    const pons_ws_place_options o = {.role = PONS_WS_BY_HAL, .command = on_command, .user = e};
    bench_must(pons_ws_place_open(folder, &o, &p, &err), &err);
    return p;
}

// What was seen goes out of the file again: it stays small, and pons writes all the time.
static void take_out(pons_ws_place *p)
{
    size_t n, k = 0;
    const pons_ws_record *r = pons_ws_records(pons_ws_place_doc(p, PONS_WS_ACTION), &n);
    pons_ws_change *c = calloc(n + 1, sizeof *c);
    char(*ids)[32] = calloc(n + 1, sizeof *ids);
    for (; k < n; k++) {
        snprintf(ids[k], sizeof ids[k], "%s", r[k].id);
        c[k] = (pons_ws_change){"action", ids[k], NULL};
    }
    pons_error err = PONS_ERROR_INIT;
    if (n) {
        pons_ws_place_change(p, PONS_WS_ACTION, c, n, &err);
    }
    free(ids);
    free(c);
}

static void lost(const char *name, bool in_place, size_t *outside)
{
    edits *e = calloc(1, sizeof *e);
    pthread_t thread;
    e->in_place = in_place;
    snprintf(e->path, sizeof e->path, "%s/ACTION.md", folder);
    snprintf(e->temp, sizeof e->temp, "%s/editors.tmp", folder);
    make_file(e);
    pons_ws_place *p = place_of(e);
    pthread_create(&thread, NULL, editor, e);
    while (!e->done) {
        pons_ws_place_poll(p, (int64_t)(bench_now_s() * 1000));
        take_out(p);
    }
    pthread_join(thread, NULL);
    for (int i = 0; i < 100; i++) { // what was written late, and what came while that was looked at
        pons_ws_place_poll(p, (int64_t)(bench_now_s() * 1000) + (i + 1) * 10000);
        take_out(p);
    }
    int gone = 0, twice = 0;
    for (int i = 0; i < how_many; i++) {
        gone += e->seen[i] == 0;
        twice += e->seen[i] > 1;
    }
    char *text = read_text(e->path);
    *outside += strncmp(text, HEAD, strlen(HEAD)) != 0 || !strstr(text, TAIL);
    if (twice) {
        fprintf(stderr, "%s: %d edits were commands more than once\n", name, twice);
    }
    char unit[32];
    snprintf(unit, sizeof unit, "edits of %d", how_many);
    bench_print(name, gone, unit);
    free(text);
    pons_ws_place_close(p);
    free(e);
}

static void claim(void)
{
    pons_buf text = PONS_BUF_INIT;
    pons_buf_str(&text, "# Sessions\n\n```yaml\nsessions:\n");
    for (int i = 0; i < SESSIONS; i++) {
        pons_buf_printf(
            &text,
            "  - session_id: sess_pick_%d\n    target_ref: \"sim\"\n    skill_ref: "
            "\"pick\"\n    status: pending\n    priority: high\n    timeouts:\n      "
            "session: 120\n      skill: 60\n    retry:\n      max_attempts: 3\n      "
            "backoff: \"exponential\"\n    execution:\n      params:\n        object_id: "
            "\"apple_01\"\n    created_at: \"2025-04-01T12:00:00Z\"\n",
            i);
    }
    pons_buf_str(&text, "```\n");
    double best = 1e9;
    for (int round = 0; round < 20; round++) {
        pons_ws_doc *d = NULL;
        pons_error err = PONS_ERROR_INIT;
        pons_buf out = PONS_BUF_INIT;
        const double from = bench_cpu_s();
        bench_must(pons_ws_read(PONS_WS_SESSIONS, text.data, text.len, "SESSIONS.md", &d, &err),
                   &err);
        pons_value *v = json_copy(pons_ws_find(d, "session", "sess_pick_0")->value);
        json_object_set_new(v, "status", json_string("running"));
        const pons_ws_change c = {"session", "sess_pick_0", v};
        bench_must(pons_ws_render(d, &c, 1, 7, &out, &err), &err);
        const double ms = (bench_cpu_s() - from) * 1000;
        best = ms < best ? ms : best;
        json_decref(v);
        pons_ws_destroy(d);
        pons_buf_fini(&out);
    }
    bench_print("workspace.claim", best, "ms");
    pons_buf_fini(&text);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void saved(void)
{
    edits *e = calloc(1, sizeof *e);
    double ms[SAVES];
    snprintf(e->path, sizeof e->path, "%s/ACTION.md", folder);
    snprintf(e->temp, sizeof e->temp, "%s/editors.tmp", folder);
    make_file(e);
    pons_ws_place *p = place_of(e);
    for (int i = 0; i < SAVES; i++) {
        take_out(p);
        while (!edit_once(e, i)) {
        }
        const double from = bench_now_s();
        e->waiting = 1;
        while (e->waiting) {
            struct pollfd fd = {.fd = pons_ws_place_fd(p), .events = POLLIN};
            poll(&fd, 1, pons_ws_place_poll(p, (int64_t)(bench_now_s() * 1000)));
        }
        ms[i] = (e->at_s - from) * 1000;
    }
    qsort(ms, SAVES, sizeof *ms, by_value);
    bench_print("workspace.saved", ms[SAVES * 99 / 100], "ms");
    pons_ws_place_close(p);
    free(e);
}

int main(int argc, char **argv)
{
    size_t outside = 0;
    char command[96];
    pons_value_init();
    pons_memory_of_a_process();
    const char *fewer = getenv("PONS_BENCH_EDITS");
    how_many = fewer && atoi(fewer) > 0 && atoi(fewer) < EDITS ? atoi(fewer) : EDITS;
    snprintf(folder, sizeof folder, "/tmp/pons-bench-XXXXXX");
    if (!mkdtemp(folder)) {
        perror(folder);
        return 1;
    }
    if (bench_wants(argc, argv, "workspace.claim")) {
        claim();
    }
    if (bench_wants(argc, argv, "workspace.saved")) {
        saved();
    }
    if (bench_wants(argc, argv, "workspace.lost") || bench_wants(argc, argv, "workspace.outside")) {
        lost("workspace.lost.in_place", true, &outside);
        lost("workspace.lost.rename", false, &outside);
        bench_print("workspace.outside", (double)outside, "files");
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) == 0 ? 0 : 1;
}
