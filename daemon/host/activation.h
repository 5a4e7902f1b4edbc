/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What systemd passes: sockets (systemd.socket(5)), and the executable of the previous build, for a
 * restart into a build whose programs the kernel does not load. systemd keeps a descriptor of each
 * build that has started (systemd.service(5), FileDescriptorStoreMax=); the file itself may have
 * been replaced meanwhile.
 */
#pragma once

/*
 * Returns how many sockets systemd has passed, and the first one, or -1, for the caller to close.
 */
int tcptuned_activation_sort(int *ret_socket);

/* Make systemd keep this executable in place of the previous one. Does nothing without systemd. */
void tcptuned_activation_keep_build(void);

/* Run the previous build with the same arguments. Returns if there is none, or it cannot be run. */
void tcptuned_activation_run_previous(char **argv);
