// event_lines.c - events for programs (one JSON object a line) and for people (short lines, and on a
// terminal one live line that is redrawn in place).
//
// What is printed as a line was committed before it is printed; the live line shows telemetry,
// which is not stored.
#include "cli/cli.h"
#include "cli/terminal/answer.h"
#include "cli/terminal/styled_text.h"
#include "pons/out_of_memory.h"
#include "pons/schedule.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define STREAM_PREFIX   "stream."
#define STREAM_TEXT_MAX 400 // bytes of a payload that a person is shown; --json has all

struct cli_display {
    bool json, live, dirty; // live: a terminal; dirty: the live line is on the screen
    bool token_open;
    bool prompting; // the live line is the prompt's own text
    char mode[16], decision[64], zone[64], said[64];
    double battery, distance, speed;
    int64_t robot_ms;
    bool working; // a task is active
    bool robot;   // there is one: its clock has been seen
};

// ---- sentences ----------------------------------------------------------------------------------

// A time of a goal, in the zone that stands beside it.
static void moment(const pons_value *p, int64_t ms, pons_buf *ret)
{
    pons_zone *zone = NULL;
    pons_error none = PONS_ERROR_INIT;
    char at[48] = "";
    pons_zone_open(pons_get_str(p, "zone", NULL), &zone, &none);
    pons_schedule_show(ms, zone, at, sizeof at);
    pons_zone_close(zone);
    pons_buf_str(ret, at);
}

// A member of the payload as text: a name, a whole number, one with two decimals, or a time.
static void member(const pons_value *p, const char *path, pons_buf *ret)
{
    const char *dot = strchr(path, '.');
    char first[32];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(path, "."), path);
    const pons_value *v = pons_get(p, first);
    if (dot) {
        member(v, dot + 1, ret);
    } else if (strstr(path, "_ms")) {
        moment(p, pons_get_int(p, first, 0), ret);
    } else if (json_is_real(v)) {
        pons_buf_printf(ret, "%.2f", json_real_value(v));
    } else if (json_is_integer(v)) {
        pons_buf_printf(ret, "%lld", (long long)json_integer_value(v));
    } else {
        pons_buf_str(ret, json_is_string(v) ? json_string_value(v) : "");
    }
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" // the rows' own, each %s with its path
const cli_event_row *cli_event_sentence(const cli_event_row *list, const char *type,
                                        const pons_value *payload, pons_buf *ret)
{
    pons_buf parts[4] = {0};
    for (; list->type && strcmp(list->type, type) != 0; list++) {
    }
    for (size_t i = 0; list->type && i < 4; i++) {
        pons_buf_byte(&parts[i], '\0'); // a text, also of nothing
        pons_buf_clear(&parts[i]);
        if (list->paths[i]) {
            member(payload, list->paths[i], &parts[i]);
        }
    }
    if (list->type) {
        cli_text(ret, list->text, parts[0].data, parts[1].data, parts[2].data, parts[3].data);
    }
    for (size_t i = 0; i < 4; i++) {
        pons_buf_fini(&parts[i]);
    }
    return list->type ? list : NULL;
}
#pragma GCC diagnostic pop

// ---- for programs -------------------------------------------------------------------------------

static bool is_stream(const pons_event *ev)
{
    return strncmp(ev->type, STREAM_PREFIX, strlen(STREAM_PREFIX)) == 0;
}

static void print_event_json(cli_display *d, const pons_event *ev)
{
    const pons_value *robot = pons_get(ev->payload, "robot_ms");
    pons_autovalue out =
        pons_object("ts_ms", json_integer(ev->ts_ms), "robot_ms",
                    robot      ? pons_value_ref(robot)
                    : d->robot ? json_integer(d->robot_ms)
                               : NULL,
                    "thread", json_string(ev->thread), "type", json_string(ev->type), "seq",
                    ev->seq > 0 ? json_integer(ev->seq) : NULL, NULL);
    if (is_stream(ev)) { // a payload of any shape, with any keys
        json_object_set_new(out, "ns", json_string(ev->ns));
        json_object_set(out, "payload", (json_t *)ev->payload);
    } else {
        json_object_update_missing(out, (json_t *)ev->payload);
    }
    cli_print_json(out);
}

// ---- for people ---------------------------------------------------------------------------------

static void clear_live(cli_display *d)
{
    if (d->prompting) {
        cli_prompt_hide();
    }
    if (d->token_open) {
        cli_out("\n");
        d->token_open = false;
    }
    if (d->dirty) {
        cli_erase_line();
        d->dirty = false;
    }
}

void cli_display_line(cli_display *d, const char *label, const char *fmt, ...)
{
    va_list ap;
    clear_live(d);
    cli_out("  %-7s ", label);
    va_start(ap, fmt);
    cli_vout(fmt, ap);
    va_end(ap);
    cli_out("\n");
    cli_flush();
    if (d->prompting) {
        cli_prompt_show(NULL);
    }
}
#define line cli_display_line

static void ask_line(void *user, const char *text)
{
    line(user, "", "%s", text);
}

static void text_approval(cli_display *d, const pons_event *ev)
{
    char said[CLI_ANSWER_MAX];
    const pons_value *p = ev->payload;
    if (strcmp(ev->type, "guard.refused") == 0) {
        pons_each(rule, pons_get(p, "rules")) {
            line(d, "refused", "%s: %-s", pons_get_str(rule, "rule", ""),
                 pons_get_str(rule, "message", ""));
        }
    } else if (strcmp(ev->type, "approval.requested") == 0) {
        line(d, "ask", "%s  (pons approve %s %s)", pons_get_str(p, "question", ""), ev->thread,
             app_question_takes(p));
        app_question_show(p, ask_line, d);
    } else if (strcmp(ev->type, "approval.resolved") == 0) {
        line(d, "answer", "%s", cli_answer_text(p, said));
    } else if (strcmp(ev->type, "approval.late") == 0) {
        const pons_value *first = pons_get(p, "first");
        if (json_is_object(first)) {
            line(d, "note", "%s: already answered by %s: %s", pons_get_str(p, "action", ""),
                 pons_get_str(first, "by", "the kernel"), cli_answer_text(first, said));
        } else {
            line(d, "note", "%s: no such question is open", pons_get_str(p, "action", ""));
        }
    }
}

// "updates react/12 {…}": what was streamed, with the number that a client goes on from.
static void text_stream(cli_display *d, const pons_event *ev)
{
    char *text = NULL;
    if (pons_value_line(ev->payload, &text) < 0) {
        return;
    }
    const size_t shown = cli_cut(text, STREAM_TEXT_MAX);
    line(d, ev->type + strlen(STREAM_PREFIX), "%s%s%lld  %.*s%s", ev->ns, *ev->ns ? "/" : "",
         (long long)ev->seq, (int)shown, text, text[shown] ? " …" : "");
    free(text);
}

static void text_effect(cli_display *d, const pons_value *p)
{
    const char *state = pons_get_str(p, "state", "");
    if (strcmp(state, "intended") == 0 || strcmp(state, "dispatched") == 0) {
        return; // the ledger has them; a person wants to know what the robot took and what became
                // of it
    }
    char *args = NULL;
    if (pons_value_line(pons_get(p, "args"), &args) < 0) {
        args = strdup("");
    }
    const char *reason = pons_get_str(p, "reason", "");
    line(d, "act", *reason ? "%s %s %-s: %-s" : "%s %s %-s%-s", pons_get_str(p, "skill", ""), args,
         state, reason);
    free(args);
}

static void text_done(cli_display *d, const pons_value *p)
{
    line(d, "done", "%-s: %.1f m driven, %lld decisions, %lld replans, battery %.0f%%",
         pons_get_str(p, "status", ""), pons_get_num(p, "distance_m", 0.0),
         (long long)pons_get_int(p, "iterations", 0), (long long)pons_get_int(p, "replans", 0),
         pons_get_num(p, "battery_pct", 0.0));
    pons_each(task, pons_get(p, "tasks")) {
        line(d, "", "%s %s", strcmp(pons_get_str(task, "status", ""), "succeeded") == 0 ? "✓" : "✗",
             pons_get_str(task, "text", ""));
    }
}

static void draw_live(cli_display *d)
{
    char text[256];
    if (!d->live || d->token_open) {
        return;
    }
    cli_display_status(d, text, sizeof text);
    if (d->prompting) {
        cli_prompt_show(text);
        return;
    }
    cli_live_line(text);
    d->dirty = true;
}

// What needs no more than its members.
static const cli_event_row rows[] = {
    {"task.active", "task", "%s", {"task.text"}},
    {"task.switched", "task", "%s is left for %s: %-s", {"from", "to", "reason"}},
    {"task.merged", "task", "%s: said again", {"task_id"}},
    {"task.overdue", "task", "%s: its deadline has passed", {"task_id"}},
    {"task.raised", "task", "%s: has priority %s now", {"task_id", "priority"}},
    {"mode", "mode", "%s (%-s)", {"mode", "reason"}},
    {"control", "note", "%s: %-s", {"word", "ignored"}},
    {"speak", "says", "“%s”", {"text"}},
    {"plan.step", "plan", "%s. %s: %-s", {"step_id", "action", "status"}},
    {"plan.status", "plan", "%-s", {"status"}},
    {"tempo.set", "pace", "%s %% of its speed", {"percent"}},
    {"tempo.refused", "note", "pace: %-s", {"reason"}},
    {"config.doubt", "note", "%s: %-s", {"path", "message"}},
    {"place.kept", "place", "%s: %s, %s m (pons places)", {"place.name", "place.x", "place.y"}},
    {"room.named", "room", "%s: a room from now on (pons map zones)", {"name"}},
    {"charger.kept", "charger", "%s, %s m: written into the world %s", {"x", "y", "world"}},
    {"place.forgotten", "place", "%s: forgotten", {"name"}},
    {"place.refused", "note", "%s: %-s", {"name", "reason"}},
    {"schedule.added",
     "time",
     "%s: kept as %s, first %s (pons schedule list)",
     {"schedule.text", "schedule.id", "schedule.next_ms"}},
    {"schedule.refused", "note", "%s: not kept: %-s", {"text", "reason"}},
    {"schedule.due", "time", "%s: its time has come (%s, %s)", {"text", "schedule_id", "due_ms"}},
    {"schedule.missed", "note", "%s: missed at %s: %-s", {"text", "due_ms", "reason"}},
    {"schedule.skipped", "note", "%s: not again, as %s of it is not over", {"text", "task_id"}},
    {NULL}};

static void text_decision(cli_display *d, const pons_value *p)
{
    const pons_value *decision = pons_get(p, "decision");
    const char *fallback = pons_get_str(p, "fallback", NULL);
    snprintf(d->decision, sizeof d->decision, "%s", pons_get_str(decision, "type", ""));
    if (fallback) {
        line(d, "note", "%-s", fallback);
    }
    const bool asks = strcmp(d->decision, "ASK_HUMAN") == 0; // the question says it
    line(d, "decide", asks ? "%s%s" : "%-11s %-s", d->decision,
         asks ? "" : pons_get_str(decision, "reason", ""));
}

static void text_goal(cli_display *d, const pons_value *to)
{
    const pons_value *pose = pons_get(to, "pose");
    const char *zone = pons_get_str(to, "zone", ""), *skill = pons_get_str(to, "skill", "");
    char *args = NULL, at[48] = "";
    if (pose && !*zone) {
        snprintf(at, sizeof at, "%.2f %.2f", pons_get_num(pose, "x", 0.0),
                 pons_get_num(pose, "y", 0.0));
    }
    if (*skill && pons_value_line(pons_get(to, "args"), &args) >= 0) {
        line(d, "goal", "is now %s %s", skill, args);
    } else {
        line(d, "goal", "is now %s %s%s", pons_get_str(to, "intent", ""), zone, at);
    }
    free(args);
}

// What only moves what is drawn again and again. True: it was that.
static bool note_live(cli_display *d, const pons_event *ev)
{
    const pons_value *p = ev->payload;
    if (strcmp(ev->type, "telemetry") == 0) {
        d->battery = pons_get_num(p, "battery_pct", -1.0);
        d->speed = pons_get_num(pons_get(p, "twist"), "v", 0.0);
        d->distance = pons_get_num(p, "distance_remaining_m", -1.0);
        draw_live(d);
    } else if (strcmp(ev->type, "skill.feedback") == 0) {
        d->distance = pons_get_num(p, "distance_remaining_m", d->distance);
        draw_live(d);
    } else if (strcmp(ev->type, "observation") == 0) {
        const pons_value *o = pons_get(p, "observation");
        snprintf(d->zone, sizeof d->zone, "%s", pons_get_str(pons_get(o, "robot"), "zone", ""));
    } else if (strcmp(ev->type, "token") == 0) {
        if (!d->token_open) { // the pieces of an answer are one line
            clear_live(d);
            cli_out("  model   ");
        }
        d->token_open = true;
        cli_out_text(pons_get_str(p, "content", ""), SIZE_MAX);
        cli_flush();
    } else {
        return false;
    }
    return true;
}

static void text_run(cli_display *d, const pons_event *ev)
{
    const pons_value *o = pons_get(ev->payload, "options"), *goals = pons_get(ev->payload, "goal");
    if (json_array_size(goals) > 0) { // else a prompt begins
        line(d, "run", "%s: %zu goal(s), %s in %s%s", ev->thread, json_array_size(goals),
             pons_get_str(o, "driver", "?"), pons_get_str(o, "world", "?"),
             pons_get_bool(o, "no_charger", false) ? ", which has no charger" : "");
    }
}

static void text_rest(cli_display *d, const pons_event *ev)
{
    const pons_value *p = ev->payload;
    if (strcmp(ev->type, "run.started") == 0) {
        text_run(d, ev);
    } else if (strcmp(ev->type, "task.queued") == 0 && d->working) {
        line(d, "task", "%s: waits for what is at work",
             pons_get_str(pons_get(p, "task"), "text", ""));
    } else if (strcmp(ev->type, "task.done") == 0) {
        const bool unsure = json_is_false(pons_get(p, "verified"));
        const char *reason = pons_get_str(p, "reason", "");
        if (*d->said && strncmp(reason, d->said, strlen(d->said)) == 0) {
            reason = "";
        }
        d->working = false;
        line(d, "task", islower((unsigned char)*reason) ? "%s: %-s%-s: %-s" : "%s: %-s%-s. %-s",
             pons_get_str(p, "text", ""), pons_get_str(p, "status", ""),
             unsure ? " (nothing could check it)" : "", reason);
    } else if (strcmp(ev->type, "decision") == 0) {
        text_decision(d, p);
    } else if (strcmp(ev->type, "effect") == 0) {
        text_effect(d, p);
    } else if (strcmp(ev->type, "guard.refused") == 0 || strncmp(ev->type, "approval.", 9) == 0) {
        text_approval(d, ev);
    } else if (strcmp(ev->type, "goal.replaced") == 0) {
        text_goal(d, pons_get(p, "to"));
    } else if (strcmp(ev->type, "stop") == 0) {
        line(d, "stop", pons_get_bool(p, "latched", false) ? "latched: %-s" : "lifted %-s",
             pons_get_str(p, "reason", ""));
    } else if (strcmp(ev->type, "plan.created") == 0) {
        const pons_value *plan = pons_get(p, "plan");
        line(d, "plan", "%s: %zu steps (%s)", pons_get_str(plan, "goal", ""),
             json_array_size(pons_get(plan, "steps")), pons_get_str(plan, "source", ""));
    } else if (strcmp(ev->type, "run.done") == 0) {
        text_done(d, p);
    }
}

static void print_event_text(cli_display *d, const pons_event *ev)
{
    pons_autobuf text = PONS_BUF_INIT;
    if (is_stream(ev)) {
        text_stream(d, ev);
        return;
    }
    if (note_live(d, ev)) {
        return;
    }
    d->working = d->working || strcmp(ev->type, "task.active") == 0;
    if (strcmp(ev->type, "mode") == 0) {
        snprintf(d->mode, sizeof d->mode, "%s", pons_get_str(ev->payload, "mode", ""));
    }
    if (strcmp(ev->type, "speak") == 0) { // a task may end with the same words
        snprintf(d->said, sizeof d->said, "%s", pons_get_str(ev->payload, "text", ""));
    }
    const cli_event_row *row = cli_event_sentence(rows, ev->type, ev->payload, &text);
    if (row) {
        line(d, row->label, "%s", text.data);
    } else {
        text_rest(d, ev);
    }
}

// What a rule refuses, what a person is asked, and what they say.
// Words go as an approve that has them: they are told as words, whatever they say.
const char *cli_answer_text(const pons_value *answer, char buf[CLI_ANSWER_MAX])
{
    const char *words =
        pons_get_str(answer, "answer", pons_get_str(pons_get(answer, "said"), "answer", NULL));
    const char *reason = words ? "" : pons_get_str(answer, "reason", "");
    snprintf(buf, CLI_ANSWER_MAX, "%s%s%s%s%s",
             words ? "the words \"" : pons_get_str(answer, "action", ""), words ? words : "",
             words ? "\"" : "", *reason ? ", " : "", reason);
    return buf;
}

// ---- public functions ---------------------------------------------------------------------------

cli_display *cli_display_create(const cli *c, bool live_line)
{
    cli_display *d = pons_need_zeroed(1, sizeof *d);
    d->json = c->json;
    d->live = live_line && !c->json && cli_moves();
    d->battery = d->distance = -1.0;
    snprintf(d->mode, sizeof d->mode, "IDLE");
    return d;
}

void cli_display_prompting(cli_display *d)
{
    d->prompting = d->live;
}

void cli_display_destroy(cli_display *d)
{
    if (d) {
        clear_live(d);
        cli_flush();
        free(d);
    }
}

void cli_display_event(cli_display *d, const pons_event *ev)
{
    const int64_t robot_ms = pons_get_int(ev->payload, "robot_ms", 0);
    d->robot_ms = robot_ms > 0 ? robot_ms : d->robot_ms;
    d->robot = d->robot || pons_get(ev->payload, "robot_ms");
    if (d->json) {
        print_event_json(d, ev);
    } else {
        print_event_text(d, ev);
    }
}

void cli_display_note(cli_display *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    clear_live(d);
    cli_vnote(fmt, ap);
    va_end(ap);
    if (d->prompting) {
        cli_prompt_show(NULL);
    }
}

void cli_display_status(cli_display *d, char *buf, size_t cap)
{
    pons_autobuf text = PONS_BUF_INIT;
    char battery[16] = "–";
    if (d->battery >= 0.0) {
        snprintf(battery, sizeof battery, "%.0f%%", d->battery);
    }
    cli_text(&text, "%s  battery %s  %s", d->mode, battery, d->zone[0] ? d->zone : "–");
    if (d->distance >= 0.0) {
        cli_text(&text, "  %.1f m to go", d->distance);
    }
    cli_text(&text, "  %.2f m/s", fabs(d->speed) < 0.005 ? 0.0 : d->speed); // no "-0.00"
    if (cli_columns(text.data, text.len) + 2 + strlen(d->decision) <= cli_screen_width()) {
        cli_text(&text, "  %s", d->decision);
    }
    snprintf(buf, cap, "%s", text.data);
}
