// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/change.h"

#include <errno.h>
#include <string.h>

#include "apply/apply.h"
#include "kern/iterators.h"
#include "tcptuned.skel.h"
#include "util/log.h"
#include "util/text.h"

static int fail_policy(const struct tcptuned_daemon *d, const char *name,
		       struct tcptuned_error *err)
{
	const char *names[TCPTUNED_POLICIES_MAX + 1] = {NULL};
	char suggestion[TCPTUNED_SUGGESTION];

	for (size_t i = 0; i < d->policies_len; i++)
		names[i] = d->policies[i].record.name;
	return FAIL(err, ENOENT, USAGE, "policy: there is no %.31s; %s", name,
		    tcptuned_text_suggest(name, names, "see tcptunectl policy list", suggestion));
}

int tcptuned_change_policy(struct tcptuned_daemon *d, const char *name, bool enabled,
			   bool *ret_changed, struct tcptuned_error *err)
{
	struct tcptuned_error reason = {0};
	const struct tcptuned_policy *now = NULL;
	bool changed;
	int error;

	for (size_t i = 0; i < d->policies_len; i++)
		if (!strcmp(d->policies[i].record.name, name))
			now = &d->policies[i].record;
	if (!now)
		return fail_policy(d, name, err);
	changed = enabled ? now->disabled || now->harmful : !now->disabled;
	error = changed ? tcptuned_apply_overruled(d, name, !enabled, false, &reason) : 0;
	if (error)
		return tcptuned_error_fill(err, EIO, reason.status, "nothing is changed: %s",
					   reason.text);
	if (changed)
		log_info("policy %s: %s through the control socket", name,
			 enabled ? "enabled" : "disabled");
	*ret_changed = changed;
	return 0;
}

int tcptuned_change_open(struct tcptuned_daemon *d, struct tcptuned_adoption *ret,
			 struct tcptuned_error *err)
{
	int error = tcptuned_iterator_run(d->kernel.bpf->links.apply_policies, ret);

	if (error)
		return FAIL(err, -error, INTERNAL,
			    "the policies cannot be applied to open connections: %s",
			    strerror(-error));
	log_info("policies applied to open connections: %llu moved to another policy, "
		 "%llu attached, %llu released, %llu failed, %llu ms",
		 ret->moved, ret->connections, ret->detached, ret->failed + ret->too_old,
		 ret->ns / 1000000);
	return 0;
}

int tcptuned_change_stop(struct tcptuned_daemon *d, struct tcptuned_error *err)
{
	if (d->activated)
		return FAIL(
			err, EBUSY, DAEMON,
			"the daemon does not stop: systemd listens for metrics in its place, and "
			"the next scrape would start it again; stop both: systemctl stop "
			"tcptuned.socket tcptuned");
	d->stopping = true;
	return 0;
}
