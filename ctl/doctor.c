// SPDX-License-Identifier: GPL-2.0-only
/* tcptunectl doctor: what is wrong with tcptuned on this host, and what to do. */
#include "doctor.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>

#include "client.h"
#include "commands.h"
#include "format.h"
#include "host/cgroup.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/version.h"

enum level { OK, WARN, FAILED };

static const char *const levels[] = {[OK] = "ok", [WARN] = "warn", [FAILED] = "fail"};

/* Of the findings of one check, the first holds whose condition does (struct ctl_template). */
struct finding {
	const char *check;
	enum level level;
	const char *condition, *text;
};

/* Of the host. */
static const struct finding host_findings[] = {
	{"kernel", FAILED, "!new_enough", "Linux {release}: tcptuned needs 6.1 or later"},
	{"kernel", FAILED, "!btf",
	 "Linux {release} has no BTF; boot one with CONFIG_DEBUG_INFO_BTF"},
	{"kernel", OK, "", "Linux {release}, with BTF"},
	{"control groups", FAILED, "!cgroup2",
	 "no cgroup2 is mounted; mkdir -p /sys/fs/cgroup/unified && "
	 "mount -t cgroup2 cgroup2 /sys/fs/cgroup/unified"},
	{"control groups", WARN, "!cgroup_root",
	 "{cgroup2} is not the root of the host's tree: a daemon that runs here tunes this container "
	 "alone; give it the host's cgroup namespace"},
	{"control groups", OK, "", "the root of the tree is at {cgroup2}"},
	{"BPF file system", FAILED, "!bpffs",
	 "/sys/fs/bpf is not a BPF file system; mount -t bpf -o mode=0700 bpf /sys/fs/bpf"},
	{"BPF file system", OK, "", "at /sys/fs/bpf"},
	{"sysctls", WARN, "read_only",
	 "/proc/sys is read-only here, as in a container: a daemon that runs here cannot raise the "
	 "maxima of buffers; give it one that is not masked"},
	{"sysctls", OK, "", "a daemon that runs here can set them"},
};

/* Of the daemon's answer to "status". */
static const struct finding daemon_findings[] = {
	{"configuration", FAILED, "configuration.rejected",
	 "the last reload was rejected: {configuration.rejected}"},
	{"configuration", FAILED, "configuration.unapplied",
	 "not all of it is in force, which is tried again: {configuration.unapplied}"},
	{"configuration", WARN, "mode=off",
	 "mode = off: connections without a policy of their own are left to the kernel; "
	 "mode = tune tunes them"},
	{"configuration", WARN, "mode=observe",
	 "mode = observe: connections without a policy of their own are only observed; "
	 "mode = tune tunes them"},
	{"configuration", OK, "", "in force; mode = {mode}"},
	{"bitcp", WARN, "why_no_bitcp", "{why_no_bitcp}"},
	{"bitcp", OK, "", "registered"},
	{"connections open before", WARN, "totals.adopt_failed",
	 "{totals.adopt_failed} were left to the kernel, as all are before Linux 6.12; restart the "
	 "services that keep them open"},
	{"connections open before", OK, "", "none was left out"},
	{"records", WARN, "totals.unrecorded",
	 "{totals.unrecorded} connections got none and were left to the kernel: records take at most "
	 "1/64 of the memory; give services with very many connections a policy with mode = off"},
	{"records", OK, "", "of every connection"},
	{"TCP's memory", WARN, "totals.memory_short_refusals",
	 "{totals.memory_short_refusals} windows were limited because it was short; raise "
	 "net.ipv4.tcp_mem, or the limit of the control groups concerned"},
	{"TCP's memory", OK, "", "not short so far"},
	{"refused changes", WARN, "totals.receive_windows_refused",
	 "the kernel refused {totals.receive_windows_refused} changes of receive windows; report "
	 "it, with tcptunectl report"},
	{"refused changes", WARN, "totals.send_windows_refused",
	 "the kernel refused {totals.send_windows_refused} changes of send buffers; report it, with "
	 "tcptunectl report"},
	{"refused changes", OK, "", "none"},
};

static const struct finding sysctl_findings[] = {
	{"sysctl", WARN, "left_alone",
	 "{name}: another program has changed tcptuned's {set_to} to {now}, which is kept; to "
	 "have it set again, stop tcptuned and start it"},
};

static const struct finding limit_findings[] = {
	{"sysctl", WARN, "", "{name} = 0: {effect}"},
};

static const struct finding policy_findings[] = {
	{"policy", WARN, "cgroup_missing",
	 "{policy}: its control group does not exist now; start its service, or correct the key cgroup"},
	{"congestion control", WARN, "congestion_control_missing",
	 "{policy}: this kernel does not offer {congestion_control_missing} now; load its module, or "
	 "correct the key congestion_control"},
};

static void add_finding(json_t *report, const char *check, enum level level, const char *text)
{
	json_array_append_new(report, json_pack("{s:s,s:s,s:s}", "level", levels[level], "check",
						check, "text", text));
}

/* Add for each check of @findings what holds about @object. */
static void judge(json_t *report, const json_t *object, const struct finding *findings, size_t len)
{
	const char *done = "";

	for (size_t i = 0; i < len; i++) {
		const struct finding *f = &findings[i];
		const struct ctl_template text[] = {{"", f->text}, {0}};
		_cleanup_free_ char *printed = NULL;
		size_t size;
		FILE *out;

		if (!strcmp(f->check, done) || !ctl_holds(object, f->condition))
			continue;
		done = f->check;
		out = open_memstream(&printed, &size);
		if (!out)
			continue;
		ctl_print(out, object, text);
		fclose(out);
		add_finding(report, f->check, f->level, printed);
	}
}

static void judge_each(json_t *report, const json_t *array, const struct finding *findings,
		       size_t len)
{
	json_t *object;
	size_t i;

	json_array_foreach (array, i, object)
		judge(report, object, findings, len);
}

/* What of the host a daemon needs. */
static json_t *look_at_host(void)
{
	json_t *host = json_object();
	_cleanup_close_ int cgroup = -1;
	char path[PATH_MAX];
	struct utsname name;
	struct statvfs sysctls;
	struct statfs bpffs;
	bool root;

	uname(&name);
	json_object_set_new(host, "release", json_string(name.release));
	json_object_set_new(host, "new_enough", json_boolean(tcptuned_version_is_linux(6, 1)));
	json_object_set_new(host, "btf", json_boolean(!access("/sys/kernel/btf/vmlinux", F_OK)));
	cgroup = tcptuned_cgroup_open("", &root, path, sizeof(path), NULL);
	if (cgroup >= 0) {
		json_object_set_new(host, "cgroup2", json_string(path));
		json_object_set_new(host, "cgroup_root", json_boolean(root));
	}
	json_object_set_new(host, "bpffs",
			    json_boolean(!statfs("/sys/fs/bpf", &bpffs) &&
					 (unsigned long)bpffs.f_type == BPF_FS_MAGIC));
	json_object_set_new(host, "read_only",
			    json_boolean(!statvfs("/proc/sys/net", &sysctls) &&
					 sysctls.f_flag & ST_RDONLY));
	return host;
}

static void judge_daemon(json_t *report, const char *socket)
{
	json_auto_t *request = json_pack("{s:s}", "command", "status");
	json_auto_t *list = json_pack("{s:s}", "command", "policies");
	json_auto_t *status = NULL, *policies = NULL;
	struct tcptuned_error err;

	if (ctl_query(socket, request, &status, &err) || ctl_query(socket, list, &policies, &err)) {
		add_finding(report, "daemon", FAILED, err.text);
		return;
	}
	add_finding(report, "daemon", OK, "it runs and answers");
	judge(report, status, daemon_findings, ARRAY_SIZE(daemon_findings));
	judge_each(report, json_object_get(status, "sysctls"), sysctl_findings,
		   ARRAY_SIZE(sysctl_findings));
	judge_each(report, json_object_get(status, "host_limits"), limit_findings,
		   ARRAY_SIZE(limit_findings));
	judge_each(report, json_object_get(policies, "policies"), policy_findings,
		   ARRAY_SIZE(policy_findings));
}

json_t *ctl_doctor_examine(const char *socket)
{
	json_auto_t *host = look_at_host();
	json_t *report = json_array();

	judge(report, host, host_findings, ARRAY_SIZE(host_findings));
	judge_daemon(report, socket);
	return report;
}

static int run(const struct ctl *ctl, json_t *request, struct tcptuned_error *err)
{
	json_auto_t *report = ctl_doctor_examine(ctl->socket), *answer;
	json_t *finding;
	int failed = 0;
	size_t i;

	json_array_foreach (report, i, finding) {
		failed += !strcmp(ctl_text(finding, "level"), levels[FAILED]);
		if (!ctl->json)
			printf("%-5s %s: %s\n", ctl_text(finding, "level"),
			       ctl_text(finding, "check"), ctl_text(finding, "text"));
	}
	answer = json_pack("{s:O}", "findings", report);
	if (ctl->json)
		ctl_print_json(answer);
	if (failed)
		return FAIL(err, EINVAL, DAEMON, "%d of %zu checks failed; see above", failed,
			    json_array_size(report));
	return 0;
}

const struct ctl_command ctl_doctor = {
	.name = "doctor",
	.arguments = "",
	.help = "Check what the daemon needs of this host, that it runs, and what it reports of its "
		"configuration, memory, sysctls and policies: one line for each, which says ok, warn "
		"or fail, and what to do. The exit status is 0 unless one has failed.",
	.options = ctl_json_option,
	.run = run,
};
