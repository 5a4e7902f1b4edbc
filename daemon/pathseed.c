// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <bpf/bpf.h>

#include "pathseed.h"

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

bool tcptuned_pathseed_key(const struct tcptuned_flow_record *record,
			   const struct tcptuned_path_settings *settings,
			   struct tcptuned_path_key *ret)
{
	struct tcptuned_path_key key = { .netns = record->netns };
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

void tcptuned_pathseed_put(struct tcptuned_flow_record *record, const struct tcptuned_path *path,
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

/* One that was open before tcptuned came has begun already. */
static bool is_observed(const struct tcptuned_flow_record *record)
{
	return (record->flow.flags & (TCPTUNED_F_OBSERVE | TCPTUNED_F_ADOPTED)) ==
	       TCPTUNED_F_OBSERVE;
}

void tcptuned_pathseed_flows(struct tcptuned_flows *flows, const struct tcptuned_kernel *kernel)
{
	int settings_fd = kernel->map_fd[TCPTUNED_MAP_PATH_SETTINGS];
	int fd = kernel->map_fd[TCPTUNED_MAP_PATHS];
	struct tcptuned_path_settings settings;
	struct tcptuned_path_key key;
	struct tcptuned_path path;
	struct timespec now;
	__u32 zero = 0;

	if (!flows->observed || fd < 0 || settings_fd < 0 ||
	    bpf_map_lookup_elem(settings_fd, &zero, &settings) || !settings.enabled)
		return;
	clock_gettime(CLOCK_BOOTTIME, &now);
	for (__u32 i = 0; i < flows->top_len; i++)
		if (is_observed(&flows->top[i]) &&
		    tcptuned_pathseed_key(&flows->top[i], &settings, &key) &&
		    !bpf_map_lookup_elem(fd, &key, &path))
			tcptuned_pathseed_put(&flows->top[i], &path, now.tv_sec, settings.expire_s);
}
