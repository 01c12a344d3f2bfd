// chat.h - a chat with the planning agent at a terminal, or lines of words through a pipe.
#pragma once

#include "app/operator/speed_command.h"
#include "cli/agent/agent_cli.h"
#include "pons/traces.h"

#define CLI_SESSION_DEFAULT "agent"

typedef struct cli_chat {
    cli *c;
    char thread[PONS_NAME_MAX]; // the session
    const char *llm_spec;       // --llm, or NULL
    const pons_plan *plan;      // to carry out, in place of words; NULL: none
    char folder[PATH_MAX];      // the working folder
    bool model_chosen;          // by --model or /model: it stands before the configuration's
    pons_clock clock;
    pons_policy policy; // what a person says to the robot
    pons_store store;
    pons_llm llm;
    app_agent_parts parts;
    pons_agent *a;
    cli_agent_view view;
    pons_traces *traces; // NULL: nobody collects them
    bool prompting, stdin_open, quit, asked;
    char next[PONS_NAME_MAX]; // the session that is gone on with after this one, or ""
    bool again;               // the same once more: another model
    pons_value *queue;        // an array of words that are said when the turn is over
    pons_value *pictures;     // that go with the next words
    int wake_fd;
    pons_buf input;   // read, and not taken yet
    size_t scanned;   // of it, where no line ends
    bool too_long;    // the line that is being read is dropped up to its end
    app_pace pace;    // a link: the body is asked, and no words are taken before it has answered
    bool word_failed; // the last word to the robot
} cli_chat;

// chat.c: a turn of words (NULL: none), what is left of one (resume), or a chat; how it ended.
int cli_chat_talk(cli_chat *s, const char *words, bool resume, pons_error *err);
void cli_chat_close(cli_chat *s);
// Ctrl-C and the other signals; once a process.
void cli_chat_signals(void);
bool cli_chat_left(void); // a signal asked to leave

// What is said with the pictures that wait.
int cli_chat_say(cli_chat *s, const char *words, pons_error *err);

// chat_commands.c: false: the line is no command but words.
bool cli_chat_command(cli_chat *s, const char *line);
// Keeps a picture for the next words: of a file, or, where it may be a camera's name and no file is there, of a camera.
int cli_chat_picture(cli_chat *s, const char *what, bool file, pons_error *err);
pons_value *cli_chat_words(void); // for Tab; new

// chat_stop_words.c: true: the words were a stop; the robot has it, or word_failed. A turn that is under way is for who
// calls to end. Also before the session is open.
bool cli_chat_stop(cli_chat *s, const char *words);

// chat_pace.c: true: the words were about how fast the robot may be and nothing else; the body is told.
bool cli_chat_pace(cli_chat *s, const char *words);
void cli_chat_pace_asked(cli_chat *s, const char *words); // "" asks how fast it may be
void cli_chat_pace_look(cli_chat *s);                     // whether the body has answered

// chat_sessions.c
typedef struct cli_session_row {
    char thread[PONS_NAME_MAX];
    int64_t updated_ms;
    char title[160], last[160]; // of what the person said first and the agent said last
    int64_t messages;
} cli_session_row;
// The newest agents' sessions, at most cap.
int cli_sessions(pons_store store, cli_session_row *rows, size_t cap, size_t *ret_n,
                 pons_error *err);
int cli_sessions_print(cli_chat *s, pons_error *err);
// The newest session that worked in this folder, else the newest: its name. PONS_ENOTFOUND.
int cli_session_newest(const cli *c, pons_store store, const char *folder, char ret[PONS_NAME_MAX],
                       pons_error *err);

// prompt_context.c: what the model is told of here and now; user is the cli_chat. A pons_agent_options.about.
char *cli_chat_about(void *user);
