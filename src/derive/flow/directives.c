// SPDX-License-Identifier: Apache-2.0

#include "flow/directives.h"

#include "base/secret.h"

#include <string.h>

static int read_text(struct flow *f, const char *where, struct str text, struct err *err) {
	return directive_read(&f->levels, where, text, f->wants.app.value, err);
}

static int read_file(struct flow *f, const struct setting *file, struct err *err) {
	struct str text;
	const char *path = file->value;
	int r = access_read(&f->access, f->arena, file->from, file, DIRECTIVE_FILE_MAX, &text, err);
	if (r == 0 && text.len == 0 && strcmp(path, "/dev/null") != 0) {
		// This may be intended, but a copy of a bundle is also empty if the disk was full.
		notes_add(f->notes, "%s %s is empty", file->from, quote_text(path).s);
	}
	// Messages and `explain` show the path.
	return r < 0 ? r : read_text(f, secret_text(f->arena, path), text, err);
}

static int read_variable_files(struct flow *f, struct err *err) {
	struct setting file = f->wants.variable_files;
	struct str paths = str_of(file.value), path;
	int r = 0;
	while (r == 0 && str_cut(&paths, ':', &path)) {
		if (path.len) {
			file.value = arena_text(f->arena, path.p, path.len);
			r = read_file(f, &file, err);
		}
	}
	return r;
}

/**
 * Warn if no file has a section of the given app, but some file has sections, or --app is given without a
 * file. A file without sections applies to all apps. If a variable gives the app, there may be no file:
 * the variable may be part of an image that jobs use without files, too.
 */
static void note_missing_app(struct flow *f) {
	const struct setting *app = &f->wants.app;
	const struct directive_levels *levels = &f->levels;
	bool pointless = levels->sections || (setting_by_option(app) && !levels->texts);
	if (app->value && !levels->app_found && pointless) {
		notes_add(f->notes, "%s=%s: no directive file has a section [app %s]%s", app->from,
			  quote_text(app->value).s, secret_text(f->arena, app->value),
			  nearest_hint(&levels->nearest, "").s);
	}
}

int directives_read(struct flow *f, struct err *err) {
	const struct wants *w = &f->wants;
	int r = w->bundle ? read_text(f, "DISTINIT_BUNDLE", str_of(w->bundle), err) : 0;
	r = r < 0 ? r : read_variable_files(f, err);
	if (r == 0 && w->variable_lines) {
		r = read_text(f, "DISTINIT_ENV", str_of(w->variable_lines), err);
	}
	for (uint32_t i = 0; r == 0 && i < w->n_option_files; i++) {
		r = read_file(f, &(struct setting){w->option_files[i], "--env-file", BY_COMMAND_LINE}, err);
	}
	if (r == 0) {
		note_missing_app(f);
	}
	return r;
}
