// SPDX-License-Identifier: GPL-2.0-only
/* Requests on the control socket: their fields, filters and order. */
#include <arpa/inet.h>
#include <sys/socket.h>

#include "test.h"
#include "rpc/events.h"
#include "rpc/request.h"

static struct tcptuned_request request;
static struct tcptuned_error err;

static void parse(const char *text)
{
	const char *json = quoted(text);

	memset(&err, 0, sizeof(err));
	if (tcptuned_request_parse(json, strlen(json), &request, &err))
		fail_msg("%s: %s", text, err.text);
}

static void assert_refused(const char *json, size_t len, const char *message)
{
	struct tcptuned_request before;

	memset(&err, 0, sizeof(err));
	memset(&request, 0xa5, sizeof(request));
	before = request;
	assert_int_equal(tcptuned_request_parse(json, len, &request, &err), -EINVAL);
	assert_int_equal(err.status, TCPTUNED_EXIT_USAGE);
	assert_memory_equal(&request, &before, sizeof(request));
	assert_contains(err.text, message);
	for (const char *p = err.text; *p; p++)
		assert_in_range(*p, ' ', '~');
}

TEST(every_command)
{
	static const struct {
		const char *name;
		enum tcptuned_command command;
		const char *fields; /* that it needs */
	} rows[] = {
		{"status", TCPTUNED_CMD_STATUS, ""},
		{"stop", TCPTUNED_CMD_STOP, ""},
		{"events", TCPTUNED_CMD_EVENTS, ""},
		{"policies", TCPTUNED_CMD_POLICIES, ""},
		{"policy_test", TCPTUNED_CMD_POLICY_TEST,
		 ",'local_address':'::1','remote_address':'::2'"},
		{"policy_apply", TCPTUNED_CMD_POLICY_APPLY, ""},
		{"policy_enable", TCPTUNED_CMD_POLICY_ENABLE, ",'policy':'web'"},
		{"policy_disable", TCPTUNED_CMD_POLICY_DISABLE, ",'policy':'web'"},
		{"paths", TCPTUNED_CMD_PATHS, ""},
		{"advise", TCPTUNED_CMD_ADVISE, ",'address':'::1'"},
		{"flows", TCPTUNED_CMD_FLOWS, ""},
	};
	char *manual = text_printed(out, tcptuned_request_print_man(out)), text[128];

	for_each_row (r, rows) {
		snprintf(text, sizeof(text), " {\t'command' : '%s'%s}\r", r->name, r->fields);
		parse(text);
		assert_int_equal(request.command, r->command);
		if (strstr(r->fields, "web"))
			assert_string_equal(request.filter.policy, "web");
		snprintf(text, sizeof(text), ".TP\n.B %s\n", r->name);
		assert_contains(manual, text);
		snprintf(text, sizeof(text), ".B %s\n.TP", r->name); /* without its meaning */
		assert_lacks(manual, text);
	}
	assert_int_equal(request.limit, TCPTUNED_FLOWS_LIMIT);
	assert_null(request.sort);
	assert_false(request.reverse);
	assert_int_equal(request.filter.address.length, 0);
	assert_contains(manual, "\n.B status\nnothing\n");
	free(manual);
}

TEST(fields)
{
	parse("{'command':'events','local_address':'192.0.2.1','remote_port':443,'netns':7}");
	assert_int_equal(request.filter.local.length, 128);
	assert_int_equal(request.filter.remote_port, 443);
	assert_int_equal(request.filter.netns, 7);
	parse("{'command':'paths','address':'2001:db8::/32','path_sort':'rtt','limit':7}");
	assert_int_equal(request.filter.address.length, 32);
	assert_string_equal(request.path_sort, "rtt");
	assert_int_equal(request.limit, 7);
	parse("{'local_address':'192.0.2.1','remote_port':443,'command':'policy_test',"
	      "'remote_address':'::ffff:198.51.100.7'}");
	assert_int_equal(request.command, TCPTUNED_CMD_POLICY_TEST);
	assert_int_equal(request.filter.remote_port, 443);
	assert_true(request.filter.local.ipv4);
	assert_string_equal(request.cgroup, "");
	parse("{'command':'policy_test','cgroup':'/a/b','local_address':'::1',"
	      "'remote_address':'2001:db8::1'}");
	assert_string_equal(request.cgroup, "/a/b");
	parse("{'command':'flows','address':'2001:db8::/33','port':65535,'netns':4294967295,"
	      "'policy':'a b','congestion_control':'bbr','sort':'min-rtt','reverse':true,"
	      "'limit':10000}");
	assert_false(request.filter.address.ipv4);
	assert_int_equal(request.filter.address.length, 33);
	assert_int_equal(request.filter.port, 65535);
	assert_int_equal(request.filter.netns, 4294967295u);
	assert_string_equal(request.filter.policy, "a b");
	assert_string_equal(request.filter.congestion_control, "bbr");
	assert_string_equal(request.sort->name, "min-rtt");
	assert_true(request.reverse);
	assert_int_equal(request.limit, 10000);
	parse("{'command':'flows','rules':true}");
	assert_true(request.rules);
	assert_int_equal(request.limit, TCPTUNED_RULES_LIMIT_MAX);
	parse("{'command':'flows','limit':16,'rules':true}");
	assert_int_equal(request.limit, 16);
	parse("{'command':'flows','limit':10000,'rules':false}");
	assert_int_equal(request.limit, 10000);
}

TEST(what_is_refused)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{"", "is invalid JSON"},
		{"{", "is invalid JSON"},
		{"[]", "is not a JSON object"},
		{"{}", "command: missing"},
		{"{'command':7}", "command: missing, or not a string"},
		{"{'command':'flosw'}", "command: there is no flosw; did you mean flows?"},
		{"{'command':'\\u0007\\u00ff'}", "command: there is no ?"},
		{"{'command':'status','port':1}", "port: status takes no such field"},
		{"{'command':'flows','prot':1}", "prot: flows takes no such field"},
		{"{'command':'events','policy':'a'}", "policy: events takes no such field"},
		{"{'command':'flows','port':0}", "port: must be a whole number from 1 to 65535"},
		{"{'command':'flows','port':65536}", "port: must be a whole number"},
		{"{'command':'flows','port':-1}", "port: must be a whole number"},
		{"{'command':'flows','port':'80'}", "port: must be a whole number"},
		{"{'command':'flows','port':80.0}", "port: must be a whole number"},
		{"{'command':'flows','limit':10001}",
		 "limit: must be a whole number from 1 to 10000"},
		{"{'command':'flows','rules':true,'limit':17}",
		 "limit: with rules, must be a whole number from 1 to 16"},
		{"{'limit':10000,'rules':true,'command':'flows'}", "limit: with rules"},
		{"{'command':'flows','netns':4294967296}", "netns: must be a whole number"},
		{"{'command':'flows','reverse':1}", "reverse: must be true or false"},
		{"{'command':'flows','policy':null}", "policy: must be a string"},
		{"{'command':'flows','policy':''}", "policy: \"\" is not a name"},
		{"{'command':'flows','congestion_control':'sixteen_letters_'}",
		 "is not a name of 1 to 15 characters"},
		{"{'command':'flows','address':'192.0.2'}", "address: 192.0.2 is not an address"},
		{"{'command':'flows','address':'192.0.2.1/33'}", "is not an address"},
		{"{'command':'flows','address':'192.0.2.1/'}", "is not an address"},
		{"{'command':'flows','address':'::/129'}", "is not an address"},
		{"{'command':'flows','address':'::/1x'}", "is not an address"},
		{"{'command':'flows','sort':'rcvbuff'}", "did you mean rcvbuf?"},
		{"{'command':'flows','sort':'qqqqqqqq'}", "tcptunectl flows --help lists all"},
		{"{'command':'policy_test'}", "local_address: it is missing"},
		{"{'command':'policy_test','local_address':'::1','remote_port':1}",
		 "remote_address: it is missing"},
		{"{'command':'policy_test','local_address':'::1','remote_address':'2001:db8::/32'}",
		 "remote_address: expected a single address"},
		{"{'command':'policy_test','local_address':'10.0.0.0/8','remote_address':'192.0.2.1'}",
		 "local_address: expected a single address"},
		{"{'command':'policy_test','local_address':'192.0.2.1','remote_address':'::1'}",
		 "IPv4 cannot be connected with IPv6"},
		{"{'command':'flows','command':'stop'}", "is invalid JSON"},
		{"{'command':'stop'} {'command':'stop'}", "is invalid JSON"},
		{"{'command':'policy_enable'}", "policy_enable needs the name of a policy"},
		{"{'command':'policy_disable'}", "policy_disable needs the name of a policy"},
		{"{'command':'policy_enable','policy':''}", "not a name of 1 to 31"},
		{"{'command':'policy_enable','policy':1}", "policy: must be a string"},
		{"{'command':'policy_apply','policy':'a'}", "takes no such field"},
		{"{'command':'policies','cgroup':'/a'}", "takes no such field"},
	};

	for_each_row (r, bad)
		assert_refused(quoted(r->text), strlen(r->text), r->says);
	assert_refused("{\"command\":\"sto\0p\"}", 19, "is invalid JSON");
}

/* A request of the maximum length is parsed; a longer one and a deep one are refused. */
TEST(long_and_deep)
{
	char text[TCPTUNED_REQUEST_MAX + 1];

	memset(text, ' ', sizeof(text));
	memcpy(text, "{\"command\":\"status\"}", 20);
	assert_int_equal(tcptuned_request_parse(text, TCPTUNED_REQUEST_MAX, &request, &err), 0);
	assert_refused(text, TCPTUNED_REQUEST_MAX + 1, "longer than 4096 bytes");
	memset(text, '[', sizeof(text));
	assert_refused(text, TCPTUNED_REQUEST_MAX, "is invalid JSON");
	memset(text, 'a', sizeof(text));
	memcpy(text, "{\"command\":\"", 12);
	memcpy(text + TCPTUNED_REQUEST_MAX - 2, "\"}", 2);
	assert_refused(text, TCPTUNED_REQUEST_MAX, "command: there is no aaaa");
	assert_true(strlen(err.text) < 200);
}

static struct tcptuned_flow_record flow(const char *local, unsigned int local_port,
					const char *remote, unsigned int remote_port)
{
	struct tcptuned_flow_record record =
		struct_of(tcptuned_flow_record, .family = strchr(local, ':') ? AF_INET6 : AF_INET,
			  .local_port = (__u16)local_port, .remote_port = (__u16)remote_port,
			  .netns = 77, .congestion_control = "bitcp");

	assert_int_equal(inet_pton(record.family, local, record.local), 1);
	assert_int_equal(inet_pton(record.family, remote, record.remote), 1);
	return record;
}

/* Returns an event of the connection, for which filters by its ends and namespace are the same. */
static struct tcptuned_event event_of(const struct tcptuned_flow_record *record)
{
	struct tcptuned_event event = {.netns = record->netns,
				       .family = record->family,
				       .local_port = record->local_port,
				       .remote_port = record->remote_port};

	memcpy(event.local, record->local, sizeof(event.local));
	memcpy(event.remote, record->remote, sizeof(event.remote));
	return event;
}

TEST(filters)
{
	enum { FOUR, SIX, MAPPED };
	const struct tcptuned_flow_record records[] = {
		[FOUR] = flow("192.0.2.129", 5201, "198.51.100.7", 40000),
		[SIX] = flow("2001:db8:8000::1", 22, "2001:db8::2", 50000),
		[MAPPED] = flow("::ffff:192.0.2.129", 80, "::ffff:10.0.0.1", 1234),
	};
	static const struct {
		const char *filter;
		int record;
		bool matches;
	} rows[] = {
		{"'limit':1", FOUR, true},
		{"'address':'192.0.2.129'", FOUR, true},
		{"'address':'198.51.100.7'", FOUR, true},
		{"'address':'198.51.100.8'", FOUR, false},
		{"'address':'0.0.0.0/0'", FOUR, true},
		{"'address':'0.0.0.0/0'", SIX, false},
		{"'local_address':'192.0.2.128/25'", FOUR, true},
		{"'local_address':'192.0.2.0/25'", FOUR, false},
		{"'local_address':'192.0.2.0/24'", FOUR, true},
		{"'remote_address':'192.0.2.0/24'", FOUR, false},
		{"'local_address':'2001:db8:8000::/33'", SIX, true},
		{"'local_address':'2001:db8::/33'", SIX, false},
		{"'local_address':'2001:db8:8000::1'", SIX, true},
		{"'address':'192.0.2.129'", MAPPED, true},
		{"'address':'::ffff:192.0.2.128/121'", MAPPED, true},
		{"'address':'::ffff:192.0.2.128/121'", FOUR, true},
		{"'port':5201", FOUR, true},
		{"'port':40000", FOUR, true},
		{"'port':40001", FOUR, false},
		{"'local_port':5201", FOUR, true},
		{"'remote_port':5201", FOUR, false},
		{"'netns':77", FOUR, true},
		{"'netns':78", FOUR, false},
		{"'policy':'default'", FOUR, true},
		{"'policy':'defaul'", FOUR, false},
		{"'congestion_control':'bit'", FOUR, false},
		{"'congestion_control':'bitcp','port':22", SIX, true},
		{"'congestion_control':'bitcp','port':23", SIX, false},
	};
	char text[512];

	for_each_row (r, rows) {
		const struct tcptuned_flow_record *record = &records[r->record];
		struct tcptuned_event event = event_of(record);

		snprintf(text, sizeof(text), "{'command':'flows',%s}", r->filter);
		parse(text);
		assert_int_equal(tcptuned_scan_matches(&request.filter, record, "default"),
				 r->matches);
		if (!request.filter.policy[0] && !request.filter.congestion_control[0])
			assert_int_equal(tcptuned_event_matches(&event, &request.filter),
					 r->matches);
	}
}

/* Keys of policies are in the order of the configuration, names are not. */
static const char *name_of_policy(const struct tcptuned_kernel *kernel, __u32 key,
				  char ret[TCPTUNED_POLICY_NAME_MAX])
{
	strcpy(ret, key == 1 ? "web" : key == 2 ? "archive" : "default");
	return ret;
}

static int order_by(const char *column, const struct tcptuned_flow_record *a,
		    const struct tcptuned_flow_record *b)
{
	return tcptuned_column_order(tcptuned_column_find(column), a, b, name_of_policy, NULL);
}

/* Each column orders any three records, and only a record equals itself. */
TEST(every_column_orders)
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
