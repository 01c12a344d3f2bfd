// setup.c - what a process does before anything else.
#include "app/service/service.h"
#include "app/workspace/context.h"
#include "pons/config_file.h"
#include "pons/log.h"
#include "pons/module.h"
#include "pons/out_of_memory.h"
#include "pons/proc_stat.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

// A closed 0, 1 or 2 would be reused by the store's file, and a message would go into it.
static void hold_standard_fds(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            const int null = open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
            if (null >= 0 && null != fd) {
                dup2(null, fd);
                close(null);
            }
        }
    }
}

static int find_workspace(const char *workspace, app_context *ret, pons_error *err)
{
    char usual[PATH_MAX], cwd[PATH_MAX] = ".";
    workspace = workspace ? workspace : getenv("PONS_WORKSPACE");
    if (!workspace || !*workspace) {
        const int rc = pons_workspace_default(usual, sizeof usual, err);
        if (rc < 0) {
            return rc;
        }
        workspace = usual;
    }
    const bool absolute = workspace[0] == '/';
    if (!absolute && !getcwd(cwd, sizeof cwd)) {
        cwd[0] = '.';
    }
    const int w = absolute
                      ? snprintf(ret->workspace, sizeof ret->workspace, "%s", workspace)
                      : snprintf(ret->workspace, sizeof ret->workspace, "%s/%s", cwd, workspace);
    const int r = snprintf(ret->run_dir, sizeof ret->run_dir, "%s/run", ret->workspace);
    const int d = snprintf(ret->db, sizeof ret->db, "%s/pons.db", ret->workspace);
    return w < PATH_MAX && r < PATH_MAX && d < PATH_MAX
               ? PONS_OK
               : app_bad(err, "the workspace's path is too long");
}

int app_setup(const char *workspace, void (*tell)(const char *line), app_context *ret,
              pons_error *err)
{
    ret->tell = tell;
    hold_standard_fds();
    pons_process_seal(); // before anything is read from the environment
    app_service_open();
    umask(077); // what pons writes is its user's
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); // a file that may not grow is an error, not an end
    pons_value_init();
    pons_memory_of_a_process();
    pons_log_configure(NULL);
    int rc = find_workspace(workspace, ret, err);
    rc = rc < 0 ? rc : pons_module_workspace(ret->workspace, err);
    app_worlds_of(ret->workspace);
    return rc;
}
