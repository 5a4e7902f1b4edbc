/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel side, seen from the daemon: its maps, programs and links.
 *
 * Pins, all in one directory of the BPF file system:
 *   map_NAME   the maps below; map_bitcp is the congestion control itself
 *   link_NAME  what attaches the programs; while it is there, they run
 *   prog_NAME  the programs, for whoever wants to look at them
 * map_meta is pinned last: without it the directory is what an interrupted start left.
 */
#ifndef TCPTUNED_KERN_KERNEL_H
#define TCPTUNED_KERN_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/types.h>

/* Maps and programs that are always there while tcptuned is attached. */
enum tcptuned_map {
	TCPTUNED_MAP_META,	   /* who loaded this, and what was changed on the host */
	TCPTUNED_MAP_POLICIES,	   /* policy id -> struct tcptuned_policy */
	TCPTUNED_MAP_MATCH,	   /* of one map: struct tcptuned_match_key -> tcptuned_match */
	TCPTUNED_MAP_RULES,	   /* of two maps: index -> struct tcptuned_rule */
	TCPTUNED_MAP_FLOWS,	   /* socket storage: struct tcptuned_flow */
	TCPTUNED_MAP_TOTALS,	   /* per CPU: struct tcptuned_totals */
	TCPTUNED_MAP_BUDGET,	   /* struct budget */
	TCPTUNED_MAP_EVENT_GATE,   /* struct tcptuned_event_gate: does anybody listen? */
	TCPTUNED_MAP_EVENTS,	   /* ring buffer of struct tcptuned_event */
	TCPTUNED_MAP_BITCP_PARAMS, /* struct bitcp_params; absent without struct_ops */
	TCPTUNED_MAP_PATHS,	   /* struct tcptuned_path_key -> struct tcptuned_path */
	TCPTUNED_MAP_PATH_SETTINGS, /* struct tcptuned_path_settings */
	TCPTUNED_MAP_READOUT,	   /* struct readout: what dump_flows is to do, and its sums */
	TCPTUNED_MAP_COLLECTED,	   /* ring buffer of struct tcptuned_flow_record, for it */
	TCPTUNED_MAPS,
};

enum tcptuned_prog {
	TCPTUNED_PROG_SOCKOPS,
	TCPTUNED_PROG_SETSOCKOPT,
	TCPTUNED_PROG_GETSOCKOPT,
	TCPTUNED_PROG_DESTROYED,     /* tp_btf/tcp_destroy_sock: the end that nobody was told of */
	TCPTUNED_PROG_DUMP_FLOWS,    /* iter/bpf_sk_storage_map: adds up and collects records */
	TCPTUNED_PROG_ADOPT_FLOWS,   /* iter/tcp: takes what was open before */
	TCPTUNED_PROG_RELEASE_FLOWS, /* iter/tcp: gives connections back to the kernel */
	TCPTUNED_PROG_UNDO_OVERRIDES, /* iter/tcp: congestion control, requests of listeners */
	TCPTUNED_PROG_APPLY_POLICIES, /* iter/tcp: gives open ones the policy that is theirs now */
	TCPTUNED_PROG_REST_FLOWS,    /* iter/tcp: has those at rest give back what they were granted */
	TCPTUNED_PROG_RECALL_FLOWS,  /* iter/tcp: asks for callbacks that others took away */
	TCPTUNED_PROG_BITCP_FIRST,   /* the struct_ops programs, as many as there are */
	TCPTUNED_PROGS = TCPTUNED_PROG_BITCP_FIRST + 8,
};

enum tcptuned_link {
	TCPTUNED_LINK_SOCKOPS,
	TCPTUNED_LINK_SETSOCKOPT,
	TCPTUNED_LINK_GETSOCKOPT,
	TCPTUNED_LINK_DESTROYED,
	TCPTUNED_LINK_DUMP,
	TCPTUNED_LINK_ADOPT,
	TCPTUNED_LINK_RELEASE,
	TCPTUNED_LINK_UNDO_OVERRIDES,
	TCPTUNED_LINK_APPLY,
	TCPTUNED_LINK_REST,
	TCPTUNED_LINK_RECALL,
	TCPTUNED_LINK_BITCP, /* absent before Linux 6.4: then map_bitcp holds the registration */
	TCPTUNED_LINKS,
};

/* How this daemon came by what runs. */
enum tcptuned_origin {
	TCPTUNED_LOADED,     /* there was nothing before */
	TCPTUNED_TAKEN_OVER, /* pinned by an earlier daemon of the same build, as it was */
	TCPTUNED_UPGRADED,   /* programs replaced; connections and totals kept */
	TCPTUNED_REPLACED,   /* records of another layout: everything new, old records dropped */
};

#define TCPTUNED_PIN_DIR_MAX 280

/* What became of that which was open, at the start or when policies were applied to it. */
struct tcptuned_adoption {
	uint64_t connections;
	uint64_t moved;		       /* that another policy has now, ... */
	uint64_t let_go;	       /* ... or none; of adoption: that are in another cgroup */
	uint64_t failed;	       /* sockets that the kernel refused, or had no memory for */
	uint64_t too_old;	       /* sockets that were left alone: see kernel_too_old() */
	unsigned int namespaces;       /* visited to the end */
	unsigned int namespaces_vanished; /* gone when their turn came */
	unsigned int namespaces_failed; /* not visited, or not to the end: may not be entered, ... */
	int error;		       /* ... or this negative errno, the last one; 0: none */
	uint64_t ns;		       /* how long all of it took */
};

/* All descriptors are -1 where there is none. */
struct tcptuned_kernel {
	int map_fd[TCPTUNED_MAPS];
	int prog_fd[TCPTUNED_PROGS];
	int link_fd[TCPTUNED_LINKS];
	uint32_t other_layout; /* another build's maps, a bit each: there, and not opened */
	int bitcp_map_fd; /* the struct_ops map */
	bool bitcp;	  /* registered */
	bool paths_kept; /* that map is of a daemon before this one, with what was learned since */
	__u32 generation; /* of the policies in force, in the upper half of their ids; 0: none */
	__u32 policies_len; /* how many these are, the default one included */
	enum tcptuned_origin origin;
	struct tcptuned_adoption adoption; /* at the start */
	char why_no_bitcp[256]; /* a sentence when it is not */
	char pin_dir[TCPTUNED_PIN_DIR_MAX];
};

#endif
