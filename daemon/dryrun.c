// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <bpf/bpf.h>

#include "dryrun.h"

/* ---- the path memory ----------------------------------------------------------------------- */

/* An address as it is in a record, IPv4 in the first word also where an IPv6 socket has it. */
static __u16 unmapped(const __u8 address[16], __u16 family, __u32 ret[4])
{
	memcpy(ret, address, 16);
	if (family != AF_INET6 || ret[0] || ret[1] || ret[2] != htonl(0xffff))
		return family;
	ret[0] = ret[3];
	ret[1] = ret[2] = ret[3] = 0;
	return AF_INET;
}

bool tcptuned_dryrun_path_key(const struct tcptuned_flow_record *record,
			   const struct tcptuned_path_settings *settings,
			   struct tcptuned_path_key *ret)
{
	struct tcptuned_path_key key = { .netns_cookie = record->netns_cookie };
	__u32 local[4], remote[4];

	key.family = (__u8)unmapped(record->remote, record->family, remote);
	unmapped(record->local, record->family, local);
	if (!memcmp(local, remote, sizeof(local)))
		return false;
	key.prefix_len = (__u8)(key.family == AF_INET ? settings->ipv4_prefix :
							settings->ipv6_prefix);
	for (__u32 i = 0; i < 4; i++)
		remote[i] &= htonl(path_mask(key.prefix_len, i));
	memcpy(key.prefix, remote, sizeof(key.prefix));
	*ret = key;
	return true;
}

void tcptuned_dryrun_put_path(struct tcptuned_flow_record *record, const struct tcptuned_path *path,
			   __s64 now_s, __u32 expire_s)
{
	struct tcptuned_flow *flow = &record->flow;
	struct path_seed seed = path_seed_of(path, now_s, expire_s, record->min_rtt_us,
					     flow->rcv_window_max, flow->snd_window_max);

	/* As path_seed() of the kernel side does, for somebody knows better. */
	if (seed.rcv_window > flow->rcv_floor && !(flow->flags & TCPTUNED_F_RCVBUF_APP))
		flow->rcv_seed = seed.rcv_window;
	flow->max_window_seed = seed.max_window;
	if (seed.slow && !(flow->flags & (TCPTUNED_F_RCV_HANDS_OFF | TCPTUNED_F_RCV_LEAST)))
		flow->flags |= TCPTUNED_F_SLOW_SEED;
}

/* ---- the budget ---------------------------------------------------------------------------- */

/* @window as memory, where @bytes take @memory; from once to four times as much. */
static __u64 memory_for(__u32 window, __u32 bytes, __u32 memory)
{
	__u64 space = bytes ? (__u64)window * memory / bytes : 2ull * window;

	if (space < window)
		return window;
	return space < 4ull * window ? space : 4ull * window;
}

/*
 * What budget_allow() of the kernel side would answer, out of a copy. @have, @base: the buffer
 * that there is, and that it began with; @space: what the window takes.
 */
static struct budget_share ask(const struct budget *budget, __u64 space, __u32 have, __u32 base)
{
	__u32 want = space > base ? (__u32)(space - base) : 0, level;
	struct budget copy = *budget;
	struct budget_share share = { 0 };

	if (!want)
		return share;
	budget_want(&copy, &share, want);
	if (have > base)
		budget_hold(&copy, &share, have - base);
	copy.level = 0; /* found without what is wanted here */
	level = budget_level(&copy, copy.level_us);
	budget_reserve(&copy, &share, want);
	if (share.granted > level)
		share.granted = level;
	return share;
}

void tcptuned_dryrun_put_budget(struct tcptuned_flow_record *record, const struct budget *budget)
{
	struct tcptuned_flow *flow = &record->flow;
	__u32 queued = record->flight + record->unsent;
	__u64 space;

	if (flow->rcv.window) {
		space = memory_for(flow->rcv.window, record->window_clamp, record->rcvbuf);
		if (space > flow->rcv_buffer_max)
			space = flow->rcv_buffer_max;
		flow->rcv_share = ask(budget, space, record->rcvbuf, flow->rcv_base);
	}
	if (flow->snd.window) {
		/* Too little to tell what a byte costs: send_cost_256() of the kernel side. */
		space = memory_for(flow->snd.window, queued < 65536 ? 0 : queued,
				   record->wmem_queued);
		if (space > flow->snd_buffer_max)
			space = flow->snd_buffer_max;
		flow->snd_share = ask(budget, space, record->sndbuf, flow->snd_base);
	}
}

/* ---- both of all --------------------------------------------------------------------------- */

/* One that was open before tcptuned came has begun already. */
static void complete_paths(struct tcptuned_flows *flows, const struct tcptuned_kernel *kernel)
{
	int settings_fd = kernel->map_fd[TCPTUNED_MAP_PATH_SETTINGS];
	int fd = kernel->map_fd[TCPTUNED_MAP_PATHS];
	struct tcptuned_path_settings settings;
	struct tcptuned_path_key key;
	struct tcptuned_path path;
	struct timespec now;
	__u32 zero = 0;

	if (fd < 0 || settings_fd < 0 || bpf_map_lookup_elem(settings_fd, &zero, &settings) ||
	    !settings.enabled)
		return;
	clock_gettime(CLOCK_BOOTTIME, &now);
	for (__u32 i = 0; i < flows->top_len; i++) {
		struct tcptuned_flow_record *record = &flows->top[i];

		if ((record->flow.flags & TCPTUNED_F_OBSERVE) &&
		    !(record->flow.flags & TCPTUNED_F_ADOPTED) &&
		    tcptuned_dryrun_path_key(record, &settings, &key) &&
		    !bpf_map_lookup_elem(fd, &key, &path))
			tcptuned_dryrun_put_path(record, &path, now.tv_sec, settings.expire_s);
	}
}

static void complete_budget(struct tcptuned_flows *flows, const struct tcptuned_kernel *kernel)
{
	int fd = kernel->map_fd[TCPTUNED_MAP_BUDGET];
	struct budget budget;
	__u32 zero = 0;

	if (fd < 0 || bpf_map_lookup_elem(fd, &zero, &budget))
		return;
	for (__u32 i = 0; i < flows->top_len; i++)
		if (flows->top[i].flow.flags & TCPTUNED_F_OBSERVE)
			tcptuned_dryrun_put_budget(&flows->top[i], &budget);
}

void tcptuned_dryrun_complete(struct tcptuned_flows *flows, const struct tcptuned_kernel *kernel)
{
	if (!flows->observed)
		return;
	complete_paths(flows, kernel);
	complete_budget(flows, kernel);
}
