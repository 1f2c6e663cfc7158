# SPDX-License-Identifier: MIT
#
# extract.awk - the facts that Slurm's scheduling code looks at.
#
#	awk -f extract.awk HEADER... code=1 FILE...  ->  KIND <tab> NAME, one a line
#
# A member of one of the structs below counts as looked at if the code has it behind "->" or "." (of slurm_conf behind
# "slurm_conf." alone), whatever it is a member of there: names are compared, not types.  So a line too many may come
# out; one is missed where a macro or a variable hides the name.  A flag counts if its name stands in the code, a word of a parameter string if it
# stands in a string of a statement that has the parameter's variable in it.

BEGIN {
	n = split("slurm_conf:slurm_conf_t part:part_record_t qos:slurmdb_qos_rec_t assoc:slurmdb_assoc_rec_t " \
		  "job:job_record_t details:job_details_t node:node_record_t resv:slurmctld_resv_t", pair, " ")
	for (i = 1; i <= n; i++) {
		split(pair[i], half, ":")
		kind_of[half[2]] = half[1]
		tag = half[2]
		sub(/_t$/, "", tag)
		kind_of[tag] = half[1]
	}
	parameter["sched_params"] = "SchedulerParameters"
	parameter["preempt_params"] = "PreemptParameters"
	parameter["topology_param"] = "TopologyParam"
}

FNR == 1 { in_comment = depth = 0; statement = body = tag = "" }

# The line without comments, in *line*; without what stands in strings, too, in *bare*.
{
	line = strip($0)
	bare = line
	gsub(/\\"/, "", bare)
	gsub(/"[^"]*"/, "\"\"", bare)
	if (code)
		read_code()
	else
		read_header()
}

# A comment begins neither inside of a string nor of a character: what begins first, counts.
function strip(s,	out) {
	out = ""
	while (s != "") {
		if (in_comment) {
			if (!match(s, /\*\//))
				return out
			in_comment = 0
			out = out " "
		} else if (!match(s, /"([^"\\]|\\.)*"|'([^'\\]|\\.)+'|\/\*|\/\//)) {
			return out s
		} else if (substr(s, RSTART, 2) == "/*") {
			in_comment = 1
			out = out substr(s, 1, RSTART - 1)
		} else if (substr(s, RSTART, 2) == "//") {
			return out substr(s, 1, RSTART - 1)
		} else {
			out = out substr(s, 1, RSTART + RLENGTH - 1)
		}
		s = substr(s, RSTART + RLENGTH)
	}
	return out
}

# -- headers -------------------------------------------------------------------

function read_header(	i, c, word) {
	if (bare ~ /^#/) {
		in_cplusplus = bare ~ /^# *ifdef +__cplusplus/ || (in_cplusplus && bare !~ /^# *endif/)
		read_define()
		return
	}
	if (in_cplusplus)
		return
	if (!depth && match(bare, /struct +[a-z_0-9]+ *\{/)) {
		tag = substr(bare, RSTART, RLENGTH)
		gsub(/struct +| *\{/, "", tag)
	} else if (!depth && bare ~ /struct *\{/) {
		tag = ""
	}
	for (i = 1; i <= length(bare); i++) {
		c = substr(bare, i, 1)
		if (c == "{") {
			if (!depth++)
				members = statement = ""
		} else if (c == "}") {
			if (!--depth) {
				word = substr(bare, i + 1)
				gsub(/[^a-z_0-9A-Z]/, "", word)
				end_struct(word)
				break
			}
		} else if (depth == 1 && c == ";") {
			add_members(statement)
			statement = ""
		} else if (depth == 1) {
			statement = statement c
		}
	}
	statement = statement " "
}

# int a, *b[2];	unsigned c:4;
function add_members(s,	n, i, part) {
	gsub(/\[[^\]]*\]/, "", s)
	gsub(/\([^*][^)]*\)/, "", s)
	n = split(s, part, ",")
	for (i = 1; i <= n; i++) {
		sub(/:.*/, "", part[i])
		gsub(/[()*]/, " ", part[i])
		sub(/[ \t]+$/, "", part[i])
		sub(/.*[ \t]/, "", part[i])
		if (part[i] ~ /^[a-zA-Z_][a-zA-Z_0-9]*$/)
			members = members " " part[i]
	}
}

function end_struct(name,	n, i, list, kind) {
	kind = name in kind_of ? kind_of[name] : tag in kind_of ? kind_of[tag] : ""
	n = kind == "" ? 0 : split(members, list, " ")
	for (i = 1; i <= n; i++)
		member[kind, list[i]] = 1
	tag = ""
}

# Flags of jobs have no prefix in common: they are what stands between the first and those of X11.
function read_define(	word) {
	if (bare !~ /^# *define +[A-Z]/)
		return
	word = bare
	sub(/^# *define +/, "", word)
	sub(/[^A-Z_0-9].*/, "", word)
	if (word == "KILL_INV_DEP")
		in_job_flags = 1
	else if (word ~ /^X11_/)
		in_job_flags = 0
	if (in_job_flags)
		job_flag[word] = 1
}

# -- code ----------------------------------------------------------------------

function read_code(	rest, word) {
	for (rest = bare; match(rest, /(->|\.) *[a-zA-Z_][a-zA-Z_0-9]*/); rest = substr(rest, RSTART + RLENGTH)) {
		word = substr(rest, RSTART, RLENGTH)
		gsub(/[-> .]/, "", word)
		used[word] = 1
	}
	for (rest = bare; match(rest, /slurm_conf\.[a-z_0-9A-Z]+/); rest = substr(rest, RSTART + RLENGTH))
		conf_used[substr(rest, RSTART + 11, RLENGTH - 11)] = 1
	for (rest = bare; match(rest, /[A-Z][A-Z_0-9]+/); rest = substr(rest, RSTART + RLENGTH))
		identifier[substr(rest, RSTART, RLENGTH)] = 1
	statement = statement line " "
	if (bare ~ /[;{}][ \t]*$/) {
		read_words(statement)
		statement = ""
	}
}

function read_words(s,	p, rest, word) {
	for (p in parameter)
		for (rest = index(s, p) ? s : ""; match(rest, /"[^"]*"/); rest = substr(rest, RSTART + RLENGTH)) {
			word = substr(rest, RSTART + 1, RLENGTH - 2)
			sub(/=.*/, "", word)
			if (word ~ /^[A-Za-z][A-Za-z_0-9]+$/)
				found[parameter[p], word] = 1
		}
}

# -- what came out ---------------------------------------------------------------

END {
	for (key in member) {
		split(key, half, SUBSEP)
		if (half[1] == "slurm_conf" ? half[2] in conf_used : half[2] in used)
			print half[1] "\t" half[2]
	}
	for (word in identifier) {
		if (word in job_flag)
			print "job flag\t" word
		else if (word ~ /^(IS_NODE|NODE_STATE)_/)
			state["NODE_STATE_" substr(word, word ~ /^IS/ ? 9 : 12)] = 1
		else if (word ~ /^IS_JOB_/)
			print "job state\t" word
		else if (word ~ /^PART_FLAG_/)
			print "part flag\t" word
		else if (word ~ /^PREEMPT_MODE_/)
			print "preempt mode\t" word
		else if (word ~ /^QOS_FLAG_/)
			print "qos flag\t" word
		else if (word ~ /^RESERVE_FLAG_/)
			print "resv flag\t" word
	}
	for (word in state)
		print "node state\t" word
	for (key in found) {
		split(key, half, SUBSEP)
		print half[1] "\t" half[2]
	}
}
