// file_permissions.c - who may read and write which file: the table, and what of a file a role may change.
//
// R reads, W writes; W at EMBODIED is the HAL watchdog's at its start. What is pending is the
// Planner's, so a person's editor may add, change and cancel it; what runs belongs to who runs it.
#include "pons/workspace.h"

#include <string.h>

#define WHERE "workspace"

enum { R = 1, W = 2 };

// clang-format off
static const unsigned char matrix[PONS_WS_FILES][PONS_WS_ROLES] = {
    //                       Planner Critic HAL    Orch.  Runtime Fleet  Person
    [PONS_WS_ENVIRONMENT]  = {R,      R,     R | W, R,     R,      R,     R | W},
    [PONS_WS_EMBODIED]     = {R,      R,     R | W, 0,     0,      R,     R | W},
    [PONS_WS_ACTION]       = {R | W,  R,     R | W, 0,     0,      R,     R | W},
    [PONS_WS_SESSIONS]     = {R | W,  0,     0,     R | W, R | W,  R,     R | W},
    [PONS_WS_TARGETS]      = {R,      0,     0,     R,     R,      R,     R | W},
    [PONS_WS_SKILLS]       = {R,      0,     0,     R,     R,      R,     R | W},
    [PONS_WS_TASK]         = {R | W,  R,     0,     R | W, 0,      R,     R | W},
    [PONS_WS_ORCHESTRATOR] = {0,      0,     0,     R | W, 0,      R,     R | W},
    [PONS_WS_LESSONS]      = {R,      R | W, 0,     R,     R | W,  R,     R | W},
    [PONS_WS_ROBOTS]       = {R,      0,     0,     R,     R,      R | W, R | W},
    [PONS_WS_SKILLRUNTIME] = {R,      0,     0,     R,     R,      R,     R | W},
};
// clang-format on

static const char *const roles[PONS_WS_ROLES] = {
    "planner", "critic", "hal", "orchestrator", "runtime", "fleet", "person",
};

const char *pons_ws_role_name(pons_ws_role role)
{
    return roles[role];
}

bool pons_ws_may_read(pons_ws_role role, pons_ws_file file)
{
    return matrix[file][role] & R;
}

bool pons_ws_may_write(pons_ws_role role, pons_ws_file file)
{
    return matrix[file][role] & W;
}

static int refuse(pons_error *err, pons_ws_role role, const char *what, const char *why)
{
    return pons_error_set(err, PONS_EREFUSED, WHERE, "the %s may not change %s%s%s", roles[role],
                          what, *why ? ": " : "", why);
}

// Whether nothing but this member differs.
static bool only_member(const pons_value *before, const pons_value *after, const char *member)
{
    if (!before || !after) {
        return false;
    }
    pons_autovalue a = json_copy((json_t *)before);
    pons_autovalue b = json_copy((json_t *)after);
    json_object_del(a, member);
    json_object_del(b, member);
    return json_equal(a, b);
}

static int check_queue(pons_ws_role role, const char *kind, const pons_value *before,
                       const pons_value *after, pons_error *err)
{
    const char *was = pons_get_str(before, "status", "pending");
    const char *is = pons_get_str(after, "status", "pending");
    const char *claim = pons_get_str(before, "claimed_by", NULL);
    if (before && strcmp(was, "pending") != 0) {
        return refuse(err, role, kind, "it is no longer pending");
    }
    if (before && claim) {
        return refuse(err, role, kind, "it is claimed");
    }
    if (!before && strcmp(is, "pending") != 0) {
        return refuse(err, role, kind, "a new one is pending");
    }
    if (strcmp(is, "pending") != 0 && strcmp(is, "cancelled") != 0) {
        return refuse(err, role, kind, "only who runs it says that it ran");
    }
    if (pons_get(after, "claimed_by") || pons_get(after, "claim_token")) {
        return refuse(err, role, kind, "only who runs it claims it");
    }
    return PONS_OK;
}

int pons_ws_may_change(pons_ws_role role, pons_ws_file file, const char *kind,
                       const pons_value *before, const pons_value *after, pons_error *err)
{
    if (!pons_ws_may_write(role, file)) {
        return refuse(err, role, pons_ws_file_name(file), "");
    }
    if (role == PONS_WS_BY_PLANNER && (file == PONS_WS_ACTION || file == PONS_WS_SESSIONS)) {
        return check_queue(role, kind, before, after, err);
    }
    if (role == PONS_WS_BY_ORCHESTRATOR && file == PONS_WS_TASK &&
        !only_member(before, after, "status")) {
        return refuse(err, role, kind, "of TASK.md it writes the status only");
    }
    return PONS_OK;
}
