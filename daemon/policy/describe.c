// SPDX-License-Identifier: GPL-2.0-only
#include "policy/describe.h"

#include <stdio.h>
#include <string.h>

#include "policy/compile.h"

/* A text that is being written. */
struct list {
	FILE *out; /* to text */
	char *text;
	size_t size;
	bool has_condition;
};

static bool begin_list(struct list *list)
{
	*list = (struct list){0};
	list->out = open_memstream(&list->text, &list->size);
	return list->out;
}

static char *end_list(struct list *list)
{
	if (!list->has_condition)
		fputs("every connection", list->out);
	return fclose(list->out) ? NULL : list->text;
}

static void add_condition(struct list *list, const char *what, const char *value)
{
	fprintf(list->out, "%s%s %s", list->has_condition ? ", " : "", what, value);
	list->has_condition = true;
}

static void add_ports(struct list *list, const char *what, unsigned int low, unsigned int high)
{
	char value[16];

	if (low == TCPTUNED_ANY_PORT_LOW && (high == TCPTUNED_ANY_PORT_HIGH || !high))
		return;
	snprintf(value, sizeof(value), low == high ? "%u" : "%u-%u", low, high);
	add_condition(list, what, value);
}

/* Append the first @length bits of @address, unless that is every address of both families. */
static void add_prefix(struct list *list, const char *what, const __u8 *address,
		       unsigned int length, bool not_ipv4)
{
	struct tcptuned_prefix prefix = {.length = (uint8_t)length};
	char text[TCPTUNED_PREFIX_TEXT];

	if (!length && !not_ipv4)
		return;
	memcpy(prefix.address, address, sizeof(prefix.address));
	tcptuned_mask_address(prefix.address, length);
	prefix.ipv4 = length >= 96 && tcptuned_address_is_ipv4(prefix.address);
	tcptuned_prefix_print(&prefix, text);
	add_condition(list, what, text);
}

char *tcptuned_rule_format(const struct tcptuned_rule *rule, const __u8 remote[16],
			   const char *cgroup)
{
	struct list list;
	char number[32];

	if (!begin_list(&list))
		return NULL;
	add_prefix(&list, "destination", remote, rule->destination_length,
		   rule->flags & TCPTUNED_RULE_DESTINATION_NOT_IPV4);
	add_prefix(&list, "source", rule->source, rule->source_length,
		   rule->flags & TCPTUNED_RULE_SOURCE_NOT_IPV4);
	add_ports(&list, "local port", rule->local_low, rule->local_high);
	add_ports(&list, "remote port", rule->remote_low, rule->remote_high);
	snprintf(number, sizeof(number), "of id %llu", (unsigned long long)rule->cgroup);
	if (rule->flags & TCPTUNED_RULE_CGROUP)
		add_condition(&list, "cgroup", cgroup ? cgroup : number);
	return end_list(&list);
}

static void add_prefixes(struct list *list, const char *what,
			 const struct tcptuned_prefixes *prefixes)
{
	char text[TCPTUNED_CONFIG_TEXT];

	if (!prefixes->len)
		return;
	tcptuned_prefixes_format(prefixes, text, sizeof(text));
	add_condition(list, what, text);
}

char *tcptuned_conditions_format(const struct tcptuned_named_policy *named)
{
	struct list list;

	if (!begin_list(&list))
		return NULL;
	if (named) {
		const struct tcptuned_policy_config *set = &named->set;

		add_prefixes(&list, "destination", &set->destination);
		if (set->destination_file[0]) {
			add_condition(&list, "destination in", set->destination_file);
			fprintf(list.out, " (%zu prefixes)", named->from_file.len);
		}
		add_prefixes(&list, "source", &set->source);
		add_ports(&list, "local port", set->local_port.low, set->local_port.high);
		add_ports(&list, "remote port", set->remote_port.low, set->remote_port.high);
		if (set->cgroup[0])
			add_condition(&list, "cgroup", set->cgroup);
	}
	return end_list(&list);
}
