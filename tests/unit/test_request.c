// SPDX-License-Identifier: GPL-2.0-only
/* Requests on the control socket, the filters that they carry, and the order that they ask for. */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "rpc/request.h"
#include "util/array.h"

static struct tcptuned_request request;
static struct tcptuned_error err;

static void parse(const char *text)
{
	memset(&err, 0, sizeof(err));
	if (tcptuned_request_parse(text, strlen(text), &request, &err))
		fail_msg("%s: %s", text, err.text);
}

static void refuse(const char *text, size_t len, const char *says)
{
	struct tcptuned_request before;

	memset(&err, 0, sizeof(err));
	memset(&request, 0xa5, sizeof(request));
	before = request;
	assert_int_equal(tcptuned_request_parse(text, len, &request, &err), -EINVAL);
	assert_int_equal(err.status, TCPTUNED_EXIT_USAGE);
	assert_memory_equal(&request, &before, sizeof(request));
	if (!strstr(err.text, says))
		fail_msg("%s: '%s' does not say '%s'", text, err.text, says);
	for (const char *p = err.text; *p; p++)
		assert_true(*p >= ' ' && *p <= '~');
}

static void test_every_command(void **state)
{
	parse("{\"command\":\"status\"}");
	assert_int_equal(request.command, TCPTUNED_CMD_STATUS);
	parse(" {\t\"command\" : \"stop\"}\r");
	assert_int_equal(request.command, TCPTUNED_CMD_STOP);
	parse("{\"command\":\"events\"}");
	assert_int_equal(request.command, TCPTUNED_CMD_EVENTS);
	parse("{\"command\":\"events\",\"local_address\":\"192.0.2.1\",\"remote_port\":443,"
	      "\"netns\":7}");
	assert_int_equal(request.filter.local.length, 128);
	assert_int_equal(request.filter.remote_port, 443);
	assert_int_equal(request.filter.netns, 7);
	parse("{\"command\":\"policies\"}");
	assert_int_equal(request.command, TCPTUNED_CMD_POLICIES);
	parse("{\"command\":\"paths\",\"address\":\"2001:db8::/32\",\"path_sort\":\"rtt\",\"limit\":7}");
	assert_int_equal(request.command, TCPTUNED_CMD_PATHS);
	assert_int_equal(request.filter.address.length, 32);
	assert_string_equal(request.path_sort, "rtt");
	assert_int_equal(request.limit, 7);
	parse("{\"local_address\":\"192.0.2.1\",\"remote_port\":443,\"command\":\"policy_test\","
	      "\"remote_address\":\"::ffff:198.51.100.7\"}");
	assert_int_equal(request.command, TCPTUNED_CMD_POLICY_TEST);
	assert_int_equal(request.filter.remote_port, 443);
	assert_true(request.filter.local.ipv4);
	assert_string_equal(request.cgroup, "");
	parse("{\"command\":\"policy_test\",\"cgroup\":\"/a/b\",\"local_address\":\"::1\","
	      "\"remote_address\":\"2001:db8::1\"}");
	assert_string_equal(request.cgroup, "/a/b");
	parse("{\"command\":\"policy_enable\",\"policy\":\"web\"}");
	assert_int_equal(request.command, TCPTUNED_CMD_POLICY_ENABLE);
	assert_string_equal(request.filter.policy, "web");
	parse("{\"policy\":\"web\",\"command\":\"policy_disable\"}");
	assert_int_equal(request.command, TCPTUNED_CMD_POLICY_DISABLE);
	parse("{\"command\":\"policy_apply\"}");
	assert_int_equal(request.command, TCPTUNED_CMD_POLICY_APPLY);
	parse("{\"command\":\"flows\",\"rules\":true}");
	assert_true(request.rules);
}

/* What changes something takes no guess. */
static void test_changes_need_a_name(void **state)
{
	static const char *const wrong[][2] = {
		{ "{\"command\":\"policy_disable\"}", "policy_disable needs the name of a policy" },
		{ "{\"command\":\"policy_enable\",\"policy\":\"\"}", "no name of 1 to 31" },
		{ "{\"command\":\"policy_enable\",\"policy\":1}", "policy: a string" },
		{ "{\"command\":\"policy_apply\",\"policy\":\"a\"}", "takes no such field" },
		{ "{\"command\":\"policies\",\"cgroup\":\"/a\"}", "takes no such field" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		refuse(wrong[i][0], strlen(wrong[i][0]), wrong[i][1]);
}

static void test_flows(void **state)
{
	parse("{\"command\":\"flows\"}");
	assert_int_equal(request.command, TCPTUNED_CMD_FLOWS);
	assert_int_equal(request.limit, TCPTUNED_FLOWS_LIMIT);
	assert_null(request.sort);
	assert_false(request.reverse);
	assert_int_equal(request.filter.address.length, 0);
	parse("{\"command\":\"flows\",\"address\":\"2001:db8::/33\",\"port\":65535,"
	      "\"netns\":4294967295,\"policy\":\"a b\",\"congestion_control\":\"bbr\","
	      "\"sort\":\"min-rtt\",\"reverse\":true,\"limit\":10000}");
	assert_false(request.filter.address.ipv4);
	assert_int_equal(request.filter.address.length, 33);
	assert_int_equal(request.filter.port, 65535);
	assert_int_equal(request.filter.netns, 4294967295u);
	assert_string_equal(request.filter.policy, "a b");
	assert_string_equal(request.filter.congestion_control, "bbr");
	assert_string_equal(request.sort->name, "min-rtt");
	assert_true(request.reverse);
	assert_int_equal(request.limit, 10000);
	parse("{\"command\":\"flows\",\"rules\":true}");
	assert_int_equal(request.limit, TCPTUNED_RULES_LIMIT_MAX);
	parse("{\"command\":\"flows\",\"limit\":16,\"rules\":true}");
	assert_int_equal(request.limit, 16);
	parse("{\"command\":\"flows\",\"limit\":10000,\"rules\":false}");
	assert_int_equal(request.limit, 10000);
}

static void test_what_is_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "", "is no JSON" },
		{ "{", "is no JSON" },
		{ "[]", "is no JSON object" },
		{ "{}", "command: it is missing" },
		{ "{\"command\":7}", "command: it is missing, or is no string" },
		{ "{\"command\":\"flosw\"}", "command: there is no flosw; did you mean flows?" },
		{ "{\"command\":\"\\u0007\\u00ff\"}", "command: there is no ?" },
		{ "{\"command\":\"status\",\"port\":1}", "port: status takes no such field" },
		{ "{\"command\":\"flows\",\"prot\":1}", "prot: flows takes no such field" },
		{ "{\"command\":\"events\",\"policy\":\"a\"}", "policy: events takes no such field" },
		{ "{\"command\":\"flows\",\"port\":0}", "port: a whole number from 1 to 65535" },
		{ "{\"command\":\"flows\",\"port\":65536}", "port: a whole number" },
		{ "{\"command\":\"flows\",\"port\":-1}", "port: a whole number" },
		{ "{\"command\":\"flows\",\"port\":\"80\"}", "port: a whole number" },
		{ "{\"command\":\"flows\",\"port\":80.0}", "port: a whole number" },
		{ "{\"command\":\"flows\",\"limit\":10001}", "limit: a whole number from 1 to 10000" },
		{ "{\"command\":\"flows\",\"rules\":true,\"limit\":17}",
		  "limit: with rules, a whole number from 1 to 16" },
		{ "{\"limit\":10000,\"rules\":true,\"command\":\"flows\"}", "limit: with rules" },
		{ "{\"command\":\"flows\",\"netns\":4294967296}", "netns: a whole number" },
		{ "{\"command\":\"flows\",\"reverse\":1}", "reverse: true or false" },
		{ "{\"command\":\"flows\",\"policy\":null}", "policy: a string" },
		{ "{\"command\":\"flows\",\"policy\":\"\"}", "policy: \"\" is no name" },
		{ "{\"command\":\"flows\",\"congestion_control\":\"sixteen_letters_\"}",
		  "is no name of 1 to 15 characters" },
		{ "{\"command\":\"flows\",\"address\":\"192.0.2\"}", "address: 192.0.2 is no address" },
		{ "{\"command\":\"flows\",\"address\":\"192.0.2.1/33\"}", "is no address" },
		{ "{\"command\":\"flows\",\"address\":\"192.0.2.1/\"}", "is no address" },
		{ "{\"command\":\"flows\",\"address\":\"::/129\"}", "is no address" },
		{ "{\"command\":\"flows\",\"address\":\"::/1x\"}", "is no address" },
		{ "{\"command\":\"flows\",\"sort\":\"rcvbuff\"}", "did you mean rcvbuf?" },
		{ "{\"command\":\"flows\",\"sort\":\"qqqqqqqq\"}", "see tcptunectl flows --help" },
		{ "{\"command\":\"policy_test\"}", "local_address: it is missing" },
		{ "{\"command\":\"policy_test\",\"local_address\":\"::1\",\"remote_port\":1}",
		  "remote_address: it is missing" },
		{ "{\"command\":\"policy_test\",\"local_address\":\"::1\",\"remote_address\":"
		  "\"2001:db8::/32\"}", "remote_address: a prefix is no end" },
		{ "{\"command\":\"policy_test\",\"local_address\":\"10.0.0.0/8\","
		  "\"remote_address\":\"192.0.2.1\"}", "local_address: a prefix is no end" },
		{ "{\"command\":\"policy_test\",\"local_address\":\"192.0.2.1\","
		  "\"remote_address\":\"::1\"}", "IPv4 cannot be connected with IPv6" },
		{ "{\"command\":\"flows\",\"command\":\"stop\"}", "is no JSON" },
		{ "{\"command\":\"stop\"} {\"command\":\"stop\"}", "is no JSON" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		refuse(bad[i].text, strlen(bad[i].text), bad[i].says);
	refuse("{\"command\":\"sto\0p\"}", 19, "is no JSON");
}

/* Just at the limit, and just above; and as deep as so few bytes can be. */
static void test_long_and_deep(void **state)
{
	char text[TCPTUNED_REQUEST_MAX + 1];

	memset(text, ' ', sizeof(text));
	memcpy(text, "{\"command\":\"status\"}", 20);
	assert_int_equal(tcptuned_request_parse(text, TCPTUNED_REQUEST_MAX, &request, &err), 0);
	refuse(text, TCPTUNED_REQUEST_MAX + 1, "longer than 4096 bytes");
	memset(text, '[', sizeof(text));
	refuse(text, TCPTUNED_REQUEST_MAX, "is no JSON");
	memset(text, 'a', sizeof(text));
	memcpy(text, "{\"command\":\"", 12);
	memcpy(text + TCPTUNED_REQUEST_MAX - 2, "\"}", 2);
	refuse(text, TCPTUNED_REQUEST_MAX, "command: there is no aaaa");
	assert_true(strlen(err.text) < 200);
}

/* ---- filters ------------------------------------------------------------------------------- */

static struct tcptuned_flow_record flow(const char *local, unsigned int local_port,
					const char *remote, unsigned int remote_port)
{
	struct tcptuned_flow_record record = {
		.family = strchr(local, ':') ? AF_INET6 : AF_INET,
		.local_port = (__u16)local_port,
		.remote_port = (__u16)remote_port,
		.netns = 77,
		.congestion_control = "bitcp",
	};

	assert_int_equal(inet_pton(record.family, local, record.local), 1);
	assert_int_equal(inet_pton(record.family, remote, record.remote), 1);
	return record;
}

static bool matches(const char *more, const struct tcptuned_flow_record *record)
{
	char text[512];

	snprintf(text, sizeof(text), "{\"command\":\"flows\",%s}", more);
	parse(text);
	return tcptuned_filter_matches(&request.filter, record, "default");
}

static void test_filters(void **state)
{
	struct tcptuned_flow_record four = flow("192.0.2.129", 5201, "198.51.100.7", 40000);
	struct tcptuned_flow_record six = flow("2001:db8:8000::1", 22, "2001:db8::2", 50000);
	struct tcptuned_flow_record mapped = flow("::ffff:192.0.2.129", 80, "::ffff:10.0.0.1", 1234);

	assert_true(matches("\"limit\":1", &four));
	assert_true(matches("\"address\":\"192.0.2.129\"", &four));
	assert_true(matches("\"address\":\"198.51.100.7\"", &four));
	assert_false(matches("\"address\":\"198.51.100.8\"", &four));
	assert_true(matches("\"address\":\"0.0.0.0/0\"", &four));
	assert_false(matches("\"address\":\"0.0.0.0/0\"", &six));
	assert_true(matches("\"local_address\":\"192.0.2.128/25\"", &four));
	assert_false(matches("\"local_address\":\"192.0.2.0/25\"", &four));
	assert_true(matches("\"local_address\":\"192.0.2.0/24\"", &four));
	assert_false(matches("\"remote_address\":\"192.0.2.0/24\"", &four));
	assert_true(matches("\"local_address\":\"2001:db8:8000::/33\"", &six));
	assert_false(matches("\"local_address\":\"2001:db8::/33\"", &six));
	assert_true(matches("\"local_address\":\"2001:db8:8000::1\"", &six));
	assert_true(matches("\"address\":\"192.0.2.129\"", &mapped));
	assert_true(matches("\"address\":\"::ffff:192.0.2.128/121\"", &mapped));
	assert_true(matches("\"address\":\"::ffff:192.0.2.128/121\"", &four));
	assert_true(matches("\"port\":5201", &four));
	assert_true(matches("\"port\":40000", &four));
	assert_false(matches("\"port\":40001", &four));
	assert_true(matches("\"local_port\":5201", &four));
	assert_false(matches("\"remote_port\":5201", &four));
	assert_true(matches("\"netns\":77", &four));
	assert_false(matches("\"netns\":78", &four));
	assert_true(matches("\"policy\":\"default\"", &four));
	assert_false(matches("\"policy\":\"defaul\"", &four));
	assert_false(matches("\"congestion_control\":\"bit\"", &four));
	assert_true(matches("\"congestion_control\":\"bitcp\",\"port\":22", &six));
	assert_false(matches("\"congestion_control\":\"bitcp\",\"port\":23", &six));
}

/* ---- order --------------------------------------------------------------------------------- */

/* Keys of policies follow the configuration; names do not. */
static const char *name_of_policy(const void *ctx, __u32 key, char ret[TCPTUNED_POLICY_NAME_MAX])
{
	strcpy(ret, key == 1 ? "web" : key == 2 ? "archive" : "default");
	return ret;
}

static int order_by(const char *column, const struct tcptuned_flow_record *a,
		    const struct tcptuned_flow_record *b)
{
	return tcptuned_column_order(tcptuned_column_find(column), a, b, name_of_policy, NULL);
}

/* With every column any three records have one order, and only a record equals itself. */
static void test_every_column_orders(void **state)
{
	struct tcptuned_flow_record r[3] = {
		flow("192.0.2.1", 1, "198.51.100.7", 1),
		flow("192.0.2.1", 2, "198.51.100.7", 1),
		flow("2001:db8::1", 1, "2001:db8::2", 1),
	};

	r[1].srtt_us = 10;
	r[2].bytes_received = 5;
	for (size_t i = 0; i < tcptuned_columns_count; i++) {
		const struct tcptuned_column *column = &tcptuned_columns[i];

		assert_ptr_equal(tcptuned_column_find(column->name), column);
		assert_true(column->compare || column->size || !strcmp(column->name, "policy"));
		for (int a = 0; a < 3; a++)
			for (int b = 0; b < 3; b++) {
				int ab = order_by(column->name, &r[a], &r[b]);
				int ba = order_by(column->name, &r[b], &r[a]);

				assert_true(a == b ? !ab : ab && (ab < 0) == (ba > 0));
			}
	}
	assert_true(order_by("rtt", &r[1], &r[0]) < 0);
	assert_true(order_by("local", &r[0], &r[1]) < 0);
	assert_true(order_by("cc", &r[2], &r[0]) < 0);
	r[0].flow.policy = 1;
	r[1].flow.policy = 2;
	assert_true(order_by("policy", &r[1], &r[0]) < 0);
	assert_true(order_by("policy", &r[1], &r[2]) < 0);
	assert_true(order_by("policy", &r[2], &r[0]) < 0);
	assert_null(tcptuned_column_find("LOCAL"));
	assert_null(tcptuned_column_find(""));
}

/* Any edit of a good request: accepted or refused with a sentence, never anything else. */
static void test_random_edits(void **state)
{
	static const char good[] = "{\"command\":\"flows\",\"port\":5201,\"address\":\"192.0.2.0/24\","
				   "\"sort\":\"rtt\",\"reverse\":true,\"limit\":10}";
	static const char alphabet[] = "{}[]\":,0189.-truefalsenull\\u\0\xff\xc3 ";
	char text[sizeof(good)];
	unsigned int seed = 1;

	for (int i = 0; i < 20000; i++) {
		memcpy(text, good, sizeof(good));
		for (int edits = rand_r(&seed) % 4; edits >= 0; edits--)
			text[rand_r(&seed) % (sizeof(good) - 1)] =
				alphabet[rand_r(&seed) % (sizeof(alphabet) - 1)];
		memset(&err, 0, sizeof(err));
		if (tcptuned_request_parse(text, sizeof(good) - 1, &request, &err))
			assert_true(strlen(err.text) > 10);
		else
			assert_true(request.limit >= 1 && request.limit <= 10000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_command),
		cmocka_unit_test(test_changes_need_a_name),
		cmocka_unit_test(test_flows),
		cmocka_unit_test(test_what_is_refused),
		cmocka_unit_test(test_long_and_deep),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_every_column_orders),
		cmocka_unit_test(test_random_edits),
	};

	return cmocka_run_group_tests_name("request", tests, NULL, NULL);
}
