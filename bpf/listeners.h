/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Notes of the ports on which a listener has a larger buffer than its application asked for: the
 * first window that is offered there must not be as large. Listeners may share a port, by
 * SO_REUSEPORT or with an address each; a note lasts as long as the last of them.
 */
#ifndef TCPTUNED_LISTENERS_H
#define TCPTUNED_LISTENERS_H

#include "maps.h"

/* Before its buffer is raised. False: there is no room, and it must not be. */
static __always_inline bool note_listener(const struct tcptuned_listener *listener)
{
	__u32 one = 1, *others = bpf_map_lookup_elem(&listeners, listener);

	if (!others)
		return !bpf_map_update_elem(&listeners, listener, &one, BPF_NOEXIST);
	/* There were none any more: the last one is closing just now, and takes the note along. */
	return __sync_fetch_and_add(others, 1) != 0;
}

/* Its buffer is what it was, or it is gone. */
static __always_inline void forget_listener(const struct tcptuned_listener *listener)
{
	__u32 *all = bpf_map_lookup_elem(&listeners, listener);

	if (all && __sync_fetch_and_add(all, -1) == 1)
		bpf_map_delete_elem(&listeners, listener);
}

#endif
