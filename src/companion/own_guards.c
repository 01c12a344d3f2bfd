// own_guards.c - guards that a world view adds to the tree's, of those that there are:
//
//     conditions:
//       - {id: IsNightSoft, any: [IsNight, InWindow(evening), EnergyBelow(20)]}
//       - {id: MayPlay, all: [Idle, not IsSchoolDay]}
#include "companion/own_guards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    char takes; // i an id, n a number, 0 nothing; a: an action, which is no guard
} leaves[] = {{"IsMorning", 0},       {"IsNight", 0},
              {"IsSchoolDay", 0},     {"IsSleeping", 0},
              {"NotSleeping", 0},     {"Idle", 0},
              {"AtPlace", 'i'},       {"InWindow", 'i'},
              {"OutsideWindow", 'i'}, {"EnergyBelow", 'n'},
              {"MessageWaiting", 0},  {"MessageMayInterrupt", 'a'}, // it is told when it may not
              {"ModelMayBeAsked", 0}, {"Start", 'a'},
              {"Suggest", 'a'},       {"StartSuggested", 'a'},
              {"Continue", 'a'},      {"Branch", 'a'}};

static int leaf_of(const char *name)
{
    for (int i = 0; i < (int)(sizeof leaves / sizeof *leaves); i++) {
        if (strcmp(leaves[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

bool pons__co_own_leaf(const char *name)
{
    return leaf_of(name) >= 0;
}

bool pons__co_guard_read(const char *text, pons__co_guard *ret, char *ret_why, size_t cap)
{
    *ret = (pons__co_guard){.negated = strncmp(text, "not ", 4) == 0};
    const char *at = text + (ret->negated ? 4 : 0);
    const size_t name = strcspn(at, "(");
    const char *end = at + strlen(at);
    const bool takes = at[name] == '(';
    const size_t arg = takes ? strcspn(at + name + 1, ")") : 0;
    if (name == 0 || name >= sizeof ret->name || arg >= sizeof ret->arg ||
        (takes && at + name + 1 + arg + 1 != end)) {
        snprintf(ret_why, cap, "'%.60s' is no guard, like IsNight, not Idle or AtPlace(home)",
                 text);
        return false;
    }
    memcpy(ret->name, at, name);
    memcpy(ret->arg, at + name + takes, arg);
    const int leaf = leaf_of(ret->name);
    char *rest = NULL;
    if (leaf < 0 || leaves[leaf].takes == 'a') {
        snprintf(ret_why, cap, "a companion has no guard '%s' to ask", ret->name);
        return false;
    }
    const char kind = leaves[leaf].takes;
    const bool number = arg > 0 && strtod(ret->arg, &rest) >= 0.0 && !*rest;
    if ((kind == 'i' && arg == 0) || (kind == 'n' && !number) || (!kind && takes)) {
        snprintf(ret_why, cap, "%s needs %s", ret->name,
                 kind == 'i'   ? "a name: (home)"
                 : kind == 'n' ? "a number: (20)"
                               : "nothing in brackets");
        return false;
    }
    return true;
}

const pons_value *pons__co_condition(const pons_world_view *v, const char *name)
{
    return pons_find(pons_get(v->doc, "conditions"), "id", name);
}
