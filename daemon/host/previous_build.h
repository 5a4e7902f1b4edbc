/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The executable of the previous build, for a restart into a build whose programs the kernel does not
 * load. systemd keeps a descriptor of each build that has started, and passes it to the next one
 * (systemd.service(5), FileDescriptorStoreMax=); the file itself may have been replaced meanwhile.
 */
#ifndef TCPTUNED_HOST_PREVIOUS_BUILD_H
#define TCPTUNED_HOST_PREVIOUS_BUILD_H

/* Returns how many sockets systemd has passed, and the first one, or -1, for the caller to close. */
int tcptuned_previous_sort_passed(int *ret_socket);

/* Make systemd keep this executable in place of the previous one. Does nothing without systemd. */
void tcptuned_previous_keep(void);

/* Run the previous build with the same arguments. Returns if there is none, or it cannot be run. */
void tcptuned_previous_run(char **argv);

#endif
