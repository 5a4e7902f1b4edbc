/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The worker: a process without privileges that answers tcptunectl and Prometheus, and keeps the
 * path memory. It has what it needs: descriptors that were opened before, and a copy of the
 * daemon's state, since it is a fork of it. The daemon's own process, the keeper, has the
 * privileges, and takes no input but the configuration, signals, and a few calls of the worker over
 * a pair of sockets.
 *
 * When that state changes, another worker takes its place. The one before it finishes what it has
 * begun to answer. One that ends, or hangs, is replaced; nothing that runs in the kernel depends on
 * it.
 */
#pragma once

#include "apply/state.h"

/* Start the first worker, and wait for some seconds at most until it has loaded the path memory. */
void tcptuned_worker_start(struct tcptuned_daemon *d);

/* Replace the worker by one that knows the present state. Nothing before the first one. */
void tcptuned_worker_renew(struct tcptuned_daemon *d);

/*
 * Around a change of the state that a client waits for: who asks meanwhile is answered after it. At
 * the end there is a worker, whether or not it was renewed.
 */
void tcptuned_worker_pause(struct tcptuned_daemon *d);
void tcptuned_worker_resume(struct tcptuned_daemon *d);

/* Replace it if it hangs. Call this every few seconds. */
void tcptuned_worker_check(struct tcptuned_daemon *d);

/* Have the worker save the path memory, and wait for that. */
void tcptuned_worker_save(struct tcptuned_daemon *d);

/* Send @err to clients that wait for the end of the daemon. */
void tcptuned_worker_stop_failed(struct tcptuned_daemon *d, const struct tcptuned_error *err);

/* End all workers. */
void tcptuned_worker_stop(struct tcptuned_daemon *d);
