/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel side, seen from the daemon: its maps, programs and links. The tables below say what is
 * loaded, pinned, taken over by a restart, and reported in metrics.
 *
 * All pins are in one directory of the BPF file system:
 *   map_NAME   the maps; map_bitcp and map_cubic_resume are the congestion controls themselves
 *   link_NAME  what attaches the programs; while it is there, they run
 *   prog_NAME  the programs, for administrators who want to look at them
 * map_meta is pinned last and removed first: a directory without it is the rest of an interrupted start or
 * stop.
 */
#ifndef TCPTUNED_KERN_KERNEL_H
#define TCPTUNED_KERN_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

/* Every map: X(NAME, name). The name is that in the programs; "map_NAME" is its pin. */
#define TCPTUNED_MAP_TABLE(X)                                                                    \
	X(META, meta)	      /* which build loaded this, and what was changed on the host */    \
	X(POLICIES, policies) /* policy id -> struct tcptuned_policy */                          \
	X(MATCH, match)	      /* of one map: struct tcptuned_match_key -> tcptuned_match */      \
	X(RULES, rules)	      /* of two maps: index -> struct tcptuned_rule */                   \
	X(FLOWS, flows)	      /* socket storage: struct tcptuned_flow */                         \
	X(RANDOM_LOSSES, random_losses) /* socket storage: struct random_loss */                 \
	X(LISTENERS, listeners)	  /* struct tcptuned_listener_key -> struct tcptuned_listener */ \
	X(TOTALS, totals)	  /* per CPU: struct tcptuned_totals */                          \
	X(BUDGET, budget)	  /* struct budget */                                            \
	X(EVENT_GATE, event_gate) /* struct tcptuned_event_gate: which events are wanted */      \
	X(TAI_OFFSET, tai_offset) /* __u64: by how much CLOCK_TAI is ahead of UTC, us */         \
	X(EVENTS, events)	  /* ring buffer of struct tcptuned_event */                     \
	X(BITCP_PARAMS, bitcp_params)	/* struct bitcp_params; absent without struct_ops */     \
	X(PATHS, paths)			/* struct tcptuned_path_key -> struct tcptuned_path */   \
	X(PATH_SETTINGS, path_settings) /* struct tcptuned_path_settings */                      \
	X(STREAMS, streams) /* struct tcptuned_streams_key -> struct tcptuned_streams_record */  \
	X(READOUT, readout) /* struct readout: the request to dump_flows, and its sums */        \
	X(COLLECTED, collected) /* ring buffer of struct tcptuned_flow_record from dump_flows */

/*
 * Every program: X(NAME, name, link, attach type). "prog_NAME" is its pin, and "link_LINK" that of
 * its link. The programs of congestion controls come last; a registration is one link, that of the first.
 */
#define TCPTUNED_PROG_TABLE(X)                                                              \
	X(SOCKOPS, tcptuned_sockops, "sockops", BPF_CGROUP_SOCK_OPS)                        \
	X(SETSOCKOPT, tcptuned_setsockopt, "setsockopt", BPF_CGROUP_SETSOCKOPT)             \
	X(GETSOCKOPT, tcptuned_getsockopt, "getsockopt", BPF_CGROUP_GETSOCKOPT)             \
	/* tp_btf/tcp_destroy_sock: the end of sockets, also of those without a callback */ \
	X(DESTROYED, tcptuned_destroyed, "destroyed", BPF_TRACE_RAW_TP)                     \
	/* iter/bpf_sk_storage_map: adds up and collects records */                         \
	X(DUMP_FLOWS, dump_flows, "dump", BPF_TRACE_ITER)                                   \
	/* iter/tcp: in place of that one where the kernel refuses it */                    \
	X(DUMP_TCP, dump_tcp, "dump_tcp", BPF_TRACE_ITER)                                   \
	/* iter/tcp: attach records to connections that were open before */                 \
	X(ADOPT_FLOWS, adopt_flows, "adopt", BPF_TRACE_ITER)                                \
	/* release connections to the kernel */                                             \
	X(RELEASE_FLOWS, release_flows, "release", BPF_TRACE_ITER)                          \
	/* restore congestion controls, and what listeners have requested */                \
	X(UNDO_OVERRIDES, undo_overrides, "undo_overrides", BPF_TRACE_ITER)                 \
	/* give open connections the policy that a new one would get */                     \
	X(APPLY_POLICIES, apply_policies, "apply", BPF_TRACE_ITER)                          \
	/* reclaim budget from idle connections */                                          \
	X(RECLAIM_IDLE, reclaim_idle, "reclaim", BPF_TRACE_ITER)                            \
	/* set callback flags that another program has cleared */                           \
	X(RECALL_FLOWS, recall_flows, "recall", BPF_TRACE_ITER)                             \
	/* struct_ops; no link before Linux 6.4: then the map holds the registration */     \
	X(BITCP, ca_init, "bitcp", 0)                                                       \
	X(BITCP_CONG_AVOID, ca_cong_avoid, "", 0)                                           \
	X(BITCP_SSTHRESH, ca_ssthresh, "", 0)                                               \
	X(BITCP_UNDO_CWND, ca_undo_cwnd, "", 0)                                             \
	X(BITCP_CWND_EVENT, ca_cwnd_event, "", 0)                                           \
	X(BITCP_RELEASE, ca_release, "", 0)                                                 \
	X(RESUME, resume_init, "cubic_resume", 0)                                           \
	X(RESUME_CONG_AVOID, resume_cong_avoid, "", 0)                                      \
	X(RESUME_SSTHRESH, resume_ssthresh, "", 0)                                          \
	X(RESUME_CWND_EVENT, resume_cwnd_event, "", 0)                                      \
	X(RESUME_PKTS_ACKED, resume_pkts_acked, "", 0)                                      \
	X(RESUME_SET_STATE, resume_set_state, "", 0)                                        \
	X(RESUME_UNDO_CWND, resume_undo_cwnd, "", 0)                                        \
	X(RESUME_RELEASE, resume_release, "", 0)

enum tcptuned_map {
#define TCPTUNED_MAP_ENUM(id, name) TCPTUNED_MAP_##id,
	TCPTUNED_MAP_TABLE(TCPTUNED_MAP_ENUM)
#undef TCPTUNED_MAP_ENUM
		TCPTUNED_MAPS,
};

enum tcptuned_prog {
#define TCPTUNED_PROG_ENUM(id, name, link, type) TCPTUNED_PROG_##id,
	TCPTUNED_PROG_TABLE(TCPTUNED_PROG_ENUM)
#undef TCPTUNED_PROG_ENUM
		TCPTUNED_PROGS,
};

/* The congestion controls that are registered. A kernel may refuse one, and tuning goes on without. */
enum tcptuned_cc { TCPTUNED_CC_BITCP, TCPTUNED_CC_RESUME, TCPTUNED_CCS };

struct tcptuned_registration {
	int map_fd;	   /* the struct_ops map; negative: not registered */
	char why_not[256]; /* a sentence */
};

/* How this daemon came by what runs. */
enum tcptuned_origin {
	TCPTUNED_LOADED,     /* there was nothing before */
	TCPTUNED_TAKEN_OVER, /* pinned by an earlier daemon of the same build, and kept as it was */
	TCPTUNED_UPGRADED,   /* programs replaced; connections and totals kept */
	TCPTUNED_REPLACED,   /* records of another layout: all of it is new, old records dropped */
};

#define TCPTUNED_PIN_DIR_MAX 280

/* What an iterator has done, at the start or when policies were applied to open connections. */
struct tcptuned_adoption {
	unsigned long long connections; /* that have a record now */
	unsigned long long moved;	/* that have another policy now, ... */
	unsigned long long detached;	/* ... or none; of adoption: that are in another cgroup */
	unsigned long long failed;	/* sockets that the kernel refused, or had no memory for */
	unsigned long long too_old;	/* sockets left alone: see kernel_too_old() */
	unsigned int namespaces;	/* visited to the end */
	unsigned int namespaces_vanished; /* gone when their turn came */
	unsigned int namespaces_failed; /* not visited, or not to the end: may not be entered, ... */
	int error;			/* ... or this negative errno, the last one; 0: none */
	unsigned long long ns;		/* duration */
};

/* A descriptor is negative where there is none. */
struct tcptuned_kernel {
	int map_fd[TCPTUNED_MAPS];
	int prog_fd[TCPTUNED_PROGS];
	int link_fd[TCPTUNED_PROGS];
	uint32_t other_layout; /* a bit for each pinned map of another build's layout; not opened */
	struct tcptuned_registration cc[TCPTUNED_CCS];
	bool paths_kept; /* the maps of paths and streams are an earlier daemon's, with what was learned since */
	enum tcptuned_origin origin;
	struct tcptuned_adoption adoption; /* at the start */
	char pin_dir[TCPTUNED_PIN_DIR_MAX];
};

static inline bool tcptuned_is_registered(const struct tcptuned_kernel *k, enum tcptuned_cc cc)
{
	return k->cc[cc].map_fd >= 0;
}

#endif
