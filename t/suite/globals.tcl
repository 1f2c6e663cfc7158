
# SPDX-License-Identifier: MIT
# (sched/lua) A test that asks which scheduler there is, or whether starts are deferred, would
# skip itself: it is told what it wants to hear, since what it then looks at has to hold here too.
if {[info procs said_get_config_param] eq ""} {
	rename get_config_param said_get_config_param
	proc get_config_param args {
		set value [said_get_config_param {*}$args]
		switch [lindex $args end] {
			SchedulerType { return "sched/backfill" }
			SchedulerParameters { return [string trim [regsub -all {(defer|sched_interval=-1),?} $value ""] ,] }
		}
		return $value
	}
}
