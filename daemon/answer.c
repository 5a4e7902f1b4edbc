// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>
#include <tcptuned/meta.h>
#include <tcptuned/policy.h>

#include "answer.h"
#include "answer_paths.h"
#include "json.h"
#include "readout.h"
#include "sysctls.h"
#include "totals.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

const char *tcptuned_source_policy(const struct tcptuned_source *source, __u32 key,
				   char number[16])
{
	const char *name = source->policy_name ? source->policy_name(source->policy_name_ctx, key)
					       : NULL;

	if (name)
		return name;
	if (key == TCPTUNED_POLICY_DEFAULT)
		return "default";
	snprintf(number, 16, "%u", key);
	return number;
}

static void set_number(json_t *object, const char *name, __u64 value)
{
	json_object_set_new(object, name, json_integer((json_int_t)value));
}

/* Text that is not UTF-8 becomes null. */
static void set_text(json_t *object, const char *name, const char *text)
{
	json_t *string = json_string(text);

	json_object_set_new(object, name, string ? string : json_null());
}

static void set_bool(json_t *object, const char *name, bool value)
{
	json_object_set_new(object, name, json_boolean(value));
}

static int print_line(struct tcptuned_buf *out, json_t *object)
{
	tcptuned_json_print(out, object);
	tcptuned_buf_puts(out, "\n");
	return 0;
}

static int kernel_failed(struct tcptuned_error *err, int error, const char *what)
{
	if (error == -EPROTO)
		return tcptuned_fail(err, EPROTO, TCPTUNED_EXIT_KERNEL,
				     "%s are another build's: use the tcptunectl that came with "
				     "the tcptuned which loaded them",
				     what);
	return tcptuned_fail(err, -error, TCPTUNED_EXIT_KERNEL, "%s cannot be read: %s", what,
			     strerror(-error));
}

/* ---- flows -------------------------------------------------------------------------------- */

struct choice {
	const struct tcptuned_source *source;
	const struct tcptuned_request *request;
};

static bool is_wanted(const void *ctx, const struct tcptuned_flow_record *record)
{
	const struct choice *choice = ctx;
	char number[16];

	return tcptuned_filter_matches(&choice->request->filter, record,
				       tcptuned_source_policy(choice->source, record->flow.policy,
							      number));
}

static int order(const void *ctx, const struct tcptuned_flow_record *a,
		 const struct tcptuned_flow_record *b)
{
	const struct tcptuned_request *request = ((const struct choice *)ctx)->request;
	__u64 of_a = tcptuned_flow_size(a), of_b = tcptuned_flow_size(b);
	int order;

	if (request->sort)
		order = tcptuned_column_order(request->sort, a, b);
	else
		order = (of_a < of_b) - (of_a > of_b);
	return request->reverse ? -order : order;
}

/* Nothing of what the kernel does by itself: it is much faster at it. */
static struct tcptuned_flow_choice choice_of(const struct choice *choice)
{
	static const struct tcptuned_filter none;
	const struct tcptuned_request *request = choice->request;

	return (struct tcptuned_flow_choice){
		.wanted = memcmp(&request->filter, &none, sizeof(none)) ? is_wanted : NULL,
		.order = request->sort || request->reverse ? order : NULL,
		.ctx = choice,
	};
}

static int read_flows(const struct tcptuned_source *source, const struct choice *choice,
		      struct tcptuned_flows *flows, __u32 limit, struct tcptuned_error *err)
{
	int error;

	if (tcptuned_flows_init(flows, limit))
		return tcptuned_fail(err, ENOMEM, TCPTUNED_EXIT_INTERNAL, "no memory for %u flows",
				     limit);
	if (choice)
		flows->choice = choice_of(choice);
	error = tcptuned_readout(flows, source->kernel, choice ? &choice->request->filter : NULL);
	if (!error)
		return 0;
	tcptuned_flows_free(flows);
	return kernel_failed(err, error, "the records of connections");
}

static int answer_flows(const struct tcptuned_source *source,
			const struct tcptuned_request *request, struct tcptuned_buf *out,
			struct tcptuned_error *err)
{
	struct choice choice = { source, request };
	struct tcptuned_flows flows;
	char number[16];
	int error;

	error = read_flows(source, &choice, &flows, request->limit, err);
	if (error)
		return error;
	tcptuned_buf_printf(out, "{\"connections\":%llu,\"matched\":%llu,\"flows\":[",
			    (unsigned long long)flows.live, (unsigned long long)flows.wanted);
	for (__u32 i = 0; i < flows.top_len && !out->error; i++) {
		const struct tcptuned_flow_record *record = &flows.top[i];

		tcptuned_buf_puts(out, i ? "," : "");
		tcptuned_json_flow(out, record,
				   tcptuned_source_policy(source, record->flow.policy, number));
	}
	tcptuned_buf_puts(out, "]}\n");
	tcptuned_flows_free(&flows);
	return 0;
}

/* ---- policies ----------------------------------------------------------------------------- */

static int read_policy(const struct tcptuned_source *source, __u32 key,
		       struct tcptuned_policy *ret)
{
	int fd = source->kernel->map_fd[TCPTUNED_MAP_POLICIES];

	if (fd < 0 || bpf_map_lookup_elem(fd, &key, ret))
		return -ENOENT;
	ret->congestion_control[TCPTUNED_CC_NAME_MAX - 1] = '\0';
	return 0;
}

/* By what rule a policy takes connections. */
static const char *rule_of(__u32 key)
{
	return key == TCPTUNED_POLICY_DEFAULT ? "every connection" : "no rule";
}

static json_t *policy_object(const struct tcptuned_source *source, __u32 key,
			     const struct tcptuned_policy *policy)
{
	json_t *object = json_object();
	char number[16];

	set_text(object, "policy", tcptuned_source_policy(source, key, number));
	set_number(object, "key", key);
	set_text(object, "rule", rule_of(key));
	set_text(object, "mode", tcptuned_mode_name(policy->mode));
	if (policy->congestion_control[0])
		set_text(object, "congestion_control", policy->congestion_control);
	set_bool(object, "override_rcvbuf", policy->override_rcvbuf);
	set_bool(object, "override_sndbuf", policy->override_sndbuf);
	set_number(object, "receive_window_max_bytes", policy->rcv_window_max);
	set_number(object, "receive_buffer_max_bytes", policy->rcv_buffer_max);
	set_number(object, "send_window_max_bytes", policy->snd_window_max);
	set_number(object, "send_buffer_max_bytes", policy->snd_buffer_max);
	return object;
}

static int answer_policies(const struct tcptuned_source *source, struct tcptuned_buf *out)
{
	int fd = source->kernel->map_fd[TCPTUNED_MAP_POLICIES];
	json_t *object = json_object(), *list = json_array();
	struct tcptuned_policy policy;
	__u32 key, *previous = NULL, last;

	while (fd >= 0 && !bpf_map_get_next_key(fd, previous, &key)) {
		if (!read_policy(source, key, &policy))
			json_array_append_new(list, policy_object(source, key, &policy));
		last = key;
		previous = &last;
	}
	json_object_set_new(object, "policies", list);
	return print_line(out, object);
}

/*
 * The policy that a connection between these addresses and ports gets if it is made now; what
 * bpf/policy.h decides. Returns 0 with its key, or -ENOENT: none claims it.
 */
static int match_policy(const struct tcptuned_source *source, const struct tcptuned_filter *tuple,
			__u32 *ret_key, struct tcptuned_policy *ret)
{
	*ret_key = TCPTUNED_POLICY_DEFAULT;
	if (read_policy(source, *ret_key, ret) || ret->mode == TCPTUNED_OFF)
		return -ENOENT;
	return 0;
}

static int answer_policy_test(const struct tcptuned_source *source,
			      const struct tcptuned_request *request, struct tcptuned_buf *out)
{
	struct tcptuned_policy policy;
	json_t *object;
	__u32 key;

	if (!match_policy(source, &request->filter, &key, &policy))
		return print_line(out, policy_object(source, key, &policy));
	object = json_object();
	json_object_set_new(object, "policy", json_null());
	set_text(object, "rule", "no policy that is switched on takes it: left to the kernel");
	return print_line(out, object);
}

/* ---- status ------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	enum tcptuned_counter counter;
} counters[] = {
	{ "claimed_opened_here", TCPTUNED_C_CLAIMED_ACTIVE },
	{ "claimed_accepted_here", TCPTUNED_C_CLAIMED_PASSIVE },
	{ "closed", TCPTUNED_C_CLOSED },
	{ "unrecorded", TCPTUNED_C_STORAGE_FAILED },
	{ "congestion_control_set", TCPTUNED_C_CC_SET },
	{ "congestion_control_kept", TCPTUNED_C_CC_KEPT },
	{ "congestion_control_failed", TCPTUNED_C_CC_FAILED },
	{ "rcvbuf_overridden", TCPTUNED_C_RCVBUF_OVERRIDDEN },
	{ "sndbuf_overridden", TCPTUNED_C_SNDBUF_OVERRIDDEN },
	{ "receive_windows_grown", TCPTUNED_C_RCV_GROWS },
	{ "receive_windows_shrunk", TCPTUNED_C_RCV_SHRINKS },
	{ "receive_windows_refused", TCPTUNED_C_RCV_FAILED },
	{ "send_windows_grown", TCPTUNED_C_SND_GROWS },
	{ "send_windows_shrunk", TCPTUNED_C_SND_SHRINKS },
	{ "send_windows_refused", TCPTUNED_C_SND_FAILED },
	{ "events_lost", TCPTUNED_C_EVENTS_LOST },
};

static json_t *totals_object(const struct tcptuned_totals *totals)
{
	json_t *object = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		set_number(object, counters[i].name, totals->counter[counters[i].counter]);
	return object;
}

static json_t *flows_object(const struct tcptuned_flows *flows)
{
	json_t *object = json_object(), *limits = json_object();

	set_number(object, "open", flows->live);
	set_number(object, "dry_run", flows->observed);
	set_number(object, "receive_rightsized", flows->rcv_taken);
	set_number(object, "send_rightsized", flows->snd_taken);
	set_number(object, "rcvbuf_overridden", flows->rcvbuf_requests);
	set_number(object, "sndbuf_overridden", flows->sndbuf_requests);
	set_number(object, "receive_buffer_bytes", flows->rcvbuf_bytes);
	set_number(object, "receive_buffer_used_bytes", flows->rmem_bytes);
	set_number(object, "send_buffer_bytes", flows->sndbuf_bytes);
	set_number(object, "send_buffer_used_bytes", flows->wmem_bytes);
	for (unsigned int i = 0; i < TCPTUNED_LIMITS; i++)
		set_number(limits, tcptuned_limit_name(i), flows->limited[i]);
	json_object_set_new(object, "limited_by", limits);
	return object;
}

/* The sysctls that were changed, and what they were before. */
static json_t *sysctls_array(const struct tcptuned_kernel *kernel)
{
	int fd = kernel->map_fd[TCPTUNED_MAP_META];
	struct tcptuned_meta meta;
	json_t *array = json_array(), *object;
	__u32 zero = 0;

	if (fd < 0 || bpf_map_lookup_elem(fd, &zero, &meta))
		return array;
	for (int i = 0; i < TCPTUNED_SYSCTLS; i++) {
		struct tcptuned_saved_sysctl *saved = &meta.sysctl[i];

		if (!saved->ours[0])
			continue;
		saved->before[TCPTUNED_SYSCTL_VALUE - 1] = '\0';
		saved->ours[TCPTUNED_SYSCTL_VALUE - 1] = '\0';
		object = json_object();
		set_text(object, "name", tcptuned_sysctl_name(i));
		set_text(object, "before", saved->before);
		set_text(object, "now", saved->ours);
		json_array_append_new(array, object);
	}
	return array;
}

static int answer_status(const struct tcptuned_source *source, struct tcptuned_buf *out,
			 struct tcptuned_error *err)
{
	const struct tcptuned_kernel *kernel = source->kernel;
	struct tcptuned_policy policy = { .mode = TCPTUNED_OFF };
	struct tcptuned_totals totals;
	struct tcptuned_flows flows;
	json_t *object;
	int error;

	error = tcptuned_totals_read(kernel->map_fd[TCPTUNED_MAP_TOTALS], &totals);
	if (error)
		return kernel_failed(err, error, "the totals");
	error = read_flows(source, NULL, &flows, 0, err);
	if (error)
		return error;
	read_policy(source, TCPTUNED_POLICY_DEFAULT, &policy);
	object = json_object();
	set_text(object, "version", TCPTUNED_VERSION);
	if (source->daemon) {
		set_number(object, "pid", (__u64)source->daemon);
		set_number(object, "started_us", source->start_us);
	}
	set_text(object, "pinned_in", kernel->pin_dir);
	set_text(object, "mode", tcptuned_mode_name(policy.mode));
	set_text(object, "congestion_control", policy.congestion_control);
	set_bool(object, "bitcp_registered", kernel->bitcp);
	if (!kernel->bitcp && kernel->why_no_bitcp[0])
		set_text(object, "why_no_bitcp", kernel->why_no_bitcp);
	json_object_set_new(object, "connections", flows_object(&flows));
	json_object_set_new(object, "totals", totals_object(&totals));
	json_object_set_new(object, "sysctls", sysctls_array(kernel));
	tcptuned_flows_free(&flows);
	return print_line(out, object);
}

/* ---- any ---------------------------------------------------------------------------------- */

static int answer_to(const struct tcptuned_source *source, const struct tcptuned_request *request,
		     struct tcptuned_buf *out, struct tcptuned_error *err)
{
	switch (request->command) {
	case TCPTUNED_CMD_STATUS:
		return answer_status(source, out, err);
	case TCPTUNED_CMD_FLOWS:
		return answer_flows(source, request, out, err);
	case TCPTUNED_CMD_POLICIES:
		return answer_policies(source, out);
	case TCPTUNED_CMD_POLICY_TEST:
		return answer_policy_test(source, request, out);
	case TCPTUNED_CMD_PATHS:
		return tcptuned_answer_paths(source->kernel, request, out, err);
	default:
		return tcptuned_fail(err, EINVAL, TCPTUNED_EXIT_INTERNAL,
				     "this needs a daemon that runs");
	}
}

int tcptuned_answer(const struct tcptuned_source *source, const struct tcptuned_request *request,
		    struct tcptuned_buf *out, struct tcptuned_error *err)
{
	int error = answer_to(source, request, out, err);

	if (error)
		return error;
	if (out->error)
		return tcptuned_fail(err, -out->error, TCPTUNED_EXIT_INTERNAL,
				     "the answer is too long: %s; ask for fewer connections",
				     strerror(-out->error));
	return 0;
}

void tcptuned_answer_error(struct tcptuned_buf *out, const struct tcptuned_error *err)
{
	json_t *object = json_object();

	set_text(object, "error", err->text);
	set_number(object, "status", err->status);
	print_line(out, object);
}
