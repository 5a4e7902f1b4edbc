// SPDX-License-Identifier: GPL-2.0-only
/*
 * "cubic_resume": the kernel's own CUBIC, which resumes its window after a pause. All windows but those of the round
 * trip after a pause are those of the kernel's functions.
 */
#include "congestion.h"

extern void cubictcp_init(struct sock *sk) __ksym;
extern void cubictcp_cong_avoid(struct sock *sk, __u32 ack, __u32 acked) __ksym;
extern __u32 cubictcp_recalc_ssthresh(struct sock *sk) __ksym;
extern void cubictcp_state(struct sock *sk, __u8 new_state) __ksym;
extern void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym;
extern void cubictcp_acked(struct sock *sk, const struct ack_sample *sample) __ksym;
extern __u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

/*
 * A connection gets this congestion control with its first segment after a pause, when the kernel has cut its window,
 * and ssthresh is at least three quarters of that (tcp_current_ssthresh()).
 */
SEC("struct_ops/resume_init")
void BPF_PROG(resume_init, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	cubictcp_init(sk);
	if (sk_paused(tp) && after_pause(tp, tp->snd_ssthresh / 3 * 4, tp->snd_cwnd))
		begin_after_pause(sk);
}

SEC("struct_ops/resume_cong_avoid")
void BPF_PROG(resume_cong_avoid, struct sock *sk, __u32 una, __u32 acked)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct congestion_ack ack;

	read_ack(tp, una, acked, &ack);
	ack.cwnd = resume_on_ack(resume_of(tp), &ack, tp->packets_out);
	pace_on_ack(sk);
	write_window(tp, &ack);
	cubictcp_cong_avoid(sk, una, acked);
}

/* The kernel's function takes a share of cwnd. */
SEC("struct_ops/resume_ssthresh")
__u32 BPF_PROG(resume_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u32 cwnd = tp->snd_cwnd, ssthresh;

	if (resume_of(tp)->state != RESUME_NORMAL)
		tp->snd_cwnd = window_at_loss(tp);
	ssthresh = cubictcp_recalc_ssthresh(sk);
	tp->snd_cwnd = cwnd;
	return ssthresh;
}

SEC("struct_ops/resume_cwnd_event")
void BPF_PROG(resume_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	on_cwnd_event(sk, event);
	cubictcp_cwnd_event(sk, event);
}

/* HyStart knows slow start, but no validation. */
SEC("struct_ops/resume_pkts_acked")
void BPF_PROG(resume_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	if (resume_of((struct tcp_sock *)sk)->state == RESUME_NORMAL)
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
	return tcp_reno_undo_cwnd(sk);
}

SEC("struct_ops/resume_release")
void BPF_PROG(resume_release, struct sock *sk)
{
	stop_pacing(sk);
}

SEC(".struct_ops")
struct tcp_congestion_ops cubic_resume = {
	.init = (void *)resume_init,
	.cong_avoid = (void *)resume_cong_avoid,
	.ssthresh = (void *)resume_ssthresh,
	.cwnd_event = (void *)resume_cwnd_event,
	.pkts_acked = (void *)resume_pkts_acked,
	.set_state = (void *)resume_set_state,
	.undo_cwnd = (void *)resume_undo_cwnd,
	.release = (void *)resume_release,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "cubic_resume",
};
