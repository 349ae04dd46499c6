// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Text for people, formatted like vsnprintf(), but without floating point: musl's vsnprintf() takes
 * 10 KiB because of it.
 */

#include <stdarg.h>
#include <stddef.h>

/**
 * Write the text into the @size bytes at @at. A longer text is cut. A NUL is always added, unless
 * @size is 0.
 *
 * Supported are %s (also with a precision), %c, %d, %u, %x with the lengths l and z, a width, and
 * the flags - and 0; and %%. Any other conversion calls abort().
 *
 * Returns the length of the whole text.
 */
size_t format_text(char *at, size_t size, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));
