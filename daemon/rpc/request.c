// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <jansson.h>

#include "config/config.h"
#include "rpc/request.h"
#include "util/array.h"
#include "util/text.h"

#define QUOTED	      64

enum field_type { FIELD_PREFIX, FIELD_NUMBER, FIELD_BOOL, FIELD_TEXT, FIELD_COLUMN };

/* Which commands take it. */
#define OF(command) (1u << TCPTUNED_CMD_##command)

#define FIELD(field)                                         \
	.offset = offsetof(struct tcptuned_request, field),  \
	.size = sizeof(((struct tcptuned_request *)0)->field)

static const struct field {
	const char *name;
	enum field_type type;
	unsigned int commands;
	size_t offset, size;
	json_int_t lowest, highest;
} fields[] = {
	{ "address", FIELD_PREFIX, OF(FLOWS) | OF(PATHS) | OF(EVENTS), FIELD(filter.address) },
	{ "local_address", FIELD_PREFIX, OF(FLOWS) | OF(EVENTS) | OF(POLICY_TEST),
	  FIELD(filter.local) },
	{ "remote_address", FIELD_PREFIX, OF(FLOWS) | OF(EVENTS) | OF(POLICY_TEST),
	  FIELD(filter.remote) },
	{ "port", FIELD_NUMBER, OF(FLOWS) | OF(EVENTS), FIELD(filter.port), .lowest = 1,
	  .highest = 65535 },
	{ "local_port", FIELD_NUMBER, OF(FLOWS) | OF(EVENTS) | OF(POLICY_TEST),
	  FIELD(filter.local_port), .lowest = 1, .highest = 65535 },
	{ "remote_port", FIELD_NUMBER, OF(FLOWS) | OF(EVENTS) | OF(POLICY_TEST),
	  FIELD(filter.remote_port), .lowest = 1, .highest = 65535 },
	{ "netns", FIELD_NUMBER, OF(FLOWS) | OF(PATHS) | OF(EVENTS), FIELD(filter.netns),
	  .lowest = 1, .highest = UINT32_MAX },
	{ "policy", FIELD_TEXT, OF(FLOWS) | OF(POLICY_ENABLE) | OF(POLICY_DISABLE),
	  FIELD(filter.policy) },
	{ "cgroup", FIELD_TEXT, OF(POLICY_TEST), FIELD(cgroup) },
	{ "rules", FIELD_BOOL, OF(FLOWS), FIELD(rules) },
	{ "congestion_control", FIELD_TEXT, OF(FLOWS), FIELD(filter.congestion_control) },
	{ "sort", FIELD_COLUMN, OF(FLOWS), FIELD(sort) },
	{ "path_sort", FIELD_TEXT, OF(PATHS), FIELD(path_sort) },
	{ "prefix", FIELD_TEXT, OF(PATHS_FORGET), FIELD(prefix) },
	{ "reverse", FIELD_BOOL, OF(FLOWS) | OF(PATHS), FIELD(reverse) },
	{ "limit", FIELD_NUMBER, OF(FLOWS) | OF(PATHS), FIELD(limit), .lowest = 1,
	  .highest = TCPTUNED_FLOWS_LIMIT_MAX },
};

static const char *const commands[] = {
	[TCPTUNED_CMD_STATUS] = "status",     [TCPTUNED_CMD_FLOWS] = "flows",
	[TCPTUNED_CMD_POLICIES] = "policies", [TCPTUNED_CMD_POLICY_TEST] = "policy_test",
	[TCPTUNED_CMD_POLICY_ENABLE] = "policy_enable",
	[TCPTUNED_CMD_POLICY_DISABLE] = "policy_disable",
	[TCPTUNED_CMD_POLICY_APPLY] = "policy_apply",
	[TCPTUNED_CMD_PATHS] = "paths",	      [TCPTUNED_CMD_EVENTS] = "events",
	[TCPTUNED_CMD_PATHS_FORGET] = "paths_forget",
	[TCPTUNED_CMD_STOP] = "stop",
	NULL,
};

#define BAD(err, ...) tcptuned_fail(err, EINVAL, TCPTUNED_EXIT_USAGE, __VA_ARGS__)

/* What came, fit to be shown: printable, and cut short. */
static const char *quote(const char *text, char ret[QUOTED])
{
	size_t i;

	for (i = 0; text[i] && i < QUOTED - 1; i++)
		ret[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	ret[i] = '\0';
	return ret;
}

/* ---- one field --------------------------------------------------------------------------- */

static int parse_prefix(const struct field *field, const char *text, void *to,
			struct tcptuned_error *err)
{
	char quoted[QUOTED];

	if (tcptuned_prefix_of(text, to))
		return BAD(err, "%s: %s is no address; write one like 192.0.2.1 or 2001:db8::1, "
				"or a prefix like 192.0.2.0/24",
			   field->name, quote(text, quoted));
	return 0;
}

static int parse_text(const struct field *field, const char *text, void *to,
		      struct tcptuned_error *err)
{
	char quoted[QUOTED];

	if (!*text || strlen(text) >= field->size)
		return BAD(err, "%s: \"%s\" is no name of 1 to %zu characters", field->name,
			   quote(text, quoted), field->size - 1);
	strcpy(to, text);
	return 0;
}

static int parse_column(const struct field *field, const char *text, void *to,
			struct tcptuned_error *err)
{
	const struct tcptuned_column *column = tcptuned_column_find(text);
	const char *nearest = tcptuned_column_nearest(text);
	char quoted[QUOTED];

	if (!column)
		return BAD(err, "%s: there is no column %s%s%s%s", field->name, quote(text, quoted),
			   nearest ? "; did you mean " : "; see tcptunectl flows --help",
			   nearest ? nearest : "", nearest ? "?" : "");
	memcpy(to, &column, sizeof(column));
	return 0;
}

static int parse_string(const struct field *field, const json_t *value, void *to,
			struct tcptuned_error *err)
{
	if (!json_is_string(value))
		return BAD(err, "%s: a string belongs here", field->name);
	switch (field->type) {
	case FIELD_TEXT:
		return parse_text(field, json_string_value(value), to, err);
	case FIELD_COLUMN:
		return parse_column(field, json_string_value(value), to, err);
	default:
		return parse_prefix(field, json_string_value(value), to, err);
	}
}

static int parse_number(const struct field *field, const json_t *value, void *to,
			struct tcptuned_error *err)
{
	json_int_t number = json_integer_value(value);
	__u16 half = (__u16)number;
	__u32 word = (__u32)number;

	if (!json_is_integer(value) || number < field->lowest || number > field->highest)
		return BAD(err, "%s: a whole number from %lld to %lld belongs here", field->name,
			   (long long)field->lowest, (long long)field->highest);
	if (field->size == sizeof(half))
		memcpy(to, &half, sizeof(half));
	else
		memcpy(to, &word, sizeof(word));
	return 0;
}

static int parse_field(const struct field *field, const json_t *value,
		       struct tcptuned_request *request, struct tcptuned_error *err)
{
	void *to = (char *)request + field->offset;

	if (field->type == FIELD_NUMBER)
		return parse_number(field, value, to, err);
	if (field->type != FIELD_BOOL)
		return parse_string(field, value, to, err);
	if (!json_is_boolean(value))
		return BAD(err, "%s: true or false belongs here", field->name);
	*(bool *)to = json_is_true(value);
	return 0;
}

/* A connection has an address at either end, of one family, and no prefix. */
static int check_ends(const struct tcptuned_filter *filter, struct tcptuned_error *err)
{
	const struct tcptuned_prefix *ends[] = { &filter->local, &filter->remote };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		const char *field = i ? "remote_address" : "local_address";

		if (!ends[i]->length)
			return BAD(err, "%s: it is missing; policy test takes an address of each "
					"end, as 192.0.2.1:5201 or 192.0.2.1",
				   field);
		if (ends[i]->length != 128)
			return BAD(err, "%s: a prefix is no end of a connection; write one address",
				   field);
	}
	if (ends[0]->ipv4 != ends[1]->ipv4)
		return BAD(err, "local_address: IPv%d cannot be connected with IPv%d at the other "
				"end; write addresses of one kind",
			   ends[0]->ipv4 ? 4 : 6, ends[1]->ipv4 ? 4 : 6);
	return 0;
}

static int check_limit(struct tcptuned_request *request, struct tcptuned_error *err)
{
	if (request->rules && request->limit > TCPTUNED_RULES_LIMIT_MAX)
		return BAD(err, "limit: with rules, a whole number from 1 to %d belongs here",
			   TCPTUNED_RULES_LIMIT_MAX);
	if (!request->limit)
		request->limit = request->rules ? TCPTUNED_RULES_LIMIT_MAX : TCPTUNED_FLOWS_LIMIT;
	return 0;
}

/* ---- the whole ---------------------------------------------------------------------------- */

static int parse_command(const json_t *root, struct tcptuned_request *request,
			 struct tcptuned_error *err)
{
	const char *name = json_string_value(json_object_get(root, "command")), *nearest;
	char quoted[QUOTED];

	if (!name)
		return BAD(err, "command: it is missing, or is no string");
	for (unsigned int i = 0; commands[i]; i++) {
		if (strcmp(commands[i], name))
			continue;
		request->command = i;
		return 0;
	}
	nearest = tcptuned_nearest(name, commands);
	return BAD(err, "command: there is no %s%s%s%s", quote(name, quoted),
		   nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

static int parse_member(const char *name, const json_t *value, struct tcptuned_request *request,
			struct tcptuned_error *err)
{
	char quoted[QUOTED];

	if (!strcmp(name, "command"))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (!strcmp(fields[i].name, name) && (fields[i].commands & 1u << request->command))
			return parse_field(&fields[i], value, request, err);
	return BAD(err, "%s: %s takes no such field", quote(name, quoted),
		   commands[request->command]);
}

static int parse_object(json_t *root, struct tcptuned_request *ret, struct tcptuned_error *err)
{
	struct tcptuned_request request = { 0 };
	const char *name;
	json_t *value;
	int error;

	if (!json_is_object(root))
		return BAD(err, "the request is no JSON object; write {\"command\":\"status\"}, "
				"for example");
	error = parse_command(root, &request, err);
	if (error)
		return error;
	json_object_foreach(root, name, value) {
		error = parse_member(name, value, &request, err);
		if (error)
			return error;
	}
	if ((OF(POLICY_ENABLE) | OF(POLICY_DISABLE)) & 1u << request.command &&
	    !request.filter.policy[0])
		return BAD(err, "policy: %s needs the name of one", commands[request.command]);
	if (request.command == TCPTUNED_CMD_PATHS_FORGET && !request.prefix[0])
		return BAD(err, "prefix: paths_forget needs one, or all");
	if (request.command == TCPTUNED_CMD_POLICY_TEST) {
		error = check_ends(&request.filter, err);
		if (error)
			return error;
	}
	error = check_limit(&request, err);
	if (!error)
		*ret = request;
	return error;
}

int tcptuned_request_parse(const char *line, size_t len, struct tcptuned_request *ret,
			   struct tcptuned_error *err)
{
	json_error_t problem;
	char quoted[QUOTED];
	json_t *root;
	int error;

	if (len > TCPTUNED_REQUEST_MAX)
		return BAD(err, "the request is longer than %d bytes", TCPTUNED_REQUEST_MAX);
	root = json_loadb(line, len, JSON_REJECT_DUPLICATES, &problem);
	if (!root)
		return BAD(err, "the request is no JSON, at byte %d: %s", problem.position,
			   quote(problem.text, quoted));
	error = parse_object(root, ret, err);
	json_decref(root);
	return error;
}

int tcptuned_control_address(const char *directory, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	return snprintf(ret->sun_path, sizeof(ret->sun_path), "%s/control", directory) <
			       (int)sizeof(ret->sun_path)
		       ? 0
		       : -ENAMETOOLONG;
}

void tcptuned_request_print_man(FILE *out)
{
	for (unsigned int command = 0; commands[command]; command++) {
		const char *before = "";

		fprintf(out, ".TP\n.B %s\n", commands[command]);
		for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
			if (!(fields[i].commands & 1u << command))
				continue;
			fprintf(out, "%s%s", before, fields[i].name);
			before = ", ";
		}
		fputs(*before ? "\n" : "nothing\n", out);
	}
}
