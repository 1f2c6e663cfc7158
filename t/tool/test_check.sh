#!/bin/sh
# SPDX-License-Identifier: MIT
#
# schedlua check: policies and site files, and how mistakes in them are shown.

# shellcheck source=t/tool/tool.sh
. "$(dirname "$0")/tool.sh"
SOURCE=$(cd "$(dirname "$0")/../.." && pwd)
small_cluster

printf 'local sched = require "sched"\nreturn sched.site { default = { "mine", user = "ada" } }\n' >"$T/sched.lua"

check_fine() {
	run 0 check "$T/mine.lua" "$T/sched.lua" && out "^$T/mine.lua: OK (mine+easy\|.*mine" && out "^$T/sched.lua: OK" &&
		out "^2 of 2 files are fine$" && run 0 check --quiet "$T/mine.lua" && quiet out
}
ok "check loads policies and site files" check_fine

check_wrong() {
	printf 'local M = {}\nfunction M.rank(job)\n  retrun 1\nend\nreturn M\n' >"$T/typo.lua"
	printf 'return 17\n' >"$T/number.lua"
	printf 'local sched = require "sched"\nreturn sched.site {\n  default = { "easy" },\n  budgte = 2,\n}\n' >"$T/key.lua"
	run 1 check "$T/typo.lua" "$T/number.lua" "$T/key.lua" "$T/mine.lua" && out "^$T/typo.lua:3: " &&
		out "^$T/number.lua:1: policy 'number' returned 17, expected a table" && out "^$T/key.lua:4: .*budgte.*did you mean 'budget'" &&
		out "^1 of 4 files are fine$" && printf 'local M = {}\n' >"$T/silent.lua" && run 1 check "$T/silent.lua" &&
		out "^$T/silent.lua:1: returned nothing (is 'return' missing?), expected what sched.site .* returns, or a policy's table$"
}
ok "check says file, line and what was expected" check_wrong

# what a person stumbles over at three in the morning, and is told
check_stumbles() {
	h='local sched = require "sched"\nreturn sched.site {\n'
	stumble "$h"'default = { "easy" }\npartitions = { p = "fcfs" } }\n' "4: '}' expected .* near 'partitions'; is a comma missing before it?" &&
		stumble "$h"'partitions = { gpu-long = "fcfs" } }\n' "3: '}' expected near '='; a name with other signs is written \[\"a-b\"\]" &&
		stumble 'return sched.site { default = "easy" }\n' "1: there is no 'sched' here: local sched = require \"sched\" comes first" &&
		stumble "$h"'default = "easy"\n' "4: .* near <eof>$"
}
stumble() { # TEXT MESSAGE
	printf '%b' "$1" >"$T/night.lua"
	run 1 check "$T/night.lua" && out "^$T/night.lua:$2"
}
ok "check guesses what was forgotten" check_stumbles

# FIELD STATUS: a policy whose rank is that field of the cluster
looks_up() {
	printf 'return { api = 1, name = "m", rank = function(job, cluster) return cluster%s end }\n' "$1" >"$T/look.lua"
	run "$2" check "$T/look.lua"
}
check_canned() {
	for field in ':node("gpu1").free_cores' '.nodes.gpu1.free_cores' ':partition("debug").usable_nodes' '.supply.gres["gpu:a100"] + 1'; do
		looks_up "$field" 1 && out "a nil value.*while probed" && out "^The canned cluster, .* has none of the site's nodes, types" || return 1
	done
	looks_up '.supply.gres["gpu:a100"] or 0' 0 && looks_up '.supply.cores + nil' 1 && looks_up ' .. 1' 1 && ! out "^The canned" >/dev/null
}
ok "check says what the canned cluster lacks where a policy looks something up by name" check_canned

check_stranger() {
	printf '%s\n' 'return (require "sched").site {' 'partitions = {' 'p = "easy", ["pp,other"] = "easy",' '} }' >"$T/many.lua"
	run 0 check --snapshot="$T/busy.json" "$T/many.lua" && out "many.lua: OK" &&
		out "^$T/many.lua:3: no partition 'other' in this cluster: what is said of it has no effect$" &&
		out "^$T/many.lua:3: no partition 'pp' in this cluster.*; did you mean 'p'?$" &&
		out '^  *3 | p = "easy", \["pp,other"' && ! out "partition 'p' in" >/dev/null &&
		run 1 check --snapshot="$T/nothing.snap" "$T/many.lua" && out "nothing.snap: No such file" || return 1
	# the last one that the plug-in kept, where there is one
	mkdir -p "$T/spool/schedlua" && cp "$T/busy.json" "$T/spool/schedlua/last.snap" &&
		echo "StateSaveLocation=$T/spool" >"$T/slurm.conf" || return 1
	SLURM_CONF=$T/slurm.conf run 0 check "$T/many.lua" && out "no partition 'pp'" && run 0 check "$T/many.lua" &&
		! out "no partition" >/dev/null && SLURM_CONF=$T/slurm.conf run 0 check --snapshot=none "$T/many.lua" &&
		! out "no partition" >/dev/null
}
ok "check warns of partitions that the cluster does not have" check_stranger

# Debian's plain busted starts the Lua that "lua" is, which need not be the engine's.
other_lua() {
	command -v lua5.1 >/dev/null || { echo "no lua5.1"; return 0; }
	! LUA_PATH="$(dirname "$0")/../../lua/lib/?.lua" lua5.1 -e 'require "sched.test"' 2>"$T/err" && err 'needs Lua 5.4, and this is Lua 5.1: run '
}
ok "specs in another Lua say which one they need" other_lua

# the settings for editors that are installed beside lua/library
luacheck_settings() {
	command -v luacheck >/dev/null || { echo "no luacheck: apt-get install lua-check"; return 0; }
	printf 'local M = { api = 1 }\nfunction M.rank(job, cluster)\n\tslurm.log_info("x")\n\treturn job.id\nend\n' >"$T/lint.lua"
	cp "$T/lint.lua" "$T/lost.lua" && echo 'return M' >>"$T/lint.lua" && echo 'return os.time(M)' >>"$T/lost.lua" &&
		luacheck --no-color --config "$SOURCE/lua/luacheckrc" "$T/lint.lua" "$SOURCE"/examples/policies/*.lua \
			"$SOURCE"/examples/*/sched.lua >"$T/out" &&
		! luacheck --no-color --config "$SOURCE/lua/luacheckrc" "$T/lost.lua" >"$T/out" && out "undefined variable 'os'"
}
ok "luacheck knows what policies find, by the settings that are installed" luacheck_settings
ok "the language server's settings name the stubs" grep -q '"workspace.library": \[ "/.*/lua/library" \]' lua/luarc.json

check_bytecode() {
	printf '\033Lua' >"$T/byte.lua"
	run 1 check "$T/byte.lua" && out "^$T/byte.lua:1: precompiled Lua, expected source text$"
}
ok "check refuses bytecode" check_bytecode

check_field() {
	printf 'local M = { api = 1, name = "f", doc = "f" }\nlocal function h(job)\n  return job.walltime\nend\n' >"$T/field.lua"
	printf 'function M.rank(job)\n  local x = h(job)\n  return x\nend\nreturn M\n' >>"$T/field.lua"
	run 1 check "$T/field.lua" && out "^$T/field.lua:3: .*walltime" && out "^called from$" && out "field.lua:6: in "
}
ok "check finds a field that is none by trying the policy, and says who called" check_field

check_globals() {
	cat >"$T/globals.lua" <<-'EOF2' || return 1
		local M = { api = 1, name = "globals" }
		counter = 0
		local function rare(jobs)
			counter = counter + #jobs
			pirnt(counter, math.flor(1.5), joobs)
			return function() return os.time() end
		end
		function M.rank(job)
			if job.user == "nobody we know" then
				return rare({ job })
			end
			return -job.min_nodes
		end
		return M
	EOF2
	sed 's/^counter = 0/local env = _G/; s/pirnt(.*/env.x = x/; s/os.time()/1/' "$T/globals.lua" >"$T/dynamic.lua" || return 1
	run 1 check "$T/globals.lua" && out "^$T/globals.lua:5: undefined variable 'pirnt'; did you mean 'print'?$" &&
		out "^$T/globals.lua:5: there is no 'math.flor'; did you mean 'math.floor'?$" &&
		out "^$T/globals.lua:5: undefined variable 'joobs'; did you mean 'jobs'?$" &&
		out "^$T/globals.lua:6: there is no 'os' here: " && [ "$(grep -c "^$T" "$T/out")" = 4 ] &&
		run 0 check "$T/dynamic.lua" && out ": OK" && echo '{}' >"$T/no.json" && run 1 check "$T/no.json" &&
		out "^$T/no.json:1: unexpected symbol"
}
ok "check finds variables that are not there in lines that the trial does not come to" check_globals

check_trust() {
	chmod 755 "$T" && chmod 644 "$T/mine.lua" && run 0 check --trust "$T/mine.lua" && chmod 666 "$T/mine.lua" &&
		run 0 check "$T/mine.lua" && run 1 check --trust "$T/mine.lua" && out "mine.lua: writable by everybody" &&
		ln -s "$T/mine.lua" "$T/link.lua" && chmod 644 "$T/mine.lua" && run 1 check --trust "$T/link.lua"
}
ok "check --trust refuses what production refuses" check_trust

# The engine is another user than root, who asks: what it cannot read it cannot load.
check_reader() {
	mkdir "$T/reader" && chmod 755 "$T" "$T/reader" && cp "$T/mine.lua" "$T/reader/mine.lua" &&
		cat >"$T/reader/site.lua" <<-'EOF2' && chmod 644 "$T/reader"/*.lua && run 0 check --trust --user=daemon "$T/reader/site.lua" &&
		local sched = require "sched"
		return sched.site { default = { "mine" } }
	EOF2
		out "^$T/reader/site.lua: OK" && [ "$(wc -l <"$T/out")" = 1 ] && chmod 600 "$T/reader/mine.lua" &&
		run 1 check --trust --user=daemon "$T/reader/site.lua" &&
		out "^$T/reader/site.lua: the engine, as uid 1, could not load it: .*: $T/reader/mine.lua: Permission denied for uid 1," &&
		! out ": OK" && run 0 check --trust "$T/reader/site.lua" && out ": warning: the engine, as uid 65534, could not" &&
		out ": OK" && run 0 check --trust --uid=1 "$T/reader/site.lua" && out ": warning: the engine, as uid 1, could" &&
		run 0 check --trust --user=root "$T/reader/site.lua" && ! out "could not load" &&
		chgrp daemon "$T/reader/mine.lua" && chmod 640 "$T/reader/mine.lua" &&
		run 0 check --trust --user=daemon "$T/reader/site.lua" &&
		run 2 check --trust "--user=no such" "$T/reader/site.lua" && err "there is no user \"no such\""
}
may_become() { # daemon comes to the bundled policies, too
	[ "$(id -u)" = 0 ] && [ "$(id -u daemon)" = 1 ] &&
		setpriv --reuid=1 --regid=1 --clear-groups "$SCHEDLUA" check "$T/mine.lua"
}
if may_become >/dev/null 2>&1; then
	ok "check --trust says what the engine could not read" check_reader
else
	n=$((n + 1))
	echo "ok $n - check --trust says what the engine could not read # SKIP not root, or daemon cannot come here"
fi

user_alone() { run 2 check --user=daemon "$T/mine.lua" && err "--user goes with --trust"; }
ok "check --user without --trust is wrong usage" user_alone
# --------------------------------------------------------------------- excerpts

mkdir "$T/wrong"
printf 'local M = { api = 1, name = "x" }\nfunction M.rank(job)\n\treturn 1 + job.nosuch\nend\nreturn M\n' >"$T/wrong/field.lua"
printf 'local M = {\n  name = "ä", oops here\n}\nreturn M\n' >"$T/wrong/syntax.lua"
printf 'error("/etc/passwd:1: look")\n' >"$T/wrong/liar.lua"

excerpt() {
	run 1 check "$T/wrong/field.lua" && quiet err && sed -n 1p "$T/out" | grep -q "field.lua:3: .*'nosuch'" &&
		[ "$(sed -n 2,3p "$T/out")" = "$(printf '    3 |     return 1 + job.nosuch\n      |                    ^^^^^^')" ] &&
		run 1 plan --policy="$T/wrong/syntax.lua" "$T/busy.json" && quiet out &&
		[ "$(sed -n 2,3p "$T/err")" = "$(printf '    2 |   name = "ä", oops here\n      |                    ^^^^')" ]
}
ok "an error shows the line that it names, and what is meant there" excerpt

excerpt_liar() { run 1 check "$T/wrong/liar.lua" && out "look" && ! out "root:" >/dev/null; }
ok "an error shows lines of Lua alone, whatever it names" excerpt_liar

# on COMMAND... : on a terminal
on() { script -qec "$*" /dev/null </dev/null >"$T/out" 2>&1; }

excerpt_colour() {
	command -v script >/dev/null || return 0
	on env -u NO_COLOR "$SCHEDLUA" check "$T/wrong/field.lua"
	grep -q "$(printf '\033\\[1;31m')" "$T/out" || return 1
	on env NO_COLOR=1 "$SCHEDLUA" check "$T/wrong/field.lua"
	grep -q '\^\^\^\^\^\^' "$T/out" && ! grep -q "$(printf '\033')" "$T/out" && run 1 check "$T/wrong/field.lua" &&
		! grep -q "$(printf '\033')" "$T/out"
}
ok "marks are coloured on a terminal, not where NO_COLOR is set" excerpt_colour

# --------------------------------------------------------------- files beside it

mkdir "$T/order"
cat >"$T/order/site.lua" <<'EOF'
local sched = require "sched"
return sched.site { default = { sched.quota { per_user = "1199 cpu-seconds", limits = "limits.conf" },
	sched.weighted { { 1000, sched.layers { file = "layers.conf" } }, { 2, sched.ageing { per = "15m" } } } } }
EOF
printf '# nobody\nuser bob unlimited cpu-hours\n' >"$T/order/limits.conf"
printf 'default 1\nuser bob 5\n' >"$T/order/layers.conf"

check_files() {
	printf 'user nosuchuser 5\nuser nosuchuser 6\n' >"$T/order/layers.conf" &&
		run 0 check "$T/order/site.lua" && out "layers.conf:1: there is no user 'nosuchuser' on this machine" &&
		out "layers.conf:2: user nosuchuser again, first in line 1; this line holds" &&
		printf 'user nosuchuser 65537\n' >"$T/order/layers.conf" &&
		run 1 check "$T/order/site.lua" && out "layers.conf:1: user nosuchuser: '65537' is no layer"
}
ok "check warns of users that do not exist and of lines that come again, and refuses bad ones" check_files

job_submit() {
	cat >"$T/job_submit.lua" <<'EOL'
-- function slurm_job_modify is not here
function slurm_job_submit(job_desc, part_list, submit_uid)
	if job_desc.min_nodes > 64 then
		slurm.user_msg("too many")
		return slurm.ERROR
	end
	job_desc.priority=7
	if os.date("*t").hour < 18 then slurm.log_user("only at night") end
	if job_desc.partition == nil then return slurm.SUCCESS end
end
EOL
	run 1 check "$T/job_submit.lua" && out 'job_submit.lua:2: slurm_job_submit() is of a job_submit.lua: slurmctld calls it' &&
		! out slurm_job_modify && out 'this is no policy of sched/lua' && out 'line 5, slurm.ERROR: a refusal: admit' &&
		out 'line 7, .priority =: a priority: rank' && out 'line 8, slurm.log_user: a message' &&
		out 'line 8, os.date: a rule by the clock.*sched.when' && ! out 'partition =' && out 'doc/write-a-policy.md' && out '^how to test this file' || return 1
	echo 'slurm_cli_pre_submit = function(options, offset) return slurm.SUCCESS end' >"$T/cli_filter.lua"
	run 1 check "$T/cli_filter.lua" && out 'cli_filter.lua:1: slurm_cli_pre_submit() is of a cli_filter.lua' || return 1
	printf 'local M = { api = 1, name = "m", doc = "d" }\nfunction M.rank(job) return 1 end -- as slurm_job_submit did\nreturn M\n' >"$T/fine.lua"
	run 0 check "$T/fine.lua"
}
ok "check says what a job_submit.lua is, and what of it could be a policy" job_submit

echo "1..$n"
