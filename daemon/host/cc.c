// SPDX-License-Identifier: GPL-2.0-only
#include "host/cc.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <linux/types.h>

#include <tcptuned/abi/policy.h>

#include "util/cleanup.h"

void tcptuned_congestion_offered(char ret[static TCPTUNED_CONGESTION_NAMES])
{
	_cleanup_fclose_ FILE *file =
		fopen("/proc/sys/net/ipv4/tcp_available_congestion_control", "re");
	char line[TCPTUNED_CONGESTION_NAMES - 2];

	ret[0] = '\0';
	if (file && fgets(line, sizeof(line), file))
		snprintf(ret, TCPTUNED_CONGESTION_NAMES, " %.*s ", (int)strcspn(line, "\n"), line);
}

bool tcptuned_congestion_is_offered(const char *offered, const char *name)
{
	char word[TCPTUNED_CC_NAME_MAX + 2];

	snprintf(word, sizeof(word), " %s ", name);
	return strstr(offered, word);
}

int tcptuned_congestion_load(const char *name)
{
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)))
		return -errno;
	return 0;
}
