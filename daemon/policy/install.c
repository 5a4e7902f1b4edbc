// SPDX-License-Identifier: GPL-2.0-only
#include "policy/install.h"

#include <errno.h>
#include <string.h>
#include <bpf/bpf.h>

#include "policy/lookup.h"
#include "tcptuned.skel.h"
#include "util/cleanup.h"

static int fail_write(struct tcptuned_error *err, const char *what)
{
	int error = errno;

	return FAIL(err, error, INTERNAL, "cannot write %s: %s; the earlier policies stay in force",
		    what, strerror(error));
}

/* Create the trie and fill it. Returns its descriptor, or -1 with errno. */
static int create_trie(const struct tcptuned_ruleset *rules)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);
	_cleanup_close_ int fd = bpf_map_create(BPF_MAP_TYPE_LPM_TRIE, "match_trie",
						sizeof(struct tcptuned_match_key),
						sizeof(struct tcptuned_match), rules->entries_len,
						&opts);

	for (__u32 i = 0; fd >= 0 && i < rules->entries_len; i++)
		if (bpf_map_update_elem(fd, &rules->entries[i].key, &rules->entries[i].match,
					BPF_ANY))
			return -1;
	return tcptuned_take_fd(&fd);
}

/* The same for the array of rules. */
static int create_rules(const struct tcptuned_ruleset *rules)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_INNER_MAP);
	_cleanup_close_ int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "rule_array", sizeof(__u32),
						sizeof(struct tcptuned_rule), rules->rules_len,
						&opts);

	for (__u32 i = 0; fd >= 0 && i < rules->rules_len; i++)
		if (bpf_map_update_elem(fd, &i, &rules->rules[i], BPF_ANY))
			return -1;
	return tcptuned_take_fd(&fd);
}

/* For connections that the policy holds back. */
static int write_held_back(int fd, const struct tcptuned_policy *policy, __u32 id)
{
	struct tcptuned_policy held_back = *policy;

	if (!policy->holdback)
		return 0;
	id |= TCPTUNED_POLICY_HELD_BACK;
	held_back.mode = TCPTUNED_OBSERVE;
	return bpf_map_update_elem(fd, &id, &held_back, BPF_ANY);
}

static void delete_record(int fd, __u32 id)
{
	__u32 held_back = id | TCPTUNED_POLICY_HELD_BACK;

	bpf_map_delete_elem(fd, &id);
	bpf_map_delete_elem(fd, &held_back);
}

/*
 * Replace the records of the oldest generation by those of this one. Other records of this
 * generation may be left from a daemon that was killed while it wrote; they are deleted, because a
 * reader stops at the first missing record.
 */
static int write_records(int fd, const struct tcptuned_policy_source *policies, size_t len,
			 __u32 generation)
{
	for (__u32 i = 0; i < TCPTUNED_POLICIES_MAX; i++) {
		__u32 id = TCPTUNED_POLICY_ID(generation, i);
		__u32 oldest = TCPTUNED_POLICY_ID(generation - TCPTUNED_GENERATIONS_KEPT, i);

		delete_record(fd, oldest);
		delete_record(fd, id);
		if (i < len && (bpf_map_update_elem(fd, &id, &policies[i].record, BPF_ANY) ||
				write_held_back(fd, &policies[i].record, id)))
			return -1;
	}
	return 0;
}

/* Write records, rules and trie next to the active ones, then swap the trie (the commit point). */
static int install_ruleset(const struct tcptuned_kernel *kernel,
			   const struct tcptuned_policy_source *policies, size_t len,
			   const struct tcptuned_ruleset *rules, __u32 array,
			   struct tcptuned_error *err)
{
	static const struct tcptuned_policy_traffic none;
	_cleanup_close_ int trie_fd = -1, rules_fd = -1;
	__u32 zero = 0;

	for (size_t i = 0; i < len; i++) /* those of a name that was there before go on */
		bpf_map_update_elem(bpf_map__fd(kernel->bpf->maps.traffic), policies[i].record.name,
				    &none, BPF_NOEXIST);
	if (write_records(bpf_map__fd(kernel->bpf->maps.policies), policies, len,
			  rules->generation))
		return fail_write(err, "the policies");
	rules_fd = create_rules(rules);
	if (rules_fd < 0 ||
	    bpf_map_update_elem(bpf_map__fd(kernel->bpf->maps.rules), &array, &rules_fd, BPF_ANY))
		return fail_write(err, "the rules of the policies");
	trie_fd = create_trie(rules);
	if (trie_fd < 0 ||
	    bpf_map_update_elem(bpf_map__fd(kernel->bpf->maps.match), &zero, &trie_fd, BPF_ANY))
		return fail_write(err, "the prefixes of the policies");
	return 0;
}

int tcptuned_policies_install(struct tcptuned_kernel *kernel,
			      const struct tcptuned_policy_source *policies, size_t len,
			      struct tcptuned_error *err)
{
	struct tcptuned_match active = {0};
	struct tcptuned_ruleset rules;
	__u32 before = 0, generation, array = 0;
	int error;

	if (!tcptuned_policies_match(kernel, &active)) {
		before = TCPTUNED_POLICY_GENERATION(active.default_policy);
		array = !TCPTUNED_RULE_ARRAY(active.first);
	}
	generation = (before + 1) & 0xffff ? (before + 1) & 0xffff : 1;
	error = tcptuned_ruleset_compile(policies, len, generation, array, &rules, err)
			?: install_ruleset(kernel, policies, len, &rules, array, err);
	tcptuned_ruleset_free(&rules);
	if (!error)
		tcptuned_policies_keep_open(kernel);
	return error;
}
