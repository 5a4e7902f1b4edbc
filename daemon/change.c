// SPDX-License-Identifier: GPL-2.0-only
#include "change.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>

#include "apply.h"
#include "json.h"
#include "log.h"

/* Its place in the list; as much as the list's length: it is not in it. */
static size_t find_disabled(const struct tcptuned_daemon *d, const char *name)
{
	size_t i = 0;

	while (i < d->disabled_len && strcmp(d->disabled[i], name))
		i++;
	return i;
}

bool tcptuned_policy_is_disabled(const struct tcptuned_daemon *d, const char *name)
{
	return find_disabled(d, name) < d->disabled_len;
}

/* Returns 0 or -ENOMEM. */
static int set_disabled(struct tcptuned_daemon *d, const char *name, bool disabled)
{
	size_t i = find_disabled(d, name);
	void *list;

	if (disabled == (i < d->disabled_len))
		return 0;
	if (!disabled) {
		memmove(d->disabled[i], d->disabled[--d->disabled_len], sizeof(*d->disabled));
		return 0;
	}
	list = realloc(d->disabled, (d->disabled_len + 1) * sizeof(*d->disabled));
	if (!list)
		return -ENOMEM;
	d->disabled = list;
	snprintf(d->disabled[d->disabled_len++], sizeof(*d->disabled), "%s", name);
	return 0;
}

void tcptuned_disabled_remember(struct tcptuned_daemon *d)
{
	__u32 generation = tcptuned_policies_generation(&d->kernel), place, key;
	struct tcptuned_policy policy;

	for (place = 0; generation && place < TCPTUNED_POLICIES_MAX; place++) {
		key = TCPTUNED_POLICY_ID(generation, place);
		if (bpf_map_lookup_elem(d->kernel.map_fd[TCPTUNED_MAP_POLICIES], &key, &policy))
			return;
		policy.name[TCPTUNED_POLICY_NAME_MAX - 1] = '\0';
		if (policy.disabled && !set_disabled(d, policy.name, true))
			tcptuned_log(TCPTUNED_LOG_INFO, "policy %s stays disabled", policy.name);
	}
}

void tcptuned_disabled_forget(struct tcptuned_daemon *d)
{
	for (size_t i = d->disabled_len; i-- > 0;) {
		size_t p = 0;

		while (p < d->policies_len && strcmp(d->policies[p].record.name, d->disabled[i]))
			p++;
		if (p == d->policies_len)
			set_disabled(d, d->disabled[i], false);
	}
}

static int fail_policy(const struct tcptuned_daemon *d, const char *name,
		       struct tcptuned_error *err)
{
	const char **names = calloc(d->policies_len + 1, sizeof(*names)), *nearest = NULL;

	for (size_t i = 0; names && i < d->policies_len; i++)
		names[i] = d->policies[i].record.name;
	if (names)
		nearest = tcptuned_nearest(name, names);
	tcptuned_fail(err, ENOENT, TCPTUNED_EXIT_USAGE, "policy: there is no %.31s%s%s%s", name,
		      nearest ? "; did you mean " : "; see tcptunectl policy list",
		      nearest ? nearest : "", nearest ? "?" : "");
	free(names);
	return -ENOENT;
}

static int enable(struct tcptuned_daemon *d, const char *name, bool enabled,
		  struct tcptuned_buf *out, struct tcptuned_error *err)
{
	struct tcptuned_error told = { 0 };
	size_t p = 0;
	bool change;

	while (p < d->policies_len && strcmp(d->policies[p].record.name, name))
		p++;
	if (p == d->policies_len)
		return fail_policy(d, name, err);
	change = tcptuned_policy_is_disabled(d, name) == enabled;
	if (set_disabled(d, name, !enabled))
		return tcptuned_fail(err, ENOMEM, TCPTUNED_EXIT_INTERNAL,
				     "there is no memory to take note of it");
	if (change && tcptuned_apply(d, &told)) {
		set_disabled(d, name, enabled);
		tcptuned_apply_again(d);
		return tcptuned_fail(err, EIO, told.status, "nothing is changed: %s", told.text);
	}
	if (change)
		tcptuned_log(TCPTUNED_LOG_INFO, "policy %s: %s through the control socket", name,
			     enabled ? "enabled" : "disabled");
	tcptuned_json_print_line(out, json_pack("{s:s,s:b,s:b}", "policy", name, "disabled", !enabled,
						"changed", change));
	return 0;
}

static int apply_to_open(struct tcptuned_daemon *d, struct tcptuned_buf *out,
			 struct tcptuned_error *err)
{
	struct tcptuned_adoption a;
	int error = tcptuned_kernel_apply_policies(&d->kernel, &a);
	json_t *object;

	if (error)
		return tcptuned_fail(err, -error, TCPTUNED_EXIT_INTERNAL,
				     "open connections cannot be gone through: %s",
				     strerror(-error));
	tcptuned_log(TCPTUNED_LOG_INFO,
		     "policies applied to open connections: %llu moved, %llu taken, %llu let go, "
		     "%llu could not be taken, %llu ms",
		     (unsigned long long)a.moved, (unsigned long long)a.connections,
		     (unsigned long long)a.let_go, (unsigned long long)(a.failed + a.too_old),
		     (unsigned long long)a.ns / 1000000);
	object = json_object();
	set_number(object, "moved", a.moved);
	set_number(object, "taken", a.connections);
	set_number(object, "let_go", a.let_go);
	set_number(object, "failed", a.failed);
	set_number(object, "kernel_too_old", a.too_old);
	set_number(object, "namespaces_failed", a.namespaces_failed);
	tcptuned_json_print_line(out, object);
	return 0;
}

static int forget_paths(struct tcptuned_daemon *d, const char *prefix, struct tcptuned_buf *out,
			struct tcptuned_error *err)
{
	unsigned int count;
	int error = tcptuned_paths_forget(&d->kernel, d->config->state_directory, prefix, &count,
					  err);

	if (error)
		return error;
	tcptuned_log(TCPTUNED_LOG_INFO, "paths to %.60s forgotten through the control socket: %u "
					"prefixes",
		     prefix, count);
	tcptuned_json_print_line(out, json_pack("{s:i}", "forgotten", (int)count));
	return 0;
}

int tcptuned_change(void *ctx, const struct tcptuned_request *request, struct tcptuned_buf *out,
		  struct tcptuned_error *err)
{
	if (request->command == TCPTUNED_CMD_POLICY_APPLY)
		return apply_to_open(ctx, out, err);
	if (request->command == TCPTUNED_CMD_PATHS_FORGET)
		return forget_paths(ctx, request->prefix, out, err);
	return enable(ctx, request->filter.policy, request->command == TCPTUNED_CMD_POLICY_ENABLE,
		      out, err);
}
