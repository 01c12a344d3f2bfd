// commands.c - what `pons` can be told: the table of commands and of the words that some begin with,
// and the way from a line to the function that does it.
//
// The table is the one list of commands: help, the man page and the shells' completions are made from
// it (terminal/help.c), and what is not in it is answered with what was probably meant.
#include "cli/commands.h"

#include "app/operator/operator.h"
#include "app/workspace/shown_language.h"
#include "pons/rule_policy.h"
#include "pons/spelling.h"

#include <string.h>

static const cli_command bt_words[] = {
    {"check", "FILE…", "the faults of trees, one a line"},
    {"show", "FILE", "draw a tree"},
    {"run", "FILE --script S.json", "tick a tree; its leaves answer as the script says"},
    {"watch", "", "the tree that steers the robot now"},
    {NULL},
};

static const cli_command companion_words[] = {
    {"run", "", "live, in real time or simulated"},
    {"status", "", "where and what it is at"},
    {"log", "", "what it did"},
    {"why", "TIME", "why it did what it did then"},
    {"message", "TEXT", "tell it something"},
    {NULL},
};

static const cli_command agent_words[] = {
    {"undo", "[SESSION]", "take back what tools wrote"},
    {NULL},
};

static const cli_command body_words[] = {
    {"pose", "X Y YAW", "tell the robot where it is: metres, radians"},
    {"camera", "NAME", "a picture of a camera, as a file"},
    {"ros2", "", "show the body that runs here to ROS 2, as body --ros2 does"},
    {NULL},
};

static const cli_command config_words[] = {
    {"path", "[FILE]", "which files count, and where they are"},
    {"show", "FILE", "what one says"},
    {"check", "[FILE]", "what is wrong with them, with line and column"},
    {NULL},
};

static const cli_command graph_words[] = {
    {"list", "", "the graphs there are"},
    {"show", "NAME", "draw one"},
    {"run", "NAME|FILE.so", "run one on a thread"},
    {"resume", "THREAD", "go on where it waits or was cut short"},
    {"update", "THREAD", "write into its state"},
    {"cancel", "THREAD", "end its run"},
    {NULL},
};

static const cli_command items_words[] = {
    {"list", "[NAMESPACE]", "what is kept there"},
    {"search", "NAMESPACE WORDS", "what is about it"},
    {"namespaces", "", "where anything is kept"},
    {"get", "NAMESPACE KEY", "one item"},
    {"put", "NAMESPACE KEY JSON", "keep one"},
    {"delete", "NAMESPACE KEY", "forget one"},
    {"sweep", "", "forget those whose time is over"},
    {NULL},
};

static const cli_command lessons_words[] = {
    {"search", "WORDS", "what LESSONS.md has about it, best first"},
    {NULL},
};

static const cli_command map_words[] = {
    {"import", "FILE.yaml [NAME]", "a map of nav2_map_server as a world"},
    {"show", "WORLD", "draw it, with a way on it"},
    {"check", "WORLD", "what is wrong with it"},
    {"zones", "WORLD [add|remove ID]", "list, draw or remove zones"},
    {"rooms", "WORLD [name N]", "the rooms that its map has; one as a zone with a name", NULL},
    {"sdf", "WORLD", "the world and its robot for Gazebo, on standard output"},
    {"nav2", "WORLD DIR", "the map, the masks of its zones and parameters, as Nav2 loads them"},
    {NULL},
};

static const cli_command places_words[] = {
    {"list", "", "their names, and where they are"},
    {"forget", "NAME…", "forget them", cmd_places_forget},
    {NULL},
};

static const cli_command plan_words[] = {
    {"check", "FILE", "what is wrong with it"},
    {"show", "FILE", "its steps"},
    {"run", "FILE", "carry it out"},
    {"results", "FILE", "what became of its steps, as `run --json` has printed it"},
    {NULL},
};

static const cli_command record_words[] = {
    {"info", "FILE.mcap", "what is in a recording, and whether it is whole"},
    {NULL},
};

static const cli_command ros2_words[] = {
    {"setup", "[nav2|turtlebot3|turtlebot4]",
     "a launch file, on standard output, that starts its Nav2 behind the velocity gate",
     cmd_ros2_setup},
    {NULL},
};

static const cli_command scenario_words[] = {
    {"run", "NAME|FILE…|all", "play them and judge"},
    {"fuzz", "--seeds A..B", "random events and faults, invariants at every step"},
    {NULL},
};

static const cli_command schedule_words[] = {
    {"add", "\"every day at 9 GOAL\" | --cron FIELDS GOAL", "have a goal done at a time",
     cmd_schedule_add, .says = true},
    {"list", "", "what is to be done when", cmd_schedule_list},
    {"remove", "ID…", "forget it", cmd_schedule_remove},
    {"pause", "ID…", "not for now", cmd_schedule_pause},
    {"continue", "ID…", "again, from its next time on", cmd_schedule_continue},
    {NULL},
};

static const cli_command threads_words[] = {
    {"list", "", "all threads"},
    {"show", "THREAD", "its state"},
    {"history", "THREAD", "its checkpoints"},
    {"events", "THREAD", "what happened, as it was streamed"},
    {"fork", "THREAD NEW", "another one from a checkpoint of it"},
    {"copy", "THREAD NEW", "all of it under another name"},
    {"prune", "THREAD", "make it smaller"},
    {"rm", "THREAD", "forget it"},
    {NULL},
};

static const cli_command watchdog_words[] = {
    {"hal", "", "carry out what ACTION.md has pending"},
    {"runtime", "", "run the sessions of SESSIONS.md"},
    {"policy", "CLIENT", "speak with the server of a policy; the runtime watchdog starts it"},
    {NULL},
};

static const cli_command workspace_words[] = {
    {"check", "[DIR]", "faults, one a line: FILE.md:LINE:COL"},
    {"show", "[FILE]", "what the files say"},
    {"convert", "[DIR] --to DIALECT", "write them in another dialect"},
    {NULL},
};

static const cli_command fleet_words[] = {
    {"run", "[--once] [--standby]", "lead the robots of fleet.yaml and have the tasks done",
     cmd_fleet_run},
    {"status", "[--all]", "robots and tasks, and what each waits for", cmd_fleet_status},
    {"assign", "NAME --stops ZONE[:SKILL{…}],…", "give the fleet a task; in words without --stops",
     cmd_fleet_assign},
    {"cancel", "TASK", "end a task", cmd_fleet_cancel},
    {"settle", "TASK --done|--failed", "say how a task ended, where nobody could know",
     cmd_fleet_settle},
    {"clear", "ROBOT", "say that a robot was carried away: its place is free", cmd_fleet_clear},
    {"block", "ZONE", "nobody is sent there", cmd_fleet_block},
    {"unblock", "ZONE", "they are again", cmd_fleet_unblock},
    {"simulate", "[--robots N] [--hours H]", "a fleet on a virtual clock", cmd_fleet_simulate},
    {"map", "[WORLD] [--robots N]",
     "zones for so many robots: of a world or a map's floor, or of a hall", cmd_fleet_map},
    {NULL},
};

static const cli_command mcp_words[] = {
    {"serve", "[--tools LIST]", "offer the robot to an MCP client, on standard input and output",
     cmd_mcp_serve},
    {"tools", "", "the servers of config/mcp.json and their tools", cmd_mcp_tools},
    {"questions", "", "what servers ask a person", cmd_mcp_questions},
    {NULL},
};

static const cli_command sight_words[] = {
    {"detect", "NAME [--once]", "what one detector of pictures finds, a line a picture", NULL},
    {"tag", "IDENTITY --out FILE", "what a tag looks like, to print it: tag36h11:7", NULL},
    {NULL},
};

static const cli_command commands[] = {
    {"onboard", "[DIR] [--dialect seed|paos1|paos2]",
     "make a workspace's protocol files: ENVIRONMENT.md, ACTION.md and their like", cmd_onboard},
    {"run", "[GOAL…|--plan FILE] [--serve [ADDR:PORT]]",
     "start or join a body and pursue the goals; without GOAL: a prompt", cmd_run, .says = true,
     .moves = true},
    {"do", "SKILL [NAME=VALUE…|JSON]",
     "one skill by its name, said to the brain that runs or as a run of its own", cmd_do,
     .moves = true},
    {"explore", "[NAME]",
     "drive around a place without a map and make one: NAME is its world, made where there is none",
     cmd_explore, .moves = true},
    {"serve", "[--listen ADDR:PORT] [--open]",
     "the page and the API: a browser, LangGraph's clients", cmd_serve, .moves = true},
    {"resume", "[THREAD] [--step]", "go on with what was cut short", cmd_resume, .moves = true},
    {"threads", NULL, "list threads, look into one, replay its events, fork it, make it smaller",
     cmd_threads, threads_words},
    {"status", "[THREAD]", "mode, battery, pose, tasks, skills, decision", cmd_status},
    {"say", "TEXT [--thread ID]", "say something to a running brain", cmd_say, .says = true,
     .moves = true},
    {"stop", "[REASON]", "latch a protective stop", cmd_stop, .says = true, .moves = true},
    {"reset", "", "lift the latch", cmd_reset, .moves = true},
    {"pace", "[slower|faster|normal speed|half speed|30%|0.2 m/s]",
     "how fast the robot may be from now on; without a word: how fast that is", cmd_pace,
     .says = true, .moves = true},
    {"pause", "[--thread ID]", "pause the task; it keeps its place", cmd_pause, .moves = true},
    {"continue", "[--thread ID]", "go on after a pause, or after stop and reset", cmd_continue,
     .moves = true},
    {"cancel", "[TASK] [--thread ID]", "end a task, or all of them", cmd_cancel, .moves = true},
    {"raise", "TASK [PRIORITY] [--thread ID]",
     "give one task another priority; without PRIORITY: before all that wait", cmd_raise,
     .moves = true},
    {"approve", "[THREAD] [approve | always [tool] | answer WORDS | edit [N] JSON | reject REASON]",
     "show or answer what a run waits for", cmd_approve, .says = true, .moves = true},
    {"places", NULL, "places that were named: say \"remember this place as …\" where it stands",
     cmd_places, places_words},
    {"seen", "[WHAT…] [--near ZONE] [--since TIME]",
     "what the robot has seen, and where; 1: nothing of the kind", cmd_seen, .says = true},
    {"sight", "", "remember what the robot sees; a run starts it", cmd_sight, sight_words, true},
    {"schedule", NULL, "goals at a time or by a cron; a running brain has them done",
     cmd_schedule_list, schedule_words},
    {"body", "[--driver NAME] [--skills NAME,…] [--world NAME]",
     "own a robot and serve it; or tell it where it is", cmd_body, body_words, .moves = true},
    {"ros2", NULL, "what a robot with ROS 2 and Nav2 needs", NULL, ros2_words},
    {"map", NULL, "maps of nav2_map_server as worlds: take one in, look at it, draw zones on it",
     cmd_map, map_words},
    {"record", "FILE.mcap [--camera NAME,…]",
     "what the robot says and does, as a file for Foxglove and MCAP tools", cmd_record,
     record_words, true},
    {"replay", "FILE.mcap", "what the brain makes of a recording", cmd_replay},
    {"scenario", NULL, "run scenarios: what each must show", cmd_scenario, scenario_words},
    {"plan", NULL, "check, show or run a plan; FILE may be -", cmd_plan, plan_words},
    {"graph", NULL, "draw graphs; run one of your own, a step at a time, and resume it", cmd_graph,
     graph_words},
    {"agent", "[MESSAGE…] [--session ID | --continue] [--folder DIR] [--model NAME]",
     "talk with the planning agent; without MESSAGE: a chat", cmd_agent, agent_words, true,
     .says = true, .moves = true},
    {"bt", NULL, "check, draw and try behaviour trees; watch the robot's", cmd_bt, bt_words},
    {"companion", NULL, "a digital partner that lives by its world view", cmd_companion,
     companion_words, .moves = true},
    {"mcp", NULL, "offer the robot to MCP clients, or look at servers", NULL, mcp_words},
    {"watchdog", NULL, "do what ACTION.md, or SESSIONS.md, has pending", cmd_watchdog,
     watchdog_words, .moves = true},
    {"fleet", NULL, "many robots, one orchestrator; or a fleet on a virtual clock", NULL,
     fleet_words},
    {"vda5050", "[--broker mqtt[s]://HOST[:PORT]] [--serial NAME]",
     "a robot under a master control that speaks VDA 5050 2.1, over MQTT", cmd_vda5050,
     .moves = true},
    {"workspace", NULL, "check, show and convert a workspace's protocol files", cmd_workspace,
     workspace_words},
    {"lessons", NULL, "what LESSONS.md has about it, best first; 1: nothing", cmd_lessons,
     lessons_words},
    {"config", NULL,
     "the configuration files: where they are, what they say, whether they are sound", cmd_config,
     config_words},
    {"logs", "[NAME…] [--lines N] [--follow]",
     "what the body and others that run unwatched have said", cmd_logs},
    {"doctor", "[--repair]", "what is installed, reachable, missing, damaged, and what to do",
     cmd_doctor},
    {"items", NULL, "what the store keeps beside threads: long-term memory", cmd_items,
     items_words},
    {"backup", "FILE", "copy the store at one moment, also while a run writes it", cmd_backup},
    {NULL},
};

const cli_command *cli_commands(void)
{
    return commands;
}

const cli_command *cli_command_find(const cli_command *list, const char *name)
{
    for (; list && list->name; list++) {
        if (strcmp(list->name, name) == 0) {
            return list;
        }
    }
    return NULL;
}

// What lifts a latch or removes for good is typed by who means it, and not because it was offered.
static bool takes_away(const char *name)
{
    return strcmp(name, "reset") == 0 || strcmp(name, "rm") == 0;
}

// Where a word goes that stands first but belongs to a command: "fork" is `pons threads fork`. 0: nowhere.
static size_t belongs(const char *word, char *ret, size_t cap)
{
    size_t n = 0, used = 0;
    for (const cli_command *k = commands; k->name; k++) {
        if (!takes_away(word) && cli_command_find(k->words, word) && used < cap) {
            used += (size_t)snprintf(ret + used, cap - used, "%s'%s %s'", n++ ? ", " : "", k->name,
                                     word);
        }
    }
    return n;
}

static bool near_a_command(const char *word)
{
    enum { LETTERS_MIN = 4 }; // "go" is no slip of "do"
    pons_meant meant = pons_meant_of(word, strlen(word));
    for (const cli_command *k = commands; k->name; k++) {
        pons_meant_try(&meant, k->name, strlen(k->name));
    }
    return strlen(word) >= LETTERS_MIN && meant.best;
}

// What was said where a command stands, if it is a word for the robot: who types 停 or `halt` must not look for a list.
static int said_to_the_robot(const cli *c, pons_error *err)
{
    static const struct {
        const char *control, *command;
    } commands_of[] = {
        {"stop", "stop"}, {"pause", "pause"}, {"cancel", "cancel"}, {"continue", "continue"}};
    pons_policy p = {0};
    pons_autovalue parsed = NULL;
    pons_autovalue pace = NULL;
    pons_autovalue empty = json_object();
    pons_error why = PONS_ERROR_INIT;
    pons_autobuf words = PONS_BUF_INIT;
    if (cli_words(c, 0, 255, &words, &why) < 0 || *words.data == '-' ||
        app_policy(&c->app, &p, &why) < 0) {
        return PONS_OK;
    }
    const char *text = words.data;
    app_language_of(text);
    const int rc = p.ops->parse(p.self, text, empty, &parsed, &why);
    const bool paced =
        rc < 0 && p.ops->pace(p.self, text, &pace, &(pons_error)PONS_ERROR_INIT) >= 0;
    pons_rules_close(&p);
    const char *control = rc >= 0 ? pons_get_str(parsed, "control", "") : "";
    for (size_t i = 0; i < sizeof commands_of / sizeof commands_of[0]; i++) {
        if (strcmp(control, commands_of[i].control) == 0) {
            return app_bad(err, "there is no command '%s', did you mean '%s'?", c->argv[0],
                           commands_of[i].command);
        }
    }
    if (paced && !pons_get(pace, "rest") && !pons_get(pace, "before")) {
        return app_bad(err, "there is no command '%s', did you mean 'pace \"%s\"'?", c->argv[0],
                       text);
    }
    if (rc < 0 && near_a_command(c->argv[0])) {
        return PONS_OK; // "worksapce check"
    }
    const bool wish = rc >= 0 ? json_array_size(pons_get(parsed, "goals")) > 0 && !*control
                              : !app_not_understood(why.message);
    return wish ? app_bad(err, "there is no command '%s'; to have it done: pons run \"%s\"",
                          c->argv[0], text)
                : PONS_OK;
}

// "there is no …": with what was probably meant, else with all that there is.
static int unknown(const cli *c, const cli_command *list, const char *of, const char *word,
                   pons_error *err)
{
    static const char *const beside[] = {"help",      "version", "--help",
                                         "--version", "--json",  "--workspace"};
    char all[256] = "";
    size_t used = 0;
    const int said = of ? PONS_OK : said_to_the_robot(c, err);
    if (said < 0) {
        return said;
    }
    pons_meant meant = pons_meant_of(word, strlen(word));
    for (size_t i = 0; !of && i < sizeof beside / sizeof beside[0]; i++) {
        pons_meant_try(&meant, beside[i], strlen(beside[i]));
    }
    for (const cli_command *k = list; k->name; k++) {
        const char *join = !used ? "" : k[1].name ? ", " : " or ";
        if (!takes_away(k->name)) {
            pons_meant_try(&meant, k->name, strlen(k->name));
        }
        used += of ? (size_t)snprintf(all + used, sizeof all - used, "%s%s", join, k->name) : 0;
    }
    const char *kind = of ? "" : *word == '-' ? "option " : "command ";
    char where[256] = "";
    const size_t n = of ? 0 : belongs(word, where, sizeof where);
    if (n > 0) {
        return n == 1 ? app_bad(err, "there is no command '%s', did you mean %s?", word, where)
                      : app_bad(err, "there is no command '%s'; there are %s", word, where);
    }
    if (meant.best) {
        return app_bad(err, "%s%sthere is no %s'%s', did you mean '%s'?", of ? of : "",
                       of ? ": " : "", kind, word, meant.best);
    }
    return of ? app_bad(err, "%s: there is no '%s'; it takes %s", of, word, all)
              : app_bad(err, "there is no %s'%s'; `pons help` lists them", kind, word);
}

static int which_word(const cli *c, pons_error *err)
{
    const cli_command *list = c->self->words;
    const char *first = c->argc > 0 ? c->argv[0] : list->name;
    const cli_command *word = cli_command_find(list, first);
    return word ? (int)(word - list) : unknown(c, list, c->self->name, first, err);
}

int cli_dispatch(cli *c, pons_error *err)
{
    const char *name = c->argc > 0 ? c->argv[0] : "";
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
        cli_version();
        return PONS_OK;
    }
    const cli_command *command = cli_command_find(commands, name);
    if (!command) {
        return unknown(c, commands, NULL, name, err);
    }
    c->argc--;
    c->argv++;
    return cli_run_command(c, command, err);
}

int cli_run_command(cli *c, const cli_command *command, pons_error *err)
{
    c->self = command;
    c->which_word = which_word;
    const char *first = c->argc > 0 ? c->argv[0] : "";
    const cli_command *word = cli_command_find(command->words, first);
    if (word && word->run) {
        c->word = word;
        c->argc--;
        c->argv++;
        return word->run(c, err);
    }
    if (command->words && !word && !command->any && *first && *first != '-') {
        return unknown(c, command->words, command->name, first, err);
    }
    if (command->run) {
        return command->run(c, err);
    }
    if (c->argc == 0) { // it is nothing without a word
        return cli_usage(c, NULL);
    }
    return cli_parse(c, NULL, err);
}

// ---- for the pages and the shells ---------------------------------------------------------------

static void take(void *user, const cli_option *options)
{
    cli_options *list = user;
    for (; options && options->name && list->n < sizeof list->at / sizeof list->at[0]; options++) {
        list->at[list->n++] = *options;
    }
}

int cli_options_of(const cli_command *command, const cli_command *word, cli_options *ret,
                   pons_error *err)
{
    static char asked[] = "--help";
    char name[64] = "";
    char *own[] = {asked, NULL}, *of_word[] = {name, asked, NULL};
    const cli_describer describer = {take, ret};
    const bool runs = word && word->run;
    ret->n = 0;
    if (word && !runs) { // the command's own
        return PONS_OK;
    }
    snprintf(name, sizeof name, "%s", runs ? word->name : "");
    cli c = {.argc = runs ? 2 : 1, .argv = runs ? of_word : own, .describer = &describer};
    const int rc = cli_run_command(&c, command, err);
    return rc == CLI_HELPED ? PONS_OK : rc;
}
