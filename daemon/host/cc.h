/* SPDX-License-Identifier: GPL-2.0-only */
/* The congestion controls that this kernel offers, and those that it has as modules. */
#pragma once

#include <stdbool.h>

/* TCP_CA_BUF_MAX of the kernel, and a space at each end. */
#define TCPTUNED_CONGESTION_NAMES (16 * 128 + 2)

/* The names in net.ipv4.tcp_available_congestion_control, each between spaces; "": unreadable. */
void tcptuned_cc_offered(char ret[static TCPTUNED_CONGESTION_NAMES]);

/* True if @name, as a whole, is one of the names @offered. */
bool tcptuned_cc_is_offered(const char *offered, const char *name);

/* True if this kernel has @name as a module, loaded or not, or a sandbox hides modules.dep. */
bool tcptuned_cc_is_module(const char *name);

/* True if an administrator has chosen the default @name: it is none of the kernel's defaults. */
bool tcptuned_cc_is_chosen(const char *name);

/*
 * Make the kernel load its module tcp_@name, unless it has that congestion control already: by a
 * helper process of its own (tcp_ca_find_autoload()), so that CAP_NET_ADMIN is enough in a sandbox
 * without CAP_SYS_MODULE. Returns 0, -ENOENT if there is none, or another negative errno.
 */
int tcptuned_cc_load(const char *name);
