// goal_skills.h - which skills meet a goal, with which arguments, and what says that it is met (goal_skills.c).
#pragma once

#include "brain/state/self.h"

#define PONS__REST_LEAST 0.01 // of a call of which nearly nothing is left

// The ways to meet a goal by the registry as the body has it, in the order of their steps; more than one
// may have the same step: the first is taken. Empty: no skill says that it meets it. The caller clears.
pons__list pons__means_of(const pons_brain *b, const pons__goal *goal, int64_t goal_index);
void pons__means_clear(pons__list *means);
#define PONS__AUTO_MEANS __attribute__((cleanup(pons__means_clear))) pons__list
// For the observation: of each step one, for the goals that are open, and the skills that pause and look.
pons_value *pons__means_reported(const pons_brain *b, const pons__task *task);

// Whether the world shows that the goal is met; where only its skill's end can tell, whether it has
// (`done`).
bool pons__means_met(const pons_brain *b, const pons__goal *goal);
// Its skill is how the goal is told to be met, and has ended well: notes in the goal what that means.
void pons__means_ended(const pons_brain *b, pons__goal *goal, const char *skill,
                       const pons_value *args);
// Whether it is a relative move: it takes up resources, and a call that is cut short leaves a rest.
bool pons__means_moves(const pons_brain *b, const char *skill);
// Whether it is a call of what the goal's end is told by, all of it or a part, whose skill says how much is left.
bool pons__means_own(const pons_brain *b, const pons__goal *goal, const char *skill,
                     const pons_value *args);
// Whether it is such a call, and there is more to do behind it.
bool pons__means_part(const pons_brain *b, const pons__goal *goal, const char *skill,
                      const pons_value *args);
// Such a call did all but so much of it: the goal is the rest from now on. Where it is not its call, or NAN is left, it stays as it is.
void pons__means_left(const pons_brain *b, pons__goal *goal, const char *skill,
                      const pons_value *args, double left);
// A person lets such a call do what is left, where nobody knew how much that is: it is as much as the call does.
void pons__means_agreed(const pons_brain *b, pons__goal *goal, const char *skill,
                        const pons_value *args);
// By how much such a call goes beyond what the goal is, or what is left of it; 0: it does not.
double pons__means_beyond(const pons_brain *b, const pons__goal *goal, const char *skill,
                          const pons_value *args);
// Whether the goal is met by the end of such a call, and by nothing that the world shows.
bool pons__means_by_end(const pons_brain *b, const pons__goal *goal, const char *skill,
                        const pons_value *args);
// Whether nothing but words meets it, which are said beside anything.
bool pons__means_words(const pons_brain *b, const pons__goal *goal);
// Whether it is a goal about where the robot is; about its charge.
bool pons__means_of_place(const pons_brain *b, const pons__goal *goal);
bool pons__means_of_charge(const pons_brain *b, const pons__goal *goal);
// Whether it is met without the base, wherever the robot stands.
bool pons__means_stays(const pons_brain *b, const pons__goal *goal);
// The members of which the goal lacks one for any skill to meet it ("pose or zone"); NULL: none, or no skill would at all.
const char *pons__means_lack(const pons_brain *b, const pons__goal *goal, char *buf, size_t cap);
// Whether an operation of the skill leads to the goal's place.
bool pons__means_leads(const pons_brain *b, const pons__goal *goal, const char *skill);

// By what their registry items say: the skill that stops the base; whether one runs beside anything and
// may be begun with a task's last words; the skill that meets an intent, NULL: none.
const char *pons__means_stop(const pons_brain *b);
bool pons__means_beside(const pons_brain *b, const char *skill);
pons__means *pons__means_for(const pons_brain *b, const char *intent, const char *member,
                             pons_value *value); // with goal member = value (taken); the caller's

// The one call of one skill that meets the goal by what the goal alone says; NULL: it takes several, or
// depends on the robot. The caller's.
pons__means *pons__means_alone(const pons_brain *b, const pons__goal *goal);
// What a goal asks (where, battery, look_for), said in the language of its text. false: it asks nothing of that.
bool pons__goal_says(const pons_brain *b, const pons__goal *goal, pons_buf *out);
