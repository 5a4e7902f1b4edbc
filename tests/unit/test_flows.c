// SPDX-License-Identifier: GPL-2.0-only
/* Reading flows: a pipe in the kernel iterator's place, cut into pieces of any size. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "flows.h"

#define RECORDS	      5000
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* A generator of our own, so that a failure can be repeated. */
static __u64 random_state = 88172645463325252ull;

static __u64 random64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static const char *const cc_names[] = {"bitcp", "cubic", "bbr", "reno"};

static void random_record(struct tcptuned_flow_record *r)
{
	memset(r, 0, sizeof(*r));
	r->flow.flags = TCPTUNED_F_CLAIMED;
	if (random64() % 3 == 0)
		r->flow.flags |= TCPTUNED_F_RCV_TAKEN;
	if (random64() % 5 == 0)
		r->flow.flags |= TCPTUNED_F_RCVBUF_REQ;
	r->flow.policy = random64() % 3;
	r->flow.rcv.reason = random64() % RIGHTSIZE_REASONS;
	r->flow.snd.reason = random64() % RIGHTSIZE_REASONS;
	r->family = AF_INET;
	r->state = TCP_ESTABLISHED;
	r->limit = random64() % TCPTUNED_LIMITS;
	r->bytes_received = random64() >> (2 + random64() % 40);
	r->bytes_acked = random64() >> (2 + random64() % 40);
	r->rcvbuf = random64() >> 33;
	r->sndbuf = random64() >> 33;
	r->rmem_alloc = random64() >> 33;
	r->wmem_queued = random64() >> 33;
	strcpy(r->congestion_control, cc_names[random64() % ARRAY_SIZE(cc_names)]);
}

/* A child that writes @len bytes of @data in pieces of at most @most bytes, seldom in a hurry.
 */
static int writer(const void *data, size_t len, size_t most, useconds_t pause_us,
		  pid_t *ret_pid)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	*ret_pid = fork();
	assert_true(*ret_pid >= 0);
	if (!*ret_pid) {
		close(fds[0]);
		while (len) {
			size_t piece = 1 + random64() % most;
			ssize_t put;

			put = write(fds[1], data, piece < len ? piece : len);
			if (put < 0)
				_exit(1);
			data = (const char *)data + put;
			len -= (size_t)put;
			if (pause_us)
				usleep(pause_us);
		}
		_exit(0);
	}
	close(fds[1]);
	return fds[0];
}

/* Read what a writer delivers. */
static int read_from(struct tcptuned_flows *flows, const void *data, size_t len, size_t most,
		     useconds_t pause_us)
{
	int status, err, fd;
	pid_t pid;

	fd = writer(data, len, most, pause_us, &pid);
	err = tcptuned_flows_read_fd(flows, fd);
	close(fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return err;
}

static int by_size_descending(const void *a, const void *b)
{
	__u64 left = tcptuned_flow_size(a), right = tcptuned_flow_size(b);

	return left < right ? 1 : left > right ? -1 : 0;
}

static struct tcptuned_flow_record *random_records(size_t n)
{
	struct tcptuned_flow_record *records = calloc(n, sizeof(*records));
	size_t i;

	assert_non_null(records);
	for (i = 0; i < n; i++)
		random_record(&records[i]);
	return records;
}

static void test_top_is_what_a_sort_gives(void **state)
{
	static const __u32 tops[] = {1, 2, 3, 100, 1000, RECORDS, RECORDS + 1};
	struct tcptuned_flow_record *records = random_records(RECORDS);
	struct tcptuned_flow_record *sorted = malloc(RECORDS * sizeof(*sorted));
	struct tcptuned_flows flows;
	__u32 i, want;
	size_t t;

	memcpy(sorted, records, RECORDS * sizeof(*sorted));
	qsort(sorted, RECORDS, sizeof(*sorted), by_size_descending);
	for (t = 0; t < ARRAY_SIZE(tops); t++) {
		assert_int_equal(tcptuned_flows_init(&flows, tops[t]), 0);
		assert_int_equal(
			read_from(&flows, records, RECORDS * sizeof(*records), 100000, 0), 0);
		want = tops[t] < RECORDS ? tops[t] : RECORDS;
		assert_int_equal(flows.top_len, want);
		assert_int_equal(tcptuned_flows_left_out(&flows), RECORDS - want);
		/* With this seed no two sizes are alike: the records must be the same. */
		for (i = 0; i < want; i++)
			assert_memory_equal(&flows.top[i], &sorted[i], sizeof(sorted[i]));
		tcptuned_flows_free(&flows);
	}
	free(sorted);
	free(records);
}

static void test_sums(void **state)
{
	struct tcptuned_flow_record *records = random_records(RECORDS);
	__u64 rcvbuf = 0, wmem = 0, taken = 0, asked = 0, bbr1 = 0, capped = 0, cwnd = 0;
	struct tcptuned_flows flows;
	__u64 grouped = 0;
	__u32 i;

	for (i = 0; i < RECORDS; i++) {
		rcvbuf += records[i].rcvbuf;
		wmem += records[i].wmem_queued;
		taken += !!(records[i].flow.flags & TCPTUNED_F_RCV_TAKEN);
		asked += !!(records[i].flow.flags & TCPTUNED_F_RCVBUF_REQ);
		bbr1 += records[i].flow.policy == 1 &&
			!strcmp(records[i].congestion_control, "bbr");
		capped += records[i].flow.snd.reason == RIGHTSIZE_CAPPED;
		cwnd += records[i].limit == TCPTUNED_LIMIT_CWND;
	}
	assert_int_equal(tcptuned_flows_init(&flows, 10), 0);
	/* Twice: what was read before must be forgotten. */
	assert_int_equal(read_from(&flows, records, sizeof(*records), 1000, 0), 0);
	assert_int_equal(flows.live, 1);
	assert_int_equal(read_from(&flows, records, RECORDS * sizeof(*records), 1000, 0), 0);
	assert_int_equal(flows.records, RECORDS);
	assert_int_equal(flows.live, RECORDS);
	assert_int_equal(flows.rcvbuf_bytes, rcvbuf);
	assert_int_equal(flows.wmem_bytes, wmem);
	assert_int_equal(flows.rcv_taken, taken);
	assert_int_equal(flows.rcvbuf_requests, asked);
	assert_int_equal(flows.snd_reason[RIGHTSIZE_CAPPED], capped);
	assert_int_equal(flows.limited[TCPTUNED_LIMIT_CWND], cwnd);
	assert_int_equal(flows.groups_len, 12);
	for (i = 0; i < flows.groups_len; i++) {
		grouped += flows.groups[i].flows;
		if (flows.groups[i].policy == 1 &&
		    !strcmp(flows.groups[i].congestion_control, "bbr"))
			assert_int_equal(flows.groups[i].flows, bbr1);
	}
	assert_int_equal(grouped, RECORDS);
	tcptuned_flows_free(&flows);
	free(records);
}

#define GROUPED (3 * TCPTUNED_FLOW_GROUPS)

static void test_groups_are_bounded(void **state)
{
	struct tcptuned_flow_record *records = random_records(GROUPED);
	struct tcptuned_flows flows;
	__u32 i;

	for (i = 0; i < GROUPED; i++) {
		records[i].flow.policy = i / 2;
		strcpy(records[i].congestion_control, "cubic");
	}
	assert_int_equal(tcptuned_flows_init(&flows, 0), 0);
	assert_int_equal(read_from(&flows, records, GROUPED * sizeof(*records), 9999, 0), 0);
	assert_int_equal(flows.groups_len, TCPTUNED_FLOW_GROUPS);
	assert_int_equal(flows.groups[0].flows, 2);
	assert_int_equal(flows.groups_other, GROUPED - 2 * TCPTUNED_FLOW_GROUPS);
	assert_int_equal(flows.top_len, 0);
	assert_int_equal(tcptuned_flows_left_out(&flows), GROUPED);
	tcptuned_flows_free(&flows);
	free(records);
}

static void test_only_live_connections(void **state)
{
	struct tcptuned_flow_record *records = random_records(5);
	struct tcptuned_flows flows;

	records[0].state = TCP_LISTEN;
	records[1].state = TCP_CLOSE;
	records[2].flow.flags &= ~TCPTUNED_F_CLAIMED;
	records[3].state = TCP_FIN_WAIT2;
	records[4].flow.flags |= TCPTUNED_F_OBSERVE;
	assert_int_equal(tcptuned_flows_init(&flows, 5), 0);
	assert_int_equal(read_from(&flows, records, 5 * sizeof(*records), 9999, 0), 0);
	assert_int_equal(flows.records, 5);
	assert_int_equal(flows.live, 2);
	assert_int_equal(flows.observed, 1);
	assert_int_equal(flows.top_len, 2);
	assert_int_equal(tcptuned_flows_left_out(&flows), 0);
	tcptuned_flows_free(&flows);
	free(records);
}

static volatile sig_atomic_t alarms;

static void count_alarm(int signal)
{
	alarms++;
}

/* Single bytes, and a signal every few milliseconds: short reads, cut records, EINTR. */
static void test_short_and_interrupted_reads(void **state)
{
	struct itimerval every = {{0, 2000}, {0, 2000}}, never = {};
	struct tcptuned_flow_record *records = random_records(20);
	struct sigaction act = {.sa_handler = count_alarm}, old;
	struct tcptuned_flows flows;

	assert_int_equal(tcptuned_flows_init(&flows, 20), 0);
	assert_int_equal(read_from(&flows, records, 20 * sizeof(*records), 1, 0), 0);
	assert_int_equal(flows.live, 20);

	sigaction(SIGALRM, &act, &old); /* without SA_RESTART */
	setitimer(ITIMER_REAL, &every, NULL);
	assert_int_equal(read_from(&flows, records, 20 * sizeof(*records), 500, 5000), 0);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &old, NULL);
	assert_true(alarms > 0);
	assert_int_equal(flows.live, 20);
	qsort(records, 20, sizeof(*records), by_size_descending);
	assert_memory_equal(flows.top, records, 20 * sizeof(*records));
	tcptuned_flows_free(&flows);
	free(records);
}

static void test_wrong_size_is_an_error(void **state)
{
	struct tcptuned_flow_record *records = random_records(100);
	struct tcptuned_flows flows;
	char *data = (char *)records;
	size_t cut;

	assert_int_equal(tcptuned_flows_init(&flows, 5), 0);
	assert_int_equal(read_from(&flows, data, sizeof(*records) - 1, 9999, 0), -EPROTO);
	assert_int_equal(read_from(&flows, data, 3 * sizeof(*records) + 1, 9999, 0), -EPROTO);
	/* Records of another size, though their sum happens to be right. */
	cut = 8;
	memmove(data + sizeof(*records), data + sizeof(*records) + cut, sizeof(*records));
	assert_int_equal(read_from(&flows, data, 2 * sizeof(*records), 9999, 0), -EPROTO);
	tcptuned_flows_free(&flows);
	free(records);
}

static void test_nonsense_is_an_error(void **state)
{
	struct tcptuned_flow_record good, bad;
	struct tcptuned_flows flows;
	int which;

	random_record(&good);
	assert_int_equal(tcptuned_flows_init(&flows, 5), 0);
	assert_int_equal(read_from(&flows, &good, sizeof(good), 9999, 0), 0);
	for (which = 0; which < 5; which++) {
		bad = good;
		if (which == 0)
			bad.family = AF_UNIX;
		else if (which == 1)
			bad.limit = TCPTUNED_LIMITS;
		else if (which == 2)
			memset(bad.congestion_control, 'x', sizeof(bad.congestion_control));
		else if (which == 3)
			bad.flow.rcv.reason = RIGHTSIZE_REASONS;
		else
			bad.flow.snd.reason = RIGHTSIZE_REASONS;
		assert_int_equal(read_from(&flows, &bad, sizeof(bad), 9999, 0), -EPROTO);
	}
	tcptuned_flows_free(&flows);
}

static void test_names_are_printable(void **state)
{
	struct tcptuned_flow_record record;
	struct tcptuned_flows flows;

	random_record(&record);
	strcpy(record.congestion_control, "a\n\x7f\xff\xc3\"b ~");
	assert_int_equal(tcptuned_flows_init(&flows, 5), 0);
	assert_int_equal(read_from(&flows, &record, sizeof(record), 9999, 0), 0);
	assert_string_equal(flows.top[0].congestion_control, "a????\"b ~");
	assert_string_equal(flows.groups[0].congestion_control, "a????\"b ~");
	tcptuned_flows_free(&flows);
}

static void test_bad_descriptors(void **state)
{
	struct tcptuned_flows flows;
	int fds[2];

	assert_int_equal(tcptuned_flows_init(&flows, 5), 0);
	assert_int_equal(tcptuned_flows_read_fd(&flows, -1), -EBADF);
	assert_true(tcptuned_flows_read(&flows, -1) < 0);
	/* Something that never has data must not be asked for ever. */
	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	assert_int_equal(tcptuned_flows_read_fd(&flows, fds[0]), -EAGAIN);
	close(fds[0]);
	close(fds[1]);
	tcptuned_flows_free(&flows);
}

/* 200,000 flows, of which 10 are kept: the process may not grow by more than a megabyte. */
static void test_memory_does_not_depend_on_flows(void **state)
{
	struct tcptuned_flow_record *records = random_records(1000);
	struct tcptuned_flows flows;
	struct rusage before, after;
	int fds[2], status, i;
	pid_t pid;

	assert_int_equal(tcptuned_flows_init(&flows, 10), 0);
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		for (i = 0; i < 200; i++)
			if (write(fds[1], records, 1000 * sizeof(*records)) < 0)
				_exit(1);
		_exit(0);
	}
	close(fds[1]);
	getrusage(RUSAGE_SELF, &before);
	assert_int_equal(tcptuned_flows_read_fd(&flows, fds[0]), 0);
	getrusage(RUSAGE_SELF, &after);
	close(fds[0]);
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(flows.live, 200000);
	assert_true(after.ru_maxrss - before.ru_maxrss < 1024); /* kilobytes */
	tcptuned_flows_free(&flows);
	free(records);
}

static void test_addresses(void **state)
{
	struct tcptuned_flow_record r = {
		.family = AF_INET, .local_port = 5201, .remote_port = 65535};
	char text[TCPTUNED_ADDRESS_MAX];

	inet_pton(AF_INET, "192.0.2.1", r.local);
	inet_pton(AF_INET, "255.255.255.255", r.remote);
	tcptuned_flow_address(&r, 0, text);
	assert_string_equal(text, "192.0.2.1:5201");
	tcptuned_flow_address(&r, 1, text);
	assert_string_equal(text, "255.255.255.255:65535");

	r.family = AF_INET6;
	inet_pton(AF_INET6, "2001:db8::1", r.local);
	inet_pton(AF_INET6, "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255", r.remote);
	tcptuned_flow_address(&r, 0, text);
	assert_string_equal(text, "[2001:db8::1]:5201");
	tcptuned_flow_address(&r, 1, text);
	assert_string_equal(text, "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535");
}

static void test_every_name_is_there(void **state)
{
	unsigned int i;

	for (i = 0; i < TCPTUNED_LIMITS; i++)
		assert_string_not_equal(tcptuned_limit_name(i), "unknown");
	for (i = 0; i < RIGHTSIZE_REASONS; i++)
		assert_string_not_equal(tcptuned_reason_name(i), "unknown");
	for (i = 0; i < TCPTUNED_BITCP_MODES; i++)
		assert_string_not_equal(tcptuned_bitcp_mode_name(i), "unknown");
	for (i = 0; i <= TCPTUNED_TUNE; i++)
		assert_string_not_equal(tcptuned_mode_name(i), "unknown");
	assert_string_equal(tcptuned_state_name(TCP_CLOSE_WAIT), "close_wait");
	assert_string_equal(tcptuned_state_name(0), "unknown");
	assert_string_equal(tcptuned_limit_name(TCPTUNED_LIMITS), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_top_is_what_a_sort_gives),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_groups_are_bounded),
		cmocka_unit_test(test_only_live_connections),
		cmocka_unit_test(test_short_and_interrupted_reads),
		cmocka_unit_test(test_wrong_size_is_an_error),
		cmocka_unit_test(test_nonsense_is_an_error),
		cmocka_unit_test(test_names_are_printable),
		cmocka_unit_test(test_bad_descriptors),
		cmocka_unit_test(test_memory_does_not_depend_on_flows),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_every_name_is_there),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("flows", tests, NULL, NULL);
}
