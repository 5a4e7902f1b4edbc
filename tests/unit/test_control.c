// SPDX-License-Identifier: GPL-2.0-only
/* The control socket where memory is short. Events come from the kernel's maps: as root only. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include <bpf/bpf.h>
#include <tcptuned/abi/event.h>

#include "kern/loader.h"
#include "rpc/server.h"

/* The next buffer that is begun fails. The linker leads tcptuned's own calls here (--wrap). */
static bool no_memory;

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_realloc(void *old, size_t size)
{
	if (no_memory && !old && size == 4096) { /* what a struct tcptuned_buf begins with */
		no_memory = false;
		errno = ENOMEM;
		return NULL;
	}
	return __real_realloc(old, size);
}

static char directory[64];
static struct tcptuned_kernel kernel;

static int setup(void **state)
{
	strcpy(directory, "/tmp/tcptuned-control-XXXXXX");
	tcptuned_kernel_init(&kernel, directory);
	kernel.map_fd[TCPTUNED_MAP_EVENTS] =
		bpf_map_create(BPF_MAP_TYPE_RINGBUF, "test_events", 0, 0, 4096, NULL);
	kernel.map_fd[TCPTUNED_MAP_EVENT_GATE] =
		bpf_map_create(BPF_MAP_TYPE_ARRAY, "test_gate", sizeof(__u32),
			       sizeof(struct tcptuned_event_gate), 1, NULL);
	return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
	tcptuned_kernel_close(&kernel);
	return rmdir(directory);
}

static struct tcptuned_control *start(void)
{
	struct tcptuned_control_options options = { .directory = directory,
						    .source.kernel = &kernel };
	struct tcptuned_control *control;
	struct tcptuned_error err = { 0 };

	if (tcptuned_control_start(&control, &options, &err))
		fail_msg("%s", err.text);
	return control;
}

static int ask_for_events(void)
{
	static const char request[] = "{\"command\":\"events\"}\n";
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address;

	assert_int_equal(tcptuned_control_address(directory, &address), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
	return fd;
}

/* What there is to read after a few turns of the loop; -1: nothing yet, 0: the end. */
static ssize_t told(struct tcptuned_control *control, int fd, char ret[256])
{
	for (int i = 0; i < 5; i++)
		tcptuned_control_run(control);
	return recv(fd, ret, 256, MSG_DONTWAIT);
}

static void need_maps(void)
{
	if (kernel.map_fd[TCPTUNED_MAP_EVENTS] < 0 || kernel.map_fd[TCPTUNED_MAP_EVENT_GATE] < 0)
		skip();
}

/* One that could not be told something is not kept waiting for what will never be told. */
static void test_a_listener_without_a_buffer_is_ended(void **state)
{
	struct tcptuned_control *control;
	char text[256];
	int fd;

	need_maps();
	control = start();
	fd = ask_for_events();
	no_memory = true;
	assert_int_equal(told(control, fd, text), 0);
	assert_false(no_memory);
	close(fd);

	fd = ask_for_events(); /* who asks again is luckier */
	assert_true(told(control, fd, text) > 0);
	assert_memory_equal(text, "{\"event\":\"listening\"}", 21);
	assert_int_equal(told(control, fd, text), -1);
	close(fd);
	tcptuned_control_stop(control);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_listener_without_a_buffer_is_ended, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
