# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# audit.sh - is anything of the cluster given twice?  Asked of scontrol alone, whatever slurmctld and
# its scheduler think of it; for sourcing after live.sh.
#
# Jobs that are completing do not count: a reconfiguration of slurmctld gives their cores back at once
# (select_p_reconfigure() takes up running and suspended jobs alone).  Nor do the cores and licences of a job that was
# suspended: they are given to others meanwhile, and when it is resumed both have them (scontrol(1)).

# audit_allocations : what is wrong, a line each, on stdout, and status 1; how many allocations were
# looked at, on stderr.  GPUs of a node have one job each, cores no more than its partition's OverSubscribe says, its
# memory is not exceeded, nor are licences.  (When a partition is changed select puts its jobs into rows anew.  It may
# find none for a job that shares cores, says so, and gives its cores once more: these are not looked at then.)
audit_allocations() {
	{ scontrol -o show partition; scontrol -o show node; scontrol -o show license; scontrol -d -o show job; } 2> /dev/null |
		awk -v forgot="$(log_has 'job overflow' && echo 1)" '
		function value(key,  i) {
			for (i = 1; i <= NF; i++)
				if (index($i, key "=") == 1)
					return substr($i, length(key) + 2)
			return ""
		}
		function wrong(text) { print text ": " $1; bad = 1 }
		function take(what, list, most,  n, k, c, ids, r) {	# "0-3,6"
			n = split(list, ids, ",")
			for (k = 1; k <= n; k++) {
				split(ids[k], r, "-")
				for (c = r[1] + 0; c <= (r[2] == "" ? r[1] : r[2]) + 0; c++)
					if (++seen[what, c] > most && !(forgot && most > 1))
						wrong(what " " c " is had by " seen[what, c] " of " most)
			}
		}
		# "n[001-002,005]" into node[]; returns how many
		function expand(list, node,  head, part, n, k, r, c, w, m) {
			if (list !~ /\[/)
				return split(list, node, ",")
			head = substr(list, 1, index(list, "[") - 1)
			list = substr(list, index(list, "[") + 1)
			sub(/\].*/, "", list)
			n = split(list, part, ",")
			m = 0
			for (k = 1; k <= n; k++) {
				split(part[k], r, "-")
				w = length(r[1])
				for (c = r[1] + 0; c <= (r[2] == "" ? r[1] : r[2]) + 0; c++)
					node[++m] = sprintf("%s%0" w "d", head, c)
			}
			return m
		}
		/^PartitionName=/ { split(value("OverSubscribe"), share, ":"); rows[substr($1, 15)] = share[2] }
		/^NodeName=/ { memory[substr($1, 10)] = value("RealMemory") + 0 }
		/^LicenseName=/ { licence[substr($1, 13)] = value("Total") + 0 }
		/ JobState=(RUNNING|CONFIGURING|SUSPENDED) / {
			suspended = / JobState=SUSPENDED / || (/ SuspendTime=/ && !/ SuspendTime=(None|Unknown) /)
			for (i = 1; i < NF; i++) {
				if ($i !~ /^Nodes=/ || $(i + 1) !~ /^CPU_IDs=/)
					continue
				delete node
				m = expand(substr($i, 7), node)
				for (k = 1; k <= m; k++) {
					looked++
					if (!suspended)
						take(node[k] " core", substr($(i + 1), 9), rows[value("Partition")] > 1 ? \
							rows[value("Partition")] : 1)
					used[node[k]] += substr($(i + 2), 5)
					if (node[k] in memory && used[node[k]] > memory[node[k]])
						wrong(node[k] " memory " used[node[k]] " of " memory[node[k]])
					if ($(i + 3) ~ /^GRES=.*\(IDX:[0-9]/) {
						list = $(i + 3)
						sub(/.*\(IDX:/, "", list)
						sub(/\).*/, "", list)
						take(node[k] " GPU", list, 1)
					}
				}
			}
			# (of alternatives, the one that it got)
			n = split(/ LicensesAlloc=/ ? value("LicensesAlloc") : value("Licenses"), asked, ",")
			for (k = 1; k <= n && !suspended; k++) {
				split(asked[k], l, ":")
				held[l[1]] += l[2] == "" ? 1 : l[2]
				if (l[1] in licence && held[l[1]] > licence[l[1]])
					wrong("licence " l[1] " " held[l[1]] " of " licence[l[1]])
			}
		}
		END { if (looked > 1) print looked > "/dev/stderr"; exit bad }'
}
