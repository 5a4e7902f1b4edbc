// SPDX-License-Identifier: GPL-2.0-only
/* What tcptunectl prints: numbers, tables, explanations, events; how it reads names of flows. */
#include <arpa/inet.h>
#include <sys/socket.h>

#include "test.h"
#include "client.h"
#include "commands.h"
#include "explain.h"
#include "flows/words.h"
#include "format.h"
#include "report.h"
#include "rpc/events.h"
#include "rpc/request.h"

TEST(numbers)
{
	static const struct {
		void (*format)(unsigned long long number, char ret[CTL_WORD]);
		unsigned long long number;
		const char *text;
	} rows[] = {
		{ctl_format_bytes, 0, "0"},
		{ctl_format_bytes, 9999, "9999"},
		{ctl_format_bytes, 10240, "10K"},
		{ctl_format_bytes, 65536, "64K"},
		{ctl_format_bytes, 100000, "97.7K"},
		{ctl_format_bytes, 12400000, "11.8M"},
		{ctl_format_bytes, 1023 * 1024, "1.0M"},
		{ctl_format_bytes, 1ull << 30, "1G"},
		{ctl_format_bytes, UINT64_MAX, "16.0E"},
		{ctl_format_us, 0, "-"},
		{ctl_format_us, 40, "0.04ms"},
		{ctl_format_us, 9999, "10.00ms"},
		{ctl_format_us, 50123, "50.1ms"},
		{ctl_format_us, 3210000, "3.2s"},
	};
	char word[CTL_WORD];

	for_each_row (r, rows) {
		r->format(r->number, word);
		assert_string_equal(word, r->text);
	}
}

static json_t *made[96]; /* by json() */
static size_t made_len;

/* Returns the JSON of quoted(@text), which lives until the end of the test. */
static json_t *json(const char *text)
{
	json_error_t error;

	assert_true(made_len < ARRAY_SIZE(made));
	made[made_len] = json_loads(quoted(text), 0, &error);
	if (!made[made_len])
		fail_msg("%s: %s", text, error.text);
	return made[made_len++];
}

static int free_json(void **state)
{
	while (made_len)
		json_decref(made[--made_len]);
	return 0;
}

FIXTURE(NULL, free_json)

/* Asserts that the manual has @word as a tag, with its meaning below it. */
static void assert_explained(const char *manual, const char *word)
{
	const char *at;
	char tag[64];

	assert_string_not_equal(word, "unknown");
	snprintf(tag, sizeof(tag), ".TP\n.B %s\n", word);
	at = strstr(manual, tag);
	if (!at || strlen(at + strlen(tag)) < 8 || at[strlen(tag)] == '.')
		fail_msg("the manual does not explain %s", word);
}

TEST(manual_has_every_word)
{
	char *words = text_printed(out, ctl_print_man_words(out));

	for (unsigned int i = 0; i < TCPTUNED_LIMITS; i++)
		assert_explained(words, tcptuned_word(WORDS_LIMIT, i));
	for (unsigned int i = 0; i < RIGHTSIZE_REASONS; i++)
		assert_explained(words, tcptuned_word(WORDS_REASON, i));
	for (unsigned int i = 0; i < TCPTUNED_BITCP_MODES; i++)
		assert_explained(words, tcptuned_word(WORDS_BITCP_MODE, i));
	assert_null(tcptuned_word_meaning(WORDS_LIMIT, TCPTUNED_LIMITS));
	free(words);
}

TEST(names_of_flows)
{
	static const char both[] = "{'local_address':'192.0.2.1','local_port':5201,"
				   "'remote_address':'2001:db8::1','remote_port':80}";
	static const struct {
		const char *words[3];
		const char *request;
	} rows[] = {
		{{"192.0.2.1:5201", "[2001:db8::1]:80"}, both},
		{{"192.0.2.1:5201", "-", "[2001:db8::1]:80"}, both},
		{{"192.0.2.1:5201-[2001:db8::1]:80"}, both},
		{{"5201-40000"}, "{'local_port':5201,'remote_port':40000}"},
		{{":5201", "2001:db8::1"}, "{'local_port':5201,'remote_address':'2001:db8::1'}"},
		{{"5201"}, "{'port':5201}"},
		{{"[::1]"}, "{'address':'::1'}"},
		{{"192.0.2.1:1"}, "{'address':'192.0.2.1','port':1}"},
	};
	static const char *const wrong[][2] = {{""},	  {":"},	  {"0"},
					       {"65536"}, {"192.0.2.1:"}, {"192.0.2.1:x"},
					       {"[::1"},  {"[::1]x"},	  {"host:1"},
					       {"1-"},	  {"-1"},	  {"1-2", "3"}};
	struct tcptuned_error err;

	for_each_row (r, rows) {
		int count = r->words[2] ? 3 : r->words[1] ? 2 : 1;
		struct ctl ctl = struct_of(ctl, .arguments = (char **)r->words, .count = count);
		json_t *got = json("{}");

		assert_int_equal(ctl_add_flow(&ctl, got, &err), 0);
		assert_true(json_equal(got, json(r->request)));
	}
	for_each_row (words, wrong) {
		struct ctl ctl =
			struct_of(ctl, .arguments = (char **)*words, .count = (*words)[1] ? 2 : 1);

		assert_true(ctl_add_flow(&ctl, json("{}"), &err) < 0);
		assert_int_equal(err.status, TCPTUNED_EXIT_USAGE);
	}
}

static const char flow_text[] =
	"{'local':'192.0.2.1:5201','remote':'198.51.100.7:40000','state':'established',"
	"'netns':77,'policy':'default','congestion_control':'bitcp','cwnd_segments':4321,"
	"'mss_bytes':1448,'flags':['passive','receive_rightsized'],"
	"'limit':'receiver_window','send_window_bytes':6291456,'receive_buffer_bytes':100000,"
	"'receive_buffer_used_bytes':60000,'retransmitted_segments':21,'srtt_us':277000,"
	"'min_rtt_us':150000,'receiver_rtt_us':60010,'advertised_window_bytes':3145728,"
	"'receive':{'limit':'application','used_per_rtt_bytes':65536,'path_queue_bytes':4321,'window_bytes':12400000,'reason':"
	"'held','window_max_bytes':268435456,'grows':9,'shrinks':2,'tests':3,"
	"'failed_tests':0,'per_rtt_bytes':6187654,'min_rtt_us':50010,"
	"'rate_bytes_per_s':124000000,'rate_best_bytes_per_s':125000000,"
	"'request':'withheld','requested_bytes':65536,'kernel_max_bytes':6291456,"
	"'budget_wanted_bytes':24800000,'budget_granted_bytes':2097152},"
	"'send':{'reason':'unmeasured','request':'none','path_queue_bytes':12000000}}";

/* Prints the lines of the explanation that differ once @change is made to the flow above. */
static void print_explained(FILE *out, const char *base, const char *change)
{
	json_t *flow = json(flow_text), *changes = json(change);
	char *text;

	json_object_update_recursive(flow, changes);
	text = text_printed(stream, ctl_print_explanation(stream, flow));
	print_new_lines(out, base, text);
	free(text);
}

TEST(explanations)
{
	static const char *const changes[] = {
		"{'receive':{'tests':0}}",
		"{'receive':{'reason':'kernel','failed_tests':2}}",
		"{'rule':'destination 10.0.0.0/8, remote port 80'}",
		"{'flags':['passive','observe']}",
		"{'flags':['passive','observe'],'receive':{'request':'passed_on'}}",
		"{'flags':['passive','adopted'],'receive':{'request':'application','requested_bytes':0}}",
		"{'receive':{'request':'application','requested_bytes':0},'receive_buffer_bytes':32766}",
		"{'receive':{'request':'application','requested_bytes':0,'limit':'receiver_window',"
		"'reason':'unmeasured'}}",
		"{'limit':'send_buffer','send':{'request':'application'},'send_buffer_bytes':16384}",
		"{'send':{'request':'lifted','requested_bytes':131071,'reason':'earned'}}",
		"{'send':{'request':'lifted','requested_bytes':131072,'reason':'earned'}}",
		"{'receive':{'request':'lifted'}}",
		"{'receive':{'limit':'receiver_window','reason':'budget'}}",
		"{'receive':{'limit':'receiver_window','reason':'capped'}}",
		"{'receive':{'limit':'sender','out_of_order_segments':21}}",
		"{'receive':{'request':'listener'}}",
		"{'limit':'receiver_window','send_window_bytes':0}",
		"{'rounds_without_queue':32}",
		"{'random_loss':{'state':'tried','best_segments':2000,'window_segments':1000,'before_rtt_us':50000}}",
		"{'random_loss':{'state':'kept','after_segments':4000,'after_rtt_us':60000}}",
		"{'random_loss':{'state':'dropped','after_segments':900,'after_rtt_us':60000}}",
		"{'flags':['passive','receive_memory_short'],'receive':{'reason':'budget'}}",
		"{'flags':[]}",
		"{'limit':'pacing','pacing':{'rate_bytes_per_s':1000},"
		"'send':{'unsent_bytes':4321,'unsent_max_bytes':131072}}",
		"{'limit':'pacing','pacing':{'rate_bytes_per_s':1000,'rate_max_bytes_per_s':2000}}",
		"{'limit':'pacing','pacing':{'rate_bytes_per_s':2000,'rate_max_bytes_per_s':2000},"
		"'send':{'unsent_max_of_others_bytes':5000,'unsent_max_bytes':131072}}",
	};
	json_t *flow = json(flow_text), *empty = json("{}");
	char *base = text_printed(stream, ctl_print_explanation(stream, flow));
	char *text = text_printed(stream, ctl_print_explanation(stream, empty)), change[96];
	FILE *out = open_golden();

	fputs(base, out);
	for_each_row (r, changes) {
		fprintf(out, "--- %s\n", *r);
		print_explained(out, base, *r);
	}
	fputs("--- each reason of the receive window, each limit\n", out);
	for (unsigned int i = 0; i < RIGHTSIZE_REASONS; i++) {
		snprintf(change, sizeof(change), "{'receive':{'reason':'%s'}}",
			 tcptuned_word(WORDS_REASON, i));
		print_explained(out, base, change);
	}
	for (unsigned int i = 0; i < TCPTUNED_LIMITS; i++) {
		snprintf(change, sizeof(change), "{'limit':'%1$s','receive':{'limit':'%1$s'}}",
			 tcptuned_word(WORDS_LIMIT, i));
		print_explained(out, base, change);
	}
	assert_golden(out, "ctl_explain");
	assert_contains(text, "limited by\n"); /* of a daemon of another version */
	free(base);
	free(text);
}

static json_t *event_json(const struct tcptuned_event *event)
{
	return tcptuned_event_json(event, "default", 1000000000ll);
}

/* Each event of the ring becomes JSON, also one of an unknown kind. */
TEST(events)
{
	struct tcptuned_event event = struct_of(tcptuned_event, .time_ns = 2500000000ull,
						.a = 65536, .b = 4711, .netns = 77,
						.family = AF_INET, .local_port = 5201,
						.flags = TCPTUNED_EV_OBSERVE);
	FILE *out = open_golden();
	bool unknown = false;
	json_t *root;

	inet_pton(AF_INET, "192.0.2.1", event.local);
	for (unsigned int kind = 0; kind < 256; kind++) {
		event.kind = (__u8)kind;
		root = event_json(&event);
		if (!unknown || strcmp(ctl_text(root, "event"), "unknown"))
			fprintf(out, "%s: %s\n", ctl_text(root, "event"), ctl_text(root, "text"));
		unknown |= !strcmp(ctl_text(root, "event"), "unknown");
		json_decref(root);
	}
	event.kind = TCPTUNED_EV_RCVBUF_OVERRIDDEN;
	root = event_json(&event);
	json_dumpf(root, out, JSON_COMPACT);
	fputc('\n', out);
	json_decref(root);
	assert_golden(out, "events");

	event.kind = TCPTUNED_EV_CC_SET;
	memcpy(&event.a, "sixteen_", 8);
	memcpy(&event.b, "lett\n\xff_x", 8);
	root = event_json(&event);
	assert_string_equal(ctl_text(root, "congestion_control"), "sixteen_lett??_x");
	json_decref(root);
}

/* Returns what @statement writes to @stream, stdout or stderr, valid until the next call. */
#define written(stream, statement)            \
	({                                    \
		FILE *kept_ = stream;         \
		free(output);                 \
		output = text_printed(out_, { \
			stream = out_;        \
			statement;            \
		});                           \
		stream = kept_;               \
		output;                       \
	})

static char *output;

static int call_ctl(const char *arguments)
{
	char line[512], *argv[32] = {"tcptunectl"}, *rest = line;
	int argc = 1;

	snprintf(line, sizeof(line), "%s", arguments);
	while ((argv[argc] = strsep(&rest, " ")))
		argc++;
	return ctl_main(argc, argv);
}

/* No daemon runs there: a valid command line finds none. */
#define LONG \
	"/01234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345 "
#define NOWHERE "--socket=/nonexistent/control "

TEST(wrong_words)
{
	static const struct {
		const char *arguments, *message;
	} rows[] = {
		{"policy list --jsno", "--jsno: no such option; did you mean --json?"},
		{"flows --jsno", "--jsno: no such option; did you mean --json?"},
		{"paths --limit=5x", "--limit: 5x is not a whole number"},
		{"paths --netns -1", "--netns: -1 is not a whole number"},
		{"explain --netns x 80", "--netns: x is not a whole number"},
		{"paths --limit 5 forget all", "--limit: not with paths forget"},
		{"paths forget all --json", "--json: not with paths forget"},
		{"paths --sort=x forget all", "--sort: not with paths forget"},
		{"--socket=" LONG "status", "is longer than the path of a socket may be"},
	};

	for_each_row (r, rows) {
		char arguments[256];
		int status;

		snprintf(arguments, sizeof(arguments), NOWHERE "%s", r->arguments);
		assert_contains(written(stderr, status = call_ctl(arguments)), r->message);
		assert_int_equal(status, TCPTUNED_EXIT_USAGE);
	}
}

static void print_tested_policy(const json_t *policy)
{
	ctl_print(stdout, policy, ctl_policy.subcommands[1].texts);
}

static void add_answer(FILE *out, void (*print)(const json_t *answer), const char *text)
{
	json_t *answer = json(text);

	fprintf(out, "\n%s", written(stdout, print(answer)));
}

TEST(answers)
{
	const struct tcptuned_column *columns[] = {
		tcptuned_column_find("local"),
		tcptuned_column_find("rtt"),
		tcptuned_column_find("rwin"),
		tcptuned_column_find("rwhy"),
	};
	json_t *flows = json("[{'local':'192.0.2.1:5201','srtt_us':50123,'receive':"
			     "{'window_bytes':12400000,'reason':'growing'}},"
			     "{'local':'[::1]:1','receive':{}}]");
	FILE *out = open_golden();

	ctl_print_table(out, flows, columns, ARRAY_SIZE(columns));
	setenv("TZ", "UTC", 1);
	add_answer(
		out, ctl_status.print,
		"{'started_us':1,'connections':{},'budget':{'bytes':1048576,'granted_bytes':65536,"
		"'wanted_bytes':131072},'totals':{'managed_opened_here':1,"
		"'managed_accepted_here':2,'managed_open':3,'adopt_failed':5,"
		"'receive_budget_refusals':6,'send_budget_refusals':7,"
		"'memory_short_refusals':8,'rcvbuf_overridden':9},'sysctls':["
		"{'name':'net.ipv4.tcp_rmem','set_to':'4096 131072 67108863',"
		"'now':'4096 131072 5000000','left_alone':true},"
		"{'name':'net.core.wmem_max','before':'4194304','set_to':'33554432','now':'33554432',"
		"'left_alone':false}],'host_limits':[{'name':'net.ipv4.tcp_sack','effect':'why'}]}");
	add_answer(
		out, print_tested_policy,
		"{'policy':'web','rule':'remote port 80','mode':'tune','long_path_segments':4096}");
	/* the same prefix in two network namespaces, and in one */
	add_answer(out, ctl_paths.print,
		   "{'matched':5,'paths':[{'prefix':'192.0.2.0/24','netns':7},"
		   "{'prefix':'192.0.2.0/24','netns':8}]}");
	add_answer(out, ctl_paths.print,
		   "{'matched':1,'paths':[{'prefix':'192.0.2.0/24','netns':7}]}");
	add_answer(
		out, ctl_paths.print,
		"{'matched':0,'paths':[],'streams':[{'host':'192.0.2.1','direction':'send',"
		"'congestion_control':'cubic','levels':[{'streams':1},{'streams':8}],'windows':33,"
		"'age_s':7300,'residual':0.047},{'host':'192.0.2.2','direction':'receive',"
		"'congestion_control':'','levels':[{'streams':3}],'windows':1,'age_s':5,"
		"'refused':'1 number of connections seen'}]}");
	add_answer(out, ctl_advise.print,
		   "{'address':'192.0.2.1','prefix':'192.0.2.0/24','connections':12,'age_s':185,"
		   "'min_rtt_us':48200,'loss':0.0004,'congestion_control':'bitcp',"
		   "'send':{'bits_per_second':812000000,'buffer_bytes':9784600},"
		   "'send_streams':{'streams':4,'bits_per_second':940000000},"
		   "'receive':{'bits_per_second':94000000,'buffer_bytes':1132700}}");
	add_answer(out, ctl_advise.print,
		   "{'address':'192.0.2.1','receive_streams':{'streams':2,'bits_per_second':1e9}}");
	add_answer(out, ctl_advise.print, "{'address':'2001:db8::1'}");
	assert_golden(out, "ctl_answers");
}

TEST(status_of_the_configuration)
{
	static const struct {
		const char *answer, *line;
	} rows[] = {
		{"{'configuration':{'in_force':true}}",
		 "\nconfiguration  in force as it was last read\n"},
		{"{'configuration':{'in_force':false,'rejected':'a.conf:2: no'}}",
		 "\nconfiguration  the one before the last reload, which was rejected: a.conf:2: no\n"},
		{"{'configuration':{'in_force':false,'unapplied':'no memory'}}",
		 "\nconfiguration  not all of it in force, tried again every few seconds: no memory\n"},
		/* of a daemon whose reason cannot be shown */
		{"{'configuration':{'in_force':false,'rejected':null}}",
		 "\nconfiguration  not in force as it was last read; the log says why\n"},
	};

	for_each_row (r, rows) {
		json_t *answer = json(r->answer);

		assert_contains(written(stdout, ctl_status.print(answer)), r->line);
	}
}

static int read_answer(const char *text, json_t **ret, struct tcptuned_error *err)
{
	FILE *stream = fmemopen((char *)text, strlen(text), "r");
	int error = ctl_read_answer(stream, ret, err);

	fclose(stream);
	return error;
}

TEST(what_the_daemon_answers)
{
	static const struct {
		const char *answer;
		int status;
		const char *message;
	} rows[] = {
		{"{\"error\":\"no such thing\",\"status\":2}", 2, "no such thing"},
		{"{\"error\":null,\"status\":2}", 2, "does not say why"},
		{"{\"error\":\"odd\",\"status\":999}", TCPTUNED_EXIT_DAEMON, "odd"},
		{"[]", TCPTUNED_EXIT_DAEMON, "is not JSON"},
		{"", TCPTUNED_EXIT_DAEMON, "ended before it answered"},
	};
	struct tcptuned_error err = {0};
	json_t *got = NULL;

	assert_int_equal(read_answer("{\"a\":1}\n", &got, &err), 0);
	assert_int_equal(ctl_number(got, "a"), 1);
	json_decref(got);
	for_each_row (r, rows) {
		got = NULL;
		assert_int_equal(read_answer(r->answer, &got, &err), -EIO);
		assert_null(got);
		assert_int_equal(err.status, r->status);
		assert_contains(err.text, r->message);
	}
}

TEST(the_same_ends_in_two_namespaces)
{
	json_t *flows = json("{'matched':2,'flows':["
			     "{'local':'[::1]:1','remote':'[::1]:2','netns':7},"
			     "{'local':'[::1]:1','remote':'[::1]:2','netns':8}]}");
	struct tcptuned_error err;

	assert_int_equal(ctl_explain_answer(&(struct ctl){0}, flows, &err), -EINVAL);
	assert_contains(err.text,
			"[::1]:1 - [::1]:2 in namespace 7, [::1]:1 - [::1]:2 in namespace 8; "
			"name both ends, the local one first, and --netns");
}

/* Returns @text with tokens of @tokens in place of addresses, valid until the next call. */
static const char *hide(const char *text, json_t *tokens)
{
	static char hidden[512];
	json_t *value = json_string(text), *copy = ctl_report_hide_addresses(value, tokens);

	snprintf(hidden, sizeof(hidden), "%s", json_string_value(copy));
	json_decref(value);
	json_decref(copy);
	return hidden;
}

TEST(texts_with_hidden_addresses)
{
	/* a token in the second is "4" or "6" */
	static const char *const rows[][2] = {
		{"192.0.2.1:5201", "4:5201"},
		{"[2001:db8::1]:80", "[6]:80"},
		{"::ffff:192.0.2.1", "4"},
		{"destination 10.0.0.0/8, 2001:DB8::/32, remote port 80",
		 "destination 4/8, 6/32, remote port 80"},
		{"192.0.2.1:1 - [2001:db8::2:1]:2, 192.0.2.1-198.51.100.7.", "4:1 - [6]:2, 4-4."},
		{"/web192.0.2.1x.scope fe80::1%eth0", "/web4x.scope 6%eth0"},
		{"1.2.3 at 12:34:56.789, 2026-11-26T12:34:56Z", NULL},
		{"127.0.0.1:9817 [::1]:80 0.0.0.0/0 ::/0 [::]:22 ::ffff:127.0.0.1", NULL},
		{"6.1.0-13-amd64, 0.2.0: (1:2) 0.001 a.b.c.d beef:cafe std:dead", NULL},
	};
	json_t *tokens = json("{}");

	for_each_row (row, rows) {
		const char *hidden = hide((*row)[0], tokens), *at = hidden;
		char plain[512], *to = plain;

		while (*at) {
			unsigned int family, network, host;
			int length = 0;

			if (sscanf(at, "v%1u-%8x-%8x%n", &family, &network, &host, &length) == 3)
				*to++ = (char)('0' + family);
			else
				*to++ = *at;
			at += length ? length : 1;
		}
		*to = '\0';
		assert_string_equal(plain, (*row)[1] ? (*row)[1] : (*row)[0]);
	}
}

static void make_address(char ret[CTL_WORD])
{
	bool ipv4 = random() % 2;
	unsigned char bytes[16];

	for (int i = 0; i < 16; i++)
		bytes[i] = random() % 3 ? (unsigned char)random() : 0;
	bytes[ipv4 ? 12 : 0] = (unsigned char)(1 + random() % 126);
	inet_ntop(ipv4 ? AF_INET : AF_INET6, bytes + (ipv4 ? 12 : 0), ret, CTL_WORD);
}

/* No address is left in values or names of members. Each has another token in each report. */
TEST(no_address_is_left)
{
	json_t *tokens = json("{}"), *others = json("{}"), *addresses = json("{}");

	for (int i = 0; i < 5000; i++) {
		char address[CTL_WORD], token[CTL_WORD];
		json_t *value, *hidden, *known, *expected;
		char *text;

		make_address(address);
		snprintf(token, sizeof(token), "%s", hide(address, tokens));
		assert_true(strcmp(token, hide(address, others)));
		known = json_object_get(addresses, token);
		assert_true(!known || !strcmp(json_string_value(known), address));
		json_object_set_new(addresses, token, json_string(address));

		value = json_pack("{s:[{s:s}, i, n], s:o}", address, "local", address, 7, "text",
				  json_sprintf("of %s/24, [%s]:1", address, address));
		hidden = ctl_report_hide_addresses(value, tokens);
		text = json_dumps(hidden, 0);
		assert_null(strstr(text, address));
		expected = json_pack("{s:[{s:s}, i, n], s:o}", token, "local", token, 7, "text",
				     json_sprintf("of %s/24, [%s]:1", token, token));
		assert_true(json_equal(hidden, expected));
		free(text);
		json_decref(value);
		json_decref(hidden);
		json_decref(expected);
	}
}

static ssize_t time_out(void *reads, char *buffer, size_t len)
{
	(void)buffer;
	(void)len;
	++*(int *)reads;
	errno = EAGAIN;
	return -1;
}

TEST(an_answer_is_awaited_once)
{
	int reads = 0;
	FILE *stream = fopencookie(&reads, "r", (cookie_io_functions_t){.read = time_out});
	struct tcptuned_error err;
	json_t *answer;

	assert_int_equal(ctl_read_answer(stream, &answer, &err), -EAGAIN);
	assert_string_equal(err.text, "the daemon does not answer: no answer in time");
	assert_int_equal(reads, 1);
	fclose(stream);
}

TEST(tokens_of_a_network)
{
	unsigned int network[4], host[4];
	json_t *tokens = json("{}");

	assert_int_equal(sscanf(hide("192.0.2.7 192.0.2.0/24 192.0.3.7 ::ffff:192.0.2.7", tokens),
				"v4-%x-%x v4-%x-%x/24 v4-%x-%x v4-%x-%x", &network[0], &host[0],
				&network[1], &host[1], &network[2], &host[2], &network[3],
				&host[3]),
			 8);
	assert_true(network[0] == network[1] && network[0] == network[3] &&
		    network[0] != network[2]);
	assert_true(host[0] != host[1] && host[0] != host[2] && host[0] == host[3]);
	assert_int_equal(sscanf(hide("2001:db8:1:2::7 2001:db8:1::/48", tokens),
				"v6-%x-%x v6-%x-%x/48", &network[0], &host[0], &network[1],
				&host[1]),
			 4);
	assert_true(network[0] == network[1] && host[0] != host[1]);
}
