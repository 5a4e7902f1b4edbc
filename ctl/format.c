// SPDX-License-Identifier: GPL-2.0-only
#include "format.h"

#include <string.h>

#define LINE 2048

void ctl_format_bytes(unsigned long long bytes, char ret[CTL_WORD])
{
	static const char units[] = "KMGTPE";
	unsigned long long unit = 1024;
	int i = 0;

	if (bytes < 10000) {
		snprintf(ret, CTL_WORD, "%llu", bytes);
		return;
	}
	/* 999.95 of a unit would be printed as a thousand. */
	while (i < 5 && bytes / unit >= 1000) {
		unit *= 1024;
		i++;
	}
	if (bytes % unit == 0 || bytes / unit >= 100)
		snprintf(ret, CTL_WORD, "%llu%c", (bytes + unit / 2) / unit, units[i]);
	else
		snprintf(ret, CTL_WORD, "%.1f%c", (double)bytes / (double)unit, units[i]);
}

void ctl_format_us(unsigned long long us, char ret[CTL_WORD])
{
	if (!us)
		snprintf(ret, CTL_WORD, "-");
	else if (us < 10000)
		snprintf(ret, CTL_WORD, "%.2fms", (double)us / 1e3);
	else if (us < 1000000)
		snprintf(ret, CTL_WORD, "%.1fms", (double)us / 1e3);
	else
		snprintf(ret, CTL_WORD, "%.1fs", (double)us / 1e6);
}

void ctl_format_rate(double bits_per_second, char ret[CTL_WORD])
{
	if (bits_per_second < 1e9)
		snprintf(ret, CTL_WORD, bits_per_second < 1e8 ? "%.1f Mbit/s" : "%.0f Mbit/s",
			 bits_per_second / 1e6);
	else
		snprintf(ret, CTL_WORD, "%.2f Gbit/s", bits_per_second / 1e9);
}

void ctl_format_age(unsigned long long age_s, char ret[CTL_WORD])
{
	static const struct {
		unsigned int seconds;
		char letter;
	} units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
	size_t i = 0;

	while (units[i].seconds > 1 && age_s < units[i].seconds)
		i++;
	snprintf(ret, CTL_WORD, "%llu%c", age_s / units[i].seconds, units[i].letter);
}

/* The cell of @column in @row (NULL: its heading), "-" if it has no such member. */
static void format_cell(const struct tcptuned_column *column, const json_t *row, char ret[CTL_WORD])
{
	const json_t *value = ctl_member(row, column->json);
	unsigned long long number = (unsigned long long)json_integer_value(value);
	enum tcptuned_column_unit unit = column->unit;

	if (!row)
		snprintf(ret, CTL_WORD, "%s", column->heading);
	else if (json_is_string(value))
		snprintf(ret, CTL_WORD, "%s", json_string_value(value));
	else if (unit == COLUMN_SHARE && json_is_number(value))
		snprintf(ret, CTL_WORD, "%.2f%%", 100 * json_number_value(value));
	else if (!json_is_integer(value) || (unit == COLUMN_KNOWN_BYTES && !number))
		snprintf(ret, CTL_WORD, "-");
	else if (unit == COLUMN_US)
		ctl_format_us(number, ret);
	else if (unit == COLUMN_NUMBER)
		snprintf(ret, CTL_WORD, "%llu", number);
	else
		ctl_format_bytes(number, ret);
	if (unit == COLUMN_BYTES_PER_S && json_is_integer(value))
		strcat(ret, "/s");
}

static const json_t *find_text(const json_t *array, const char *text)
{
	json_t *element;
	size_t i;

	json_array_foreach (array, i, element)
		if (!strcmp(json_string_value(element), text))
			return element;
	return NULL;
}

const json_t *ctl_member(const json_t *object, const char *path)
{
	const char *dot = strchr(path, '.');
	const json_t *parent;

	if (!dot)
		return json_object_get(object, path);
	parent = json_object_getn(object, path, (size_t)(dot - path));
	return json_is_array(parent) ? find_text(parent, dot + 1)
				     : json_object_get(parent, dot + 1);
}

unsigned long long ctl_number(const json_t *object, const char *path)
{
	return (unsigned long long)json_integer_value(ctl_member(object, path));
}

double ctl_real(const json_t *object, const char *path)
{
	return json_number_value(ctl_member(object, path));
}

const char *ctl_text(const json_t *object, const char *path)
{
	const char *text = json_string_value(ctl_member(object, path));

	return text ? text : "";
}

void ctl_print_json(const json_t *answer)
{
	json_dumpf(answer, stdout, JSON_COMPACT);
	putchar('\n');
}

static bool is_set(const json_t *value)
{
	return json_is_true(value) || json_integer_value(value) ||
	       (json_is_string(value) && *json_string_value(value)) || json_is_object(value);
}

bool ctl_holds(const json_t *object, const char *condition)
{
	char copy[160], *term, *text, *rest;
	bool wanted, holds;

	snprintf(copy, sizeof(copy), "%s", condition);
	for (term = strtok_r(copy, " ", &rest); term; term = strtok_r(NULL, " ", &rest)) {
		wanted = *term != '!';
		term += !wanted;
		text = strchr(term, '=');
		if (text)
			*text++ = '\0';
		holds = text ? !strcmp(ctl_text(object, term), text)
			     : is_set(ctl_member(object, term));
		if (holds != wanted)
			return false;
	}
	return true;
}

static void print_value(FILE *out, const json_t *value, const char *format)
{
	unsigned long long number = (unsigned long long)json_integer_value(value);
	char size[CTL_WORD], us[CTL_WORD];

	ctl_format_bytes(number, size);
	ctl_format_us(number, us);
	if (!strcmp(format, "yes"))
		fputs(json_is_true(value) ? "yes" : "no", out);
	else if (!strcmp(format, "size"))
		fputs(size, out);
	else if (!strcmp(format, "us"))
		fputs(us, out);
	else if (json_is_string(value))
		fputs(json_string_value(value), out);
	else
		fprintf(out, "%llu", number);
	if (!strcmp(format, "bytes"))
		fputs(" bytes", out);
	if (!strcmp(format, "bytes") && number >= 10000)
		fprintf(out, " (%s)", size);
}

/* Print @text up to the next "{", and the member that is named there. Returns the rest. */
static const char *print_part(FILE *out, const json_t *object, const char *text)
{
	int plain = (int)strcspn(text, "{"), name;
	char member[80], *format;

	fprintf(out, "%.*s", plain, text);
	text += plain;
	if (!*text)
		return text;
	name = (int)strcspn(++text, "}");
	snprintf(member, sizeof(member), "%.*s", name, text);
	format = strchr(member, ':');
	if (format)
		*format++ = '\0';
	print_value(out, ctl_member(object, member), format ? format : "");
	return text + name + 1;
}

void ctl_print(FILE *out, const json_t *object, const struct ctl_template *texts)
{
	for (; texts->text; texts++) {
		if (!ctl_holds(object, texts->condition))
			continue;
		for (const char *text = texts->text; *text;)
			text = print_part(out, object, text);
	}
}

bool ctl_several_namespaces(const json_t *rows)
{
	const json_t *first = json_array_get(rows, 0);

	for (size_t i = 1; i < json_array_size(rows); i++)
		if (ctl_number(json_array_get(rows, i), "netns") != ctl_number(first, "netns"))
			return true;
	return false;
}

static int column_width(const struct tcptuned_column *column, const json_t *rows)
{
	size_t width = strlen(column->heading), i;
	char cell[CTL_WORD];
	json_t *row;

	json_array_foreach (rows, i, row) {
		format_cell(column, row, cell);
		if (strlen(cell) > width)
			width = strlen(cell);
	}
	return (int)width;
}

void ctl_print_table(FILE *out, const json_t *rows, const struct tcptuned_column *const *columns,
		     size_t columns_len)
{
	char line[LINE], cell[CTL_WORD];
	int widths[columns_len + 1];
	size_t len;

	for (size_t c = 0; c < columns_len; c++)
		widths[c] = column_width(columns[c], rows);
	for (size_t i = 0; i <= json_array_size(rows); i++) {
		len = 0;
		for (size_t c = 0; c < columns_len && len < sizeof(line); c++) {
			format_cell(columns[c], i ? json_array_get(rows, i - 1) : NULL, cell);
			/* Text is aligned to the left, numbers to the right. */
			len += (size_t)snprintf(
				line + len, sizeof(line) - len, "%s%*s", len ? "  " : "",
				columns[c]->unit == COLUMN_TEXT ? -widths[c] : widths[c], cell);
		}
		if (len >= sizeof(line))
			len = sizeof(line) - 1;
		while (len && line[len - 1] == ' ')
			len--;
		fprintf(out, "%.*s\n", (int)len, line);
	}
}

void ctl_print_rest(FILE *out, const json_t *answer, const char *all, const char *name)
{
	unsigned long long matched = ctl_number(answer, all);
	size_t shown = json_array_size(json_object_get(answer, name));

	if (matched > shown)
		fprintf(out, "and %llu more (--limit)\n", matched - shown);
}
