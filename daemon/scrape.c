// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include <bpf/bpf.h>

#include "cleanup.h"
#include "clock.h"
#include "log.h"
#include "metrics.h"
#include "peer.h"
#include "readout.h"
#include "scrape.h"
#include "totals.h"

struct tcptuned_scrape {
	struct tcptuned_scrape_options options;
	struct utsname host;
	bool reader_known;
	uid_t reader_uid;
	struct tcptuned_snapshot snap;
};

/* --- reading ----------------------------------------------------------------------------- */

static bool read_budget(struct tcptuned_scrape *scrape)
{
	int fd = scrape->options.kernel->map_fd[TCPTUNED_MAP_BUDGET];
	__u32 zero = 0;

	return fd >= 0 && !bpf_map_lookup_elem(fd, &zero, &scrape->snap.budget);
}

/* Those in force, in the order of the configuration. */
static void read_policies(struct tcptuned_scrape *scrape)
{
	const struct tcptuned_kernel *kernel = scrape->options.kernel;
	struct tcptuned_snapshot *snap = &scrape->snap;
	int fd = kernel->map_fd[TCPTUNED_MAP_POLICIES];
	struct tcptuned_policy_entry *entry;
	__u32 place;

	for (place = 0; place < kernel->policies_len; place++) {
		entry = &snap->policies[place];
		entry->key = TCPTUNED_POLICY_ID(kernel->generation, place);
		if (fd < 0 || bpf_map_lookup_elem(fd, &entry->key, &entry->policy))
			break;
		entry->policy.congestion_control[TCPTUNED_CC_NAME_MAX - 1] = '\0';
	}
	snap->policies_len = place;
}

/* Without the @connections one by one there are still their totals. */
static void read_flows(struct tcptuned_scrape *scrape, bool connections)
{
	struct tcptuned_snapshot *snap = &scrape->snap;
	__u32 shown = snap->flows.top_max;

	if (!connections)
		snap->flows.top_max = 0;
	snap->flows_ok = !tcptuned_readout(&snap->flows, scrape->options.kernel, NULL);
	snap->flows.top_max = shown;
}

static void read_everything(struct tcptuned_scrape *scrape, bool connections)
{
	const struct tcptuned_kernel *kernel = scrape->options.kernel;
	struct tcptuned_snapshot *snap = &scrape->snap;

	snap->bitcp = kernel->bitcp;
	snap->adoption = kernel->adoption;
	snap->cgroups_missing = *scrape->options.cgroups_missing;
	snap->config_in_force = tcptuned_config_in_force(scrape->options.trouble);
	snap->taken_over =
		kernel->origin == TCPTUNED_TAKEN_OVER || kernel->origin == TCPTUNED_UPGRADED;
	if (scrape->options.paths)
		tcptuned_paths_stats(scrape->options.paths, &snap->paths);
	snap->totals_ok =
		!tcptuned_totals_read(kernel->map_fd[TCPTUNED_MAP_TOTALS], &snap->totals);
	snap->budget_ok = read_budget(scrape);
	read_flows(scrape, connections);
	read_policies(scrape);
	tcptuned_bpfstats_read(&snap->bpf, kernel);
	tcptuned_process_stats_read(&snap->process);
}

/* --- answering --------------------------------------------------------------------------- */

static void print_front_page(struct tcptuned_buf *out, const char *version)
{
	tcptuned_buf_printf(out,
			    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
			    "<title>tcptuned</title></head><body>\n"
			    "<h1>tcptuned %s</h1>\n<ul>\n"
			    "<li><a href=\"/metrics\">/metrics</a>: for Prometheus</li>\n"
			    "<li><a href=\"/flows.json\">/flows.json</a>: the largest "
			    "connections, as JSON</li>\n"
			    "</ul>\n</body></html>\n",
			    version);
}

/* Connections are their users' business, root's, and that of the one who is to read them. */
static bool may_see_connections(const struct tcptuned_scrape *scrape,
				const struct tcptuned_http_request *request)
{
	uid_t uid;

	if (!scrape->options.reader[0])
		return true;
	if (tcptuned_peer_uid(request->fd, &uid))
		return false;
	return !uid || (scrape->reader_known && uid == scrape->reader_uid);
}

static void handle_metrics(struct tcptuned_scrape *scrape, bool connections,
			   struct tcptuned_buf *out)
{
	struct tcptuned_snapshot *snap = &scrape->snap;
	__u64 start = tcptuned_monotonic_ns();

	read_everything(scrape, connections);
	if (!connections)
		tcptuned_buf_printf(out, "# Connections one by one are for root and the user %s "
					 "(metrics.reader).\n", scrape->options.reader);
	tcptuned_metrics_format(out, snap);
	snap->last_scrape_ns = tcptuned_monotonic_ns() - start;
	snap->scrapes_ns += snap->last_scrape_ns;
	snap->scrapes++;
}

static void handle_flows(struct tcptuned_scrape *scrape, bool connections,
			 struct tcptuned_http_reply *reply)
{
	if (!connections) {
		reply->status = 403;
		tcptuned_buf_printf(&reply->body,
				    "Connections are shown to root and to the user %s of this "
				    "host; metrics.reader in tcptuned.conf says to whom.\n",
				    scrape->options.reader);
		return;
	}
	reply->content_type = "application/json";
	read_flows(scrape, true);
	tcptuned_metrics_format_json(&reply->body, &scrape->snap);
}

void tcptuned_scrape_handle(void *ctx, const struct tcptuned_http_request *request,
			    struct tcptuned_http_reply *reply)
{
	struct tcptuned_scrape *scrape = ctx;
	const char *path = request->path;

	if (!strcmp(path, "/metrics")) {
		reply->content_type = "text/plain; version=0.0.4; charset=utf-8";
		handle_metrics(scrape, may_see_connections(scrape, request), &reply->body);
	} else if (!strcmp(path, "/flows.json")) {
		handle_flows(scrape, may_see_connections(scrape, request), reply);
	} else if (!strcmp(path, "/")) {
		reply->content_type = "text/html; charset=utf-8";
		print_front_page(&reply->body, scrape->options.version);
	} else {
		reply->status = 404;
		tcptuned_buf_puts(&reply->body, "There is /metrics and /flows.json.\n");
	}
}

/* --- making and unmaking ----------------------------------------------------------------- */

/* Once, and not for each who asks: a directory service may take its time. */
static void find_reader(struct tcptuned_scrape *scrape)
{
	const char *reader = scrape->options.reader;
	const struct passwd *user = reader[0] ? getpwnam(reader) : NULL;

	scrape->reader_known = user;
	if (user)
		scrape->reader_uid = user->pw_uid;
	else if (reader[0])
		tcptuned_log(TCPTUNED_LOG_INFO,
			     "metrics.reader: there is no user %s now: metrics show connections "
			     "one by one to root only, until a reload finds that user",
			     reader);
	if (reader[0] && !tcptuned_peer_can_ask())
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "metrics.reader: this kernel does not tell who asks for metrics "
			     "(module tcp_diag): connections one by one are shown to nobody, "
			     "unless it is anyone");
}

int tcptuned_scrape_configure(struct tcptuned_scrape *scrape, __u32 flows_max)
{
	struct tcptuned_flows flows;

	find_reader(scrape);
	if (flows_max == scrape->snap.flows.top_max)
		return 0;
	if (tcptuned_flows_init(&flows, flows_max))
		return -ENOMEM;
	tcptuned_flows_free(&scrape->snap.flows);
	scrape->snap.flows = flows;
	return 0;
}

void tcptuned_scrape_count_reload(struct tcptuned_scrape *scrape, bool taken)
{
	scrape->snap.reloads[taken]++;
}

int tcptuned_scrape_new(struct tcptuned_scrape **ret,
			const struct tcptuned_scrape_options *options)
{
	__attribute__((cleanup(tcptuned_scrape_freep))) struct tcptuned_scrape *scrape =
		calloc(1, sizeof(*scrape));

	if (!scrape)
		return -ENOMEM;
	scrape->options = *options;
	if (tcptuned_scrape_configure(scrape, options->flows_max))
		return -ENOMEM;
	uname(&scrape->host);
	scrape->snap.version = options->version;
	scrape->snap.kernel_release = scrape->host.release;
	scrape->snap.policy_name = options->policy_name;
	scrape->snap.policy = options->policy;
	scrape->snap.policy_ctx = options->policy_ctx;
	scrape->snap.start_time_us = tcptuned_clock_ns(CLOCK_REALTIME) / 1000;
	*ret = scrape;
	scrape = NULL;
	return 0;
}

void tcptuned_scrape_free(struct tcptuned_scrape *scrape)
{
	if (!scrape)
		return;
	tcptuned_flows_free(&scrape->snap.flows);
	free(scrape);
}

void tcptuned_scrape_freep(struct tcptuned_scrape **scrape)
{
	tcptuned_scrape_free(*scrape);
}
