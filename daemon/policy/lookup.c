// SPDX-License-Identifier: GPL-2.0-only
#include "policy/lookup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <bpf/bpf.h>

#include "config/config.h"
#include "tcptuned.skel.h"
#include "util/cleanup.h"

/* Open the map at @index of a map of maps. Returns a negative number if there is none. */
static int open_inner(int fd, __u32 index)
{
	__u32 id;

	if (fd < 0 || bpf_map_lookup_elem(fd, &index, &id))
		return -1;
	return bpf_map_get_fd_by_id(id);
}

void tcptuned_policies_keep_open(struct tcptuned_kernel *kernel)
{
	tcptuned_replace_fd(&kernel->match_fd, open_inner(bpf_map__fd(kernel->bpf->maps.match), 0));
	for (__u32 i = 0; i < 2; i++)
		tcptuned_replace_fd(&kernel->rules_fd[i],
				    open_inner(bpf_map__fd(kernel->bpf->maps.rules), i));
}

/* The same of one that may be kept open. The caller closes it. */
static int get_inner(int kept, int fd, __u32 index)
{
	return kept >= 0 ? fcntl(kept, F_DUPFD_CLOEXEC, 0) : open_inner(fd, index);
}

/* Look up @key in the trie. Returns 0 or -1. */
static int find_match(const struct tcptuned_kernel *kernel, const struct tcptuned_match_key *key,
		      struct tcptuned_match *ret)
{
	_cleanup_close_ int trie_fd =
		get_inner(kernel->match_fd, bpf_map__fd(kernel->bpf->maps.match), 0);

	return trie_fd < 0 || bpf_map_lookup_elem(trie_fd, key, ret) ? -1 : 0;
}

int tcptuned_policies_match(const struct tcptuned_kernel *kernel, struct tcptuned_match *ret)
{
	struct tcptuned_match_key anywhere = {0};

	return find_match(kernel, &anywhere, ret);
}

int tcptuned_policy_read(const struct tcptuned_kernel *kernel, __u32 key,
			 struct tcptuned_policy *ret)
{
	int fd = bpf_map__fd(kernel->bpf->maps.policies);

	if (fd < 0 || bpf_map_lookup_elem(fd, &key, ret))
		return -ENOENT;
	ret->congestion_control[TCPTUNED_CC_NAME_MAX - 1] = '\0';
	ret->name[TCPTUNED_POLICY_NAME_MAX - 1] = '\0';
	return 0;
}

bool tcptuned_policy_next(const struct tcptuned_kernel *kernel, __u32 *key,
			  struct tcptuned_policy *ret)
{
	struct tcptuned_match match = {0};

	if (!*key)
		tcptuned_policies_match(kernel, &match);
	*key = *key ? *key + 1 : match.default_policy;
	return !tcptuned_policy_read(kernel, *key, ret);
}

const char *tcptuned_policy_name(const struct tcptuned_kernel *kernel, __u32 key,
				 char ret[TCPTUNED_POLICY_NAME_MAX])
{
	struct tcptuned_policy policy;
	bool gone = tcptuned_policy_read(kernel, key, &policy);

	return strcpy(ret, gone ? TCPTUNED_POLICY_GONE(key) : policy.name);
}

const char *tcptuned_policy_congestion_control(const struct tcptuned_policy *policy)
{
	return policy->cc_auto ? TCPTUNED_CC_AUTO : policy->congestion_control;
}

/* True if the rule gave @tuple its policy or, to a new connection, may give it that. */
static bool policy_matches(const struct tcptuned_kernel *kernel, const struct tcptuned_rule *rule,
			   const struct tcptuned_tuple *tuple)
{
	char name[TCPTUNED_POLICY_NAME_MAX];

	if (tuple->policy)
		return !strcmp(tuple->policy, tcptuned_policy_name(kernel, rule->policy, name));
	if (!(rule->flags & TCPTUNED_RULE_CGROUP))
		return true;
	for (size_t i = 0; i < tuple->cgroups_len; i++)
		if (rule->cgroup && tuple->cgroups[i] == rule->cgroup)
			return true;
	return false;
}

int tcptuned_policies_find(const struct tcptuned_kernel *kernel, const struct tcptuned_tuple *tuple,
			   struct tcptuned_rule *ret)
{
	_cleanup_close_ int rules_fd = -1;
	struct tcptuned_match_key key = {.length = 128};
	struct tcptuned_match match;
	__u32 next, array, tried = 0;

	memcpy(key.address, tuple->remote, sizeof(key.address));
	if (find_match(kernel, &key, &match))
		return -ENOENT;
	array = TCPTUNED_RULE_ARRAY(match.first);
	rules_fd = get_inner(kernel->rules_fd[array], bpf_map__fd(kernel->bpf->maps.rules), array);
	for (next = TCPTUNED_RULE_INDEX(match.first); rules_fd >= 0 && next; next = ret->next) {
		if (tried++ == TCPTUNED_CHAIN_MAX || bpf_map_lookup_elem(rules_fd, &next, ret))
			break;
		if (tcptuned_rule_matches(ret, tuple->local, tuple->remote, tuple->local_port,
					  tuple->remote_port) &&
		    policy_matches(kernel, ret, tuple))
			return 0;
	}
	return -ENOENT;
}
