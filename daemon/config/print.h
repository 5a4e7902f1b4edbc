/* SPDX-License-Identifier: GPL-2.0-only */
/* The configuration and the table of its keys, as text. */
#ifndef TCPTUNED_CONFIG_PRINT_H
#define TCPTUNED_CONFIG_PRINT_H

#include <stdio.h>

#include "config/config.h"

/* --check-config: every value that is in effect, as a configuration file, with its origin. */
void tcptuned_config_print(const struct tcptuned_config *config, FILE *out);

/* --help-config: every key explained and commented out, which `make install` puts into
 * /etc/tcptuned. */
void tcptuned_config_print_example(FILE *out);

/* The table as sections of tcptuned.conf(5), in man(7) markup. */
void tcptuned_config_print_man(FILE *out);

#endif
