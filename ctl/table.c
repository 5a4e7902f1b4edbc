// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "ctl.h"
#include "flows/top.h"
#include "util/array.h"

#define CELL 80 /* any address */
#define LINE 2048

static void format_cell(const struct tcptuned_column *column, const json_t *flow, char cell[CELL])
{
	const json_t *value = ctl_member(flow, column->json);
	unsigned long long number = (unsigned long long)json_integer_value(value);
	char word[CTL_WORD];

	snprintf(cell, CELL, "-");
	if (json_is_string(value))
		snprintf(cell, CELL, "%s", json_string_value(value));
	if (!json_is_integer(value))
		return;
	switch (column->unit) {
	case COLUMN_BYTES:
		ctl_format_bytes(number, word);
		break;
	case COLUMN_BYTES_PER_S:
		ctl_format_bytes(number, word);
		strcat(word, "/s");
		break;
	case COLUMN_US:
		ctl_format_us(number, word);
		break;
	default:
		snprintf(word, sizeof(word), "%llu", number);
	}
	snprintf(cell, CELL, "%s", word);
}

static int width_of(const struct tcptuned_column *column, const json_t *flows)
{
	size_t width = strlen(column->heading), i;
	char cell[CELL];
	json_t *flow;

	json_array_foreach(flows, i, flow) {
		format_cell(column, flow, cell);
		if (strlen(cell) > width)
			width = strlen(cell);
	}
	return (int)width;
}

/* Add a cell to the line: text to the left, numbers to the right. */
static void add_cell(char line[LINE], const struct tcptuned_column *column, const char *cell,
		     int width)
{
	size_t used = strlen(line);

	snprintf(line + used, LINE - used, "%s%*s", used ? "  " : "",
		 column->unit == COLUMN_TEXT ? -width : width,
		 cell);
}

static void print_line(FILE *out, char line[LINE], size_t width)
{
	size_t len = strlen(line);

	if (width && len > width)
		len = width;
	while (len && line[len - 1] == ' ')
		len--;
	fprintf(out, "%.*s\n", (int)len, line);
}

void ctl_print_table(FILE *out, const json_t *flows, const struct tcptuned_column *const *columns,
		     size_t columns_len, size_t width)
{
	char line[LINE] = "", cell[CELL];
	int widths[columns_len ? columns_len : 1];
	json_t *flow;
	size_t i, c;

	for (c = 0; c < columns_len; c++) {
		widths[c] = width_of(columns[c], flows);
		add_cell(line, columns[c], columns[c]->heading, widths[c]);
	}
	print_line(out, line, width);
	json_array_foreach(flows, i, flow) {
		line[0] = '\0';
		for (c = 0; c < columns_len; c++) {
			format_cell(columns[c], flow, cell);
			add_cell(line, columns[c], cell, widths[c]);
		}
		print_line(out, line, width);
	}
}
