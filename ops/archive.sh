#!/bin/sh
# Continuous archiving of PostgreSQL (deploy/compose/archive.yaml). ARCHIVE_FOLDER has
#   wal/    every segment of the WAL
#   base/   copies of the whole server, each named by the time (UTC) at which it ended; left.NAME is one that a restore left behind
#   server  the identifier of the server to which all this belongs
#
#   archive.sh wal PATH NAME         PostgreSQL runs it for each segment (archive_command)
#   archive.sh base                  makes a copy, and removes what the last three copies do not need, and copies that were left
#   archive.sh restore [TIME]        puts the data of that time, such as '2026-01-31 12:00:00+00', in the place of PGDATA; without
#                                    a time, the newest. PostgreSQL must be stopped. The data of before stay beside it.
set -eu
umask 077
archive=${ARCHIVE_FOLDER:-/archive}

stop() {
  echo "$1" >&2
  exit 1
}

# The segments of a new server (initdb) have the names of the old one's. PostgreSQL runs archive_command in its data folder.
claim() {
  mkdir -p "$archive/$1"
  identifier=$(od -A n -t u8 -N 8 "${PGDATA:-.}/global/pg_control")
  identifier=${identifier##* }
  if [ ! -e "$archive/server" ]; then
    # The first segment and the first base copy may come at once. Some versions of mv fail if the target is there.
    part=$archive/server.$$
    echo "$identifier" > "$part"
    sync "$part"
    mv -n "$part" "$archive/server" || true
    rm -f "$part"
    sync "$archive"
  fi
  owner=$(cat "$archive/server")
  [ "$owner" = "$identifier" ] || stop "$archive belongs to server $owner, and this one is $identifier. Give it an empty ARCHIVE_FOLDER."
}

case ${1-} in
  wal)
    claim wal
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
    claim base
    rm -rf "$archive/base/.part"
    pg_basebackup -U "${POSTGRES_USER:-video}" --checkpoint=fast --pgdata="$archive/base/.part"
    sync
    mv "$archive/base/.part" "$archive/base/$(date -u +%Y%m%dT%H%M%S)"
    ls -d "$archive"/base/2* | head -n -3 | xargs -r rm -rf
    rm -rf "$archive"/base/left.*
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
    if [ -n "${2-}" ]; then
      # Each restore begins a timeline. At that time the server was on the newest one that had begun, or still on that of the copy.
      histories=$(TZ=UTC0 find "$archive/wal" -name '????????.history' ! -newermt "$2")
      newest=$(echo "$histories" | sort | tail -n 1)
      newest=${newest##*/}
      if [ -n "$newest" ]; then timeline=$(printf %d "0x${newest%.history}"); else timeline=current; fi
      # No later restore may begin with a copy of what is abandoned now: no WAL leads from there to the new timeline.
      for one in "$archive"/base/2*; do
        if expr "${one##*/}" '>' "$limit" > /dev/null; then mv "$one" "$archive/base/left.${one##*/}"; fi
      done
    fi
    if [ -e "$PGDATA" ]; then
      before=$PGDATA.before-$(date -u +%Y%m%dT%H%M%S)
      mv "$PGDATA" "$before"
      echo "The data of before are in $before."
    fi
    # On an empty volume the parent is missing too. PostgreSQL does not run as root, and must be able to enter it.
    parent=$(dirname "$PGDATA")
    [ -d "$parent" ] || install -d -m 755 "$parent"
    cp -a "$base" "$PGDATA"
    # The copy of a server that was restored has the settings of that restore.
    sed -i '/^\(restore_command\|recovery_target\|hot_standby =\)/d' "$PGDATA/postgresql.auto.conf"
    {
      echo "restore_command = 'cp \"$archive/wal/%f\" \"%p\"'"
      # At the target PostgreSQL opens the database for writing. Until then nobody can connect, because a migration would fail.
      echo "recovery_target_action = 'promote'"
      echo 'hot_standby = off'
      if [ -n "${2-}" ]; then
        echo "recovery_target_time = '$2'"
        echo "recovery_target_timeline = '$timeline'"
      fi
    } >> "$PGDATA/postgresql.auto.conf"
    : > "$PGDATA/recovery.signal"
    if [ "$(id -u)" = 0 ]; then chown -R --reference="$base" "$PGDATA"; fi
    echo "Restored from $base. PostgreSQL reads the WAL at its start."
    ;;
  *) stop 'Usage: archive.sh wal PATH NAME | base | restore [TIME]' ;;
esac
