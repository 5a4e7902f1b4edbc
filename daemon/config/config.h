/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The configuration: /etc/tcptuned/tcptuned.conf, then the drop-ins of tcptuned.conf.d in the order
 * of their names, then --set; a later value replaces an earlier one. The parser, its messages, the
 * example and the manual page are made from the table in config/keys.c.
 */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include <tcptuned/algo/bitcp.h>
#include <tcptuned/abi/policy.h>

#include "util/error.h"
#include "util/prefix.h"

#define TCPTUNED_CONFIG_PATH "/etc/tcptuned/tcptuned.conf"
#define TCPTUNED_CONFIG_KEYS 29
#define TCPTUNED_CONFIG_TEXT 256 /* longest path or origin, with its NUL */

#define TCPTUNED_WINDOW_KERNEL 1 /* receive_window_max = kernel: the kernel's own maximum */

/* congestion_control = auto (bpf/cc_auto.h); no congestion control has this name. */
#define TCPTUNED_CC_AUTO "auto"

/* Both inclusive. */
struct tcptuned_port_range {
	uint16_t low;
	uint16_t high;
};

#define TCPTUNED_PORT_RANGES_MAX 8

struct tcptuned_ports {
	uint32_t len; /* 0: any port */
	struct tcptuned_port_range list[TCPTUNED_PORT_RANGES_MAX];
};

/* A [policy] or [policy NAME] section. Only the latter has the conditions. */
struct tcptuned_policy_config {
	/* conditions */
	struct tcptuned_prefixes destination;
	struct tcptuned_prefixes source;
	struct tcptuned_ports local_port;
	struct tcptuned_ports remote_port;
	char destination_file[TCPTUNED_CONFIG_TEXT]; /* "": none */
	char cgroup[TCPTUNED_CONFIG_TEXT];	     /* below the root of the tree; "": any */

	/* actions */
	uint32_t mode; /* enum tcptuned_mode */
	bool override_rcvbuf;
	bool override_sndbuf;
	uint32_t receive_window_max_bytes; /* 0: auto; 1: TCPTUNED_WINDOW_KERNEL */
	uint32_t send_window_max_bytes;
	char congestion_control[TCPTUNED_CC_NAME_MAX]; /* "": keep; or TCPTUNED_CC_AUTO */
	uint32_t long_path_segments;		       /* window from which auto may set bitcp */
	uint32_t holdback; /* of 2^32 connections, those that are left to the kernel */
};

struct tcptuned_named_policy {
	char name[TCPTUNED_POLICY_NAME_MAX];
	struct tcptuned_policy_config set;  /* including what it inherits from [policy] */
	struct tcptuned_prefixes from_file; /* contents of destination_file */
	/* "FILE:LINE" or "--set" of each key, in the order of the table; "": inherited */
	char origin[TCPTUNED_CONFIG_KEYS][TCPTUNED_CONFIG_TEXT];
	char where[TCPTUNED_CONFIG_TEXT]; /* the same of the section's first line */
};

struct tcptuned_config {
	/* [tcptuned] */
	char cgroup[TCPTUNED_CONFIG_TEXT]; /* "": the root of the cgroup2 tree */
	char bpffs[TCPTUNED_CONFIG_TEXT];
	char runtime_directory[TCPTUNED_CONFIG_TEXT];
	char state_directory[TCPTUNED_CONFIG_TEXT];
	uint32_t log_level; /* enum tcptuned_log_level */

	/* [policy] */
	struct tcptuned_policy_config policy;

	/* [policy NAME], in the order of their first sections */
	struct tcptuned_named_policy *policies;
	size_t policies_len;

	/* [bitcp]; the other parameters are the paper's */
	struct bitcp_params bitcp;

	/* [memory] */
	uint64_t budget_bytes; /* 0: from the kernel's limits */

	/* [control] */
	char control_group[32]; /* "": root only */

	/* [paths] */
	bool paths_enabled;
	uint32_t paths_expire_s;
	bool paths_streams;

	/* [metrics] */
	bool metrics_enabled;
	char metrics_address[INET6_ADDRSTRLEN]; /* numeric IPv4 or IPv6 */
	uint32_t metrics_port;
	uint32_t metrics_flows; /* number of connections that are shown one by one */

	/* "FILE:LINE", "--set" or "default" of each key, in the order of the table */
	char origin[TCPTUNED_CONFIG_KEYS][TCPTUNED_CONFIG_TEXT];
};

/* Why the configuration in the files is not in force, or not all of it; "": it is. */
struct tcptuned_config_trouble {
	char rejected[TCPTUNED_ERROR_TEXT];  /* by the last reload */
	char unapplied[TCPTUNED_ERROR_TEXT]; /* and will be retried */
};

static inline bool tcptuned_config_in_force(const struct tcptuned_config_trouble *trouble)
{
	return !trouble->rejected[0] && !trouble->unapplied[0];
}
