#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The steps of preempt_kill.t from the first end of a job that was told to end: a test of its own, so that both run side by side.
SL_STEPS=${SL_STEPS:-8 99}
. "${0%/*}/preempt_kill.t"
