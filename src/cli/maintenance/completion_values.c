// completion_values.c - which names there are of a kind, for what a shell completes (`pons help --values KIND`): those that
// builtin_names.c finds, and those that the workspace's store has.
//
// Nothing is made or written for it, and what cannot be read has no names.
#include "app/workspace/workspace_scope.h"
#include "cli/commands.h"
#include "pons/items.h"

#include <string.h>

// ---- the kinds ----------------------------------------------------------------------------------

static int add_thread(void *user, const pons_thread_info *info)
{
    app_name_add(user, info->thread, strlen(info->thread));
    return 0;
}

static void threads(cli *c, pons_value *names)
{
    pons_store store = {0};
    pons_error none = PONS_ERROR_INIT;
    if (app_store_read(&c->app, &store, &none) >= 0) {
        store.ops->threads(store.self, add_thread, names, &none);
    }
    pons_store_close(&store);
}

static void keys(cli *c, const char *space, pons_value *names)
{
    pons_items it = {.clock = pons_clock_real()};
    pons_error none = PONS_ERROR_INIT;
    pons_autovalue all = NULL;
    if (app_store_read(&c->app, &it.store, &none) >= 0) {
        pons_items_search(&it, &(pons_items_query){.prefix = space, .limit = -1}, &all, &none);
    }
    for (size_t i = json_array_size(all); i-- > 0;) {
        const char *key = pons_get_str(json_array_get(all, i), "key", "");
        app_name_add(names, key, strlen(key));
    }
    pons_store_close(&it.store);
}

static void places(cli *c, pons_value *names)
{
    char space[64];
    app_places_space(&c->app, space);
    keys(c, space, names);
}

static void schedules(cli *c, pons_value *names)
{
    char space[64];
    app_schedules_space(&c->app, space);
    keys(c, space, names);
}

static void configs(cli *c, pons_value *names)
{
    for (const char *name; (name = cli_config_name(json_array_size(names)));) {
        app_name_add(names, name, strlen(name));
    }
}

static const struct kind {
    const char *name;
    void (*add)(cli *c, pons_value *names);
} kinds[] = {
    {"threads", threads},
    {"places", places},
    {"schedules", schedules},
    {"configs", configs},
};

// ---- who asks -----------------------------------------------------------------------------------

int cli_help_values(cli *c, const char *kind, pons_error *err)
{
    pons_autovalue names = app_shipped(&c->app, kind);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].name, kind) == 0) {
            kinds[i].add(c, names);
        }
    }
    pons_each(name, names) {
        cli_out("%s\n", json_string_value(name));
    }
    return PONS_OK;
}
