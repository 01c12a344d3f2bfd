// lesson_entry.h - the lessons that a judgement is held against, and becomes.
#pragma once

#include "workspace/request_checks/critic_facts.h"

// The lesson of the same action under the same conditions: its name is in j->lesson. refused: the rules say
// no anyway, so a lesson that has no conditions, as a person writes them, is the one.
bool pons__ws_lesson_find(const pons_ws_doc *lessons, pons_ws_judgement *j, const ws_target *target,
                          bool refused);
