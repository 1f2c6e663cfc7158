# SPDX-License-Identifier: MIT
#
# print.awk - facts.tsv as the tables of doc/parity.md, or (mode=missing) what is missing.

BEGIN {
	FS = "\t"
	MOST = 180	# characters in a cell
	title["slurm_conf"] = "slurm.conf"
	title["part"] = "Partitions, `part_record_t`"
	title["part flag"] = "Flags of partitions"
	title["preempt mode"] = "Modes of preemption"
	title["qos"] = "QOS, `slurmdb_qos_rec_t`"
	title["qos flag"] = "Flags of QOS"
	title["assoc"] = "Associations, `slurmdb_assoc_rec_t`"
	title["job"] = "Jobs, `job_record_t`"
	title["job flag"] = "Flags of jobs"
	title["job state"] = "States of jobs"
	title["details"] = "Requests, `job_details_t`"
	title["node"] = "Nodes, `node_record_t`"
	title["node state"] = "States of nodes"
	title["resv"] = "Reservations, `slurmctld_resv_t`"
	title["resv flag"] = "Flags of reservations"
}
/^#/ || /^$/ { next }
mode == "missing" {
	if ($5 ~ /^missing:/)
		print $1 "\t" $2 "\t" $3 "\t" substr($5, 10)
	next
}
{
	if ($1 != kind) {
		flush_kind()
		kind = $1
		printf "\n**%s**\n\n| | since | |\n|---|---|---|\n", $1 in title ? title[$1] : $1
	}
	treatment = shown($5)
	since = $3 == "22.05" ? "" : $3
	if ($4 != "-")
		since = (since == "" ? "22.05" : since) " to " $4
	row = since "\t" treatment
	if (!(row in names))
		order[++rows] = row
	names[row] = names[row] (names[row] == "" ? "" : ", ") "`" $2 "`"
}

function shown(text,	kind, rest) {
	kind = rest = text
	sub(/:.*/, "", kind)
	sub(/^[^:]*: */, "", rest)
	if (kind == "snapshot")
		return "in the plan: " quoted(rest)
	if (kind == "plug-in")
		return "heeded by the plug-in"
	if (kind == "slurm")
		return "decided by Slurm: " quoted(rest)
	return kind == "missing" ? "**not heeded**: " rest : "does not matter: " rest
}

# Columns and functions, which come first.
function quoted(text,	n, i, word, out) {
	n = split(text, word, " ")
	out = ""
	for (i = 1; i <= n; i++) {
		if (word[i] ~ /^([a-z_]+\.[a-z_0-9]+|SL_[A-Z_0-9]+|[a-zA-Z_0-9]+\(\))[,:]?$/) {
			match(word[i], /[,:]?$/)
			word[i] = "`" substr(word[i], 1, RSTART - 1) "`" substr(word[i], RSTART)
		}
		out = out (i > 1 ? " " : "") word[i]
	}
	return out
}

# A row, or as many as it takes.
function print_row(list, row,	n, i, word, cell, part) {
	n = split(list, word, ", ")
	split(row, part, "\t")
	cell = ""
	for (i = 1; i <= n; i++) {
		if (cell != "" && length(cell) + length(word[i]) > MOST) {
			printf "| %s | %s | %s |\n", cell, part[1], part[2]
			cell = ""
		}
		cell = cell (cell == "" ? "" : ", ") word[i]
	}
	printf "| %s | %s | %s |\n", cell, part[1], part[2]
}

function flush_kind(	i) {
	for (i = 1; i <= rows; i++) {
		print_row(names[order[i]], order[i])
		delete names[order[i]]
	}
	rows = 0
}

END { flush_kind() }
