/* SPDX-License-Identifier: GPL-2.0-only */
/* What tcptune-run passes to tcptune-preload.so. */
#pragma once

/*
 * A variable of the environment. For printf() and scanf(): the members of struct tuner_limits, the
 * rate (bytes per second; 0: none), and the congestion control or "-".
 */
#define PRELOAD_VARIABLE "TCPTUNE_RUN"
#define PRELOAD_FORMAT	 "%u %u %u %u %d %llu %15s"
