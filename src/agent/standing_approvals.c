// standing_approvals.c - "always allow this": what a person has agreed to for the rest of a session.
//
// An agreement is an item of the store (pons/items.h), agent.allowed SESSION:HASH, so it is there
// before the call that it was given for runs, after any restart, and for whoever wants to see it or
// take it back, while the session runs or not. It is for a call with the very arguments that were
// shown, or for all calls of a tool; a command only word for word, for a prefix of a command allows
// what nobody thought of. It holds where it was given: the same words in another folder do something
// else. A session that begins anew under an old name has none of the old one's. What is blocked, and
// what the critic refuses, stays so.
#include "agent/standing_approvals.h"

#include "agent/session.h"
#include "pons/items.h"

#include <stdlib.h>
#include <string.h>

#define SPACE    "agent.allowed"
#define ALL      (-1)
#define HASH_HEX 33

static pons_items items_of(pons_store store, const pons_clock *clock)
{
    return (pons_items){.store = store, .clock = clock ? *clock : pons_clock_real()};
}

static int key_of(const pons_agent *a, const char *tool, const pons_value *args, char *ret,
                  size_t cap, pons_error *err)
{
    char hash[HASH_HEX];
    pons_autovalue what =
        pons_object("tool", json_string(tool), "args", args ? pons_value_ref(args) : json_null(),
                    "place", a->place ? json_string(a->place) : NULL, NULL);
    if (!what) {
        return pons_error_set(err, PONS_ENOMEM, PONS__AGENT, "no memory to remember a leave");
    }
    pons_value_hash(what, hash);
    snprintf(ret, cap, "%s:%s", a->thread_id, hash);
    return PONS_OK;
}

static bool is_there(const pons_agent *a, const char *tool, const pons_value *args)
{
    const pons_items it = items_of(a->opts.store, &a->opts.clock);
    char key[PONS_NAME_MAX + HASH_HEX + 1];
    pons_error ignored = PONS_ERROR_INIT;
    pons_autovalue found = NULL;
    if (key_of(a, tool, args, key, sizeof key, &ignored) < 0 ||
        pons_items_get(&it, SPACE, key, &found, &ignored) < 0) {
        return false;
    }
    const pons_value *v = pons_get(found, "value"), *kept = pons_get(v, "input");
    return strcmp(pons_get_str(v, "tool", ""), tool) == 0 &&
           strcmp(pons_get_str(v, "place", ""), a->place ? a->place : "") == 0 &&
           (args ? json_equal(kept, args) : !kept || json_is_null(kept));
}

bool pons__allowed(const pons_agent *a, const char *tool, const pons_value *args)
{
    return is_there(a, tool, args) || is_there(a, tool, NULL);
}

pons_value *pons__pictures_server(const pons_agent *a)
{
    return pons_object("server", json_string(a->pictures_to), NULL);
}

bool pons__pictures_allowed(const pons_agent *a)
{
    pons_autovalue server = a->pictures_to ? pons__pictures_server(a) : NULL;
    return !server || pons__allowed(a, PONS__SEND_PICTURES, server);
}

int pons__allow(const pons_agent *a, const pons_value *question, const pons_value *always,
                pons_error *err)
{
    const pons_items it = items_of(a->opts.store, &a->opts.clock);
    const char *tool = pons_get_str(question, "tool", ""), *scope = json_string_value(always);
    const pons_value *args =
        scope && strcmp(scope, "tool") == 0 ? NULL : pons_get(question, "input");
    char key[PONS_NAME_MAX + HASH_HEX + 1];
    int rc = key_of(a, tool, args, key, sizeof key, err);
    if (rc < 0) {
        return rc;
    }
    pons_autovalue v = pons_object("session", json_string(a->thread_id), "tool", json_string(tool),
                                   "input", args ? pons_value_ref(args) : NULL, "place",
                                   a->place ? json_string(a->place) : NULL, "at_ms",
                                   json_integer(pons_wall_ms(&a->opts.clock)), NULL);
    return pons_items_put(&it, SPACE, key, v, NULL, err);
}

int pons_agent_allowed(pons_store store, const char *thread, pons_value **ret, pons_error *err)
{
    const pons_items it = items_of(store, NULL);
    pons_autovalue filter = pons_object("session", json_string(thread), NULL);
    pons_autovalue found = NULL;
    const pons_items_query q = {.prefix = SPACE, .filter = filter, .limit = ALL};
    const int rc = pons_items_search(&it, &q, &found, err);
    if (rc < 0) {
        return rc;
    }
    pons_value *list = json_array();
    pons_each(item, found) {
        const pons_value *v = pons_get(item, "value");
        const char *key = pons_get_str(item, "key", ""), *colon = strrchr(key, ':');
        json_array_append_new(
            list,
            pons_object("id", json_string(colon ? colon + 1 : key), "tool",
                        pons_value_ref(pons_get(v, "tool")), "input",
                        pons_get(v, "input") ? pons_value_ref(pons_get(v, "input")) : NULL, "place",
                        pons_get(v, "place") ? pons_value_ref(pons_get(v, "place")) : NULL, "at_ms",
                        pons_value_ref(pons_get(v, "at_ms")), NULL));
    }
    *ret = list;
    return PONS_OK;
}

int pons_agent_revoke(pons_store store, const char *thread, const char *id, pons_error *err)
{
    const pons_items it = items_of(store, NULL);
    pons_autovalue list = NULL;
    int rc = pons_agent_allowed(store, thread, &list, err);
    for (size_t i = 0; rc >= 0 && i < json_array_size(list); i++) {
        const char *known = pons_get_str(json_array_get(list, i), "id", "");
        if (strcmp(known, id) == 0) {
            char key[PONS_NAME_MAX + HASH_HEX + 1];
            snprintf(key, sizeof key, "%s:%s", thread, known);
            return pons_items_delete(&it, SPACE, key, err);
        }
    }
    return rc < 0 ? rc
                  : pons_error_set(err, PONS_ENOTFOUND, PONS__AGENT,
                                   "%s has allowed nothing as %.40s", thread, id);
}

int pons__allowed_nothing(const pons_agent *a, pons_error *err)
{
    pons_autovalue list = NULL;
    int rc = pons_agent_allowed(a->opts.store, a->thread_id, &list, err);
    for (size_t i = 0; rc >= 0 && i < json_array_size(list); i++) {
        rc = pons_agent_revoke(a->opts.store, a->thread_id,
                               pons_get_str(json_array_get(list, i), "id", ""), err);
        rc = rc == PONS_ENOTFOUND ? PONS_OK : rc; // somebody else took it back
    }
    return rc;
}
