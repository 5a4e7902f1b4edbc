/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "apply/state.h"

/*
 * Read the configuration again and put it into force. If it is wrong or cannot be applied, the one
 * before stays. Logs the differences or the error, and reports to systemd and the metrics.
 */
void tcptuned_reload(struct tcptuned_daemon *d);
