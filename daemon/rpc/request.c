// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include <jansson.h>

#include "rpc/request.h"
#include "util/array.h"
#include "util/text.h"

enum field_type { FIELD_PREFIX, FIELD_NUMBER, FIELD_BOOL, FIELD_TEXT, FIELD_COLUMN };

/* The bit of a command in the set of commands that take a field. */
#define OF(command) (1u << TCPTUNED_CMD_##command)
#define OF_ENDS	    (OF(FLOWS) | OF(EVENTS) | OF(POLICY_TEST))

#define FIELD(field) FIELD_OF(tcptuned_request, field)

static const struct field {
	const char *name;
	enum field_type type;
	unsigned int commands;
	size_t offset, size;
	json_int_t max; /* of a number, whose minimum is 1 */
} fields[] = {
	{"address", FIELD_PREFIX, OF(FLOWS) | OF(PATHS) | OF(ADVISE) | OF(EVENTS),
	 FIELD(filter.address)},
	{"local_address", FIELD_PREFIX, OF_ENDS, FIELD(filter.local)},
	{"remote_address", FIELD_PREFIX, OF_ENDS, FIELD(filter.remote)},
	{"port", FIELD_NUMBER, OF(FLOWS) | OF(EVENTS), FIELD(filter.port), UINT16_MAX},
	{"local_port", FIELD_NUMBER, OF_ENDS, FIELD(filter.local_port), UINT16_MAX},
	{"remote_port", FIELD_NUMBER, OF_ENDS, FIELD(filter.remote_port), UINT16_MAX},
	{"netns", FIELD_NUMBER, OF(FLOWS) | OF(PATHS) | OF(EVENTS), FIELD(filter.netns),
	 UINT32_MAX},
	{"policy", FIELD_TEXT, OF(FLOWS) | OF(POLICY_ENABLE) | OF(POLICY_DISABLE) | OF(TRIAL),
	 FIELD(filter.policy)},
	{"cgroup", FIELD_TEXT, OF(POLICY_TEST) | OF(FLOWS), FIELD(cgroup)},
	{"rules", FIELD_BOOL, OF(FLOWS), FIELD(rules)},
	{"congestion_control", FIELD_TEXT, OF(FLOWS) | OF(ADVISE),
	 FIELD(filter.congestion_control)},
	{"sort", FIELD_COLUMN, OF(FLOWS), FIELD(sort)},
	{"path_sort", FIELD_TEXT, OF(PATHS), FIELD(path_sort)},
	{"prefix", FIELD_TEXT, OF(PATHS_FORGET), FIELD(prefix)},
	{"reverse", FIELD_BOOL, OF(FLOWS) | OF(PATHS), FIELD(reverse)},
	{"limit", FIELD_NUMBER, OF(FLOWS) | OF(PATHS), FIELD(limit), TCPTUNED_FLOWS_LIMIT_MAX},
};

static const char *const commands[] = {
#define COMMAND_NAME(command, name) name,
	TCPTUNED_COMMANDS(COMMAND_NAME) NULL,
};

static int parse_string(const struct field *field, const char *text, void *to,
			struct tcptuned_error *err)
{
	if (!text)
		return USAGE(err, "%s: must be a string", field->name);
	if (field->type == FIELD_COLUMN)
		return tcptuned_column_parse(field->name, text, to, err);
	if (field->type == FIELD_PREFIX && tcptuned_prefix_of(text, to))
		return USAGE(err,
			     "%s: %.60s is not an address; write one like 192.0.2.1 or "
			     "2001:db8::1, or a prefix like 192.0.2.0/24",
			     field->name, text);
	if (field->type == FIELD_PREFIX)
		return 0;
	if (!*text || strlen(text) >= field->size)
		return USAGE(err, "%s: \"%.60s\" is not a name of 1 to %zu characters", field->name,
			     text, field->size - 1);
	strcpy(to, text);
	return 0;
}

static int parse_number(const struct field *field, const json_t *value, void *to,
			struct tcptuned_error *err)
{
	json_int_t number = json_integer_value(value);

	if (!json_is_integer(value) || number < 1 || number > field->max)
		return USAGE(err, "%s: must be a whole number from 1 to %lld", field->name,
			     (long long)field->max);
	if (field->size == sizeof(__u16))
		*(__u16 *)to = (__u16)number;
	else
		*(__u32 *)to = (__u32)number;
	return 0;
}

static int parse_field(const struct field *field, const json_t *value,
		       struct tcptuned_request *request, struct tcptuned_error *err)
{
	void *to = (char *)request + field->offset;

	if (field->type == FIELD_NUMBER)
		return parse_number(field, value, to, err);
	if (field->type != FIELD_BOOL)
		return parse_string(field, json_string_value(value), to, err);
	if (!json_is_boolean(value))
		return USAGE(err, "%s: must be true or false", field->name);
	*(bool *)to = json_is_true(value);
	return 0;
}

/* A connection has one address at each end, both of one family. */
static int check_ends(const struct tcptuned_filter *filter, struct tcptuned_error *err)
{
	const struct tcptuned_prefix *ends[] = {&filter->local, &filter->remote};

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		const char *field = i ? "remote_address" : "local_address";

		if (!ends[i]->length)
			return USAGE(err,
				     "%s: it is missing; policy test takes an address for each "
				     "end, as in 192.0.2.1:5201 or 192.0.2.1",
				     field);
		if (ends[i]->length != 128)
			return USAGE(err, "%s: expected a single address, not a prefix", field);
	}
	if (ends[0]->ipv4 != ends[1]->ipv4)
		return USAGE(err,
			     "local_address: IPv%d cannot be connected with IPv%d at the other "
			     "end; write addresses of one family",
			     ends[0]->ipv4 ? 4 : 6, ends[1]->ipv4 ? 4 : 6);
	return 0;
}

static int parse_command(const json_t *root, struct tcptuned_request *request,
			 struct tcptuned_error *err)
{
	const char *name = json_string_value(json_object_get(root, "command"));
	char suggestion[TCPTUNED_SUGGESTION];

	if (!name)
		return USAGE(err, "command: missing, or not a string");
	for (request->command = 0; commands[request->command]; request->command++)
		if (!strcmp(commands[request->command], name))
			return 0;
	return USAGE(err, "command: there is no %.60s; %s", name,
		     tcptuned_text_suggest(name, commands, "see tcptunectl(8)", suggestion));
}

static int parse_member(const char *name, const json_t *value, struct tcptuned_request *request,
			struct tcptuned_error *err)
{
	if (!strcmp(name, "command"))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (!strcmp(fields[i].name, name) && (fields[i].commands & 1u << request->command))
			return parse_field(&fields[i], value, request, err);
	return USAGE(err, "%.60s: %s takes no such field", name, commands[request->command]);
}

/* Check what depends on several fields, and fill in what is left out. */
static int check_request(struct tcptuned_request *request, struct tcptuned_error *err)
{
	unsigned int command = 1u << request->command;

	if ((command & (OF(POLICY_ENABLE) | OF(POLICY_DISABLE))) && !request->filter.policy[0])
		return USAGE(err, "policy: %s needs the name of a policy",
			     commands[request->command]);
	if ((command & OF(PATHS_FORGET)) && !request->prefix[0])
		return USAGE(err, "prefix: paths_forget needs a prefix, or all");
	if ((command & OF(ADVISE)) && request->filter.address.length != 128)
		return USAGE(err, "address: advise needs one address, and no prefix");
	if (request->rules && request->limit > TCPTUNED_RULES_LIMIT_MAX)
		return USAGE(err, "limit: with rules, must be a whole number from 1 to %d",
			     TCPTUNED_RULES_LIMIT_MAX);
	if (!request->limit)
		request->limit = request->rules ? TCPTUNED_RULES_LIMIT_MAX : TCPTUNED_FLOWS_LIMIT;
	return command & OF(POLICY_TEST) ? check_ends(&request->filter, err) : 0;
}

int tcptuned_request_parse(const char *line, size_t len, struct tcptuned_request *ret,
			   struct tcptuned_error *err)
{
	struct tcptuned_request request = {0};
	json_auto_t *root = NULL;
	json_error_t problem;
	const char *name;
	json_t *value;
	int error;

	if (len > TCPTUNED_REQUEST_MAX)
		return USAGE(err, "the request is longer than %d bytes", TCPTUNED_REQUEST_MAX);
	root = json_loadb(line, len, JSON_REJECT_DUPLICATES, &problem);
	if (!root)
		return USAGE(err, "the request is invalid JSON at byte %d: %.60s", problem.position,
			     problem.text);
	if (!json_is_object(root))
		return USAGE(err,
			     "the request is not a JSON object; write {\"command\":\"status\"}, "
			     "for example");
	error = parse_command(root, &request, err);
	json_object_foreach (root, name, value)
		error = error ?: parse_member(name, value, &request, err);
	error = error ?: check_request(&request, err);
	if (!error)
		*ret = request;
	return error;
}

void tcptuned_request_print_man(FILE *out)
{
	for (unsigned int command = 0; commands[command]; command++) {
		const char *separator = "";

		fprintf(out, ".TP\n.B %s\n", commands[command]);
		for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
			if (!(fields[i].commands & 1u << command))
				continue;
			fprintf(out, "%s%s", separator, fields[i].name);
			separator = ", ";
		}
		fputs(*separator ? "\n" : "nothing\n", out);
	}
}
