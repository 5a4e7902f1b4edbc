/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs the iterators of bpf/manage.bpf.c, each of which sees one network namespace at a time. */
#pragma once

#include <bpf/libbpf.h>

#include "kern/kernel.h"

/*
 * Run the iterator of @link in every network namespace that can be entered, and add up in
 * @ret (may be NULL) what it has done. Returns 0, -ENOENT for NULL, or another negative
 * errno if no namespace could be visited.
 *
 * adopt_flows has to run before the default congestion control is changed: a connection
 * that has the default has made no choice. recall_flows does nothing before Linux 6.12.
 */
int tcptuned_iterator_run(const struct bpf_link *link, struct tcptuned_adoption *ret);
