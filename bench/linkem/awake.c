// SPDX-License-Identifier: GPL-2.0-only
#include "awake.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <time.h>

static struct {
	pthread_t threads[CPU_SETSIZE];
	unsigned int count;
	bool stop;
} awake;

/* Without `pause`: hosts take it for waiting, and give the processor to others. */
static void *spin(void *arg)
{
	struct sched_param param = {0};

	(void)arg;
	if (pthread_setschedparam(pthread_self(), SCHED_IDLE, &param))
		return NULL;
	while (!__atomic_load_n(&awake.stop, __ATOMIC_RELAXED))
		;
	return NULL;
}

static int start_on(int cpu)
{
	pthread_attr_t attr;
	cpu_set_t set;
	int err;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	err = pthread_attr_init(&attr);
	if (err)
		return -err;
	err = pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	if (!err)
		err = pthread_create(&awake.threads[awake.count], &attr, spin, NULL);
	pthread_attr_destroy(&attr);
	if (!err)
		awake.count++;
	return -err;
}

int awake_start(void)
{
	cpu_set_t allowed;
	int err = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return -errno;
	for (int cpu = 0; cpu < CPU_SETSIZE && !err; cpu++)
		if (CPU_ISSET(cpu, &allowed))
			err = start_on(cpu);
	if (err)
		awake_stop();
	return err;
}

void awake_stop(void)
{
	__atomic_store_n(&awake.stop, true, __ATOMIC_RELAXED);
	while (awake.count)
		pthread_join(awake.threads[--awake.count], NULL);
	awake.stop = false;
}

double awake_cpu_s(void)
{
	struct timespec ts;
	clockid_t clock;
	double s = 0;

	for (unsigned int i = 0; i < awake.count; i++)
		if (!pthread_getcpuclockid(awake.threads[i], &clock) && !clock_gettime(clock, &ts))
			s += ts.tv_sec + ts.tv_nsec / 1e9;
	return s;
}
