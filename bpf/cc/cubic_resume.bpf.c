// SPDX-License-Identifier: GPL-2.0-only
/*
 * "cubic_resume": the kernel's own CUBIC, which resumes its window after a pause, and jumps on a
 * known path. All windows but those of the round trip after that are those of the kernel's
 * functions.
 */
#include "engine.h"

extern void cubictcp_init(struct sock *sk) __ksym;
extern void cubictcp_cong_avoid(struct sock *sk, __u32 ack, __u32 acked) __ksym;
extern __u32 cubictcp_recalc_ssthresh(struct sock *sk) __ksym;
extern void cubictcp_state(struct sock *sk, __u8 new_state) __ksym;
extern void cubictcp_acked(struct sock *sk, const struct ack_sample *sample) __ksym;
extern __u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

/*
 * The window before a pause, after which the kernel has cut it: at most what was in flight lately,
 * or in slow start twice that, which is how it grows. After slow start ssthresh is three quarters
 * of it or more (tcp_current_ssthresh()).
 */
static __always_inline __u32 window_before_pause(const struct tcp_sock *tp)
{
	__u32 most = tp->snd_ssthresh / 3 * 4;

	if (tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH)
		return 2 * tp->max_packets_out;
	return most < tp->max_packets_out ? most : tp->max_packets_out;
}

/* W_max, the window at the last loss: of the CUBIC that was replaced nothing is left. */
static __always_inline void keep_last_max(struct tcp_sock *tp)
{
	struct bictcp *cubic = state_of(tp);

	cubic->last_max_cwnd = tp->prior_cwnd;
}

/* True if BBR, which was tried, has just been dropped (choose_cc()). */
static __always_inline bool is_after_trial(struct sock *sk)
{
	const struct tcptuned_flow *flow = bpf_sk_storage_get(&flows, sk, NULL, 0);

	return flow && (flow->flags & (TCPTUNED_F_CC_OURS | TCPTUNED_F_CC_RESTORED)) ==
			       TCPTUNED_F_CC_RESTORED;
}

/*
 * BBR leaves a window of twice what the path carries, the threshold of when its own start ended or
 * none, and pacing, for it has no release().
 */
static __always_inline void follow_bbr(struct tcp_sock *tp, __u32 pacing_status)
{
	__u32 half = tp->snd_cwnd / 2;

	if (tp->snd_ssthresh > half && half >= CONGESTION_INITIAL_WINDOW)
		tp->snd_ssthresh = half;
	if (tp->snd_cwnd > tp->snd_ssthresh)
		tp->snd_cwnd = tp->snd_ssthresh;
	if (pacing_status != SK_PACING_NEEDED)
		return;
	resume_of(tp)->paced = 1;
	resume_of(tp)->end = tp->snd_nxt;
}

/*
 * A connection gets this congestion control with its first segment after a pause, of which TX_START
 * follows, or after another one was tried.
 */
SEC("struct_ops/resume_init")
void BPF_PROG(resume_init, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	cubictcp_init(sk);
	/* A client that has just connected has sent nothing yet, as after a pause. */
	if (expect_jump(sk, tp))
		return;
	if (sk_paused(tp)) {
		keep_last_max(tp);
		after_pause(tp, window_before_pause(tp));
	} else if (is_after_trial(sk)) {
		follow_bbr(tp, sk->sk_pacing_status);
	}
}

SEC("struct_ops/resume_cong_avoid")
void BPF_PROG(resume_cong_avoid, struct sock *sk, __u32 una, __u32 acked)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct congestion_ack ack;
	bool goes_on;

	read_ack(tp, una, acked, &ack);
	goes_on = validate(sk, &ack);
	write_window(tp, &ack);
	if (goes_on)
		cubictcp_cong_avoid(sk, una, acked);
}

/* The kernel's function takes a share of cwnd. */
SEC("struct_ops/resume_ssthresh")
__u32 BPF_PROG(resume_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u32 carried = retreat(sk);
	__u32 cwnd = tp->snd_cwnd, ssthresh;

	if (carried && carried < cwnd)
		tp->snd_cwnd = carried;
	ssthresh = cubictcp_recalc_ssthresh(sk);
	tp->snd_cwnd = cwnd;
	return ssthresh;
}

#ifdef HAS_TX_START
extern void cubictcp_cwnd_event_tx_start(struct sock *sk) __ksym;

SEC("struct_ops/resume_cwnd_event")
void BPF_PROG(resume_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	on_cwnd_event(sk, event);
}

SEC("struct_ops/resume_tx_start")
void BPF_PROG(resume_tx_start, struct sock *sk)
{
	on_cwnd_event(sk, CA_EVENT_TX_START);
	cubictcp_cwnd_event_tx_start(sk);
}
#else
extern void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym;

SEC("struct_ops/resume_cwnd_event")
void BPF_PROG(resume_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	on_cwnd_event(sk, event);
	cubictcp_cwnd_event(sk, event);
}
#endif

/*
 * HyStart knows slow start, but no validation: what was carried before is sent. If the path carries
 * less than it did, it has to find out how much.
 */
SEC("struct_ops/resume_pkts_acked")
void BPF_PROG(resume_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	const struct resume *r = resume_of((struct tcp_sock *)sk);

	if (r->state < RESUME_UNVALIDATED || r->slower)
		cubictcp_acked(sk, sample);
}

SEC("struct_ops/resume_set_state")
void BPF_PROG(resume_set_state, struct sock *sk, __u8 new_state)
{
	cubictcp_state(sk, new_state);
}

SEC("struct_ops/resume_undo_cwnd")
__u32 BPF_PROG(resume_undo_cwnd, struct sock *sk)
{
	restore_slow_start((struct tcp_sock *)sk);
	return tcp_reno_undo_cwnd(sk);
}

SEC("struct_ops/resume_release")
void BPF_PROG(resume_release, struct sock *sk)
{
	abandon_window((struct tcp_sock *)sk);
	stop_pacing(sk);
}

SEC(".struct_ops")
struct tcp_congestion_ops cubic_resume = {
	.init = (void *)resume_init,
	.cong_avoid = (void *)resume_cong_avoid,
	.ssthresh = (void *)resume_ssthresh,
	.cwnd_event = (void *)resume_cwnd_event,
#ifdef HAS_TX_START
	.cwnd_event_tx_start = (void *)resume_tx_start,
#endif
	.pkts_acked = (void *)resume_pkts_acked,
	.set_state = (void *)resume_set_state,
	.undo_cwnd = (void *)resume_undo_cwnd,
	.release = (void *)resume_release,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "cubic_resume",
};
