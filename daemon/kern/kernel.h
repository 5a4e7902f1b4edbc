/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel side, seen from the daemon: its maps, programs and links, by the skeleton of their
 * object.
 *
 * All pins are in one directory of the BPF file system:
 *   map_NAME   the maps; map_bitcp and map_cubic_resume are the congestion controls themselves
 *   link_NAME  what attaches the program NAME (without "tcptuned_"; link_release: release_flows),
 *              or registers the congestion control; while it is there, it runs
 *   prog_NAME  the programs, for administrators who want to look at them, and for their metrics
 * map_meta is pinned last and removed first: a directory without it is the rest of an interrupted
 * start or stop.
 */
#pragma once

#include <stdbool.h>

struct tcptuned_bpf; /* tcptuned.skel.h */

/*
 * The congestion controls that are registered. A kernel may refuse one, and tuning goes on without.
 */
enum tcptuned_cc { TCPTUNED_CC_BITCP, TCPTUNED_CC_RESUME, TCPTUNED_CCS };

struct tcptuned_registration {
	int map_fd;	   /* the struct_ops map; negative: not registered */
	int link_fd;	   /* negative before Linux 6.4: then the map holds the registration */
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
	unsigned int namespaces_failed;	  /* not visited to the end: may not be entered, ... */
	int error;			  /* ... for this reason, the last one (negative errno) */
	unsigned long long ns;		  /* duration */
};

#define TCPTUNED_PROGRAMS_MAX 48 /* there are 25 */

struct tcptuned_program {
	char name[32]; /* as in the metrics: without "tcptuned_" */
	int fd;
};

struct tcptuned_kernel {
	/*
	 * Loaded, or opened with the maps and links that are pinned, and no programs. A map has no
	 * descriptor if it is not pinned, or has another layout; a link is NULL where there is
	 * none.
	 */
	struct tcptuned_bpf *bpf;
	struct tcptuned_registration cc[TCPTUNED_CCS];
	bool paths_kept; /* the maps of paths and streams are an earlier daemon's */
	enum tcptuned_origin origin;
	struct tcptuned_adoption adoption; /* at the start */
	char pin_dir[TCPTUNED_PIN_DIR_MAX];
	/* Kept open, because to open these takes privileges. */
	struct tcptuned_program programs[TCPTUNED_PROGRAMS_MAX];
	unsigned int programs_len;
	int match_fd, rules_fd[2]; /* the maps in match and rules; negative: not open */
	/*
	 * Calls @visit with an iterator of dump_tcp for each network namespace, where this process
	 * cannot enter them. NULL: it can. Returns 0 or a negative errno.
	 */
	int (*each_namespace)(void (*visit)(void *ctx, int iterator), void *ctx);
	/*
	 * Processes that share the maps take turns at reading all records: a lock of this file
	 * (negative: none), for which one of them waits, and the other does not.
	 */
	int scan_lock;
	bool scan_waits;
};

/* Each program and its link, by struct bpf_prog_skeleton *@p. */
#define for_each_program(k, p)                                        \
	for (struct bpf_prog_skeleton *p = (k)->bpf->skeleton->progs; \
	     p < (k)->bpf->skeleton->progs + (k)->bpf->skeleton->prog_cnt; p++)

static inline bool tcptuned_is_registered(const struct tcptuned_kernel *k, enum tcptuned_cc cc)
{
	return k->cc[cc].map_fd >= 0;
}
