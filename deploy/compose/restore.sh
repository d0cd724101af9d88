#!/bin/sh
# Puts a dump in the place of the service's database, and empties Temporal (docs/operations.md, "Backup and restore"). Reads all that
# it needs before it changes anything, renames the databases that were there, and stops at the first fault.
#   sh deploy/compose/restore.sh DUMP              the stored files stay
#   sh deploy/compose/restore.sh DUMP FILES.tar    on an empty machine: unpacks the stored files too
#   sh deploy/compose/restore.sh --back STAMP      renames the databases back that a restore has set aside
set -eu
cd "$(dirname "$0")/../.."

stamp=$(date -u +%Y%m%dt%H%M%S)
databases='video temporal temporal_visibility'
now='Nothing was changed.'

stop() {
  echo "The restore stopped: $1" >&2
  echo "$now" >&2
  exit 1
}

in_postgres() { docker compose exec -T postgres "$@"; }

sql() { in_postgres psql -U video -d postgres -v ON_ERROR_STOP=1 -qAtc "$1"; }

exists() { [ "$(sql "select 1 from pg_database where datname = '$1'")" = 1 ]; }

stop_service() {
  now='To start the service as it was, run: docker compose up -d'
  docker compose --profile next stop api api-2 worker worker-next backup temporal ||
    stop 'the processes could not be stopped.'
}

# A connection of a person would hold the name of a database.
rename_database() {
  sql "select pg_terminate_backend(pid) from pg_stat_activity where datname = '$1'" > /dev/null &&
    sql "alter database \"$1\" rename to \"$2\""
}

if [ "${1-}" = --back ]; then
  from=${2:?the stamp of the restore}
  exists "video_before_$from" || stop "there is no database video_before_$from."
  stop_service
  now='Run the same command again when the fault is gone.'
  # Last comes the database whose presence allows to run this again.
  for database in temporal_visibility temporal video; do
    # A restore that stopped early has not renamed all of them, or has not made the new ones.
    if exists "${database}_before_$from"; then
      if exists "$database"; then
        rename_database "$database" "${database}_after_$stamp" || stop "$database could not be renamed."
      fi
      rename_database "${database}_before_$from" "$database" || stop "$database could not be renamed."
    fi
  done
  echo 'The databases of before have their names again. Start the service: docker compose up -d'
  exit 0
fi

dump=${1:?the file of the dump}
files=${2-}
[ -r "$dump" ] || stop "$dump cannot be read."
# A PostgreSQL that runs stays as it is, also if .env has changed.
docker compose up -d --no-recreate --wait postgres || stop 'PostgreSQL does not answer.'
contents=$(in_postgres pg_restore --list < "$dump") || stop "$dump is no dump."
case $contents in
  *'TABLE DATA public schema_migrations'*) ;;
  *) stop "$dump is no dump of this service." ;;
esac
in_postgres pg_restore --file=/dev/null < "$dump" || stop "$dump is damaged."
if [ -n "$files" ]; then
  tar -tf "$files" > /dev/null || stop "$files cannot be read."
fi

stop_service
for database in $databases; do
  rename_database "$database" "${database}_before_$stamp" || stop "$database could not be renamed."
  now="The service is stopped, and its databases are there under other names. To go back, run:
  sh deploy/compose/restore.sh --back $stamp && docker compose up -d"
done
for database in $databases; do
  owner=temporal
  if [ "$database" = video ]; then owner=video_owner; fi
  in_postgres createdb -U video -O "$owner" "$database" || stop "$database could not be created."
done
# A dump contains neither who may connect, nor statistics. Without those, statements read whole tables.
in_postgres psql -U video -d video -v ON_ERROR_STOP=1 -q < ops/database-rights.sql || stop 'the rights were not granted.'
in_postgres pg_restore -U video -d video --exit-on-error --no-owner --role=video_owner < "$dump" ||
  stop 'the dump was not restored.'
in_postgres vacuumdb -U video -d video --analyze-only -q || stop 'the statistics were not made.'
if [ -n "$files" ]; then
  docker compose run --rm -T --no-deps --entrypoint=tar admin -C /data -x < "$files" ||
    stop 'the files were not unpacked.'
fi
# Fills Temporal's databases, migrates and grants.
docker compose run --rm -T migrate || stop 'the migration failed.'
# Tasks that were open in the dump are failed and refunded.
docker compose run --rm -T admin reconcile lost --pending || stop 'the open tasks were not closed.'
audit=$(docker compose run --rm -T admin audit) || stop "the books do not agree. $audit"
echo "$audit"
case $audit in
  *': 0 accounts,'*) stop 'the dump has no account, so no caller could use the service.' ;;
esac
docker compose up -d || stop 'the service did not start.'
echo "The service runs on $dump. The databases of before are video_before_$stamp, temporal_before_$stamp and"
echo "temporal_visibility_before_$stamp: drop them when nobody needs them any more."
