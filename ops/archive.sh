#!/bin/sh
# Continuous archiving of PostgreSQL (deploy/compose/archive.yaml). ARCHIVE_FOLDER has
#   wal/    every segment of the WAL
#   base/   copies of the whole server, each named by the time (UTC) at which it ended
#
#   archive.sh wal PATH NAME         PostgreSQL runs it for each segment (archive_command)
#   archive.sh base                  makes a copy, and removes what the last three copies do not need
#   archive.sh restore [TIME]        puts the data of that time, such as '2026-01-31 12:00:00+00', in the place of PGDATA; without
#                                    a time, the newest. PostgreSQL must be stopped. The data of before stay beside it.
set -eu
umask 077
archive=${ARCHIVE_FOLDER:-/archive}

stop() {
  echo "$1" >&2
  exit 1
}

case ${1-} in
  wal)
    mkdir -p "$archive/wal"
    target=$archive/wal/$3
    # After a crash PostgreSQL gives a segment again that is here already.
    if [ -e "$target" ]; then
      cmp -s "$2" "$target" || stop "$target is there with another content."
      exit 0
    fi
    cp "$2" "$target.part"
    sync "$target.part"
    mv "$target.part" "$target"
    sync "$archive/wal"
    ;;
  base)
    mkdir -p "$archive/base"
    rm -rf "$archive/base/.part"
    pg_basebackup -U "${POSTGRES_USER:-video}" --checkpoint=fast --pgdata="$archive/base/.part"
    sync
    mv "$archive/base/.part" "$archive/base/$(date -u +%Y%m%dT%H%M%S)"
    ls -d "$archive"/base/2* | head -n -3 | xargs -r rm -rf
    oldest=$(ls -d "$archive"/base/2* | head -n 1)
    pg_archivecleanup "$archive/wal" "$(sed -n 's/^START WAL LOCATION:.*(file \(\w*\))$/\1/p' "$oldest/backup_label")"
    ;;
  restore)
    : "${PGDATA:?the data folder of PostgreSQL}"
    [ ! -e "$PGDATA/postmaster.pid" ] || stop "PostgreSQL runs on $PGDATA, or was killed. Stop it first."
    limit=$(date -u -d "${2:-now}" +%Y%m%dT%H%M%S) || stop "$2 is no time."
    base=
    for one in "$archive"/base/2*; do
      if [ -d "$one" ] && ! expr "${one##*/}" '>' "$limit" > /dev/null; then base=$one; fi
    done
    [ -n "$base" ] || stop "No copy in $archive/base is from before ${2:-now}. Nothing was changed."
    if [ -e "$PGDATA" ]; then
      before=$PGDATA.before-$(date -u +%Y%m%dT%H%M%S)
      mv "$PGDATA" "$before"
      echo "The data of before are in $before."
    fi
    cp -a "$base" "$PGDATA"
    # The copy of a server that was restored has the settings of that restore.
    sed -i '/^\(restore_command\|recovery_target\|hot_standby =\)/d' "$PGDATA/postgresql.auto.conf"
    {
      echo "restore_command = 'cp \"$archive/wal/%f\" \"%p\"'"
      # At the target PostgreSQL opens the database for writing. Until then nobody can connect, because a migration would fail.
      echo "recovery_target_action = 'promote'"
      echo 'hot_standby = off'
      if [ -n "${2-}" ]; then echo "recovery_target_time = '$2'"; fi
    } >> "$PGDATA/postgresql.auto.conf"
    : > "$PGDATA/recovery.signal"
    if [ "$(id -u)" = 0 ]; then chown -R --reference="$base" "$PGDATA"; fi
    echo "Restored from $base. PostgreSQL reads the WAL at its start."
    ;;
  *) stop 'Usage: archive.sh wal PATH NAME | base | restore [TIME]' ;;
esac
