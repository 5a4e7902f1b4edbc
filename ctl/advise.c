// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcptunectl advise: what is remembered of the path to a host, for applications that tune
 * themselves.
 */
#include <errno.h>
#include <netdb.h>

#include "client.h"
#include "commands.h"
#include "format.h"
#include "util/sysctl.h"

static int add_address(const struct ctl *ctl, json_t *request, struct tcptuned_error *err)
{
	const char *host = ctl->arguments[0];
	char address[CTL_WORD] = "", congestion_control[CTL_WORD];
	int error = ctl_resolve(host, address);

	if (error)
		return FAIL(err, EHOSTUNREACH, USAGE,
			    "%.80s cannot be resolved: %s; write a name or an address", host,
			    gai_strerror(error));
	json_object_set_new(request, "address", json_string(address));
	/* The daemon may be in another network namespace. */
	if (!tcptuned_sysctl_read("net.ipv4.tcp_congestion_control", congestion_control,
				  sizeof(congestion_control)))
		json_object_set_new(request, "congestion_control", json_string(congestion_control));
	return 0;
}

static void print_direction(const char *title, const json_t *numbers, const json_t *streams)
{
	char rate[CTL_WORD], size[CTL_WORD];

	if (!numbers && !streams)
		return;
	printf("%-15s", title);
	if (numbers) {
		ctl_format_rate((double)ctl_number(numbers, "bits_per_second"), rate);
		ctl_format_bytes(ctl_number(numbers, "buffer_bytes"), size);
		printf("%s by one connection at most; a buffer of %s holds its window\n", rate,
		       size);
	}
	if (!streams)
		return;
	ctl_format_rate(ctl_real(streams, "bits_per_second"), rate);
	printf("%s%s by %llu connections\n", numbers ? "               " : "", rate,
	       ctl_number(streams, "streams"));
}

static void print_advice(const json_t *answer)
{
	static const struct ctl_template path[] = {
		{"!connections !send_streams !receive_streams",
		 "Nothing is remembered of the path to {address}.\n"},
		{"connections", "path           {prefix}, {connections} connections, the last one "
				"ended {age} ago\n"
				"round trip     {min_rtt_us:us} at least\n"},
		{0},
	};
	const json_t *loss = json_object_get(answer, "loss");
	char age[CTL_WORD];

	ctl_format_age(ctl_number(answer, "age_s"), age);
	json_object_set_new((json_t *)answer, "age", json_string(age));
	ctl_print(stdout, answer, path);
	if (loss)
		printf("loss           %.3g %% of the segments\n", json_number_value(loss) * 100);
	print_direction("sent", json_object_get(answer, "send"),
			json_object_get(answer, "send_streams"));
	print_direction("received", json_object_get(answer, "receive"),
			json_object_get(answer, "receive_streams"));
	if (loss)
		printf("congestion     %s\n", ctl_text(answer, "congestion_control"));
}

const struct ctl_command ctl_advise = {
	.name = "advise",
	.arguments = "DEST",
	.help = "Print what earlier connections have measured on the path to the prefix of DEST (a name or "
		"an address): how many they were and how old that is, minimum round-trip time, loss, "
		"the highest rate of one in each direction, the buffer that such a connection needs, "
		"the congestion control that a new one gets, and how many parallel connections carry "
		"most with an impact of 10 % at most, if streams --probe none could say it. Any user may ask, about the network "
		"namespace of the question. Programs ask by tcptuned_advise(3).",
	.options = ctl_json_option,
	.arguments_min = 1,
	.request = "advise",
	.add_arguments = add_address,
	.print = print_advice,
};
