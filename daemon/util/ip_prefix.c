// SPDX-License-Identifier: GPL-2.0-only
#include "util/ip_prefix.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tcptuned/abi/policy.h>

#define IPV4_OFFSET 96 /* bits before an IPv4 address in its mapped form */

/* ---- one prefix ------------------------------------------------------------------------ */

/* @text, printable and of bounded length, for a message. */
static const char *shown(const char *text, size_t length, char ret[TCPTUNED_PREFIX_TEXT])
{
	size_t i;

	for (i = 0; i < length && i < 48; i++)
		ret[i] = isprint((unsigned char)text[i]) ? text[i] : '?';
	strcpy(ret + i, i < length ? "..." : "");
	return ret;
}

static int not_a_prefix(const char *text, size_t length, const char *what, char *ret_problem,
			size_t size)
{
	char part[TCPTUNED_PREFIX_TEXT];

	snprintf(ret_problem, size, "has \"%s\" in it, %s", shown(text, length, part), what);
	return -EINVAL;
}

/* "/24" to 24; @most: 32 or 128. */
static bool parse_length(const char *text, unsigned int most, unsigned int *ret)
{
	size_t digits = strspn(text, "0123456789");

	if (!digits || digits > 3 || text[digits])
		return false;
	*ret = (unsigned int)atoi(text);
	return *ret <= most;
}

/* Clears what lies beyond the length; was there anything? */
static bool clear_host_bits(struct tcptuned_prefix *prefix)
{
	uint8_t before[16];

	memcpy(before, prefix->address, sizeof(before));
	for (unsigned int bit = prefix->length; bit < 128; bit++)
		prefix->address[bit / 8] &= (uint8_t)~(0x80 >> bit % 8);
	return memcmp(before, prefix->address, sizeof(before));
}

/* What is wrong with a text that is no prefix; of one whose address is right, its length. */
static const char *why_not(const char *address, const struct tcptuned_prefix *prefix)
{
	if (!address)
		return "which is no prefix";
	return prefix->ipv4 ? "whose length is not from 0 to 32"
			    : "whose length is not from 0 to 128";
}

/* NULL, or why it is none; @ret_host_bits: it had bits beyond its length. */
static const char *parse(const char *text, size_t length, struct tcptuned_prefix *ret,
			 bool *ret_host_bits)
{
	char address[TCPTUNED_PREFIX_TEXT], *slash;
	unsigned int bits, most;

	memset(ret, 0, sizeof(*ret));
	if (length >= sizeof(address) || memchr(text, '\0', length))
		return why_not(NULL, ret);
	memcpy(address, text, length);
	address[length] = '\0';
	slash = strchr(address, '/');
	if (slash)
		*slash = '\0';
	if (inet_pton(AF_INET, address, ret->address + 12) == 1) {
		ret->address[10] = ret->address[11] = 0xff;
		ret->ipv4 = true;
	} else if (inet_pton(AF_INET6, address, ret->address) != 1) {
		return why_not(NULL, ret);
	}
	bits = most = ret->ipv4 ? 32 : 128;
	if (slash && !parse_length(slash + 1, most, &bits))
		return why_not(address, ret);
	ret->length = (uint8_t)(bits + (ret->ipv4 ? IPV4_OFFSET : 0));
	/* Written as IPv6, but of IPv4 alone: the same as if it were written as IPv4. */
	if (ret->length >= IPV4_OFFSET && tcptuned_address_is_ipv4(ret->address))
		ret->ipv4 = true;
	*ret_host_bits = clear_host_bits(ret);
	return NULL;
}

int tcptuned_prefix_of(const char *text, struct tcptuned_prefix *ret)
{
	bool host_bits;

	return parse(text, strlen(text), ret, &host_bits) ? -EINVAL : 0;
}

int tcptuned_prefix_parse(const char *text, size_t length, struct tcptuned_prefix *ret,
			  char *ret_problem, size_t size)
{
	char right[TCPTUNED_PREFIX_TEXT], remedy[128];
	bool host_bits = false;
	const char *problem = parse(text, length, ret, &host_bits);

	if (problem)
		return not_a_prefix(text, length, problem, ret_problem, size);
	if (!host_bits)
		return 0;
	tcptuned_prefix_print(ret, right);
	snprintf(remedy, sizeof(remedy), "which has bits beyond its length: write %s", right);
	return not_a_prefix(text, length, remedy, ret_problem, size);
}

void tcptuned_map_address(void *to, unsigned int family, const void *from)
{
	static const uint8_t mapped[16] = { [10] = 0xff, [11] = 0xff };

	memcpy(to, family == AF_INET6 ? from : mapped, 16);
	if (family != AF_INET6)
		memcpy((uint8_t *)to + 12, from, 4);
}

void tcptuned_prefix_print(const struct tcptuned_prefix *prefix, char text[TCPTUNED_PREFIX_TEXT])
{
	char address[INET6_ADDRSTRLEN];

	if (prefix->ipv4)
		inet_ntop(AF_INET, prefix->address + 12, address, sizeof(address));
	else
		inet_ntop(AF_INET6, prefix->address, address, sizeof(address));
	snprintf(text, TCPTUNED_PREFIX_TEXT, "%s/%u", address,
		 prefix->length - (prefix->ipv4 ? IPV4_OFFSET : 0));
}

/* ---- lists ----------------------------------------------------------------------------- */

static int add(struct tcptuned_prefixes *prefixes, const char *text, size_t length,
	       char *ret_problem, size_t size)
{
	struct tcptuned_prefix prefix, *list;
	int error = tcptuned_prefix_parse(text, length, &prefix, ret_problem, size);

	if (error)
		return error;
	if (prefixes->len == prefixes->size) {
		prefixes->size = prefixes->size ? 2 * prefixes->size : 8;
		list = realloc(prefixes->list, prefixes->size * sizeof(*list));
		if (!list) {
			prefixes->size = prefixes->len;
			snprintf(ret_problem, size, "cannot be kept: there is no memory");
			return -ENOMEM;
		}
		prefixes->list = list;
	}
	prefixes->list[prefixes->len++] = prefix;
	return 0;
}

int tcptuned_prefixes_add(struct tcptuned_prefixes *prefixes, const char *text,
			  char *ret_problem, size_t size)
{
	static const char between[] = ", \t";
	size_t before = prefixes->len;

	for (text += strspn(text, between); *text; text += strspn(text, between)) {
		size_t length = strcspn(text, between);
		int error = add(prefixes, text, length, ret_problem, size);

		if (error)
			return error;
		text += length;
	}
	if (prefixes->len > before)
		return 0;
	snprintf(ret_problem, size, "has no prefix in it");
	return -EINVAL;
}

int tcptuned_prefixes_add_lines(struct tcptuned_prefixes *prefixes, const char *text,
				size_t length, char *ret_problem, size_t size,
				unsigned int *ret_line)
{
	const char *end = text + length;

	for (*ret_line = 1; text < end; (*ret_line)++) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end, *comment;
		int error = 0;

		comment = memchr(text, '#', (size_t)(stop - text));
		stop = comment ? comment : stop;
		while (text < stop && isspace((unsigned char)*text))
			text++;
		while (stop > text && isspace((unsigned char)stop[-1]))
			stop--;
		if (text < stop)
			error = add(prefixes, text, (size_t)(stop - text), ret_problem, size);
		if (error)
			return error;
		text = newline ? newline + 1 : end;
	}
	return 0;
}

void tcptuned_prefixes_format(const struct tcptuned_prefixes *prefixes, char *text, size_t size)
{
	char one[TCPTUNED_PREFIX_TEXT];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < prefixes->len; i++) {
		tcptuned_prefix_print(&prefixes->list[i], one);
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", one);
		if (used < size)
			continue;
		snprintf(text, size, "%zu prefixes", prefixes->len);
		return;
	}
}

bool tcptuned_prefixes_equal(const struct tcptuned_prefixes *a, const struct tcptuned_prefixes *b)
{
	if (a->len != b->len)
		return false;
	for (size_t i = 0; i < a->len; i++)
		if (a->list[i].length != b->list[i].length ||
		    memcmp(a->list[i].address, b->list[i].address, 16))
			return false;
	return true;
}

void tcptuned_prefixes_free(struct tcptuned_prefixes *prefixes)
{
	free(prefixes->list);
	memset(prefixes, 0, sizeof(*prefixes));
}

/* ---- ports ----------------------------------------------------------------------------- */

static bool parse_port(const char **text, unsigned long *ret)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	*ret = strtoul(*text, &end, 10);
	*text = end;
	return true;
}

int tcptuned_ports_parse(const char *text, struct tcptuned_ports *ret)
{
	unsigned long low, high;

	if (!parse_port(&text, &low))
		return -EINVAL;
	high = low;
	if (*text == '-') {
		text++;
		if (!parse_port(&text, &high))
			return -EINVAL;
	}
	if (*text)
		return -EINVAL;
	if (!low || high > UINT16_MAX || low > high)
		return -ERANGE;
	ret->low = (uint16_t)low;
	ret->high = (uint16_t)high;
	return 0;
}
