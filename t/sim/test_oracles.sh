#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Figures that others published, in the form that takes seconds (bench/oracles.c).
# $SCHEDLUA_TRACES is where logs of the Parallel Workloads Archive are; what needs one
# that is not there is skipped.
src=${srcdir:-$(dirname "$0")/../..}
exec bench/oracles --short --tap --traces "${SCHEDLUA_TRACES:-$src/../shared/traces}"
