#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The engine is killed at the steps at which preempt_kill.t kills slurmctld.
SL_WHOM=engine SL_STEPS=${SL_STEPS:-1 99}
. "${0%/*}/preempt_kill.t"
