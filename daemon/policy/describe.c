// SPDX-License-Identifier: GPL-2.0-only
#include "policy/describe.h"

#include <stdio.h>
#include <string.h>

#include "policy/compile.h"

/* Append a condition. The text of @out before @begin does not belong to the list. */
static void add_condition(struct tcptuned_buf *out, size_t begin, const char *what,
			  const char *value)
{
	tcptuned_buf_printf(out, "%s%s %s", out->len > begin ? ", " : "", what, value);
}

static void add_ports(struct tcptuned_buf *out, size_t begin, const char *what, unsigned int low,
		      unsigned int high)
{
	char value[16];

	if (low == TCPTUNED_ANY_PORT_LOW && (high == TCPTUNED_ANY_PORT_HIGH || !high))
		return;
	snprintf(value, sizeof(value), low == high ? "%u" : "%u-%u", low, high);
	add_condition(out, begin, what, value);
}

/* Append the first @length bits of @address, unless that is every address of both families. */
static void add_prefix(struct tcptuned_buf *out, size_t begin, const char *what,
		       const __u8 *address, unsigned int length, bool not_ipv4)
{
	struct tcptuned_prefix prefix = {.length = (uint8_t)length};
	char text[TCPTUNED_PREFIX_TEXT];

	if (!length && !not_ipv4)
		return;
	for (unsigned int bit = 0; bit < length; bit++)
		prefix.address[bit / 8] |= address[bit / 8] & (0x80 >> bit % 8);
	prefix.ipv4 = length >= 96 && tcptuned_address_is_ipv4(prefix.address);
	tcptuned_prefix_print(&prefix, text);
	add_condition(out, begin, what, text);
}

static void end_conditions(struct tcptuned_buf *out, size_t begin)
{
	if (out->len == begin)
		tcptuned_buf_puts(out, "every connection");
}

void tcptuned_rule_format(struct tcptuned_buf *out, const struct tcptuned_rule *rule,
			  const __u8 remote[16], const char *cgroup)
{
	size_t begin = out->len;
	char number[32];

	add_prefix(out, begin, "destination", remote, rule->destination_length,
		   rule->flags & TCPTUNED_RULE_DESTINATION_NOT_IPV4);
	add_prefix(out, begin, "source", rule->source, rule->source_length,
		   rule->flags & TCPTUNED_RULE_SOURCE_NOT_IPV4);
	add_ports(out, begin, "local port", rule->local_low, rule->local_high);
	add_ports(out, begin, "remote port", rule->remote_low, rule->remote_high);
	snprintf(number, sizeof(number), "of id %llu", (unsigned long long)rule->cgroup);
	if (rule->flags & TCPTUNED_RULE_CGROUP)
		add_condition(out, begin, "cgroup", cgroup ? cgroup : number);
	end_conditions(out, begin);
}

static void add_prefixes(struct tcptuned_buf *out, size_t begin, const char *what,
			 const struct tcptuned_prefixes *prefixes)
{
	char text[TCPTUNED_CONFIG_TEXT];

	if (!prefixes->len)
		return;
	tcptuned_prefixes_format(prefixes, text, sizeof(text));
	add_condition(out, begin, what, text);
}

void tcptuned_conditions_format(struct tcptuned_buf *out, const struct tcptuned_named_policy *named)
{
	size_t begin = out->len;

	if (named) {
		const struct tcptuned_policy_config *set = &named->set;

		add_prefixes(out, begin, "destination", &set->destination);
		if (set->destination_file[0]) {
			add_condition(out, begin, "destination in", set->destination_file);
			tcptuned_buf_printf(out, " (%zu prefixes)", named->from_file.len);
		}
		add_prefixes(out, begin, "source", &set->source);
		add_ports(out, begin, "local port", set->local_port.low, set->local_port.high);
		add_ports(out, begin, "remote port", set->remote_port.low, set->remote_port.high);
		if (set->cgroup[0])
			add_condition(out, begin, "cgroup", set->cgroup);
	}
	end_conditions(out, begin);
}
