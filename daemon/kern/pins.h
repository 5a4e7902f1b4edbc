/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <bpf/libbpf.h>
#include <tcptuned/abi/meta.h>

#include "kern/kernel.h"
#include "util/error.h"

/*
 * Check that a BPF file system is mounted at @bpffs, and that only root can have put anything into
 * it or into @pin_dir, which need not exist; -EPERM: others may. Pins are opened by name and by
 * root: with a symbolic link of another user among them, a stop would detach whatever program it
 * points to.
 */
int tcptuned_pins_check(const char *bpffs, const char *pin_dir, struct tcptuned_error *err);

/*
 * Open @k->bpf, not loaded, with the links that are pinned, and @with_maps those maps that have
 * this build's layout. Returns 0 or a negative errno.
 */
int tcptuned_pins_open(struct tcptuned_kernel *k, bool with_maps);

/* True if the map is pinned, by a build that has another layout of it. */
bool tcptuned_pins_have_other_layout(const struct tcptuned_kernel *k, const struct bpf_map *map);

/*
 * Pin everything that runs, also that of the congestion controls @cc, of which each may be NULL, in
 * place of an earlier build's pins, and remove what else that one had. @meta, the record that says
 * that all of it is this build's, comes last: if this process is killed before, the next start does
 * it again. Returns 0 or a negative errno.
 */
int tcptuned_pins_make(const struct tcptuned_kernel *k, struct bpf_object *const cc[TCPTUNED_CCS],
		       const struct tcptuned_meta *meta);

/* Open all programs that are pinned, for their metrics: @k->programs. */
void tcptuned_pins_open_programs(struct tcptuned_kernel *k);

/*
 * Remove everything in the directory, known or not: a later build may have pinned more. Returns 0
 * if nothing is left, so that the directory could be removed, or a negative errno.
 */
int tcptuned_pins_remove(const struct tcptuned_kernel *k);

/* Of the congestion control itself and its registration; its programs are others. */
const char *tcptuned_pins_cc_name(enum tcptuned_cc cc);
enum tcptuned_cc tcptuned_pins_find_cc(const char *name); /* TCPTUNED_CCS: there is none */
void tcptuned_pins_open_cc(struct tcptuned_kernel *k);
void tcptuned_pins_remove_cc(const struct tcptuned_kernel *k, enum tcptuned_cc cc);
