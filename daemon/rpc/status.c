// SPDX-License-Identifier: GPL-2.0-only
#include "rpc/request.h"

#include <bpf/bpf.h>
#include <stdbool.h>
#include <string.h>

#include "flows/words.h"
#include "flows/scan.h"
#include "host/sysctl.h"
#include "kern/maps.h"
#include "policy/lookup.h"
#include "rpc/json.h"
#include "tcptuned.skel.h"
#include "util/array.h"
#include "util/version.h"

static const struct {
	const char *name;
	enum tcptuned_counter counter;
} counters[] = {
	{"managed_opened_here", TCPTUNED_C_MANAGED_ACTIVE},
	{"managed_accepted_here", TCPTUNED_C_MANAGED_PASSIVE},
	{"managed_open", TCPTUNED_C_MANAGED_OPEN},
	{"adopt_failed", TCPTUNED_C_ADOPT_FAILED},
	{"closed", TCPTUNED_C_CLOSED},
	{"unrecorded", TCPTUNED_C_STORAGE_FAILED},
	{"congestion_control_set", TCPTUNED_C_CC_SET},
	{"congestion_control_kept", TCPTUNED_C_CC_KEPT},
	{"congestion_control_failed", TCPTUNED_C_CC_FAILED},
	{"rcvbuf_overridden", TCPTUNED_C_RCVBUF_OVERRIDDEN},
	{"sndbuf_overridden", TCPTUNED_C_SNDBUF_OVERRIDDEN},
	{"receive_windows_grown", TCPTUNED_C_RCV_GROWS},
	{"receive_windows_shrunk", TCPTUNED_C_RCV_SHRINKS},
	{"receive_windows_refused", TCPTUNED_C_RCV_FAILED},
	{"send_windows_grown", TCPTUNED_C_SND_GROWS},
	{"send_windows_shrunk", TCPTUNED_C_SND_SHRINKS},
	{"send_windows_refused", TCPTUNED_C_SND_FAILED},
	{"receive_budget_refusals", TCPTUNED_C_RCV_BUDGET},
	{"send_budget_refusals", TCPTUNED_C_SND_BUDGET},
	{"memory_short_refusals", TCPTUNED_C_MEMORY_SHORT},
	{"events_lost", TCPTUNED_C_EVENTS_LOST},
};

static json_t *totals_object(const struct tcptuned_totals *totals)
{
	json_t *object = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		set_number(object, counters[i].name, totals->counter[counters[i].counter]);
	return object;
}

static json_t *limits_object(const __u64 *limited, __u32 words)
{
	json_t *object = json_object();

	for (unsigned int i = 0; i < TCPTUNED_LIMITS; i++)
		if (words & 1u << i)
			set_number(object, tcptuned_word(WORDS_LIMIT, i), limited[i]);
	return object;
}

static json_t *connections_object(const struct tcptuned_flows *flows)
{
	json_t *object = json_object();

	set_number(object, "open", flows->sums.live);
	set_number(object, "observed", flows->sums.observed);
	set_number(object, "receive_rightsized", flows->sums.rcv_sized);
	set_number(object, "send_rightsized", flows->sums.snd_sized);
	set_number(object, "rcvbuf_overridden", flows->sums.rcvbuf_requests);
	set_number(object, "sndbuf_overridden", flows->sums.sndbuf_requests);
	set_number(object, "receive_buffer_bytes", flows->sums.rcvbuf_bytes);
	set_number(object, "receive_buffer_used_bytes", flows->sums.rmem_bytes);
	set_number(object, "send_buffer_bytes", flows->sums.sndbuf_bytes);
	set_number(object, "send_buffer_used_bytes", flows->sums.wmem_bytes);
	json_object_set_new(object, "limited_by",
			    limits_object(flows->sums.limited, TCPTUNED_SEND_LIMITS));
	json_object_set_new(object, "receive_limited_by",
			    limits_object(flows->sums.receive_limited, TCPTUNED_RECEIVE_LIMITS));
	return object;
}

/* NULL: the kernel side of an older build has no budget. */
static json_t *budget_object(const struct tcptuned_kernel *kernel)
{
	struct budget budget;
	json_t *object;
	__u32 zero = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(kernel->bpf->maps.budget), &zero, &budget))
		return NULL;
	object = json_object();
	set_if(object, "bytes", budget.total);
	set_number(object, "granted_bytes", budget.granted);
	set_number(object, "wanted_bytes", budget.wanted);
	return object;
}

static json_t *configuration_object(const struct tcptuned_config_trouble *trouble)
{
	json_t *object = json_pack("{s:b}", "in_force", tcptuned_config_in_force(trouble));

	if (trouble->rejected[0])
		set_text(object, "rejected", trouble->rejected);
	if (trouble->unapplied[0])
		set_text(object, "unapplied", trouble->unapplied);
	return object;
}

/* A value that another process has set is left alone, also before the daemon notices it. */
static json_t *sysctl_object(enum tcptuned_sysctl which, const struct tcptuned_saved_sysctl *saved)
{
	const char *name = tcptuned_sysctl_name(which);
	char now[TCPTUNED_SYSCTL_VALUE];
	bool known = !tcptuned_sysctl_read(name, now, sizeof(now));
	bool left_alone = !saved->before[0] || (known && strcmp(now, saved->ours));
	json_t *object = json_pack("{s:s,s:s,s:b}", "name", name, "set_to", saved->ours,
				   "left_alone", left_alone);

	if (saved->before[0])
		set_text(object, "before", saved->before);
	if (known)
		set_text(object, "now", now);
	return object;
}

/* The sysctls that the daemon has set. */
static json_t *sysctls_array(const struct tcptuned_kernel *kernel)
{
	struct tcptuned_meta meta;
	json_t *array = json_array();
	__u32 zero = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(kernel->bpf->maps.meta), &zero, &meta))
		return array;
	for (int i = 0; i < TCPTUNED_SYSCTLS; i++) {
		if (meta.sysctl[i].ours[0])
			json_array_append_new(array, sysctl_object(i, &meta.sysctl[i]));
	}
	return array;
}

static json_t *host_limits_array(void)
{
	struct tcptuned_sysctl_limit limits[TCPTUNED_SYSCTL_LIMITS_MAX];
	size_t len = tcptuned_sysctls_limiting(limits);
	json_t *array = json_array();

	for (size_t i = 0; i < len; i++)
		json_array_append_new(array, json_pack("{s:s,s:s}", "name", limits[i].name,
						       "effect", limits[i].effect));
	return array;
}

int tcptuned_status_handle(const struct tcptuned_source *source,
			   const struct tcptuned_request *request, FILE *out,
			   struct tcptuned_error *err)
{
	const struct tcptuned_kernel *kernel = source->kernel;
	__u32 key = 0;
	struct tcptuned_policy policy = {.mode = TCPTUNED_OFF};
	struct tcptuned_totals totals;
	struct tcptuned_flows flows = {0};
	json_t *object;
	int error;

	error = tcptuned_maps_read_totals(bpf_map__fd(kernel->bpf->maps.totals), &totals);
	if (error)
		return FAIL(err, -error, KERNEL, "the totals cannot be read: %s", strerror(-error));
	error = tcptuned_scan(&flows, kernel, NULL, err);
	if (error)
		return error;
	tcptuned_policy_next(kernel, &key, &policy); /* the default one */
	object = json_object();
	set_text(object, "version", TCPTUNED_VERSION);
	set_text(object, "revision", tcptuned_version_revision);
	set_number(object, "pid", (__u64)source->daemon);
	set_number(object, "started_us", source->start_us);
	json_object_set_new(object, "configuration", configuration_object(source->trouble));
	set_text(object, "pinned_in", kernel->pin_dir);
	set_text(object, "mode", tcptuned_word(WORDS_MODE, policy.mode));
	set_text(object, "congestion_control", tcptuned_policy_congestion_control(&policy));
	json_object_set_new(object, "bitcp_registered",
			    json_boolean(tcptuned_is_registered(kernel, TCPTUNED_CC_BITCP)));
	if (kernel->cc[TCPTUNED_CC_BITCP].why_not[0])
		set_text(object, "why_no_bitcp", kernel->cc[TCPTUNED_CC_BITCP].why_not);
	json_object_set_new(object, "connections", connections_object(&flows));
	json_object_set_new(object, "budget", budget_object(kernel));
	json_object_set_new(object, "totals", totals_object(&totals));
	json_object_set_new(object, "sysctls", sysctls_array(kernel));
	json_object_set_new(object, "host_limits", host_limits_array());
	tcptuned_json_print_line(out, object);
	return 0;
}
