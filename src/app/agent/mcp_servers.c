// mcp_servers.c - the servers of the workspace's mcp.json as tools.
#include "app/agent/agent_setup.h"
#include "pons/config_file.h"
#include "pons/protected_files.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define LOOK_MS 100

// Of the workspace, in its root or in config/, else a person's; where nobody has one, where it would be.
static int find_file(const app_context *c, char *ret, size_t cap, pons_error *err)
{
    static const char *const names[] = {PONS_FILE_MCP, PONS_DIR_CONFIG "/" PONS_FILE_MCP,
                                        PONS_FILE_MCP};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        pons_error fault = PONS_ERROR_INIT;
        const int rc = pons_config_at(i < 2 ? PONS_CONFIG_WORKSPACE : PONS_CONFIG_PERSON,
                                      c->workspace, names[i], ret, cap, &fault);
        if (rc != PONS_ENOTFOUND) {
            *err = rc < 0 ? fault : *err;
            return rc;
        }
    }
    snprintf(ret, cap, "%s/%s", c->workspace, names[1]);
    return PONS_OK;
}

int app_mcp_servers(const app_context *c, pons_value **ret, pons_error *err)
{
    char path[PATH_MAX + 32];
    const int rc = find_file(c, path, sizeof path, err);
    return rc < 0 ? rc : pons_mcp_load(path, c->workspace, ret, err);
}

int app_mcp_tools(const app_context *c, const pons_clock *clock, pons_tools *ret, pons_error *err)
{
    pons_autovalue servers = NULL;
    const int rc = app_mcp_servers(c, &servers, err);
    if (rc < 0) {
        return rc;
    }
    pons_autovalue config = pons_object("workspace", json_string(c->workspace), "servers",
                                        pons_value_ref(servers), NULL);
    return pons_mcp_open(config, clock, ret, err);
}

void app_mcp_tell_refused(const app_context *c, const pons_tools *mcp)
{
    static atomic_flag reported = ATOMIC_FLAG_INIT; // a server opens this for each of its sessions
    pons_autovalue status = NULL;
    pons_error ignored = PONS_ERROR_INIT;
    if (pons_mcp_status(mcp, &status, &ignored) < 0 || atomic_flag_test_and_set(&reported)) {
        return;
    }
    pons_each(s, status) {
        if (strcmp(pons_get_str(s, "state", ""), "refused") == 0) {
            app_tell(c, "pons: %s; %s is left out", pons_get_str(s, "error", ""),
                     pons_get_str(s, "name", ""));
        }
    }
}

static bool settled(const pons_value *status)
{
    pons_each(s, status) {
        const char *state = pons_get_str(s, "state", "");
        if (strcmp(state, "ready") != 0 && strcmp(state, "disabled") != 0 &&
            !pons_get_str(s, "error", NULL)) {
            return false;
        }
    }
    return true;
}

int app_mcp_wait(const pons_tools *mcp, int timeout_ms, pons_value **ret, pons_error *err)
{
    const pons_clock clock = pons_clock_real();
    const int64_t until = pons_now_ms(&clock) + timeout_ms;
    for (;;) {
        pons_autovalue status = NULL;
        const int rc = pons_mcp_status(mcp, &status, err);
        if (rc < 0 || settled(status) || pons_now_ms(&clock) >= until) {
            *ret = rc < 0 ? *ret : pons_value_ref(status);
            return rc;
        }
        pons_tool_event ev;
        struct pollfd p = {.fd = mcp->ops->event_fd(mcp->self), .events = POLLIN};
        poll(&p, 1, LOOK_MS);
        while (mcp->ops->next(mcp->self, &ev)) {
            pons_tool_event_clear(&ev);
        }
    }
}
