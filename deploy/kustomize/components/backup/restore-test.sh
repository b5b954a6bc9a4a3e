#!/usr/bin/env bash
# Restores the newest backup into a server that only this script can reach, and fails when it is too old, damaged, or not a database
# of the service (docs/operations/backup.md#cron-job). It needs the programs of MariaDB.
#
#   BACKUP_DIRECTORY      where the dumps are. Nothing is written there
#   BACKUP_MAX_AGE_HOURS  how old the newest one may be, 26 by default
#   SCRATCH_DIRECTORY     an empty folder for the server
set -euo pipefail
umask 077
export LC_ALL=C
fail() { echo "$*" >&2; exit 1; }

cd "$BACKUP_DIRECTORY"
shopt -s nullglob
dumps=(portal-*.sql.gz)
[ ${#dumps[@]} -gt 0 ] || fail "there is no backup in $BACKUP_DIRECTORY"
newest=${dumps[-1]}
[[ $newest =~ ^portal-([0-9]{8})T([0-9]{2})([0-9]{2})([0-9]{2})Z\.sql\.gz$ ]] || fail "$newest has no time in its name"
made=$(date -u -d "${BASH_REMATCH[1]} ${BASH_REMATCH[2]}:${BASH_REMATCH[3]}:${BASH_REMATCH[4]}" +%s)
hours=$((($(date -u +%s) - made) / 3600))
[ "$hours" -le "${BACKUP_MAX_AGE_HOURS:-26}" ] || fail "the newest backup, $newest, is $hours hours old"
sha256sum --check --quiet -- "$newest.sha256" || fail "$newest is not what was written"

data=$SCRATCH_DIRECTORY/data
socket=$SCRATCH_DIRECTORY/socket
log=$SCRATCH_DIRECTORY/server.log
mariadb-install-db --no-defaults --datadir="$data" --tmpdir="$SCRATCH_DIRECTORY" --skip-test-db \
  --auth-root-authentication-method=normal >"$log" 2>&1 || { cat "$log" >&2; fail 'no server could be made'; }
mariadbd --no-defaults --datadir="$data" --tmpdir="$SCRATCH_DIRECTORY" --socket="$socket" --pid-file="$SCRATCH_DIRECTORY/pid" \
  --skip-networking >>"$log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" || true' EXIT
sql() { mariadb --no-defaults --socket="$socket" --user=root --batch --skip-column-names "$@"; }
until sql -e 'SELECT 1' >/dev/null 2>&1; do
  kill -0 "$server" 2>/dev/null || { cat "$log" >&2; fail 'the server has ended'; }
  sleep 0.2
done

SECONDS=0
sql -e 'CREATE DATABASE restored CHARACTER SET utf8mb4'
gzip -dc "$newest" | sql restored
tables=$(sql -e "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'restored'")
migrations=$(sql restored -e 'SELECT COUNT(*) FROM migrations')
users=$(sql restored -e 'SELECT COUNT(*) FROM users')
[ "$migrations" -gt 0 ] && [ "$users" -gt 0 ] || fail "$newest has $migrations migrations and $users users"
echo "$newest: restored in $SECONDS s; $tables tables, $migrations migrations, $users users"
