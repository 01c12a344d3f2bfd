// graph_modules.c - graphs of a person's own: their modules, and the threads that they run.
//
// Which graph a thread is run by is in its first event, graph.started; a thread keeps it.
#include "app/workspace/context.h"
#include "pons/module.h"
#include "pons/protected_files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_PER_READ 200
#define PREFIX          "graph-"
#define SUFFIX          ".so"
#define ROOT            ""

static int find_started(void *user, const pons_event_row *row)
{
    pons_autovalue payload = NULL;
    if (strcmp(row->type, APP_GRAPH_STARTED) != 0 ||
        pons_value_read(row->payload.data, row->payload.len, &payload, NULL) < 0) {
        return 0;
    }
    snprintf(user, PATH_MAX, "%s", pons_get_str(payload, "graph", ""));
    return 1; // the first one: a thread keeps its graph
}

// A thread's graph, from the first page of its log: graph.started is the first event.
bool app_graph_name(pons_store store, const char *thread, char ret[PATH_MAX])
{
    pons_error none = PONS_ERROR_INIT;
    *ret = '\0';
    store.ops->events(store.self, thread, 0, EVENTS_PER_READ, find_started, ret, &none);
    return *ret != '\0';
}

bool app_graph_of(pons_store store, const char *thread)
{
    char name[PATH_MAX];
    return app_graph_name(store, thread, name);
}

// "a/graph-x.so" as its directory and "x".
bool app_graph_module(const char *path, char *dir, size_t dir_cap, char *bare, size_t bare_cap)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    const size_t n = strlen(file), around = strlen(PREFIX) + strlen(SUFFIX);
    if (strncmp(file, PREFIX, strlen(PREFIX)) != 0 || n <= around ||
        strcmp(file + n - strlen(SUFFIX), SUFFIX) != 0 || n - around >= bare_cap) {
        return false;
    }
    snprintf(bare, bare_cap, "%.*s", (int)(n - around), file + strlen(PREFIX));
    const int d = slash ? snprintf(dir, dir_cap, "%.*s", (int)(slash - path), path)
                        : snprintf(dir, dir_cap, ".");
    return d < (int)dir_cap;
}

int app_graph_load(const char *name, const pons_graph_module **ret_module, pons_graph **ret,
                   pons_error *err)
{
    char dir[PATH_MAX], bare[PONS_NAME_MAX];
    const void *ops = NULL;
    if (strchr(name, '/') || strstr(name, SUFFIX)) {
        if (!app_graph_module(name, dir, sizeof dir, bare, sizeof bare)) {
            return pons_error_set(err, PONS_EINVAL, "graph",
                                  "a graph's module is a file graph-NAME.so, not %s", name);
        }
        // The loader looks in directories; this one comes first from now on.
        const char *path = getenv("PONS_MODULE_PATH");
        char all[PATH_MAX * 2];
        snprintf(all, sizeof all, "%s%s%s", dir, path ? ":" : "", path ? path : "");
        setenv("PONS_MODULE_PATH", all, 1);
        name = bare;
    }
    int rc = pons_module_load_of("graph", name, PONS_GRAPH_MODULE_ABI, &ops, err);
    if (rc == PONS_ENOTFOUND) { // and no word of where it was not: that is for who writes modules
        app_context c = {0};
        return app_no_such(&c, "graphs", "graph", name, err);
    }
    if (rc < 0) {
        return rc;
    }
    const pons_graph_module *module = ops;
    *ret_module = module;
    return module->build(ret, err);
}

static int no_row(void *user, const pons_checkpoint_row *row)
{
    return 1;
}

int app_graph_fork(pons_store store, const char *from, const char *at, const char *to,
                   pons_error *err)
{
    char name[PATH_MAX];
    const pons_graph_module *module = NULL;
    pons_graph *graph = NULL;
    pons_thread *t = NULL;
    pons_run *run = NULL;
    app_graph_name(store, from, name);
    if (at && store.ops->checkpoint(store.self, from, ROOT, at, no_row, NULL, err) < 0) {
        return err->status;
    }
    int rc = at ? app_graph_load(name, &module, &graph, err) : PONS_OK;
    rc = rc < 0 ? rc : pons_state_copy(store, from, to, err);
    const bool made = rc >= 0;
    if (rc >= 0 && at) {
        rc = pons_thread_open(store, to, &(pons_thread_options){.clock = pons_clock_real()}, &t,
                              err);
        rc = rc < 0 ? rc : pons_run_fork(t, graph, ROOT, at, NULL, NULL, &run, err);
    }
    pons_run_destroy(run);
    pons_thread_close(t);
    pons_graph_destroy(graph);
    if (rc < 0 && made) {
        pons_error none = PONS_ERROR_INIT;
        store.ops->thread_delete(store.self, to, &none);
    }
    return rc;
}

static void add_modules(pons_value *names, const char *dir)
{
    DIR *d = opendir(dir);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        char where[PATH_MAX], name[PONS_NAME_MAX];
        if (app_graph_module(e->d_name, where, sizeof where, name, sizeof name)) {
            json_object_set_new(names, name, json_true());
        }
    }
    if (d) {
        closedir(d);
    }
}

pons_value *app_graph_modules(const app_context *c)
{
    pons_value *names = json_object();
    const char *path = getenv("PONS_MODULE_PATH");
    char dir[PATH_MAX];
    while (path && *path) {
        const size_t n = strcspn(path, ":");
        snprintf(dir, sizeof dir, "%.*s", (int)n, path);
        add_modules(names, dir);
        path += n + (path[n] == ':');
    }
    static const char *const below[] = {"lib/pons", "../lib/pons"};
    for (size_t i = 0; i < sizeof below / sizeof below[0]; i++) {
        snprintf(dir, sizeof dir, "%s/%s", pons_exe_dir(), below[i]);
        add_modules(names, dir);
    }
    const int own = snprintf(dir, sizeof dir, "%s/" PONS_DIR_LIB, c->workspace);
    if (own < (int)sizeof dir) {
        add_modules(names, dir);
    }
    return names;
}
