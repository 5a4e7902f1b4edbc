/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The watcher, a process between the one that was started and the command. It answers notifications
 * and tunes, also after the other two have ended, as long as the command has children.
 */
#pragma once

#include <stdio.h>

#include "command.h"
#include "options.h"

/*
 * Start the command and watch it. @channel: to the process that was started; @signals: a signalfd
 * for the signals that are blocked; @inherited: the command's. Returns when the command and its
 * children have ended.
 */
void watch(const struct run_options *options, FILE *out, int channel, int signals,
	   const struct command_signals *inherited);
