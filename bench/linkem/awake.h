/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processors that do not sleep. A virtual machine whose processor has nothing to do gives it back,
 * and gets it milliseconds late when its host is busy; a thread of SCHED_IDLE on each keeps it, and
 * leaves it at once to whatever else wants to run. What idle=poll does, for as long as a link is
 * up.
 */
#pragma once

/*
 * Starts one thread on each processor that this process may use. Returns 0 or -errno, and then
 * none is left running.
 */
int awake_start(void);
void awake_stop(void);

/* CPU time of these threads in s, all together; 0 if there are none. */
double awake_cpu_s(void);
