// builtin_names.c - the names of a kind that are files or words of pons's own, and what was probably meant by one that there is
// not. Which names a store has is completion_values.c's.
//
// What cannot be read has no names.
#include "app/workspace/context.h"
#include "pons/module.h"
#include "pons/protected_files.h"
#include "pons/spelling.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

void app_name_add(pons_value *names, const char *name, size_t n)
{
    pons_autovalue text = json_stringn(name, n);
    pons_each(had, names) {
        if (!text || json_equal(had, text)) {
            return;
        }
    }
    json_array_append(names, text);
}

// The files of a folder that are called so, without what is before and behind the name.
static void add_files(pons_value *names, const char *dir, const char *before, const char *behind)
{
    struct dirent **found = NULL;
    const int n = scandir(dir, &found, NULL, alphasort);
    const size_t head = strlen(before), tail = strlen(behind);
    for (int i = 0; i < n; i++) {
        const char *name = found[i]->d_name;
        const size_t len = strlen(name);
        if (*name != '.' && len > head + tail && strncmp(name, before, head) == 0 &&
            strcmp(name + len - tail, behind) == 0) {
            app_name_add(names, name + head, len - head - tail);
        }
        free(found[i]);
    }
    free(found);
}

static void add_texts(pons_value *names, const char *const *texts)
{
    for (; *texts; texts++) {
        app_name_add(names, *texts, strlen(*texts));
    }
}

// ---- the kinds ----------------------------------------------------------------------------------

// YAML files of a folder of the workspace, and of what pons ships.
static void of_folder(const app_context *c, const char *folder, pons_value *names)
{
    char dir[PATH_MAX + 32];
    pons_error none = PONS_ERROR_INIT;
    snprintf(dir, sizeof dir, "%s/%s", c->workspace, folder);
    add_files(names, dir, "", ".yaml");
    if (pons_share_path(folder, dir, PATH_MAX, &none) >= 0) {
        add_files(names, dir, "", ".yaml");
    }
}

static void worlds(const app_context *c, pons_value *names)
{
    of_folder(c, "worlds", names);
}

static void scenarios(const app_context *c, pons_value *names)
{
    static const char *const all[] = {"all", NULL};
    add_texts(names, all);
    of_folder(c, "scenarios", names);
}

static void modules(const app_context *c, const char *before, pons_value *names)
{
    static const char *const below[] = {"lib/pons", "../lib/pons"};
    char dir[PATH_MAX + 32];
    for (size_t i = 0; i < sizeof below / sizeof below[0]; i++) {
        snprintf(dir, sizeof dir, "%s/%s", pons_exe_dir(), below[i]);
        add_files(names, dir, before, ".so");
    }
    snprintf(dir, sizeof dir, "%s/" PONS_DIR_LIB, c->workspace);
    add_files(names, dir, before, ".so");
}

static void drivers(const app_context *c, pons_value *names)
{
    static const char *const built_in[] = {"kinematic", NULL};
    modules(c, "driver-", names);
    add_texts(names, built_in);
}

static void graphs(const app_context *c, pons_value *names)
{
    static const char *const built_in[] = {"kernel", "react", "agent", NULL};
    add_texts(names, built_in);
    modules(c, "graph-", names);
}

static void logs(const app_context *c, pons_value *names)
{
    add_files(names, c->run_dir, "", ".log");
}

static void modes(const app_context *c, pons_value *names)
{
    static const char *const all[] = {"values", "updates",     "messages", "custom",
                                      "tasks",  "checkpoints", "debug",    NULL};
    add_texts(names, all);
}

static void priorities(const app_context *c, pons_value *names)
{
    static const char *const all[] = {"background", "user", "urgent", NULL};
    add_texts(names, all);
}

static void dialects(const app_context *c, pons_value *names)
{
    static const char *const all[] = {"seed", "paos1", "paos2", NULL};
    add_texts(names, all);
}

static void shells(const app_context *c, pons_value *names)
{
    static const char *const all[] = {"bash", "zsh", "fish", NULL};
    add_texts(names, all);
}

static const struct kind {
    const char *name;
    void (*add)(const app_context *c, pons_value *names);
} kinds[] = {
    {"worlds", worlds},         {"scenarios", scenarios}, {"drivers", drivers},
    {"graphs", graphs},         {"logs", logs},           {"modes", modes},
    {"priorities", priorities}, {"dialects", dialects},   {"shells", shells},
};

// ---- who asks -----------------------------------------------------------------------------------

pons_value *app_shipped(const app_context *c, const char *kind)
{
    pons_value *names = json_array();
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].name, kind) == 0) {
            kinds[i].add(c, names);
        }
    }
    return names;
}

int app_no_such_of(const pons_value *names, const char *what, const char *name, pons_error *err)
{
    pons_meant meant = pons_meant_of(name, strlen(name));
    char all[PONS_ERROR_MESSAGE_MAX / 2] = "";
    size_t used = 0;
    pons_each(one, names) {
        const char *text = json_string_value(one);
        pons_meant_try(&meant, text, strlen(text));
        used += used < sizeof all ? (size_t)snprintf(all + used, sizeof all - used, "%s%s",
                                                     used ? ", " : "", text)
                                  : 0;
    }
    return meant.best
               ? app_bad(err, "there is no %s '%s', did you mean '%s'?", what, name, meant.best)
           : used < sizeof all && used > 0
               ? app_bad(err, "there is no %s '%s'; there are: %s", what, name, all)
               : app_bad(err, "there is no %s '%s'", what, name);
}

int app_no_such(const app_context *c, const char *kind, const char *what, const char *name,
                pons_error *err)
{
    pons_autovalue names = app_shipped(c, kind);
    return app_no_such_of(names, what, name, err);
}
