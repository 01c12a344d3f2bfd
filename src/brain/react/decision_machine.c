// decision_machine.c - the stages of a decision, from R2 to R8: what may happen to it, and who is next.
//
// The table below is all that there is; docs/internals/brain.md has it as a drawing. What belongs to a stage is in the inner
// loop's state for as long as it lasts: `asking` while a person is asked, `answered` from an answer until R6 has
// acted on it.
#include "brain/react/nodes.h"

const char *const pons__node_names[] = {PONS_NODE_R1, PONS_NODE_R2, PONS_NODE_R3,
                                        PONS_NODE_R4, PONS_NODE_R5, PONS_NODE_R6,
                                        PONS_NODE_R7, PONS_NODE_R8, NULL};

static const char *const event_words[] = {"R2 decides",
                                          "R2 is interrupted",
                                          "R3 compiles",
                                          "R4 refuses",
                                          "R4 asks",
                                          "R4 undoes the edit",
                                          "R4 passes",
                                          "R5 hears yes",
                                          "R5 hears an edit",
                                          "R5 hears no",
                                          "R5 hears no answer",
                                          "R5 lets others go first",
                                          "R6 sends",
                                          "R6 holds back",
                                          "R6 hears no after all",
                                          "R7 settles",
                                          "R8 goes on",
                                          "R8 hands over to a new run",
                                          "R8 ends",
                                          NULL};

// clang-format off
#define ROW(from, event, to, node) {PONS_STAGE_##from, PONS_ON_##event, PONS_STAGE_##to, PONS_NODE_##node}
// A decision that is over: the next one is made, or R2 was interrupted and looks again.
#define OVER(stage) ROW(stage, DECIDES, DECIDED, R3), ROW(stage, DETACHED, stage, R1)
#define LOOPS(stage) ROW(stage, GOES_ON, stage, R1), ROW(stage, RUN_IS_LONG, stage, END), ROW(stage, ENDS, ENDED, END)
#define JUDGED(stage) ROW(stage, REFUSES, REFUSED, R6), ROW(stage, ASKS, ASKING, R5), ROW(stage, PASSES, INTENDED, R6)
static const pons__transition rows[] = {
    OVER(NONE), OVER(SETTLED), OVER(REJECTED), OVER(PUT_ASIDE), OVER(TAKEN_BACK), OVER(ENDED),
    ROW(DECIDED, COMPILES, PROPOSED, R4),
    JUDGED(PROPOSED), JUDGED(UNCLEAR), JUDGED(APPROVED), JUDGED(EDITED),
    ROW(EDITED, EDIT_BREAKS, UNCLEAR, R4),
    ROW(ASKING, YES, APPROVED, R4),
    ROW(ASKING, EDITS, EDITED, R4),
    ROW(ASKING, NO_ANSWER, UNCLEAR, R4),
    ROW(ASKING, NO, REJECTED, R8),
    ROW(ASKING, OTHERS_FIRST, PUT_ASIDE, R8),
    ROW(INTENDED, SENDS, SENT, R7),
    ROW(INTENDED, HOLDS_BACK, HELD_BACK, R7),
    ROW(INTENDED, TAKES_BACK, TAKEN_BACK, R7),
    ROW(REFUSED, HOLDS_BACK, HELD_BACK, R7),
    ROW(REFUSED, TAKES_BACK, TAKEN_BACK, R7),
    ROW(SENT, SETTLES, SETTLED, R8),
    ROW(HELD_BACK, SETTLES, SETTLED, R8),
    ROW(TAKEN_BACK, SETTLES, TAKEN_BACK, R8),
    LOOPS(SETTLED), LOOPS(REJECTED), LOOPS(PUT_ASIDE), LOOPS(TAKEN_BACK),
};
// clang-format on

PONS__MACHINE(decision, "a decision, from R2 to R8", pons__stage_words);

// ---- what belongs to a stage --------------------------------------------------------------------

static void clear_asking(pons__asking *a)
{
    pons__record_free(&pons__question_record, a->question);
    a->question = NULL;
    pons__list_clear(&pons__question_record, &a->also);
}

static void clear_answered(pons__answered *a)
{
    pons__set_text(&a->question, "");
    pons__set_text(&a->again, "");
    pons__json(&a->also, NULL);
    pons__json(&a->edit_before, NULL);
    pons__json(&a->unsent, NULL);
    a->settles = false;
}

static bool acts_on_an_answer(int stage)
{
    return stage == PONS_STAGE_UNCLEAR || stage == PONS_STAGE_EDITED ||
           stage == PONS_STAGE_APPROVED || stage == PONS_STAGE_INTENDED ||
           stage == PONS_STAGE_REFUSED;
}

void pons__decision_move(pons__turn *t, pons__decision_event event)
{
    pons__react *r = t->react;
    const int rc =
        pons__machine_move(&pons__decision_machine, &r->stage, (int)event, &t->next, t->err);
    t->fault = rc < 0 ? rc : t->fault;
    if (r->stage != PONS_STAGE_ASKING) {
        clear_asking(&r->asking);
    }
    if (!acts_on_an_answer(r->stage)) {
        clear_answered(&r->answered);
    }
}

// ---- a node's turn ------------------------------------------------------------------------------

pons__react *pons__react_read(pons_cx *cx)
{
    return pons__record_read(&pons__react_record, pons_cx_get(cx, "react"));
}

void pons__turn_begin(pons__turn *t, pons_cx *cx, pons_brain *b, pons__node_id node,
                      pons_error *err)
{
    const pons_value *skills = pons_cx_get(cx, "skills");
    *t = (pons__turn){.b = b,
                      .cx = cx,
                      .err = err,
                      .node = node,
                      .react = pons__react_read(cx),
                      .skills = pons__record_read(&pons__skills_record, skills),
                      .skills_changed = !skills};
    if (!t->react->approved) {
        pons__json(&t->react->approved, json_array());
    }
}

int pons__turn_end(pons__turn *t, int rc)
{
    rc = rc < 0 ? rc : t->fault;
    if (rc >= 0 && t->skills_changed) {
        rc = pons_cx_put(t->cx, "skills", pons__record_write(&pons__skills_record, t->skills));
    }
    if (rc >= 0) {
        rc = pons_cx_put(t->cx, "react", pons__record_write(&pons__react_record, t->react));
    }
    const bool branches = t->node == PONS_R2 || t->node == PONS_R4 || t->node == PONS_R5 ||
                          t->node == PONS_R8; // the others have one edge each
    if (rc >= 0 && branches) {
        pons_cx_goto(t->cx, t->next);
    }
    pons__record_free(&pons__react_record, t->react);
    pons__record_free(&pons__skills_record, t->skills);
    pons_value_unref(t->lost);
    return rc;
}
