// SPDX-License-Identifier: GPL-2.0-only
#include "policy/lookup.h"

#include <errno.h>
#include <string.h>
#include <bpf/bpf.h>

#include "util/cleanup.h"

static bool in_cgroup(const struct tcptuned_tuple *tuple, __u64 id)
{
	for (size_t i = 0; i < tuple->cgroups_len; i++)
		if (id && tuple->cgroups[i] == id)
			return true;
	return false;
}

/* A map within the map @fd, to look into; -1: there is none. */
static int open_inner(int fd, __u32 which)
{
	__u32 id;

	if (fd < 0 || bpf_map_lookup_elem(fd, &which, &id))
		return -1;
	fd = bpf_map_get_fd_by_id(id);
	return fd < 0 ? -1 : fd;
}

int tcptuned_policies_match(const struct tcptuned_kernel *kernel, struct tcptuned_match *ret)
{
	_cleanup_close_ int trie_fd = open_inner(kernel->map_fd[TCPTUNED_MAP_MATCH], 0);
	struct tcptuned_match_key anywhere = { 0 };

	return trie_fd < 0 || bpf_map_lookup_elem(trie_fd, &anywhere, ret) ? -1 : 0;
}

static bool rule_matches(const struct tcptuned_rule *rule, const struct tcptuned_tuple *tuple)
{
	return tcptuned_rule_matches(rule, tuple->local, tuple->remote, tuple->local_port,
				     tuple->remote_port) &&
	       (!(rule->flags & TCPTUNED_RULE_CGROUP) || in_cgroup(tuple, rule->cgroup));
}

/* The first rule that @is_it says yes to, of those that are to be tried for @tuple. */
static int find_rule(const struct tcptuned_kernel *kernel, const struct tcptuned_tuple *tuple,
		     bool (*is_it)(void *ctx, const struct tcptuned_rule *rule), void *ctx,
		     struct tcptuned_rule *ret)
{
	_cleanup_close_ int trie_fd = open_inner(kernel->map_fd[TCPTUNED_MAP_MATCH], 0);
	_cleanup_close_ int rules_fd = -1;
	struct tcptuned_match_key key = { .length = 128 };
	struct tcptuned_match match;
	struct tcptuned_rule rule;
	__u32 next, tried = 0;

	memcpy(key.address, tuple->remote, sizeof(key.address));
	if (trie_fd < 0 || bpf_map_lookup_elem(trie_fd, &key, &match))
		return -ENOENT;
	rules_fd = open_inner(kernel->map_fd[TCPTUNED_MAP_RULES],
			      TCPTUNED_RULE_ARRAY(match.first));
	for (next = TCPTUNED_RULE_INDEX(match.first); rules_fd >= 0 && next; next = rule.next) {
		if (tried++ == TCPTUNED_CHAIN_MAX || bpf_map_lookup_elem(rules_fd, &next, &rule))
			break;
		if (!is_it(ctx, &rule))
			continue;
		*ret = rule;
		return 0;
	}
	return -ENOENT;
}

static bool takes(void *ctx, const struct tcptuned_rule *rule)
{
	return rule_matches(rule, ctx);
}

int tcptuned_policies_find(const struct tcptuned_kernel *kernel,
			   const struct tcptuned_tuple *tuple, struct tcptuned_rule *ret)
{
	return find_rule(kernel, tuple, takes, (void *)tuple, ret);
}

struct of_policy {
	const struct tcptuned_tuple *tuple;
	bool (*is_its)(void *ctx, __u32 policy);
	void *ctx;
};

static bool took(void *ctx, const struct tcptuned_rule *rule)
{
	const struct of_policy *of = ctx;
	const struct tcptuned_tuple *t = of->tuple;

	return tcptuned_rule_matches(rule, t->local, t->remote, t->local_port, t->remote_port) &&
	       of->is_its(of->ctx, rule->policy);
}

int tcptuned_policies_find_of(const struct tcptuned_kernel *kernel,
			      const struct tcptuned_tuple *tuple,
			      bool (*is_its)(void *ctx, __u32 policy), void *ctx,
			      struct tcptuned_rule *ret)
{
	struct of_policy of = { tuple, is_its, ctx };

	return find_rule(kernel, tuple, took, &of, ret);
}

__u32 tcptuned_policies_generation(const struct tcptuned_kernel *kernel)
{
	struct tcptuned_match match;

	return tcptuned_policies_match(kernel, &match) ? 0 : TCPTUNED_POLICY_GENERATION(match.default_policy);
}
