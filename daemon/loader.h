/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel side, seen from the daemon: programs, maps and links, loaded or taken over from
 * a daemon before this one, pinned, and taken back.
 *
 * Pins, all in one directory of the BPF file system:
 *   map_NAME   the maps below; map_bitcp is the congestion control itself
 *   link_NAME  what attaches the programs; while it is there, they run
 *   prog_NAME  the programs, for whoever wants to look at them
 * map_meta is pinned last: without it the directory is what an interrupted start left.
 */
#ifndef TCPTUNED_LOADER_H
#define TCPTUNED_LOADER_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/types.h>

#include "exit.h"

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

/* The map's name, in the programs and after "map_" among the pins. */
const char *tcptuned_map_name(enum tcptuned_map which);

/* All descriptors -1: a kernel side that is not there yet. */
void tcptuned_kernel_init(struct tcptuned_kernel *k, const char *bpffs);

/*
 * Load or take over everything, attach to the cgroup @cgroup_fd and pin under @bpffs; on
 * failure nothing is left behind that was not there before. The programs claim nothing until
 * a policy is written. @register_bitcp: offer the congestion control to the host.
 * Returns 0 or a negative errno with @err filled.
 */
int tcptuned_kernel_attach(struct tcptuned_kernel *k, const char *bpffs, int cgroup_fd,
			   bool register_bitcp, struct tcptuned_error *err);

/*
 * Load every program into maps of its own, as tcptuned_kernel_attach() would, and unload it again.
 * Nothing is attached, and a daemon that runs is not disturbed. That BI-TCP is not taken is an
 * error where one is registered that an upgrade would end.
 * Returns 0 or a negative errno with @err filled.
 */
int tcptuned_kernel_check_load(const char *bpffs, int cgroup_fd, struct tcptuned_error *err);

/*
 * Open what is pinned under @bpffs, to look at it or to detach it. -ENOENT when nothing is, -EPERM
 * when others than root may write there.
 * Whatever of it can be opened is, but for maps of another layout that nothing else keeps from
 * being read: @k->other_layout.
 */
int tcptuned_kernel_open(struct tcptuned_kernel *k, const char *bpffs,
			 struct tcptuned_error *err);

/* Have the records of what was opened the layout of this build? */
bool tcptuned_kernel_can_be_read(const struct tcptuned_kernel *k);

/*
 * Claim, for the policy that is written, the connections that are open and were not claimed,
 * in every network namespace that can be entered; what came of it is in
 * k->adoption. Repeated, it finds nothing more. Before the default congestion control is
 * changed: whoever has the default has not chosen. Returns 0 or a negative errno when no
 * namespace could be visited.
 */
int tcptuned_kernel_adopt_flows(struct tcptuned_kernel *k);

/*
 * Give every open connection the policy that it would get if it were made now, those that had
 * none included. Returns 0, or a negative errno as above, and what came of it in @ret.
 */
int tcptuned_kernel_apply_policies(const struct tcptuned_kernel *k, struct tcptuned_adoption *ret);

/*
 * Have connections that were at rest for five seconds give back what of the budget they do not
 * hold, in every network namespace. Returns 0, or a negative errno as above.
 */
int tcptuned_kernel_rest_flows(struct tcptuned_kernel *k);

/*
 * Ask for the callbacks of claimed connections again where another sockops program has taken them
 * away. Before Linux 6.12 nothing comes of it. Returns as above.
 */
int tcptuned_kernel_recall_flows(struct tcptuned_kernel *k);

/*
 * A network namespace whose default congestion control is bitcp has the one that was registered
 * when the name was written, for ever. Have it be the one that is registered now, in every
 * namespace.
 */
void tcptuned_kernel_renew_defaults(void);

/* No connection is claimed and none is tuned any more afterwards; all pins stay. */
void tcptuned_kernel_stop(struct tcptuned_kernel *k);

/*
 * Give the connections that were tuned back to the kernel: with the buffers that they have, or
 * with as much as its own autotuning may give (tcp_rmem[2], tcp_wmem[2]). @link_fd: the iterator
 * TCPTUNED_LINK_RELEASE of the build that made their records; negative: there are none. In every
 * network namespace; returns how many were visited, or a negative errno, and in @ret_refused how
 * many may not be entered.
 */
int tcptuned_kernel_release_flows(int link_fd, unsigned int *ret_refused);

/*
 * Move connections whose congestion control tcptuned set to the default of their network
 * namespace, as it is now; let a namespace whose own default is bitcp, inherited from when it
 * was made, have that of the caller's; and give listeners the buffers that were asked for.
 */
void tcptuned_kernel_undo_overrides(struct tcptuned_kernel *k);

/* Take everything off the host. Descriptors stay until tcptuned_kernel_close(). */
void tcptuned_kernel_detach(struct tcptuned_kernel *k);

/* Let go of all descriptors. What is pinned goes on. */
void tcptuned_kernel_close(struct tcptuned_kernel *k);

#endif
