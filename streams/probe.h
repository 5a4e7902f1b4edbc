/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A probe: n connections at the same time, made by a child process, and what was seen of them. */
#pragma once

#include <stddef.h>

#include <tcptuned/streams.h>

struct probe_run {
	char *destination; /* host of iperf3, or URL */
	unsigned int port; /* of iperf3 */
	unsigned int streams;
	unsigned int seconds; /* that are measured, after those that are left out */
	unsigned int omit_seconds;
	int receive;		       /* of iperf3: the server sends */
	char *congestion_control;      /* of iperf3; NULL: the default */
	unsigned long long file_bytes; /* size of the file at the URL; 0: ask for it */
};

/* What the child has printed. */
struct probe_report {
	double rate;	      /* bits per second; 0: of the sockets */
	double bytes;	      /* 0: of the sockets */
	double retransmitted; /* segments; -1: unknown */
	double cpu;	      /* share of a core that the other end's process used; 0: unknown */
	unsigned int threads; /* of the child that may be busy at the same time */
	unsigned long long file_bytes; /* the answer to file_bytes 0 */
	int refused;		       /* the server takes no more connections: 429, 503 */
	char redirect[1024]; /* URL of the file, in place of the destination; "": it is there */
	int busy;	     /* the server may not have ended the probe before */
	char congestion_control[16];
};

/* A kind of probe, probe_iperf3.c and probe_http.c. */
struct probe_kind {
	/* The arguments of the child for @run, which free() releases together; NULL: no memory. */
	char **(*arguments)(const struct probe_run *run);
	/* What it reads from standard input, which free() releases; NULL: no memory. */
	char *(*input)(const struct probe_run *run);
	/*
	 * Read what the child has printed. Returns 0; -EPROTO, and in @error what it complains
	 * about, or that its output makes no sense.
	 */
	int (*read)(const struct probe_run *run, const char *output, size_t len,
		    struct probe_report *ret, char *error, size_t error_size);
};

/* Replace what is not printable ASCII by question marks: it may come from a server. */
static inline void probe_make_printable(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

/* Find the host in "SCHEME://[USER@]HOST[:PORT][/...]", without brackets. Returns its length. */
size_t probe_find_host(const char *url, const char **ret);

extern const struct probe_kind probe_iperf3, probe_http;
