// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: any bytes as a configuration file. What is accepted is valid, and the same when
 * it is printed and read again; what is refused gets one sentence and changes no configuration.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "config/config.h"
#include "config/diff.h"
#include "config/load.h"
#include "config/print.h"

/* A file in memory, reached by its path. */
static int file_fd = -1;
static char path[64];

static void write_file(const void *data, size_t size)
{
	if (file_fd < 0) {
		file_fd = memfd_create("config", 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file_fd);
	}
	CHECK(!ftruncate(file_fd, 0));
	CHECK(pwrite(file_fd, data, size, 0) == (ssize_t)size);
}

static void check_refused(const struct tcptuned_config *config, const struct tcptuned_error *err)
{
	const unsigned char *bytes = (const unsigned char *)config;

	for (size_t i = 0; i < sizeof(*config); i++)
		CHECK(bytes[i] == 0xa5);
	/* A destination_file may be missing, or have a line that is wrong. */
	CHECK(err->status == TCPTUNED_EXIT_CONFIG);
	CHECK(!strncmp(err->text, path, strlen(path)) ||
	      strstr(err->text, ".destination_file: the line "));
	for (const char *p = err->text; *p; p++)
		CHECK((unsigned char)*p >= ' ' && *p != 0x7f);
}

static void check_accepted(const struct tcptuned_config *config)
{
	struct tcptuned_config again;
	struct tcptuned_error err;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK(bitcp_params_valid(&config->bitcp));
	CHECK(config->metrics_port);
	CHECK(config->metrics_flows <= 1000);
	tcptuned_config_print(config, out);
	fclose(out);
	write_file(text, size);
	free(text);
	CHECK(!tcptuned_config_load(path, NULL, &again, &err));
	CHECK(!tcptuned_config_diff(config, &again, NULL, NULL));
	tcptuned_config_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tcptuned_config config;
	struct tcptuned_error err = {0};

	memset(&config, 0xa5, sizeof(config));
	write_file(data, size);
	if (tcptuned_config_load(path, NULL, &config, &err))
		check_refused(&config, &err);
	else {
		check_accepted(&config);
		tcptuned_config_free(&config);
	}
	return 0;
}
