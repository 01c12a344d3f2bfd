// agent_events.h - an agent's events, for people and for programs; and what a person answers.
#pragma once

#include "cli/terminal/markdown.h"
#include "pons/agent.h"

#define CLI_AGENT_WORK_MAX 8 // tools under way that are shown

typedef struct cli_agent_work { // a tool under way
    char tool[64], input[120], progress[160];
    int64_t since_ms; // host
} cli_agent_work;

typedef struct cli_agent_usage {
    int64_t calls, prompt, completion; // tokens
    int64_t context; // tokens of the newest request of the agent's own and its answer
    double cost;
    bool priced; // some of it has a price
} cli_agent_usage;

typedef struct cli_agent_view {
    bool json, live, prompting;
    bool chinese;              // what the person said last
    bool token_open, said_any; // a line of tokens is unfinished; the answer was streamed
    pons_value *plan;          // {title, steps[]} on the screen, or NULL
    bool plan_live;            // it is drawn at the lower end and ticks off there
    // of a screen
    cli_markdown answer;
    cli_agent_work work[CLI_AGENT_WORK_MAX];
    size_t n_work;
    bool thinking;
    int64_t thinking_since_ms;
    pons_value *queued; // texts that are said later, or NULL
    cli_agent_usage usage;
    char model[96];
    int64_t window; // tokens that the model takes; 0: not known
} cli_agent_view;

void cli_agent_view_init(cli_agent_view *v, bool json, bool live);
void cli_agent_view_fini(cli_agent_view *v);
void cli_agent_view_event(cli_agent_view *v, const pons_event *ev);
// A plan of the protocol that is under way, when its thread is taken up again; NULL: none.
void cli_agent_view_plan(cli_agent_view *v, const pons_value *plan);
void cli_agent_view_question(cli_agent_view *v, const pons_value *question);
void cli_agent_view_note(cli_agent_view *v, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
// A line of words for people, on standard output; each %s is text from outside.
void cli_agent_view_line(cli_agent_view *v, const char *label, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
// Texts of several rows: Markdown, or a diff.
void cli_agent_view_markdown(cli_agent_view *v, const char *text);
void cli_agent_view_diff(cli_agent_view *v, const char *text);
void cli_agent_view_print(cli_agent_view *v, const cli_rows *rows);
// What the person said, behind the label that stood before it.
void cli_agent_view_said(cli_agent_view *v, const char *label, const char *words);
// Of a chat; robot NULL: none is there.
void cli_agent_view_head(cli_agent_view *v, const char *session, size_t messages,
                         const char *folder, const char *robot);
void cli_agent_view_queue(cli_agent_view *v, const pons_value *texts); // an array, or NULL
// Draws the lower end anew: the terminal has another size, a second has passed.
void cli_agent_view_draw(cli_agent_view *v);
// Adds what an llm_end says to the sums; events of the past count too.
void cli_agent_usage_add(cli_agent_usage *u, const pons_value *llm_end);

// approval_prompt.c: a person's line as the answer to a question: y, yes, approve; n, no, reject WHY; edit
// JSON; for a question in words, the words. false: what is wrong is in err.
bool cli_agent_answer(const pons_value *question, const char *line, pons_value **ret,
                      pons_error *err);

// plan_checklist_rows.c, plan_checklist.c: a plan as a list.
void cli_agent_step_text(const pons_value *step, cli_rich *text);
void cli_agent_plan_rows(const cli_agent_view *v, cli_rows *rows);
void cli_agent_plan_print(cli_agent_view *v); // as it stands, for good
void cli_agent_plan_changed(cli_agent_view *v, const pons_value *updated);
void cli_agent_plan_revised(cli_agent_view *v, const pons_value *revised);

// chat_lines.c, for the view's own files: a line of less weight; what stands on the line is ended first,
// and what is at the lower end drawn after; an unfinished answer is printed for good.
void cli_agent_dim_line(cli_agent_view *v, const char *label, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void cli_agent_begin_line(cli_agent_view *v);
void cli_agent_end_line(cli_agent_view *v);
void cli_agent_answer_ends(cli_agent_view *v);
int64_t cli_agent_now_ms(void);

// A value in one line of fewer than cap bytes.
void cli_agent_short(const pons_value *value, char *buf, size_t cap);
