// SPDX-License-Identifier: GPL-2.0-only
#include "policy/describe.h"

#include <stdio.h>
#include <string.h>

#include "policy/ruleset.h"

/* Finish the @text that @out writes. Returns it, or NULL. */
static char *finish(FILE *out, char *const *text)
{
	if (!ftell(out))
		fputs("every connection", out);
	return fclose(out) ? NULL : *text;
}

static void add_condition(FILE *out, const char *what, const char *value)
{
	fprintf(out, "%s%s %s", ftell(out) ? ", " : "", what, value);
}

static void print_range(FILE *out, unsigned int low, unsigned int high)
{
	fprintf(out, low == high ? "%u" : "%u-%u", low, high);
}

static void add_range(FILE *out, const char *what, unsigned int low, unsigned int high)
{
	if (low == TCPTUNED_ANY_PORT_LOW && high == TCPTUNED_ANY_PORT_HIGH)
		return;
	add_condition(out, what, "");
	print_range(out, low, high);
}

static void add_ports(FILE *out, const char *what, const struct tcptuned_ports *ports)
{
	for (uint32_t i = 0; i < ports->len; i++) {
		if (i)
			fputs(" or ", out);
		else
			add_condition(out, what, "");
		print_range(out, ports->list[i].low, ports->list[i].high);
	}
}

/* Append the first @length bits of @address, unless that is every address of both families. */
static void add_prefix(FILE *out, const char *what, const __u8 *address, unsigned int length,
		       bool not_ipv4)
{
	struct tcptuned_prefix prefix = {.length = (uint8_t)length};
	char text[TCPTUNED_PREFIX_TEXT];

	if (!length && !not_ipv4)
		return;
	memcpy(prefix.address, address, sizeof(prefix.address));
	tcptuned_prefix_mask(prefix.address, length);
	prefix.ipv4 = length >= 96 && tcptuned_address_is_ipv4(prefix.address);
	tcptuned_prefix_print(&prefix, text);
	add_condition(out, what, text);
}

char *tcptuned_describe_rule(const struct tcptuned_rule *rule, const __u8 remote[16],
			     const char *cgroup)
{
	char *text, number[32];
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	add_prefix(out, "destination", remote, rule->destination_length,
		   rule->flags & TCPTUNED_RULE_DESTINATION_NOT_IPV4);
	add_prefix(out, "source", rule->source, rule->source_length,
		   rule->flags & TCPTUNED_RULE_SOURCE_NOT_IPV4);
	add_range(out, "local port", rule->local_low, rule->local_high);
	add_range(out, "remote port", rule->remote_low, rule->remote_high);
	snprintf(number, sizeof(number), "of id %llu", (unsigned long long)rule->cgroup);
	if (rule->flags & TCPTUNED_RULE_CGROUP)
		add_condition(out, "cgroup", cgroup ? cgroup : number);
	return finish(out, &text);
}

static void add_prefixes(FILE *out, const char *what, const struct tcptuned_prefixes *prefixes)
{
	char text[TCPTUNED_CONFIG_TEXT];

	if (!prefixes->len)
		return;
	tcptuned_prefixes_format(prefixes, text, sizeof(text));
	add_condition(out, what, text);
}

char *tcptuned_describe_conditions(const struct tcptuned_named_policy *named)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (named) {
		const struct tcptuned_policy_config *set = &named->set;

		add_prefixes(out, "destination", &set->destination);
		if (set->destination_file[0]) {
			add_condition(out, "destination in", set->destination_file);
			fprintf(out, " (%zu prefixes)", named->from_file.len);
		}
		add_prefixes(out, "source", &set->source);
		add_ports(out, "local port", &set->local_port);
		add_ports(out, "remote port", &set->remote_port);
		if (set->cgroup[0])
			add_condition(out, "cgroup", set->cgroup);
	}
	return finish(out, &text);
}
