/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints the configuration, and the table of its keys. */
#pragma once

#include <stdio.h>

#include "config/config.h"

/* --check-config: every value with its origin, as a configuration file. */
void tcptuned_config_print(const struct tcptuned_config *config, FILE *out);

/* --help-config: every key explained, commented out; `make install` puts it into /etc/tcptuned. */
void tcptuned_config_print_example(FILE *out);

/* Print the table as sections of tcptuned.conf(5), in man(7) markup. */
void tcptuned_config_print_man(FILE *out);
