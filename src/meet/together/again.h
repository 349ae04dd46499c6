// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Between two starts of the program: decides whether it starts again, and prepares the roll call before that.
 * If this node has cancelled the restart, it still takes part in a roll call, to send the reason.
 *
 *     together_again()    after the end of a start: whether there is another one
 *     together_call()     prepare the roll call before it
 *     together_cancel()   hold a roll call only to send the reason why this node does not start again
 *     together_alone()    if this node is the only member: the result in place of a roll call
 *     together_pause()    if this node is the only member: the pause before the start
 */

#include "together/together.h"

/**
 * The program has ended: close the connections and *@reserved, the descriptor that reserves its port, and
 * count the start. @graces_ms: so long after the first failure, all other nodes have ended their programs. If
 * this node has cancelled the restart, send the reason by a roll call with @call. Returns whether there is
 * another start.
 */
bool together_again(struct together *t, struct roll_call *call, int *reserved, uint64_t graces_ms);

/**
 * Set the fields of @call that differ from those of the first roll call: other nodes may still be ending
 * their programs, and the time limit goes on. Returns whether the roll call ends at the time limit, and not
 * at its timeout.
 */
bool together_call(const struct together *t, struct roll_call *call);

/** Hold a roll call only to send @why, the reason why this node does not start again. */
void together_cancel(const struct together *t, struct roll_call *call, const char *why);

/** This node is the only member: set @end, and the fields of @call that together_begin() needs. */
void together_alone(struct roll_call *call, struct roll_end *end);

/**
 * This node is the only member: pause before the next start. Returns 0; or the signal that ended the pause.
 */
int together_pause(const struct together *t);
