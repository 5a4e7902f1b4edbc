// SPDX-License-Identifier: GPL-2.0-only
/*
 * What other people's sockops programs do: once a connection is established this one says which
 * calls it wants, whatever was set before, and gives it another congestion control. It counts
 * the calls with each segment, by local port.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

/*
 * Local ports of those that want no call, and one for each change of state; others: each segment.
 */
#define WANTS_NONE  7501
#define WANTS_STATE 7502

#define SOL_TCP	       6
#define TCP_CONGESTION 13

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, __u64);
} assigns_calls SEC(".maps");

SEC("sockops")
int assigns(struct bpf_sock_ops *ctx)
{
	__u32 port = ctx->local_port;
	__u64 one = 1, *calls;
	char reno[] = "reno";

	switch (ctx->op) {
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		bpf_sock_ops_cb_flags_set(ctx, port == WANTS_NONE ? 0
					       : port == WANTS_STATE
						       ? BPF_SOCK_OPS_STATE_CB_FLAG
						       : BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
		bpf_setsockopt(ctx, SOL_TCP, TCP_CONGESTION, reno, sizeof(reno));
		break;
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB:
		calls = bpf_map_lookup_elem(&assigns_calls, &port);
		if (calls)
			__sync_fetch_and_add(calls, 1);
		else
			bpf_map_update_elem(&assigns_calls, &port, &one, BPF_NOEXIST);
		break;
	}
	return 1;
}

char _license[] SEC("license") = "GPL";
