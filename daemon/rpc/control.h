/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control socket, RUNTIME_DIRECTORY/control. A client sends one request (request.h), gets one
 * line in answer, and is disconnected; after "events" it gets a line for each event until it
 * disconnects. Nothing here waits, and clients, requests and answers are bounded.
 */
#pragma once

#include <sys/types.h>
#include <systemd/sd-event.h>

#include "rpc/request.h"
#include "util/error.h"

struct tcptuned_control;

struct tcptuned_control_listener {
	int fd;	   /* negative: none */
	gid_t gid; /* the group whose members may use it, besides root */
	struct sockaddr_un address;
};

struct tcptuned_control_options {
	const struct tcptuned_control_listener *listener;
	struct tcptuned_source source; /* its kernel side must outlive the control socket */
	sd_event *loop;		       /* the daemon's, which outlives the control socket */
	/* Executes what changes something, and prints one line of answer; nothing if it fails. */
	int (*change)(const struct tcptuned_request *request, FILE *out,
		      struct tcptuned_error *err);
	void (*answering)(void); /* is called before a request is answered */
	__u64 *events_lost;	 /* see tcptuned_events_open() */
};

/* Look up the group @name; "" is root's. */
int tcptuned_control_group(const char *name, gid_t *ret_gid, struct tcptuned_error *err);

/* Create the socket in @directory, for @group ("": root's); replaces a killed daemon's. */
int tcptuned_control_listen(struct tcptuned_control_listener *ret, const char *directory,
			    const char *group, struct tcptuned_error *err);

/* Remove and close it. */
void tcptuned_control_unlisten(struct tcptuned_control_listener *listener);

int tcptuned_control_start(struct tcptuned_control **ret,
			   const struct tcptuned_control_options *options,
			   struct tcptuned_error *err);

/* Send @err to a client that waits for the end of the daemon. */
void tcptuned_control_stop_failed(struct tcptuned_control *control,
				  const struct tcptuned_error *err);

/*
 * Accept no client any more, and have @pass hand those that get events over to another process;
 * their descriptors are closed after it.
 */
void tcptuned_control_retire(struct tcptuned_control *control,
			     void (*pass)(int fd, const struct tcptuned_filter *filter));

/* Take over a client that gets events; @fd is closed if that is impossible. */
void tcptuned_control_take_over(struct tcptuned_control *control, int fd,
				const struct tcptuned_filter *filter);

bool tcptuned_control_has_clients(const struct tcptuned_control *control);
