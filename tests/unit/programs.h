/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lets a unit test include BPF programs: a program is a function of its arguments, and a field is
 * where the compiler puts it. Include it before them.
 */
#pragma once

#define preserve_access_index
#define __builtin_preserve_access_index(field) (field)
#include <linux/types.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#undef SEC
#define SEC(name)
#undef __weak
#define __weak
#undef BPF_PROG
#define BPF_PROG(name, args...) name(args)
#undef bpf_core_field_exists
#define bpf_core_field_exists(field...) 1
#undef BPF_CORE_READ_BITFIELD
#define BPF_CORE_READ_BITFIELD(s, field) ((s)->field)

/* Programs are global functions, which only the loader calls. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
