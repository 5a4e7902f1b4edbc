/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The configuration: /etc/tcptuned/tcptuned.conf, then the drop-ins of tcptuned.conf.d in the
 * order of their names, then --set on the command line; the last one wins. One table, in
 * config/keys.c, describes each key, and everything else comes from it: parser, messages,
 * example, man page.
 */
#ifndef TCPTUNED_CONFIG_CONFIG_H
#define TCPTUNED_CONFIG_CONFIG_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include <tcptuned/algo/bitcp.h>
#include <tcptuned/algo/path.h>
#include <tcptuned/abi/policy.h>

#include "util/error.h"
#include "util/ip_prefix.h"

#define TCPTUNED_CONFIG_PATH "/etc/tcptuned/tcptuned.conf"
#define TCPTUNED_CONFIG_KEYS 27
#define TCPTUNED_CONFIG_TEXT 256 /* longest path or origin, with its NUL */

#define TCPTUNED_WINDOW_KERNEL 1 /* receive_window_max = kernel: as far as the kernel goes */

/* congestion_control = auto: bitcp on long paths; no congestion control is called so. */
#define TCPTUNED_CC_AUTO "auto"

/* What a [policy] section says. The first half is of named ones only. */
struct tcptuned_policy_config {
	struct tcptuned_prefixes destination;
	struct tcptuned_prefixes source;
	struct tcptuned_ports local_port;
	struct tcptuned_ports remote_port;
	char destination_file[TCPTUNED_CONFIG_TEXT]; /* "": none */
	char cgroup[TCPTUNED_CONFIG_TEXT];	     /* below the root of the tree; "": any */

	uint32_t mode; /* enum tcptuned_mode */
	bool override_rcvbuf;
	bool override_sndbuf;
	uint32_t receive_window_max_bytes; /* 0: auto; 1: TCPTUNED_WINDOW_KERNEL */
	uint32_t send_window_max_bytes;
	char congestion_control[TCPTUNED_CC_NAME_MAX]; /* "": leave it alone; TCPTUNED_CC_AUTO */
	uint32_t long_path_segments; /* bandwidth-delay product from which auto takes bitcp */
};

struct tcptuned_named_policy {
	char name[TCPTUNED_POLICY_NAME_MAX];
	struct tcptuned_policy_config set; /* with what it inherits from [policy] */
	struct tcptuned_prefixes from_file; /* what destination_file has */
	char *origin[TCPTUNED_CONFIG_KEYS]; /* NULL: inherited */
	char *where;			    /* "FILE:LINE" of its first section line */
};

struct tcptuned_config {
	/* [tcptuned] */
	char cgroup[TCPTUNED_CONFIG_TEXT]; /* "": the root of the cgroup2 tree, to be found */
	char bpffs[TCPTUNED_CONFIG_TEXT];
	char runtime_directory[TCPTUNED_CONFIG_TEXT];
	char state_directory[TCPTUNED_CONFIG_TEXT];
	uint32_t log_level; /* enum tcptuned_log_level */

	/* [policy] */
	struct tcptuned_policy_config policy;

	/* [policy NAME], in the order in which they are first met */
	struct tcptuned_named_policy *policies;
	size_t policies_len;

	/* [bitcp]; its other parameters are the paper's */
	struct bitcp_params bitcp;

	/* [memory] */
	uint64_t budget_bytes; /* 0: from the kernel's limits */

	/* [control] */
	char control_group[32]; /* "": root's */

	/* [paths] */
	bool paths_enabled;
	uint32_t paths_expire_s;

	/* [metrics] */
	bool metrics_enabled;
	char metrics_address[INET6_ADDRSTRLEN]; /* numeric IPv4 or IPv6 */
	uint16_t metrics_port;
	uint32_t metrics_flows; /* so many flows one by one */

	/* Where each value comes from, in the order of the table: "FILE:LINE", "default" ... */
	char origin[TCPTUNED_CONFIG_KEYS][TCPTUNED_CONFIG_TEXT];
};

/* What of the configuration is not in force, and why; "": nothing. */
struct tcptuned_config_trouble {
	char rejected[TCPTUNED_ERROR_TEXT];  /* by the last reload */
	char unapplied[TCPTUNED_ERROR_TEXT]; /* and tried again */
};

static inline bool tcptuned_config_in_force(const struct tcptuned_config_trouble *trouble)
{
	return !trouble->rejected[0] && !trouble->unapplied[0];
}

#endif
