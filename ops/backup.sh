#!/bin/sh
# Dumps the database that PGHOST, PGUSER, PGPASSWORD and PGDATABASE name every BACKUP_INTERVAL_HOURS (24), at the start if the newest
# dump is older.
# Needs pg_dump of the server's version or later. Writes
#   BACKUP_FOLDER   one file per dump, the last BACKUP_KEEP_DAYS days of them
#   METRICS_FOLDER  backup.prom, the time of the last dump, for node_exporter
# BACKUP_COPY_COMMAND, if it is set, copies each dump to another machine; "$1" is its file. A dump counts when it is copied.
# With the argument "once" it makes one dump now and ends.
set -eu
# Only the owner may read a dump, because it contains prompts, links and secrets.
umask 077

folder=${BACKUP_FOLDER:-/backups}
metrics=${METRICS_FOLDER:-/metrics}
interval=$((${BACKUP_INTERVAL_HOURS:-24} * 3600))
# Is there while the newest dump is not copied.
uncopied=$folder/.not-copied

newest() {
  ls -t "$folder"/"$PGDATABASE"-*.dump 2>/dev/null | head -n 1
}

# The metric follows from the file, so that it is right after a restart and a failed dump leaves it as it was.
record() {
  file=$(newest)
  if [ -z "$file" ] || [ -e "$uncopied" ]; then return 0; fi
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
    echo "dumped $PGDATABASE to $file"
    copy "$file"
  else
    rm -f "$file.part"
    echo "the dump of $PGDATABASE failed" >&2
    return 1
  fi
}

copy() {
  : > "$uncopied"
  if [ -n "${BACKUP_COPY_COMMAND:-}" ] && ! /bin/sh -c "$BACKUP_COPY_COMMAND" copy "$1"; then
    echo "the copy of $1 failed" >&2
    return 1
  fi
  rm "$uncopied"
  record
}

age() {
  file=$(newest)
  if [ -n "$file" ]; then echo $(($(date +%s) - $(stat -c %Y "$file"))); else echo $interval; fi
}

if [ "${1:-}" = once ]; then
  dump
  exit
fi

trap 'exit 0' TERM INT
record
while :; do
  left=$((interval - $(age)))
  # After a failed dump or copy: again in ten minutes.
  if [ "$left" -le 0 ]; then
    if dump; then left=$interval; else left=600; fi
  elif [ -e "$uncopied" ]; then
    if ! copy "$(newest)" && [ "$left" -gt 600 ]; then left=600; fi
  fi
  sleep "$left" &
  wait $!
done
