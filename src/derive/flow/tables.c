// SPDX-License-Identifier: Apache-2.0

#include "flow/tables.h"

#include <stddef.h>

#define SOURCE(name)		 extern const struct source source_##name;
#define ROW(name)		 SOURCE(name)
#define SOURCE_AGAIN(name, when) extern const struct source source_##name##_##when;
#define LAUNCHER(name)		 extern const struct launcher launcher_##name;
#define FRAMEWORK(name)		 extern const struct framework framework_##name;
#include "framework/list.h"
#include "launcher/list.h"
#include "source/list.h"
#undef SOURCE
#undef SOURCE_AGAIN
#undef LAUNCHER
#undef FRAMEWORK

#define SOURCE(name)		 &source_##name,
#define SOURCE_AGAIN(name, when) &source_##name##_##when,
#define LAUNCHER(name)		 &launcher_##name,
#define FRAMEWORK(name)		 &framework_##name,

const struct source *const sources[] = {
#include "source/list.h"
	NULL,
};

const struct launcher *const launchers[] = {
#include "launcher/list.h"
	NULL,
};

const struct framework *const frameworks[] = {
#include "framework/list.h"
	NULL,
};
