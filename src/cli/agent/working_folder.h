// working_folder.h - the folder that an agent works in, and whether it is trusted.
#ifndef CLI_AGENT_FOLDER_H
#define CLI_AGENT_FOLDER_H

#include "cli/cli.h"

typedef enum cli_folder_ask {
    CLI_FOLDER_ASK,
    CLI_FOLDER_TRUST,
    CLI_FOLDER_NEVER_ASK
} cli_folder_ask;

// Where file tools are rooted: `wanted` (NULL: where the command was started) when it is trusted, else
// the workspace. ASK asks a person at a terminal about one that was never asked about, once; TRUST is a
// person's yes (--folder). A folder that does not exist is PONS_EINVAL; one whose owner others are than
// this user and root, or that lies in the workspace, is the workspace instead, and says so.
int cli_folder_find(cli *c, const char *wanted, cli_folder_ask ask, char ret[PATH_MAX],
                    pons_error *err);
// The folder that a session worked in last; false: not known.
bool cli_folder_of_session(const cli *c, const char *session, char ret[PATH_MAX]);
void cli_folder_note_session(const cli *c, const char *session, const char *folder);

#endif
