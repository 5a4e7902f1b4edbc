// SPDX-License-Identifier: GPL-2.0-only
/* The program of tt_vegas, called here with a socket made up: which round-trip times count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "program.h"
#include "../../bpf/tt_vegas.bpf.c"

/* The base RTT after a sample of 15 ms in @state, where it was 15.9 before. */
static __u32 base_after(enum tcp_ca_state state)
{
	struct tcp_sock tp = {.snd_cwnd = 10};
	struct ack_sample open = {.rtt_us = 15900}, sample = {.rtt_us = 15000};
	struct vegas *vegas = (struct vegas *)tp.inet_conn.icsk_ca_priv;

	ca_init((struct sock *)&tp);
	ca_pkts_acked((struct sock *)&tp, &open);
	assert_int_equal(vegas->base_rtt_us, 15900);
	tp.inet_conn.icsk_ca_state = state;
	ca_pkts_acked((struct sock *)&tp, &sample);
	return vegas->base_rtt_us;
}

/* Of a repair the kernel may have time stamps only, and they are of whole milliseconds. */
static void round_trips_of_a_repair_do_not_count(void **state)
{
	assert_int_equal(base_after(TCP_CA_Open), 15000);
	assert_int_equal(base_after(TCP_CA_Disorder), 15000);
	assert_int_equal(base_after(TCP_CA_CWR), 15000);
	assert_int_equal(base_after(TCP_CA_Recovery), 15900);
	assert_int_equal(base_after(TCP_CA_Loss), 15900);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trips_of_a_repair_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
