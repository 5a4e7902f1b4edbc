// SPDX-License-Identifier: GPL-2.0-only
#include "report.h"

#include <arpa/inet.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

/* Below this share of the time, or these seconds, a limit is not worth a word. */
#define SHARE_MIN   0.01
#define SECONDS_MIN 0.005

/* As words of the text, and as members of JSON. */
static const struct {
	const char *text, *member;
} limits[] = {
	[LIMIT_APPLICATION] = {"application (nothing to send)", "application"},
	[LIMIT_RECEIVE_WINDOW] = {"receive window", "receive_window"},
	[LIMIT_SEND_BUFFER] = {"send buffer", "send_buffer"},
	[LIMIT_CWND] = {"congestion window", "cwnd"},
	[LIMIT_READER] = {"application (reads slowly)", "reader"},
	[LIMIT_OTHER_SIDE] = {"sender or path", "other_side"},
};

static void print_address(FILE *out, const struct diag_socket *s, bool remote)
{
	const __be32 *address = remote ? s->message.id.idiag_dst : s->message.id.idiag_src;
	__be16 port = remote ? s->message.id.idiag_dport : s->message.id.idiag_sport;
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(s->message.idiag_family, address, text, sizeof(text));
	fprintf(out, strchr(text, ':') ? "[%s]:%u" : "%s:%u", text, ntohs(port));
}

static void print_amount(FILE *out, double amount, const char *unit)
{
	static const char prefixes[] = " kMGT";
	int i = 0;

	while (amount >= 999.5 && prefixes[i + 1]) {
		amount /= 1000;
		i++;
	}
	fprintf(out, "%.3g %.*s%s", amount, i > 0, &prefixes[i], unit);
}

static double bytes_of(const struct connection *c)
{
	const struct tcp_info *info = &c->socket.info.tcp;

	return (double)(connection_receives(c) ? info->tcpi_bytes_received
					       : info->tcpi_bytes_acked);
}

static double rate_of(const struct connection *c)
{
	double seconds = connection_seconds(c);

	return seconds > 0 ? 8 * bytes_of(c) / seconds : 0;
}

static bool is_open(const struct connection *c)
{
	return !c->closed && c->socket.message.idiag_state == DIAG_ESTABLISHED;
}

/* Prints the limits, the longest first. */
static void print_limits(FILE *out, const struct connection *c)
{
	const char *separator = "; limited by ";
	double seconds[LIMITS], all = 0;

	connection_limits(c, seconds);
	for (int i = 0; i < LIMITS; i++)
		all += seconds[i];
	for (;;) {
		int most = 0;

		for (int i = 0; i < LIMITS; i++)
			most = seconds[i] > seconds[most] ? i : most;
		if (seconds[most] < SECONDS_MIN || seconds[most] <= SHARE_MIN * all)
			break;
		fprintf(out, "%s%s for %.2f s", separator, limits[most].text, seconds[most]);
		if (most == LIMIT_RECEIVE_WINDOW && connection_receives(c)) {
			fputs(" (", out);
			print_amount(out, c->socket.info.tcp.tcpi_rcv_ssthresh, "B");
			fputs(")", out);
		}
		seconds[most] = 0;
		separator = ", ";
	}
}

static void print_text(FILE *out, const struct connection *c)
{
	fputs("tcptune-run: ", out);
	print_address(out, &c->socket, true);
	fputs(connection_receives(c) ? ": received " : ": sent ", out);
	print_amount(out, bytes_of(c), "B");
	fputs(" at ", out);
	print_amount(out, rate_of(c), "bit/s");
	fprintf(out, ", RTT %.3g ms", diag_rtt_us(&c->socket.info.tcp) / 1e3);
	print_limits(out, c);
	fputc('\n', out);
}

static void print_json(FILE *out, const struct connection *c)
{
	const struct tcp_info *info = &c->socket.info.tcp;
	double seconds[LIMITS];

	connection_limits(c, seconds);
	fputs("{\"local\":\"", out);
	print_address(out, &c->socket, false);
	fputs("\",\"remote\":\"", out);
	print_address(out, &c->socket, true);
	fprintf(out,
		"\",\"pid\":%d,\"open\":%s,\"direction\":\"%s\",\"seconds\":%.6f,"
		"\"bytes_received\":%llu,\"bytes_sent\":%llu,\"rate\":%.0f,\"rtt\":%.6f,"
		"\"min_rtt\":%.6f,\"retransmitted\":%u,\"congestion_control\":\"%s\",\"limited\":{",
		(int)c->owner.pid, is_open(c) ? "true" : "false",
		connection_receives(c) ? "receive" : "send", connection_seconds(c),
		(unsigned long long)info->tcpi_bytes_received,
		(unsigned long long)info->tcpi_bytes_acked, rate_of(c), diag_rtt_us(info) / 1e6,
		info->tcpi_min_rtt == ~0u ? 0 : info->tcpi_min_rtt / 1e6, info->tcpi_total_retrans,
		c->socket.congestion_control);
	for (int i = 0; i < LIMITS; i++)
		fprintf(out, "%s\"%s\":%.6f", i ? "," : "", limits[i].member, seconds[i]);
	fputs("}}\n", out);
}

/* Whether a line can be written without waiting for a reader. */
static bool is_writable(FILE *out)
{
	struct pollfd file = {.fd = fileno(out), .events = POLLOUT};

	return poll(&file, 1, 0) > 0 && file.revents == POLLOUT;
}

void report_connections(FILE *out, const struct connections *all, bool json, bool open)
{
	void (*print)(FILE *, const struct connection *) = json ? print_json : print_text;

	for (const struct connection *c = open ? NULL : all->ended; c; c = c->next)
		print(out, c);
	for (const struct connection *c = all->first; c; c = c->next)
		if (!open || (is_open(c) && is_writable(out)))
			print(out, c);
	fflush(out);
}
