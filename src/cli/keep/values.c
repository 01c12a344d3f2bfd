// values.c - which names there are of a kind: for what a shell completes (`pons help --values KIND`), and for what was
// probably meant by one that there is not.
//
// Nothing is made or written for it, and what cannot be read has no names.
#include "cli/commands.h"
#include "cli/run/places.h"
#include "cli/run/schedules.h"
#include "pons/config_file.h"
#include "pons/items.h"
#include "pons/meant.h"
#include "pons/module.h"
#include "pons/protect.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static void add(pons_value *names, const char *name, size_t n)
{
    size_t i;
    json_t *had;
    pons_autovalue text = json_stringn(name, n);
    json_array_foreach(names, i, had)
    {
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
            add(names, name + head, len - head - tail);
        }
        free(found[i]);
    }
    free(found);
}

static void add_texts(pons_value *names, const char *const *texts)
{
    for (; *texts; texts++) {
        add(names, *texts, strlen(*texts));
    }
}

// ---- the kinds ----------------------------------------------------------------------------------

static int add_thread(void *user, const pons_thread_info *info)
{
    add(user, info->thread, strlen(info->thread));
    return 0;
}

static void threads(cli *c, pons_value *names)
{
    pons_store store = {0};
    pons_error none = PONS_ERROR_INIT;
    if (cli_store_read(c, &store, &none) >= 0) {
        store.ops->threads(store.self, add_thread, names, &none);
    }
    pons_store_close(&store);
}

static void keys(cli *c, const char *space, pons_value *names)
{
    pons_items it = {.clock = pons_clock_real()};
    pons_error none = PONS_ERROR_INIT;
    pons_autovalue all = NULL;
    if (cli_store_read(c, &it.store, &none) >= 0) {
        pons_items_search(&it, &(pons_items_query){.prefix = space, .limit = -1}, &all, &none);
    }
    for (size_t i = json_array_size(all); i-- > 0;) {
        const char *key = pons_get_str(json_array_get(all, i), "key", "");
        add(names, key, strlen(key));
    }
    pons_store_close(&it.store);
}

static void places(cli *c, pons_value *names)
{
    char space[64];
    cli_places_space(c, space);
    keys(c, space, names);
}

static void schedules(cli *c, pons_value *names)
{
    char space[64];
    cli_schedules_space(c, space);
    keys(c, space, names);
}

// YAML files of a folder of the workspace, and of what pons ships.
static void of_folder(const cli *c, const char *folder, pons_value *names)
{
    char dir[PATH_MAX + 32];
    pons_error none = PONS_ERROR_INIT;
    snprintf(dir, sizeof dir, "%s/%s", c->workspace, folder);
    add_files(names, dir, "", ".yaml");
    if (pons_share_path(folder, dir, PATH_MAX, &none) >= 0) {
        add_files(names, dir, "", ".yaml");
    }
}

static void worlds(cli *c, pons_value *names)
{
    of_folder(c, "worlds", names);
}

static void scenarios(cli *c, pons_value *names)
{
    static const char *const all[] = {"all", NULL};
    add_texts(names, all);
    of_folder(c, "scenarios", names);
}

static void modules(const cli *c, const char *before, pons_value *names)
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

static void drivers(cli *c, pons_value *names)
{
    static const char *const built_in[] = {"kinematic", NULL};
    modules(c, "driver-", names);
    add_texts(names, built_in);
}

static void graphs(cli *c, pons_value *names)
{
    static const char *const built_in[] = {"kernel", "react", "agent", NULL};
    add_texts(names, built_in);
    modules(c, "graph-", names);
}

static void logs(cli *c, pons_value *names)
{
    add_files(names, c->run_dir, "", ".log");
}

static void configs(cli *c, pons_value *names)
{
    (void)c;
    for (const char *name; (name = cli_config_name(json_array_size(names)));) {
        add(names, name, strlen(name));
    }
}

static void modes(cli *c, pons_value *names)
{
    static const char *const all[] = {"values", "updates",     "messages", "custom",
                                      "tasks",  "checkpoints", "debug",    NULL};
    (void)c;
    add_texts(names, all);
}

static void priorities(cli *c, pons_value *names)
{
    static const char *const all[] = {"background", "user", "urgent", NULL};
    (void)c;
    add_texts(names, all);
}

static void dialects(cli *c, pons_value *names)
{
    static const char *const all[] = {"seed", "paos1", "paos2", NULL};
    (void)c;
    add_texts(names, all);
}

static void shells(cli *c, pons_value *names)
{
    static const char *const all[] = {"bash", "zsh", "fish", NULL};
    (void)c;
    add_texts(names, all);
}

static const struct kind {
    const char *name;
    void (*add)(cli *c, pons_value *names);
} kinds[] = {
    {"threads", threads},       {"places", places},
    {"schedules", schedules},   {"worlds", worlds},
    {"scenarios", scenarios},   {"drivers", drivers},
    {"graphs", graphs},         {"logs", logs},
    {"configs", configs},       {"modes", modes},
    {"priorities", priorities}, {"dialects", dialects},
    {"shells", shells},
};

// ---- who asks -----------------------------------------------------------------------------------

pons_value *cli_values(cli *c, const char *kind)
{
    pons_value *names = json_array();
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].name, kind) == 0) {
            kinds[i].add(c, names);
        }
    }
    return names;
}

int cli_help_values(cli *c, const char *kind, pons_error *err)
{
    pons_autovalue names = cli_values(c, kind);
    size_t i;
    json_t *name;
    (void)err;
    json_array_foreach(names, i, name)
    {
        cli_out("%s\n", json_string_value(name));
    }
    return PONS_OK;
}

int cli_no_such(cli *c, const char *kind, const char *what, const char *name, pons_error *err)
{
    pons_autovalue names = cli_values(c, kind);
    pons_meant meant = pons_meant_of(name, strlen(name));
    char all[PONS_ERROR_MESSAGE_MAX / 2] = "";
    size_t i, used = 0;
    json_t *one;
    json_array_foreach(names, i, one)
    {
        const char *text = json_string_value(one);
        pons_meant_try(&meant, text, strlen(text));
        used += used < sizeof all ? (size_t)snprintf(all + used, sizeof all - used, "%s%s",
                                                     used ? ", " : "", text)
                                  : 0;
    }
    return meant.best
               ? cli_bad(err, "there is no %s '%s', did you mean '%s'?", what, name, meant.best)
           : used < sizeof all && used > 0
               ? cli_bad(err, "there is no %s '%s'; there are: %s", what, name, all)
               : cli_bad(err, "there is no %s '%s'", what, name);
}
