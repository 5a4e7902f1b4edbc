/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control socket, RUNTIME_DIRECTORY/control: one connection, one request (request.h), one
 * line in answer, and its end; or, for "events", a line for each event from then on. Driven by
 * the daemon's poll loop: nothing here waits, and everything is bounded.
 */
#ifndef TCPTUNED_RPC_SERVER_H
#define TCPTUNED_RPC_SERVER_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/un.h>

#include "rpc/answer.h"
#include "util/error.h"

struct tcptuned_control;

struct tcptuned_control_options {
	const char *directory;	       /* in which the socket is made */
	const char *group;	       /* whose members may ask, besides root; "": root's */
	struct tcptuned_source source; /* its kernel side has to outlive the control socket */
	/*
	 * Does what POLICY_ENABLE, POLICY_DISABLE, POLICY_APPLY and PATHS_FORGET ask for, with one
	 * line of answer. Returns 0, or a negative errno with @err filled; NULL: they are refused.
	 */
	int (*change)(void *ctx, const struct tcptuned_request *request,
		      struct tcptuned_buf *out, struct tcptuned_error *err);
	void *change_ctx;
	const char *no_stop; /* why STOP is refused, and what to do; NULL: it is obeyed */
};

/*
 * The group named @name on this host; of "" root's. Returns 0, or a negative errno with @err filled
 * where there is none.
 */
int tcptuned_control_group(const char *name, gid_t *ret_gid, struct tcptuned_error *err);

/* Make the socket, in place of what a killed daemon left. Returns 0, or a negative errno with
 * @err filled. */
int tcptuned_control_start(struct tcptuned_control **ret,
			   const struct tcptuned_control_options *options,
			   struct tcptuned_error *err);

/* The descriptor to poll for POLLIN. */
int tcptuned_control_fd(const struct tcptuned_control *control);

/* Milliseconds until tcptuned_control_run() has to be called even without POLLIN; -1: never. */
int tcptuned_control_timeout_ms(const struct tcptuned_control *control);

/* Do what can be done without waiting. Returns whether a request was answered. */
bool tcptuned_control_run(struct tcptuned_control *control);

/*
 * Has somebody asked the daemon to stop? Then who did, in @ret_pid and @ret_uid. That client's
 * connection ends with tcptuned_control_stop(): when everything has been taken back. One that
 * does not wait for it has asked all the same.
 */
bool tcptuned_control_stop_asked(const struct tcptuned_control *control, pid_t *ret_pid,
				 uid_t *ret_uid);

/* Remove the socket and close everything. NULL is fine. */
void tcptuned_control_stop(struct tcptuned_control *control);

#endif
