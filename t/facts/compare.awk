# SPDX-License-Identifier: MIT
#
# compare.awk - snapshot.h, the functions of a release, its facts (extract.awk) and the table: what is wrong.  Before
# each of them *file* says which it is.

function complain(text) {
	print text
	bad++
}

# 22.05 -> 2205
function series(s,	part) {
	split(s, part, ".")
	return part[1] * 100 + part[2]
}

BEGIN { here = series(version) }

# -- columns, and all other names, of the snapshot

file == 1 && /^#define SL_[A-Z_]+_COLUMNS\(X\)/ {
	table = $0
	sub(/^#define SL_/, "", table)
	sub(/_COLUMNS.*/, "", table)
	table = tolower(table)
}
file == 1 && /^\tX\(/ {
	column = $0
	sub(/^\tX\([a-z0-9]+, /, "", column)
	sub(/,.*/, "", column)
	columns[table "." column] = 1
}
file == 1 {
	for (rest = $0; match(rest, /SL_[A-Z_0-9]+/); rest = substr(rest, RSTART + RLENGTH))
		named[substr(rest, RSTART, RLENGTH)] = 1
}
file == 2 { functions[$0] = 1 }
file == 3 { fact[$1 "\t" $2] = 1 }

# -- the table

file < 4 || /^#/ || /^$/ { next }
{
	key = $1 "\t" $2
	where = FILENAME ":" FNR ": " $1 " " $2
	if (NF != 5)
		complain(where ": expected five columns, got " NF)
	if (key in line)
		complain(where ": has a line before")
	line[key] = 1
	if ($3 !~ /^[0-9][0-9]\.[0-9][0-9]$/ || $4 !~ /^([0-9][0-9]\.[0-9][0-9]|-)$/ || ($4 != "-" && series($4) < series($3)))
		complain(where ": expected two series, the second no earlier or -, got " $3 " and " $4)
	treat($5)
	if (mode != "check")
		next
	due = series($3) <= here && ($4 == "-" || here <= series($4))
	if (due && !(key in fact))
		complain(where ": Slurm " version " does not look at it any more: a last series in the fourth column, or no line")
	else if (!due && key in fact)
		complain(where ": Slurm " version " looks at it, which is not in " $3 " to " $4)
}

function treat(text,	kind, rest, word) {
	kind = rest = text
	sub(/:.*/, "", kind)
	sub(/^[^:]*: */, "", rest)
	count[kind]++
	if (kind !~ /^(snapshot|plug-in|slurm|irrelevant|missing)$/ || rest == "" || kind == text)
		complain(where ": expected snapshot, plug-in, slurm, irrelevant or missing, and behind a colon what or why, got '" text "'")
	else if (kind == "snapshot")
		check_snapshot(rest)
	else if (kind == "slurm")
		check_function(rest)
	else if (kind == "plug-in")
		check_file(rest)
}

# job.flags SL_JOBF_X, node.state: and why
function check_snapshot(text,	n, i, word, some) {
	sub(/:.*/, "", text)
	gsub(/,/, " ", text)
	n = split(text, word, " ")
	for (i = 1; i <= n; i++)
		if (word[i] ~ /^[a-z_]+\.[a-z_0-9]+$/) {
			some = 1
			if (!(word[i] in columns))
				complain(where ": there is no column " word[i] " in image/snapshot.h")
		} else if (word[i] ~ /^SL_/ && !(word[i] in named)) {
			complain(where ": there is no " word[i] " in image/snapshot.h")
		}
	if (!some)
		complain(where ": expected a column, TABLE.COLUMN")
}

function check_function(text,	word) {
	if (!match(text, /^[a-zA-Z_][a-zA-Z_0-9]*\(\)/)) {
		complain(where ": expected the name of a function, f(), and when it decides")
		return
	}
	word = substr(text, 1, RLENGTH - 1)
	if (mode == "check" && series($3) <= here && ($4 == "-" || here <= series($4)) && !(word in functions))
		complain(where ": there is no " word ") in Slurm " version)
}

function check_file(text,	status, dummy) {
	sub(/[ :].*/, "", text)
	status = (getline dummy < (top "/" text))
	if (status < 0)
		complain(where ": there is no file " text)
	else
		close(top "/" text)
}

# -- what has no line

END {
	for (key in fact)
		if (!(key in line))
			complain("new in Slurm " version ": " key "\t" sprintf("%02d.%02d", int(here / 100), here % 100) "\t-\t?")
	total = 0
	for (key in line)
		total++
	printf "%d lines", total
	if (mode == "check") {
		looked = 0
		for (key in fact)
			looked++
		printf ", %d facts of Slurm %s", looked, version
	}
	printf ": snapshot %d, plug-in %d, slurm %d, irrelevant %d, missing %d; wrong: %d\n", count["snapshot"],
		count["plug-in"], count["slurm"], count["irrelevant"], count["missing"], bad
	exit bad > 0
}
