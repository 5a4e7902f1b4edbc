// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/reload.h"

#include <stdio.h>
#include <systemd/sd-daemon.h>

#include "config/diff.h"
#include "config/load.h"
#include "apply/apply.h"
#include "daemon/worker.h"
#include "util/clock.h"
#include "util/log.h"

static void log_difference(void *ctx, const char *key, const char *was, const char *now, bool live)
{
	tcptuned_log(live ? TCPTUNED_LOG_INFO : TCPTUNED_LOG_WARNING, "%s: %s -> %s%s", key,
		     was[0] ? was : "none", now[0] ? now : "none",
		     live ? "" : " (takes effect at the next start)");
}

static void reject(struct tcptuned_daemon *d, const struct tcptuned_error *why)
{
	log_error("%s", why->text);
	log_error("the configuration before it stays in force");
	snprintf(d->shared->trouble.rejected, sizeof(d->shared->trouble.rejected), "%s", why->text);
	d->shared->reloads[false]++;
}

/* Put @new into force, or change nothing. Differences are logged once they are in force. */
static void replace_configuration(struct tcptuned_daemon *d, struct tcptuned_config *new)
{
	struct tcptuned_config before = *d->config;
	struct tcptuned_config written = *new; /* with the keys that only a start can change */
	struct tcptuned_error err = {0};

	tcptuned_config_keep_fixed(new, &before);
	*d->config = *new;
	if (!tcptuned_apply(d, &err)) {
		d->shared->trouble.rejected[0] = '\0';
		d->shared->reloads[true]++;
		if (!tcptuned_config_diff(&before, &written, log_difference, NULL))
			log_info("reloaded: nothing differs");
		tcptuned_config_free(&before);
		tcptuned_log_set_level(new->log_level);
		return;
	}
	reject(d, &err);
	tcptuned_config_free(new);
	*d->config = before;
	tcptuned_apply_again(d);
}

void tcptuned_reload(struct tcptuned_daemon *d)
{
	struct tcptuned_error err = {0};
	struct tcptuned_config new = {0};

	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu",
		   (unsigned long long)tcptuned_monotonic_ns() / 1000);
	tcptuned_worker_pause(d);
	/* All checks come before any change. */
	if (tcptuned_config_load(d->options->config_path, d->options->set, &new, &err)
		    ?: tcptuned_policies_check(&new, &err)) {
		reject(d, &err);
		tcptuned_config_free(&new);
	} else {
		replace_configuration(d, &new);
	}
	tcptuned_worker_resume(d);
	sd_notify(0, "READY=1");
}
