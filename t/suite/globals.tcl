
# SPDX-License-Identifier: MIT
# (sched/lua) A test that asks whether starts are deferred would skip itself: it is told that they are
# not, since what it then looks at has to hold here too.
if {[info procs said_get_config_param] eq ""} {
	rename get_config_param said_get_config_param
	proc get_config_param args {
		set value [said_get_config_param {*}$args]
		if {[lindex $args end] eq "SchedulerParameters"} {
			return [string trim [regsub -all {(defer|sched_interval=-1),?} $value ""] ,]
		}
		return $value
	}
}
