#!/bin/sh
# Dumps the database that PGHOST, PGUSER, PGPASSWORD and PGDATABASE name once a day, at the start if the newest dump is older.
# Needs pg_dump of the server's version or later. Writes
#   BACKUP_FOLDER   one file per dump, the last BACKUP_KEEP_DAYS days of them
#   METRICS_FOLDER  backup.prom, the time of the last dump, for node_exporter
# With the argument "once" it makes one dump now and ends.
set -eu
# Only the owner may read a dump, because it contains prompts, links and secrets.
umask 077

folder=${BACKUP_FOLDER:-/backups}
metrics=${METRICS_FOLDER:-/metrics}
day=86400

newest() {
  ls -t "$folder"/"$PGDATABASE"-*.dump 2>/dev/null | head -n 1
}

# The metric follows from the file, so that it is right after a restart and a failed dump leaves it as it was.
record() {
  file=$(newest)
  [ -n "$file" ] || return 0
  echo "backup_finished_timestamp_seconds{database=\"$PGDATABASE\"} $(stat -c %Y "$file")" > "$metrics/.backup.prom"
  chmod 644 "$metrics/.backup.prom"
  mv "$metrics/.backup.prom" "$metrics/backup.prom"
}

# A dump has its name only once it is complete.
dump() {
  file=$folder/$PGDATABASE-$(date -u +%Y-%m-%dT%H%M%SZ).dump
  # Parts of dumps that were killed: after a day no dump writes them any more.
  find "$folder" -name "$PGDATABASE-*.dump.part" -mmin +1440 -exec rm {} +
  if pg_dump -Fc --file "$file.part" && pg_restore --list "$file.part" > /dev/null; then
    mv "$file.part" "$file"
    find "$folder" -name "$PGDATABASE-*.dump" -mtime "+${BACKUP_KEEP_DAYS:-14}" -exec rm {} +
    record
    echo "dumped $PGDATABASE to $file"
  else
    rm -f "$file.part"
    echo "the dump of $PGDATABASE failed" >&2
    return 1
  fi
}

age() {
  file=$(newest)
  if [ -n "$file" ]; then echo $(($(date +%s) - $(stat -c %Y "$file"))); else echo $day; fi
}

if [ "${1:-}" = once ]; then
  dump
  exit
fi

trap 'exit 0' TERM INT
record
while :; do
  left=$((day - $(age)))
  # After a failed dump: again in ten minutes.
  if [ "$left" -le 0 ]; then
    if dump; then left=$day; else left=600; fi
  fi
  sleep "$left" &
  wait $!
done
