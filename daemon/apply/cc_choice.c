// SPDX-License-Identifier: GPL-2.0-only
#include "apply/cc_choice.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/load.h"
#include "host/cc.h"
#include "host/sysctl.h"
#include "kern/pins.h"
#include "tcptuned.skel.h"
#include "util/log.h"

static bool is_auto(const char *name)
{
	return !strcmp(name, TCPTUNED_CC_AUTO);
}

static bool is_ours(const char *name)
{
	return tcptuned_pins_find_cc(name) < TCPTUNED_CCS;
}

/*
 * Each module is requested once, not at every attempt of the timer, because the kernel starts a
 * process for it. If it was loaded, @offered is read again.
 */
static void load_module(struct tcptuned_daemon *d, const char *name,
			char offered[static TCPTUNED_CONGESTION_NAMES])
{
	int error;

	for (size_t i = 0; i < d->modules_asked_len; i++)
		if (!strcmp(d->modules_asked[i], name))
			return;
	snprintf(d->modules_asked[d->modules_asked_len++], sizeof(*d->modules_asked), "%s", name);
	error = tcptuned_cc_load(name);
	if (!error) {
		log_info("%s: the kernel has loaded its module tcp_%s", name, name);
		tcptuned_cc_offered(offered);
	} else if (error != -ENOENT) {
		log_warning("tcp_%s cannot be loaded: %s", name, strerror(-error));
	}
}

/*
 * bitcp is registered, and not loaded as a module. Observing changes nothing: --observe does not
 * register bitcp, and would find it offered without that.
 */
static bool is_offered(struct tcptuned_daemon *d, const char *name, enum tcptuned_mode mode,
		       char offered[static TCPTUNED_CONGESTION_NAMES])
{
	if (tcptuned_cc_is_offered(offered, name))
		return true;
	if (mode != TCPTUNED_TUNE || is_ours(name))
		return mode == TCPTUNED_OBSERVE && is_ours(name);
	load_module(d, name, offered);
	return tcptuned_cc_is_offered(offered, name);
}

static void log_not_offered(struct tcptuned_daemon *d, const struct tcptuned_policy_source *source,
			    const char *name)
{
	if (is_ours(name))
		log_warning_once("%s; connections keep the kernel's congestion control, and "
				 "their buffers are right-sized all the same",
				 d->kernel.cc[tcptuned_pins_find_cc(name)].why_not);
	else
		log_warning_once("policy%s%s.congestion_control: this kernel offers no %s (see "
				 "net.ipv4.tcp_available_congestion_control)%s; connections keep "
				 "the kernel's own",
				 source->named ? " " : "", source->named ? source->named->name : "",
				 name,
				 source->record.mode == TCPTUNED_TUNE
					 ? ", and has no module of that name"
					 : ", unless as a module, which is not loaded to observe");
}

/* Log what auto means on this host, or that @wanted replaces what an administrator has chosen. */
static void log_choice(struct tcptuned_daemon *d, const struct tcptuned_policy *record,
		       const char *wanted)
{
	char before[TCPTUNED_SYSCTL_VALUE]; /* the default without tcptuned */

	if (tcptuned_sysctl_before(bpf_map__fd(d->kernel.bpf->maps.meta),
				   TCPTUNED_SYSCTL_CONGESTION_CONTROL, before))
		return;
	if (record->cc_auto && tcptuned_cc_is_chosen(before))
		log_info_once("net.ipv4.tcp_congestion_control is %s: the administrator's "
			      "choice, kept%s",
			      before, is_ours(before) ? "" : "; bitcp is offered but not chosen");
	else if (record->cc_auto)
		log_info_once("net.ipv4.tcp_congestion_control is %s: kept, but connections with "
			      "%u segments or more get bitcp while there is no queue, and at "
			      "random losses they try %s",
			      before, record->cc_long_path_segments, record->cc_random_loss);
	else if (tcptuned_cc_is_chosen(before) && !is_ours(before) && strcmp(before, wanted))
		log_warning_once("policy %s: connections get %s in place of %s, the "
				 "administrator's choice of net.ipv4.tcp_congestion_control; "
				 "congestion_control = auto keeps that",
				 record->name, wanted, before);
}

/* @wanted: "", or offered by the kernel. @logged: whether a message was logged for any policy. */
static void choose(struct tcptuned_daemon *d, struct tcptuned_policy *record, const char *wanted,
		   bool *logged)
{
	record->cc_auto = is_auto(wanted);
	snprintf(record->congestion_control, sizeof(record->congestion_control), "%s",
		 record->cc_auto ? "" : wanted);
	if (*logged || !wanted[0] || (!record->cc_auto && record->mode != TCPTUNED_TUNE))
		return;
	log_choice(d, record, wanted);
	*logged = true;
}

/* What auto tries where losses are random: BBR, or bitcp without it. */
static void choose_for_random_loss(struct tcptuned_daemon *d, struct tcptuned_policy *record,
				   char offered[static TCPTUNED_CONGESTION_NAMES])
{
	const char *other = "";

	if (is_offered(d, "bbr", record->mode, offered))
		other = "bbr";
	else if (is_offered(d, "bitcp", record->mode, offered))
		other = "bitcp";
	snprintf(record->cc_random_loss, sizeof(record->cc_random_loss), "%s", other);
}

void tcptuned_cc_choose(struct tcptuned_daemon *d)
{
	bool left_alone = tcptuned_sysctl_left_alone(bpf_map__fd(d->kernel.bpf->maps.meta),
						     TCPTUNED_SYSCTL_CONGESTION_CONTROL);
	bool logged[2] = {false}, inherited_logged = false;
	char offered[TCPTUNED_CONGESTION_NAMES];

	tcptuned_cc_offered(offered);
	for (size_t i = 0; i < d->policies_len; i++) {
		const struct tcptuned_named_policy *named = d->policies[i].named;
		struct tcptuned_policy *record = &d->policies[i].record;
		const char *wanted = tcptuned_settings_of(d, &d->policies[i])->congestion_control;
		const char *offer = is_auto(wanted) ? "bitcp" : wanted;
		bool own = named && tcptuned_config_policy_says(named, "congestion_control");

		if (record->mode == TCPTUNED_OFF || (left_alone && !own))
			continue;
		if (is_auto(wanted) && tcptuned_is_registered(&d->kernel, TCPTUNED_CC_RESUME))
			strcpy(record->cc_resume, "cubic_resume");
		if (!wanted[0] || is_offered(d, offer, record->mode, offered)) {
			if (is_auto(wanted))
				choose_for_random_loss(d, record, offered);
			choose(d, record, wanted, &logged[is_auto(wanted)]);
			continue;
		}
		if (own || !inherited_logged)
			log_not_offered(d, &d->policies[i], offer);
		inherited_logged |= !own;
	}
}

/*
 * Not if a connection may have no policy, or one that leaves it the host's default; and not
 * cubic_resume, which would stay the default of namespaces that inherit it.
 */
static bool default_may_be_set(const struct tcptuned_daemon *d)
{
	if (!d->whole_host)
		return false;
	for (size_t i = 0; i < d->policies_len; i++) {
		const struct tcptuned_policy *record = &d->policies[i].record;

		if (i && record->disabled) /* it has no connection */
			continue;
		if (record->mode != TCPTUNED_TUNE || !record->congestion_control[0] ||
		    record->holdback ||
		    tcptuned_pins_find_cc(record->congestion_control) == TCPTUNED_CC_RESUME)
			return false;
	}
	return true;
}

void tcptuned_cc_choose_default(struct tcptuned_daemon *d)
{
	const char *name = d->policies[0].record.congestion_control;
	int error, meta_fd = bpf_map__fd(d->kernel.bpf->maps.meta);

	if (!default_may_be_set(d)) {
		tcptuned_sysctl_restore(meta_fd, TCPTUNED_SYSCTL_CONGESTION_CONTROL);
		return;
	}
	error = tcptuned_sysctl_set(meta_fd, TCPTUNED_SYSCTL_CONGESTION_CONTROL, name);
	if (error)
		log_warning_once("net.ipv4.tcp_congestion_control cannot be set (%s); each "
				 "connection gets %s by itself",
				 strerror(-error), name);
}
