#!/usr/bin/env bash
# Writes one consistent dump of the database (docs/operations/backup.md#cron-job), and then deletes the oldest ones. A file
# portal-TIME.sql.gz is always whole: until then it has another name. The dump needs SELECT, SHOW VIEW and TRIGGER.
#
#   BACKUP_ACCOUNT    an option file of the client: host, user, password, ssl-ca
#   BACKUP_DATABASE   the name of the database
#   BACKUP_DIRECTORY  where the dumps are
#   BACKUP_KEEP       how many of them stay, 14 by default
#   BACKUP_OPTIONS    further options of the dump, such as --set-gtid-purged=OFF
set -euo pipefail
umask 077
export LC_ALL=C
keep=${BACKUP_KEEP:-14}
[[ $keep =~ ^[1-9][0-9]*$ ]] || { echo "BACKUP_KEEP must be a number from 1 on, not $keep" >&2; exit 2; }
cd "$BACKUP_DIRECTORY"

# What a pod that was killed has left.
rm -f -- .portal-*.part
name=portal-$(date -u +%Y%m%dT%H%M%SZ).sql.gz
part=.$name.part
trap 'rm -f -- "$part"' EXIT

dump=$(command -v mariadb-dump || command -v mysqldump)
read -ra options <<<"${BACKUP_OPTIONS:-}"
"$dump" --defaults-extra-file="$BACKUP_ACCOUNT" --single-transaction --quick --hex-blob --no-tablespaces \
  "${options[@]}" "$BACKUP_DATABASE" | gzip >"$part"
# The last line of a dump that was not cut off.
gzip -dc "$part" | tail -n 1 | grep -q '^-- Dump completed' || { echo "the dump has no end" >&2; exit 1; }

checksum=$(sha256sum <"$part")
printf '%s  %s\n' "${checksum%% *}" "$name" >"$name.sha256"
mv -- "$part" "$name"

# The names sort by time.
while dumps=(portal-*.sql.gz) && [ ${#dumps[@]} -gt "$keep" ]; do rm -f -- "${dumps[0]}" "${dumps[0]}.sha256"; done
echo "$name: $(wc -c <"$name") bytes; ${#dumps[@]} backups"
