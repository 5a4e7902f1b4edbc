// SPDX-License-Identifier: GPL-2.0-only
#include "util/prefix.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tcptuned/abi/policy.h>

#include "util/text.h"

#define IPV4_OFFSET 96 /* bits before an IPv4 address in its mapped form */
#define SHOWN_MAX   48 /* bytes of a wrong prefix that an error message quotes */

static int not_a_prefix(const char *text, size_t length, const char *why, char *ret_problem,
			size_t size)
{
	char shown[SHOWN_MAX + 1];

	snprintf(shown, sizeof(shown), "%.*s", (int)length, text);
	tcptuned_text_make_printable(shown);
	snprintf(ret_problem, size, "has \"%s%s\" in it, %s", shown,
		 length > SHOWN_MAX ? "..." : "", why);
	return -EINVAL;
}

/* Parse the "24" of "/24". */
static bool parse_length(const char *text, unsigned int max, unsigned int *ret)
{
	size_t digits = strspn(text, "0123456789");

	if (!digits || digits > 3 || text[digits])
		return false;
	*ret = (unsigned int)atoi(text);
	return *ret <= max;
}

void tcptuned_prefix_mask(uint8_t address[16], unsigned int length)
{
	for (unsigned int bit = length; bit < 128; bit++)
		address[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
}

void tcptuned_prefix_of_path(struct tcptuned_prefix *prefix)
{
	prefix->length = prefix->ipv4 ? IPV4_OFFSET + PATH_IPV4_PREFIX : PATH_IPV6_PREFIX;
	tcptuned_prefix_mask(prefix->address, prefix->length);
}

/* Returns NULL, or why it is no prefix. @ret_host_bits: there were bits beyond its length. */
static const char *parse(const char *text, size_t length, struct tcptuned_prefix *ret,
			 bool *ret_host_bits)
{
	char address[TCPTUNED_PREFIX_TEXT], *slash;
	struct tcptuned_prefix written;
	unsigned int bits, max;

	memset(ret, 0, sizeof(*ret));
	if (length >= sizeof(address) || memchr(text, '\0', length))
		return "which is not a prefix";
	memcpy(address, text, length);
	address[length] = '\0';
	slash = strchr(address, '/');
	if (slash)
		*slash = '\0';
	if (inet_pton(AF_INET, address, ret->address + 12) == 1) {
		ret->address[10] = ret->address[11] = 0xff;
		ret->ipv4 = true;
	} else if (inet_pton(AF_INET6, address, ret->address) != 1) {
		return "which is not a prefix";
	}
	bits = max = ret->ipv4 ? 32 : 128;
	if (slash && !parse_length(slash + 1, max, &bits))
		return ret->ipv4 ? "whose length is not from 0 to 32"
				 : "whose length is not from 0 to 128";
	ret->length = (uint8_t)(bits + (ret->ipv4 ? IPV4_OFFSET : 0));
	/* An IPv4-mapped IPv6 prefix is the same as the IPv4 prefix. */
	if (ret->length >= IPV4_OFFSET && tcptuned_address_is_ipv4(ret->address))
		ret->ipv4 = true;
	written = *ret;
	tcptuned_prefix_mask(ret->address, ret->length);
	*ret_host_bits = memcmp(written.address, ret->address, sizeof(ret->address));
	return NULL;
}

int tcptuned_prefix_of(const char *text, struct tcptuned_prefix *ret)
{
	bool host_bits;

	return parse(text, strlen(text), ret, &host_bits) ? -EINVAL : 0;
}

static int parse_strictly(const char *text, size_t length, struct tcptuned_prefix *ret,
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

void tcptuned_prefix_map_address(void *to, unsigned int family, const void *from)
{
	static const uint8_t mapped[16] = {[10] = 0xff, [11] = 0xff};

	memcpy(to, family == AF_INET6 ? from : mapped, 16);
	if (family != AF_INET6)
		memcpy((uint8_t *)to + 12, from, 4);
}

void tcptuned_prefix_path_key(const struct tcptuned_prefix *prefix, struct tcptuned_path_key *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->family = prefix->ipv4 ? AF_INET : AF_INET6;
	ret->prefix_len = prefix->ipv4 ? prefix->length - 96 : prefix->length;
	memcpy(ret->prefix, prefix->address + (prefix->ipv4 ? 12 : 0), prefix->ipv4 ? 4 : 16);
}

void tcptuned_prefix_print(const struct tcptuned_prefix *prefix, char text[TCPTUNED_PREFIX_TEXT])
{
	char address[INET6_ADDRSTRLEN];

	inet_ntop(prefix->ipv4 ? AF_INET : AF_INET6, prefix->address + (prefix->ipv4 ? 12 : 0),
		  address, sizeof(address));
	snprintf(text, TCPTUNED_PREFIX_TEXT, "%s/%u", address,
		 prefix->length - (prefix->ipv4 ? IPV4_OFFSET : 0));
}

static int add(struct tcptuned_prefixes *prefixes, const char *text, size_t length,
	       char *ret_problem, size_t size)
{
	size_t room = prefixes->size ? 2 * prefixes->size : 8;
	struct tcptuned_prefix prefix, *list;
	int error = parse_strictly(text, length, &prefix, ret_problem, size);

	if (error)
		return error;
	if (prefixes->len == prefixes->size) {
		list = reallocarray(prefixes->list, room, sizeof(*list));
		if (!list) {
			snprintf(ret_problem, size, "cannot be kept: there is no memory");
			return -ENOMEM;
		}
		prefixes->list = list;
		prefixes->size = room;
	}
	prefixes->list[prefixes->len++] = prefix;
	return 0;
}

int tcptuned_prefixes_add(struct tcptuned_prefixes *prefixes, const char *text, char *ret_problem,
			  size_t size)
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

int tcptuned_prefixes_add_lines(struct tcptuned_prefixes *prefixes, const char *text, size_t length,
				char *ret_problem, size_t size, unsigned int *ret_line)
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
		/* A file that was named by mistake, as /etc/shadow, is not quoted. */
		if (error == -EINVAL &&
		    strspn(text, "0123456789abcdefABCDEF:./") < (size_t)(stop - text))
			snprintf(ret_problem, size, "is not a prefix");
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
