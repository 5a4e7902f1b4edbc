// SPDX-License-Identifier: GPL-2.0-only
#include "tun.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <linux/if_link.h>
#include <linux/if_tun.h>

/*
 * The TUN ring has this many places. At the kernel's 500 packets vanish unseen when many flows
 * burst at once, and a GSO segment takes one place like an ACK does.
 */
#define TUN_QUEUE_LEN 20000

/* struct in6_ifreq of linux/ipv6.h, which does not go together with netinet/in.h. */
struct ifreq6 {
	struct in6_addr addr;
	uint32_t prefix_len;
	int ifindex;
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}
#define _cleanup_fd_ __attribute__((cleanup(close_fd)))

static int open_netns(const char *netns)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", netns ? netns : "");
	fd = open(netns ? path : "/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The sysctl may be missing (no IPv6): nothing is lost then. */
static void write_sysctl6(const char *device, const char *name, const char *value)
{
	_cleanup_fd_ int fd = -1;
	char path[128];

	snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/%s", device, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, value, strlen(value)) < 0)
		return;
}

static int create(struct tun *tun, const char *device)
{
	struct ifreq ifr = {.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR};

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", device);
	tun->fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (tun->fd < 0 || ioctl(tun->fd, TUNSETIFF, &ifr) < 0)
		return -errno;
	memcpy(tun->device, ifr.ifr_name, sizeof(tun->device));
	if (ioctl(tun->fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN))
		return -errno;
	return 0;
}

/* Splits "address/prefix"; the address goes to @ret_addr, in network order. */
static int parse_prefix(int family, const char *text, void *ret_addr, unsigned int *ret_len)
{
	char copy[64], *slash, *end;

	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return -EINVAL;
	slash = strchr(copy, '/');
	if (!slash)
		return -EINVAL;
	*slash = '\0';
	*ret_len = strtoul(slash + 1, &end, 10);
	if (*end || end == slash + 1 || *ret_len > (family == AF_INET ? 32 : 128) ||
	    inet_pton(family, copy, ret_addr) != 1)
		return -EINVAL;
	return 0;
}

static int set_addr4(int sock, struct ifreq *ifr, const char *text)
{
	struct sockaddr_in *sin = (struct sockaddr_in *)&ifr->ifr_addr;
	unsigned int len;
	int err;

	*sin = (struct sockaddr_in){.sin_family = AF_INET};
	err = parse_prefix(AF_INET, text, &sin->sin_addr, &len);
	if (err)
		return err;
	if (ioctl(sock, SIOCSIFADDR, ifr) < 0)
		return -errno;
	sin->sin_addr.s_addr = len ? htonl(~0u << (32 - len)) : 0;
	return ioctl(sock, SIOCSIFNETMASK, ifr) < 0 ? -errno : 0;
}

/* The kernel lets an address be used a moment after it was given: addrconf_dad_work() is a work. */
static int await_addr6(int sock, const struct in6_addr *addr)
{
	const struct sockaddr_in6 sin = {.sin6_family = AF_INET6, .sin6_addr = *addr};

	for (int ms = 0; ms < 10000; ms++) {
		if (!bind(sock, (const struct sockaddr *)&sin, sizeof(sin)))
			return 0;
		if (errno != EADDRNOTAVAIL)
			break;
		usleep(1000);
	}
	return -errno;
}

static int set_addr6(struct ifreq *ifr, const char *text)
{
	_cleanup_fd_ int sock = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq6 req;
	unsigned int len;
	int err;

	if (sock < 0)
		return errno == EAFNOSUPPORT ? 0 : -errno;
	err = parse_prefix(AF_INET6, text, &req.addr, &len);
	if (err)
		return err;
	if (ioctl(sock, SIOCGIFINDEX, ifr) < 0)
		return -errno;
	req.prefix_len = len;
	req.ifindex = ifr->ifr_ifindex;
	if (ioctl(sock, SIOCSIFADDR, &req) < 0)
		return -errno;
	return await_addr6(sock, &req.addr);
}

static int configure(const struct tun *tun, const struct tun_config *config, const char **ret_what)
{
	_cleanup_fd_ int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq ifr = {0};
	int err;

	*ret_what = "set the queue length of";
	memcpy(ifr.ifr_name, tun->device, sizeof(ifr.ifr_name));
	ifr.ifr_qlen = TUN_QUEUE_LEN;
	if (sock < 0 || ioctl(sock, SIOCSIFTXQLEN, &ifr) < 0)
		return -errno;
	*ret_what = "give an IPv4 address to";
	err = set_addr4(sock, &ifr, config->addr4);
	if (err)
		return err;
	/* no packets of the kernel's own on a link whose packets are counted */
	write_sysctl6(tun->device, "addr_gen_mode", "1");
	write_sysctl6(tun->device, "router_solicitations", "0");
	*ret_what = "bring up";
	if (ioctl(sock, SIOCGIFFLAGS, &ifr) < 0)
		return -errno;
	ifr.ifr_flags = (ifr.ifr_flags | IFF_UP) & ~IFF_MULTICAST;
	if (ioctl(sock, SIOCSIFFLAGS, &ifr) < 0)
		return -errno;
	*ret_what = "give an IPv6 address to";
	return set_addr6(&ifr, config->addr6);
}

int tun_open(const struct tun_config *config, struct tun *ret, const char **ret_what)
{
	_cleanup_fd_ int home = open_netns(NULL);
	int err;

	*ret_what = "enter the namespace of";
	ret->netns_fd = open_netns(config->netns);
	if (home < 0 || ret->netns_fd < 0)
		return home < 0 ? home : ret->netns_fd;
	if (setns(ret->netns_fd, CLONE_NEWNET) < 0)
		return -errno;
	*ret_what = "make";
	err = create(ret, config->device);
	if (!err)
		err = configure(ret, config, ret_what);
	if (setns(home, CLONE_NEWNET) < 0)
		return -errno;
	return err;
}

void tun_close(struct tun *tun)
{
	close_fd(&tun->fd);
	close_fd(&tun->netns_fd);
}

static int read_counters(const char *device, struct device_counters *ret)
{
	struct ifaddrs *all;
	int err = -ENODEV;

	if (getifaddrs(&all) < 0)
		return -errno;
	for (struct ifaddrs *i = all; i; i = i->ifa_next) {
		const struct rtnl_link_stats *s = i->ifa_data;

		/* a TUN device has no link address, and then no address family either */
		if (!s || strcmp(i->ifa_name, device) ||
		    (i->ifa_addr && i->ifa_addr->sa_family != AF_PACKET))
			continue;
		*ret = (struct device_counters){s->tx_dropped, s->rx_dropped};
		err = 0;
	}
	freeifaddrs(all);
	return err;
}

int tun_counters(const struct tun *tun, struct device_counters *ret)
{
	_cleanup_fd_ int home = open_netns(NULL);
	int err;

	if (home < 0)
		return home;
	if (setns(tun->netns_fd, CLONE_NEWNET) < 0)
		return -errno;
	err = read_counters(tun->device, ret);
	if (setns(home, CLONE_NEWNET) < 0)
		return -errno;
	return err;
}
