# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# table1.sh - the three jobs of the IPSCHED paper's Table 1, for sourcing after
# cluster.sh: on N nodes of 8 cores and 2 GPUs
#
#   J1   -n 4N                          half of the machine's cores, anywhere
#   J2   -N N/2 --gres=gpu:2 -n 2N      4 cores and both GPUs of half of the nodes
#   J3   the same
#
# All three fit at once, and only with J1 on 4 cores of every node.  In the order
# of submission and best fit, J1 takes half of the nodes whole, J2 the other half,
# and J3 waits.
#
#   table1_submit NODES    sets J1 J2 J3; nothing starts yet: all nodes are reserved
#   table1_release         now, all at once
#   table1_show JOB        "128 nodes, 4 cores on each, 2 GPUs on each"
#   table1_site            a site file with the policy that sees them together

TABLE1_HOLD=table1

table1_submit() { # NODES [OPTION of sbatch...]
	local n=$1
	shift
	scontrol -Q create ReservationName=$TABLE1_HOLD StartTime=now Duration=7-0 Users=root \
		Flags=IGNORE_JOBS Nodes=ALL > /dev/null || return 1
	# shellcheck disable=SC2034	# for who sources this
	J1=$(table1_sbatch "$@" -J J1 -n $((4 * n))) &&
		J2=$(table1_sbatch "$@" -J J2 -N $((n / 2)) --gres=gpu:2 -n $((2 * n))) &&
		J3=$(table1_sbatch "$@" -J J3 -N $((n / 2)) --gres=gpu:2 -n $((2 * n)))
}

table1_sbatch() { sbatch --parsable -o /dev/null -t 20 "$@" --wrap "exec sleep ${TABLE1_SECONDS:-1000}"; }
table1_release() { scontrol -Q delete ReservationName=$TABLE1_HOLD; }

# Cores and GPUs of a running job, over all its nodes, as scontrol shows them; more
# than one figure where nodes differ.
table1_show() {
	scontrol -d show job "$1" | sed -nE 's/^ *Nodes=(\S+) CPU_IDs=(\S+) Mem=\S* GRES=(.*)$/\1 \2 \3/p' |
		while read -r list ids gres; do
			echo "$(scontrol show hostnames "$list" | wc -l) $(table1_count "$ids") $(sed -nE 's/^gpu:([0-9]+).*/\1/p' <<< "$gres")"
		done | awk '
			{ nodes += $1; cores[$2] += $1; gpus[$3 + 0] += $1 }
			function kinds(of, k, s) { for (k in of) s = s (s == "" ? "" : " or ") k; return s }
			END {
				if (!nodes) exit 1
				printf "%d nodes, %s cores on each, %s GPUs on each\n", nodes, kinds(cores), kinds(gpus)
			}'
}

table1_count() { # 0-3,5 : 5
	local part n=0
	for part in ${1//,/ }; do
		case $part in
		*-*) n=$((n + ${part#*-} - ${part%-*} + 1)) ;;
		*) n=$((n + 1)) ;;
		esac
	done
	echo $n
}

table1_site() {
	cat <<-'EOL'
	local sched = require "sched"
	return sched.site { interval = 1, default = { "ip_window" } }
	EOL
}
