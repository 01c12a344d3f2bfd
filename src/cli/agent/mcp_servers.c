// mcp_servers.c - the servers of the workspace's mcp.json as tools.
#include "cli/agent/agent_cli.h"
#include "pons/mcp.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOOK_MS 100

int cli_mcp_tools(const cli *c, const pons_clock *clock, pons_tools *ret, pons_error *err)
{
    char path[PATH_MAX + 32];
    pons_autovalue servers = NULL;
    snprintf(path, sizeof path, "%s/mcp.json", c->workspace);
    if (access(path, F_OK) != 0) {
        snprintf(path, sizeof path, "%s/config/mcp.json", c->workspace);
    }
    const int rc = pons_mcp_load(path, &servers, err);
    if (rc < 0) {
        return rc;
    }
    pons_autovalue config = pons_object("workspace", json_string(c->workspace), "servers",
                                        pons_value_ref(servers), NULL);
    return pons_mcp_open(config, clock, ret, err);
}

static bool settled(const pons_value *status)
{
    size_t i;
    json_t *s;
    json_array_foreach(status, i, s)
    {
        const char *state = pons_get_str(s, "state", "");
        if (strcmp(state, "ready") != 0 && strcmp(state, "disabled") != 0 &&
            !pons_get_str(s, "error", NULL)) {
            return false;
        }
    }
    return true;
}

int cli_mcp_wait(const pons_tools *mcp, int timeout_ms, pons_value **ret, pons_error *err)
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
