#!/bin/sh
# Replaces the processes by those of another image, or of the same image with a changed .env, without a gap for callers
# (docs/operations.md, "Deploys"). Stops at the first fault, and says how to go back.
#   sh deploy/compose/deploy.sh             builds the image of this folder, with its commit as the tag
#   sh deploy/compose/deploy.sh TAG         takes an image that is on this machine
#   sh deploy/compose/deploy.sh --settings  keeps the image, and applies a change of .env
set -eu
# .env contains secrets.
umask 077
cd "$(dirname "$0")/../.."

in_env() { sed -n "s/^$1=//p" .env | tail -n 1; }

put_in_env() {
  sed "/^$1=/d" .env > .env.draft
  echo "$1=$2" >> .env.draft
  mv .env.draft .env
}

back() {
  echo "The deploy stopped: $1" >&2
  exit 1
}

old=$(in_env TAG)
: "${old:?.env has no TAG}"
case ${1-} in
  '')
    TAG=$(git describe --always --dirty) || back 'this folder has no commit. Name the tag of an image.'
    COMMIT=$(git rev-parse HEAD)
    export TAG COMMIT
    docker compose build migrate || back "the image was not built. Nothing was changed."
    ;;
  --settings) TAG=$old ;;
  *) TAG=$1 ;;
esac
# Compose takes this TAG, and not that of .env, which changes at the end.
export TAG
if [ "$TAG" = "$old" ]; then
  again='put the previous values into .env, and run: sh deploy/compose/deploy.sh --settings'
else
  again="run: sh deploy/compose/deploy.sh $old"
fi
if [ -n "$(in_env WORKER_BUILD_ID)" ] && [ "$TAG" != "$old" ]; then
  back 'WORKER_BUILD_ID is set, so the next build needs the service worker-next (docs/operations.md, "Deploys").'
fi
docker image inspect "video-generation-service:$TAG" > /dev/null ||
  back "there is no image video-generation-service:$TAG. Nothing was changed."

echo "Migrating with $TAG (until now $old)"
# `up` would answer 0 for a migration that fails.
docker compose run --rm -T --no-deps migrate ||
  back "the migration failed. All processes run as before, on $old."

echo 'Starting one worker more, to try the image'
before=$(docker compose ps -q worker)
workers=$(printf '%s' "$before" | grep -c . || true)
if ! docker compose up -d --no-deps --no-recreate --wait --scale "worker=$((workers + 1))" worker; then
  for container in $(docker compose ps -aq worker); do
    case $before in
      *"$container"*) ;;
      *)
        docker logs --tail 20 "$container" >&2 || true
        docker rm -f "$container" > /dev/null
        ;;
    esac
  done
  back "a new worker did not become healthy, and was removed. All other processes run as before, on $old."
fi

echo 'Replacing the workers'
docker compose up -d --no-deps --wait worker ||
  back "a worker did not become healthy. The APIs run as before. To go back, $again"

echo 'Replacing the APIs, one after the other'
docker compose up -d --no-deps --wait api-2 ||
  back "api-2 did not become healthy, and api serves as before. To go back, $again"
docker compose up -d --no-deps --wait api ||
  back "api did not become healthy, and api-2 serves with the new image. To go back, $again"

if [ -n "$(docker compose --profile console ps -q console)" ]; then
  echo 'Replacing the console'
  docker compose --profile console up -d --no-deps --wait console ||
    back "the console did not become healthy. Workers and APIs run on $TAG. To go back, $again"
fi

if [ "$TAG" != "$old" ]; then
  put_in_env PREVIOUS_TAG "$old"
  put_in_env TAG "$TAG"
  if [ -n "${COMMIT-}" ]; then put_in_env COMMIT "$COMMIT"; fi
fi
echo "All processes run on $TAG."
if [ "$TAG" != "$old" ]; then echo "To go back, $again"; fi
