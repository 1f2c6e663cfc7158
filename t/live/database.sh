# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# database.sh - an accounting database of a test cluster's own, for sourcing after live.sh.
#
#   lacks_database                 what of it is not installed; 1: nothing
#   needs_database                 skips everything where it is not installed
#   database_up                    MariaDB and slurmdbd, and slurmctld uses them
#   database_enforce WHAT          AccountingStorageEnforce; slurmctld is started anew
#   database_with_root             database_up, with an account "lab" of root's
#   database_to_try NODES          database_with_root, an account "course", a QOS "urgent" that preempts "normal", fair share, and
#                                  limits are enforced: what ./quickstart shell --accounting has
#   database_begin FUNCTION        in a file of which some tests do without: that brings it up, and jobs are of account lab
#   needs_accounting               in those that do not
#
# MariaDB has a socket and no port; slurmdbd listens on loopback, between slurmctld's
# ports and the nodes'.  cluster_down ends both.

lacks_database() {
	local d
	for d in slurmdbd mariadbd mariadb-install-db sacctmgr; do
		command -v $d > /dev/null || { echo "no $d: the accounting database is not installed"; return; }
	done
	return 1
}

needs_database() {
	local lacks
	! lacks=$(lacks_database) || skip_all "$lacks"
}

database_port() { echo $((24 + $(sed -n 's/^SlurmctldPort=//p' "$C/etc/slurm.conf"))); }

# (A mariadbd that starts clears its place for temporary files: each has one of its own.)
mariadb_up() {
	local -x TMPDIR=$C/run
	rm -rf "$C/db"
	mkdir -p "$C/db"
	mariadb-install-db --no-defaults --user=root --datadir="$C/db" --auth-root-authentication-method=normal \
		--skip-test-db > "$C/log/mariadb-install.log" 2>&1 || return 1
	(cd "$C/db" && exec mariadbd --no-defaults --user=root --datadir="$C/db" --socket="$C/run/db" --skip-networking \
		--pid-file="$C/run/mariadbd.pid" --innodb-buffer-pool-size=64M > "$C/log/mariadb.log" 2>&1) &
	disown	# cluster_down ends it, and bash need not tell
	wait_for 30 mariadb-admin --no-defaults --socket="$C/run/db" --user=root ping > /dev/null 2>&1
}

slurmdbd_up() {
	cat > "$C/etc/slurmdbd.conf" <<-EOC
	AuthType=auth/munge
	AuthInfo=socket=$C/munge/sock
	DbdHost=localhost
	DbdAddr=127.0.0.1
	DbdPort=$(database_port)
	SlurmUser=$SL_USER
	StorageType=accounting_storage/mysql
	StorageHost=localhost
	StorageUser=root
	StorageLoc=schedlua
	LogFile=$C/log/slurmdbd.log
	PidFile=$C/run/slurmdbd.pid
	PluginDir=$SL_SLURM_PLUGINS
	CommunicationParameters=NoInAddrAny
	EOC
	chmod 600 "$C/etc/slurmdbd.conf"
	chown "$SL_USER" "$C/etc/slurmdbd.conf"
	ln -sfn "$(command -v slurmdbd)" "$C/bin/slurmdbd"
	MYSQL_UNIX_PORT=$C/run/db "$C/bin/slurmdbd" || return 1
	wait_for 30 sacctmgr -n list cluster > /dev/null 2>&1
}

knows_cluster() { sacctmgr -n -P list cluster format=cluster,controlport | grep -q '^schedlua|[1-9]'; }

database_up() {
	mariadb_up || { tail -n 5 "$C/log/mariadb.log"; return 1; }
	cluster_conf AccountingStorageType=accounting_storage/slurmdbd AccountingStorageHost=127.0.0.1 \
		AccountingStoragePort="$(database_port)" AccountingStoragePass="$C/munge/sock"
	slurmdbd_up || { tail -n 5 "$C/log/slurmdbd.log"; return 1; }
	sacctmgr -i -Q add cluster schedlua > /dev/null 2>&1
	rm -f "$C/state/clustername"	# from 24.11 on with an id, which is the database's from now on
	return 0
}

database_enforce() {
	cluster_conf AccountingStorageEnforce="$1"
	cluster_ctld_kill && cluster_ctld_start && wait_for 30 knows_cluster && wait_for 30 cluster_nodes_ready "$NODES"
}

database_with_root() {
	database_up && sacctmgr -i -Q add account lab > /dev/null && sacctmgr -i -Q add user root account=lab > /dev/null
}

database_to_try() { # NODES
	local NODES=$1
	database_with_root && sacctmgr -i -Q add account course > /dev/null &&
		sacctmgr -i -Q add user root account=course > /dev/null &&
		sacctmgr -i -Q add qos urgent Priority=1000 Preempt=normal > /dev/null &&
		sacctmgr -i -Q modify user root set qos=normal,urgent defaultqos=normal > /dev/null || return 1
	cluster_conf PreemptType=preempt/qos PreemptMode=REQUEUE PriorityType=priority/multifactor PriorityWeightFairshare=100000 \
		PriorityWeightAge=1000 PriorityWeightQOS=1000000
	database_enforce associations,limits,qos
}

# What follows beside_begin begins with the database, too.
DATABASE=none
database_begin() { # FUNCTION
	if lacks_database > "$C/database.out"; then
		DATABASE=lacks
	elif "$1" > "$C/database.out" 2>&1; then
		DATABASE=up
		export SBATCH_ACCOUNT=lab
		beside_begin
	fi
}
needs_accounting() {
	case $DATABASE in
	lacks) skip "$(cat "$C/database.out")" ;;
	none) cat "$C/database.out" && echo "the accounting database did not come up" && false ;;
	esac
}
