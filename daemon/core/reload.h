/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TCPTUNED_CORE_RELOAD_H
#define TCPTUNED_CORE_RELOAD_H

#include "core/state.h"

/* Put the files' configuration into force; if it is wrong, the one before stays. Logs either. */
void tcptuned_reload(struct tcptuned_daemon *d);

#endif
