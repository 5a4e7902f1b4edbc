// SPDX-License-Identifier: GPL-2.0-only
#include "host/cc.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#include <tcptuned/abi/policy.h>

#include "util/cleanup.h"
#include "util/sysctl.h"

void tcptuned_cc_offered(char ret[static TCPTUNED_CONGESTION_NAMES])
{
	ret[0] = ' ';
	if (tcptuned_sysctl_read("net.ipv4.tcp_available_congestion_control", ret + 1,
				 TCPTUNED_CONGESTION_NAMES - 2))
		ret[0] = '\0';
	else
		strcat(ret, " ");
}

bool tcptuned_cc_is_offered(const char *offered, const char *name)
{
	char word[TCPTUNED_CC_NAME_MAX + 2];

	snprintf(word, sizeof(word), " %s ", name);
	return strstr(offered, word);
}

bool tcptuned_cc_is_module(const char *name)
{
	_cleanup_fclose_ FILE *file = NULL;
	char path[128], module[TCPTUNED_CC_NAME_MAX + 16], line[512];
	struct utsname host;
	bool found;

	uname(&host);
	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", host.release);
	snprintf(module, sizeof(module), "/tcp_%s.ko", name);
	file = fopen(path, "re");
	found = !file && errno != ENOENT;
	while (file && !found && fgets(line, sizeof(line), file))
		found = strstr(line, module);
	return found;
}

bool tcptuned_cc_is_chosen(const char *name)
{
	return strcmp(name, "cubic") && strcmp(name, "reno");
}

int tcptuned_cc_load(const char *name)
{
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)))
		return -errno;
	return 0;
}
