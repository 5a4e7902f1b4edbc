// SPDX-License-Identifier: GPL-2.0-only
/* What iperf3 and curl print, and what is made of it. */
#include <unistd.h>

#include "test.h"
#include "streams/probe.h"

/* What is made of the last text. */
static struct probe_report report;
static char error[256];

static int read_text(const struct probe_kind *kind, const struct probe_run *run, const char *text)
{
	report = (struct probe_report){.retransmitted = -1};
	error[0] = '\0';
	return kind->read(run, text, strlen(text), &report, error, sizeof(error));
}

TEST(iperf3_reports)
{
	static const struct {
		const char *text;
		int status;
		double rate, retransmitted;
		const char *error;
	} rows[] = {
		{"{\"end\":{\"sum_sent\":{\"bytes\":1000,\"retransmits\":3},\"sum_received\":"
		 "{\"bits_per_second\":8000.5}}}",
		 0, 8000.5, 3, ""},
		{"{\"end\":{\"sum_received\":{\"bits_per_second\":8000}}}", 0, 8000, -1, ""},
		{"{\"end\":{},\"error\":\"error - unable to connect to server: refused\"}", -EPROTO,
		 0, -1, "iperf3: unable to connect to server: refused"},
		{"{\"end\":{}}", -EPROTO, 0, -1, "iperf3 measured nothing"},
		{"{\"end\":{\"sum_received\":{\"bits_per_second\":\"x\"}}}", -EPROTO, 0, -1,
		 "iperf3 measured nothing"},
		{"iperf3: unknown option\nusage", -EPROTO, 0, -1,
		 "iperf3 printed no JSON: iperf3: unknown option"},
		{"", -EPROTO, 0, -1, "iperf3 printed no JSON: "},
		{"[1]", -EPROTO, 0, -1, "iperf3 measured nothing"},
	};
	const struct probe_run run = {.streams = 1};

	for_each_row (r, rows) {
		assert_int_equal(read_text(&probe_iperf3, &run, r->text), r->status);
		assert_string_equal(error, r->error);
		assert_true(report.rate == r->rate && report.retransmitted == r->retransmitted);
	}
}

/* What the server may say until the test before has ended. */
TEST(iperf3_finds_the_server_busy)
{
	static const struct {
		const char *text;
		int busy;
	} rows[] = {
		{"{\"error\":\"error - the server is busy running a test. try again later\"}", 1},
		{"{\"error\":\"error - unable to connect to server: Connection refused\"}", 1},
		{"{\"error\":\"error - unable to receive control message: Connection reset by peer\"}",
		 1},
		{"{\"error\":\"error - unable to connect to server: No route to host\"}", 0},
		{"{\"end\":{}}", 0},
	};
	const struct probe_run run = {.streams = 1};

	for_each_row (r, rows) {
		assert_int_equal(read_text(&probe_iperf3, &run, r->text), -EPROTO);
		assert_int_equal(report.busy, r->busy);
	}
}

TEST(iperf3_has_a_thread_for_each_connection_since_3_16)
{
	static const struct {
		const char *text;
		unsigned int threads;
	} rows[] = {
		{"{\"start\":{\"version\":\"iperf 3.12\"}}", 1},
		{"{\"start\":{\"version\":\"iperf 3.16+\"}}", 4},
		{"{\"start\":{\"version\":\"iperf 4.0\"}}", 4},
		{"{\"start\":{\"version\":16}}", 1},
		{"{}", 1},
	};
	const struct probe_run run = {.streams = 4};
	unsigned int cores = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);

	for_each_row (r, rows) {
		read_text(&probe_iperf3, &run, r->text);
		assert_int_equal(report.threads, r->threads < cores ? r->threads : cores);
	}
}

TEST(curl_reports)
{
	static const struct {
		unsigned int streams;
		const char *text;
		int status, refused;
		unsigned long long file;
		const char *error;
	} rows[] = {
		{0,
		 "HTTP/1.1 206 OK\r\nContent-Range: bytes 0-0/2000000\r\n\r\n\ntcptuned 206 0 1 \n",
		 0, 0, 2000000, ""},
		/* the last of several answers counts; names of headers have no case */
		{0,
		 "HTTP/1.1 302 Found\r\n\r\nHTTP/1.1 206 OK\r\ncontent-range: bytes 0-0/3000000\r\n\r\n"
		 "\ntcptuned 206 0 1 \n",
		 0, 0, 3000000, ""},
		{0, "HTTP/1.1 206 OK\r\nContent-Range: bytes 0-0/*\r\n\r\n\ntcptuned 206 0 1 \n",
		 -EPROTO, 0, 0, "the file has 0 bytes: too few to measure anything"},
		{0, "HTTP/1.1 200 OK\r\n\r\n\ntcptuned 200 63 0 Maximum file size exceeded\n",
		 -EPROTO, 0, 0,
		 "the server does not serve ranges of this file: it sends all of it"},
		{0, "HTTP/1.1 404 no\r\n\r\n\ntcptuned 404 0 9 \n", -EPROTO, 0, 0,
		 "the server answers with status 404"},
		{0, "\ntcptuned 000 6 0 Could not resolve host: x\n", -EPROTO, 0, 0,
		 "curl: Could not resolve host: x"},
		{0, "curl: option --x: is unknown\ncurl: try 'curl --help'\n", -EPROTO, 0, 0,
		 "curl: curl: option --x: is unknown"},
		{0, "", -EPROTO, 0, 0, "curl: printed nothing"},
		{2, "\ntcptuned 206 28 900 Operation timed out\n\ntcptuned 206 0 100 \n", 0, 0, 0,
		 ""},
		{2, "\ntcptuned 206 28 900 Operation timed out\n\ntcptuned 503 0 100 \n", 0, 1, 0,
		 "the server refuses with status 503: it limits requests"},
		{1, "\ntcptuned 206 18 900 transfer closed with 5 bytes remaining\r\n", -EPROTO, 0,
		 0, "curl: transfer closed with 5 bytes remaining"},
		{1, "\ntcptuned 000 28 0 Connection timed out\n", -EPROTO, 0, 0,
		 "curl: Connection timed out"},
		{1, "\ntcptuned x y z\n", -EPROTO, 0, 0, "curl: "},
	};

	for_each_row (r, rows) {
		const struct probe_run run = {.streams = r->streams};

		assert_int_equal(read_text(&probe_http, &run, r->text), r->status);
		assert_string_equal(error, r->error);
		assert_int_equal(report.refused, r->refused);
		if (!r->status)
			assert_true(report.file_bytes == r->file);
	}
}

/* Only to the same host. */
TEST(curl_redirects)
{
	static const struct {
		const char *to, *redirect, *error;
	} rows[] = {
		{"http://h.example/g", "http://h.example/g", ""},
		{"https://H.EXAMPLE:444?g", "https://H.EXAMPLE:444?g", ""},
		{"http://u:p@h.example/", "http://u:p@h.example/", ""},
		{"http://h.example.org/g", "",
		 "the server redirects to another host; measure that one, if it is meant: "
		 "http://h.example.org/g"},
		{"http://h/", "",
		 "the server redirects to another host; measure that one, if it is meant: http://h/"},
		{"http://h.example@127.0.0.1/\033[2J", "",
		 "the server redirects to another host; measure that one, if it is meant: "
		 "http://h.example@127.0.0.1/?[2J"},
		{"http://[::1]/", "",
		 "the server redirects to another host; measure that one, if it is meant: "
		 "http://[::1]/"},
		{"", "", "the server answers with status 302"},
	};
	const struct probe_run run = {.destination = "http://user:secret@h.example:8000/f@g"};
	char text[200];

	for_each_row (r, rows) {
		snprintf(text, sizeof(text), "\ntcptuned 302 0 1 \nto %s\n", r->to);
		assert_int_equal(read_text(&probe_http, &run, text), *r->redirect ? 0 : -EPROTO);
		assert_string_equal(report.redirect, r->redirect);
		assert_string_equal(error, r->error);
	}
}

/* What a server says does not reach a terminal as it is. */
TEST(servers_cannot_control_a_terminal)
{
	const struct probe_run run = {.streams = 1};

	read_text(&probe_iperf3, &run,
		  "{\"end\":{\"sum_received\":{\"bits_per_second\":8},\"sender_tcp_congestion\":"
		  "\"\\u001b]0;pwn\\u0007\\u009b\"}}");
	assert_string_equal(report.congestion_control, "?]0;pwn???");
	read_text(&probe_iperf3, &run, "{\"error\":\"error - \\u001b[2J\"}");
	assert_string_equal(error, "iperf3: ?[2J");
	read_text(&probe_http, &run, "\ntcptuned 000 1 0 \033[2J\n");
	assert_string_equal(error, "curl: ?[2J");
}

/* The ranges are next to each other, and those of no request overlap. */
TEST(curl_ranges)
{
	for (unsigned int streams = 1; streams <= 128; streams++) {
		const struct probe_run run = {.destination = "http://u:p@h/\"\\\nrange = 0-0",
					      .streams = streams,
					      .seconds = 5,
					      .file_bytes = 1000003};
		char **arguments = probe_http.arguments(&run), *input = probe_http.input(&run);
		unsigned long long first, last, end = 0;
		unsigned int found = 0, urls = 0;

		test_row = streams;
		for (char **a = arguments; *a; a++)
			assert_null(strstr(*a, "http:")); /* which others would see */
		for (char *line = strtok(input, "\n"); line; line = strtok(NULL, "\n")) {
			urls += !strcmp(line, "url = \"http://u:p@h/\\\"\\\\\\nrange = 0-0\"");
			if (strncmp(line, "range", 5))
				continue;
			assert_int_equal(sscanf(line, "range = %llu-%llu", &first, &last), 2);
			assert_true(first == end && last >= first && last < run.file_bytes);
			end = last + 1;
			found++;
		}
		assert_int_equal(found, streams);
		assert_int_equal(urls, streams);
		free(arguments);
		free(input);
	}
}
