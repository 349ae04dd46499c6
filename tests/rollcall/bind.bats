#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --wait --for=all, and programs that bind the master's port afterwards.

load binder

@test "roll call: a program without SO_REUSEADDR binds the port at once, fifty times" {
	binder
	fifty_times plain
}

@test "roll call: Python's http.server binds the port at once, fifty times" {
	binder
	fifty_times http
}
