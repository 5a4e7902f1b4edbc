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
static int write_records(const struct tcptuned_kernel *kernel,
			 const struct tcptuned_policy_source *policies, size_t len,
			 __u32 generation)
{
	static const struct tcptuned_policy_traffic none;
	int fd = bpf_map__fd(kernel->bpf->maps.policies);

	for (size_t i = 0; i < len; i++) /* those of a name that was there before go on */
		bpf_map_update_elem(bpf_map__fd(kernel->bpf->maps.traffic), policies[i].record.name,
				    &none, BPF_NOEXIST);
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

/* True if these are the records in force: then the ids that connections have go on. */
static bool are_in_force(const struct tcptuned_kernel *kernel,
			 const struct tcptuned_policy_source *policies, size_t len)
{
	struct tcptuned_policy record;
	__u32 key = 0;
	size_t n = 0;

	while (tcptuned_policy_next(kernel, &key, &record))
		if (n == len || memcmp(&record, &policies[n++].record, sizeof(record)) != 0)
			return false;
	return n == len;
}

/* Write rules and trie next to the active ones, then swap the trie (the commit point). */
static int install_ruleset(const struct tcptuned_kernel *kernel,
			   const struct tcptuned_ruleset *rules, __u32 array,
			   struct tcptuned_error *err)
{
	_cleanup_close_ int trie_fd = -1, rules_fd = create_rules(rules);
	__u32 zero = 0;

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
	bool in_force = are_in_force(kernel, policies, len);
	struct tcptuned_match active = {0};
	__u32 generation = 0, array = 0;
	struct tcptuned_ruleset rules;
	int error;

	if (!tcptuned_policies_match(kernel, &active)) {
		generation = TCPTUNED_POLICY_GENERATION(active.default_policy);
		array = !TCPTUNED_RULE_ARRAY(active.first);
	}
	if (!in_force)
		generation = (generation + 1) & 0xffff ? (generation + 1) & 0xffff : 1;
	error = tcptuned_ruleset_compile(policies, len, generation, array, &rules, err);
	if (!error && !in_force && write_records(kernel, policies, len, generation))
		error = fail_write(err, "the policies");
	error = error ?: install_ruleset(kernel, &rules, array, err);
	tcptuned_ruleset_free(&rules);
	if (!error)
		tcptuned_policies_keep_open(kernel);
	return error;
}
