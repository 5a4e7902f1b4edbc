/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control socket, RUNTIME_DIRECTORY/control. A client sends one request (request.h), gets one
 * line in answer, and is disconnected; after "events" it gets a line for each event until it
 * disconnects. Nothing here waits, and clients, requests and answers are bounded.
 */
#ifndef TCPTUNED_RPC_CONTROL_H
#define TCPTUNED_RPC_CONTROL_H

#include <sys/types.h>
#include <systemd/sd-event.h>

#include "rpc/request.h"
#include "util/error.h"

struct tcptuned_control;

struct tcptuned_control_options {
	const char *directory;	       /* in which the socket is created */
	const char *group;	       /* whose members may use it, besides root; "": root's */
	struct tcptuned_source source; /* its kernel side must outlive the control socket */
	sd_event *loop;		       /* the daemon's, which outlives the control socket */
	/*
	 * Executes what changes something, and prints one line of answer, or nothing if it fails.
	 */
	int (*change)(void *ctx, const struct tcptuned_request *request, FILE *out,
		      struct tcptuned_error *err);
	void (*answering)(void *ctx); /* is called before a request is answered */
	void *ctx;
};

/* Look up the group @name; "" is root's. */
int tcptuned_control_group(const char *name, gid_t *ret_gid, struct tcptuned_error *err);

/* Create the socket; one that a killed daemon left is replaced. */
int tcptuned_control_start(struct tcptuned_control **ret,
			   const struct tcptuned_control_options *options,
			   struct tcptuned_error *err);

/* Send @err to a client that waits for the end of the daemon. */
void tcptuned_control_stop_failed(struct tcptuned_control *control,
				  const struct tcptuned_error *err);

/*
 * Remove the socket and disconnect all clients; one that waits for the end sees it. NULL is fine.
 */
void tcptuned_control_stop(struct tcptuned_control *control);

#endif
