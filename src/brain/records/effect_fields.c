// effect_fields.c - the tables of what the brain writes beside an effect, and of R6's last question. Any thread.
#include "brain/records/effect_fields.h"

#include "brain/records/kernel_fields.h"
#include "brain/records/record_table.h"

// clang-format off
static const pons__field sent_fields[] = {
    {"epoch",      INT,  NEVER, offsetof(pons__sent, epoch), .means = "of the body's control"},
    {"boot_id",    TEXT, NEVER, offsetof(pons__sent, boot_id), .means = "of the body"},
    {"robot_id",   TEXT, NEVER, offsetof(pons__sent, robot_id), .means = "of the robot"},
    {"expires_ms", INT,  NEVER, offsetof(pons__sent, expires_ms), .means = "CLOCK_BOOTTIME: no later may the body begin with it"},
};
TABLE(sent, "`details` of an effect: to whom it was sent");

static const pons__field tag_fields[] = {
    {"task_id",    TEXT, NEVER, offsetof(pons__tag, task_id), .means = "for which; empty: the kernel's"},
    {"goal_index", INT,  NEVER, offsetof(pons__tag, goal_index), .preset = -1, .means = "the goal of the task that it serves; -1: none"},
    {"step_id",    JSON, KEY,   offsetof(pons__tag, step_id), .means = "of a plan's step"},
};
TABLE(tag, "`tag` of an effect: for whom it is");

static const pons__field effect_fields[] = {
    {"id",        TEXT,   NEVER, offsetof(pons__effect, id), .means = "of the ledger"},
    {"skill",     TEXT,   NEVER, offsetof(pons__effect, skill), .means = "of the registry"},
    {"args",      JSON,   NEVER, offsetof(pons__effect, args), .means = "by its schema"},
    {"args_hash", TEXT,   NEVER, offsetof(pons__effect, args_hash), .means = "of them"},
    {"state",     TEXT,   NEVER, offsetof(pons__effect, state), .means = "of the ledger"},
    {"attempt",   INT,    NEVER, offsetof(pons__effect, attempt), .preset = 1, .means = "raised by the kernel or a person alone"},
    {"details",   RECORD, NUL,   offsetof(pons__effect, details), .of = &pons__sent_record, .means = "once it is dispatched"},
    {"tag",       RECORD, NUL,   offsetof(pons__effect, tag), .of = &pons__tag_record, .means = "for whom"},
};
TABLE(effect, "an effect, as far as the brain reads it");

static const pons__field rearbitrate_fields[] = {
    {"link", JSON,   NUL,   offsetof(pons__rearbitrate, link), .means = "the answer to the wait for it"},
    {"op",   RECORD, NEVER, offsetof(pons__rearbitrate, op), .of = &pons__op_record, .means = "that would go out"},
    {"mode", WORD,   NEVER, offsetof(pons__rearbitrate, mode), .words = pons__mode_words, .preset = PONS_MODE_EXEC, .means = "as of then"},
    {"lost", JSON, KEY, offsetof(pons__rearbitrate, lost), .means = "skills that were let go of for it, and nobody knows what came of that"},
};
TABLE(rearbitrate, "what R6 asks before it sends");

static const pons__field rearbitrated_fields[] = {
    {"refused", NAME, KEY, offsetof(pons__rearbitrated, refused), .means = "why it may not go"},
    {"ok",      BOOL, KEY, offsetof(pons__rearbitrated, ok), .means = "it may"},
};
TABLE(rearbitrated, "the answer to that, recorded");
// clang-format on

pons_message_goal pons__effect_goal(const pons__effect *e, const char *thread)
{
    return (pons_message_goal){.goal_id = e->id,
                               .epoch = e->details ? e->details->epoch : 0,
                               .expires_ms = e->details ? e->details->expires_ms : 0,
                               .robot_id = e->details ? e->details->robot_id : "",
                               .skill = e->skill,
                               .args = e->args,
                               .args_hash = e->args_hash,
                               .thread = thread,
                               .task_id = e->tag ? e->tag->task_id : "",
                               .attempt = e->attempt};
}
