// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Texts for people, as vsnprintf() makes them, but for its conversions of floating point: with those, musl's is 10 KiB, a tenth of
 * the program.
 */

#include <stdarg.h>
#include <stddef.h>

/**
 * Write the text into the @size bytes at @at, cut where it is longer, always with a NUL if @size is not 0.
 *
 * Known are %s (with a precision, too), %c, %d, %u, %x with the lengths l and z, a width, and the flags - and 0; and %%. Another
 * one ends the program.
 *
 * Returns the length of the whole text.
 */
size_t format_text(char *at, size_t size, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));
