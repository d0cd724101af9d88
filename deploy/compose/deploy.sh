#!/bin/sh
# Replaces the processes by those of another image, or of the same image with a changed .env, without a gap for callers
# (docs/operations.md, "Deploys"). Stops at the first fault, and says how to go back.
#   sh deploy/compose/deploy.sh             builds the image of this folder, with its commit as the tag
#   sh deploy/compose/deploy.sh TAG         takes an image that is on this machine, or where IMAGE_PREFIX in .env says
#   sh deploy/compose/deploy.sh --back TAG  goes back to an older image: first the APIs, because new ones need new workers
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

stop() {
  echo "The deploy stopped: $1" >&2
  exit 1
}

old=$(in_env TAG)
: "${old:?.env has no TAG}"
again="run: sh deploy/compose/deploy.sh --back $old"
case ${1-} in
  '')
    TAG=$(git describe --always --dirty) || stop 'this folder has no commit. Name the tag of an image.'
    COMMIT=$(git rev-parse HEAD)
    export TAG COMMIT
    docker compose build migrate || stop "the image was not built. Nothing was changed."
    ;;
  --settings)
    TAG=$old
    again='put the previous values into .env, and run: sh deploy/compose/deploy.sh --settings'
    ;;
  --back)
    TAG=${2:?the tag of the older image}
    again='mend the fault, and run the same command again'
    ;;
  *) TAG=$1 ;;
esac
# Compose takes this TAG, and not that of .env, which changes at the end.
export TAG
if [ -n "$(in_env WORKER_BUILD_ID)" ] && [ "$TAG" != "$old" ]; then
  stop 'WORKER_BUILD_ID is set, so another build needs the service worker-next (docs/operations.md, "Deploys").'
fi
prefix=$(in_env IMAGE_PREFIX)
image="${prefix}video-generation-service:$TAG"
docker image inspect "$image" > /dev/null || { [ -n "$prefix" ] && docker pull "$image"; } ||
  stop "there is no image $image. Nothing was changed."

replace_workers() {
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
    stop "a new worker did not become healthy, and was removed. $1"
  fi
  echo 'Replacing the workers'
  docker compose up -d --no-deps --wait worker ||
    stop "a worker did not become healthy. To go back, $again"
}

replace_apis() {
  echo 'Replacing the APIs, one after the other'
  docker compose up -d --no-deps --wait api-2 ||
    stop "api-2 did not become healthy, and api serves as before. To go back, $again"
  docker compose up -d --no-deps --wait api ||
    stop "api did not become healthy, and api-2 serves with the new image. To go back, $again"
}

echo "Migrating with $TAG (until now $old)"
# `up` would answer 0 for a migration that fails.
docker compose run --rm -T --no-deps migrate ||
  stop "the migration failed. All processes run as before."

if [ "${1-}" = --back ]; then
  replace_apis
  replace_workers "To go back, $again"
else
  replace_workers "All other processes run as before, on $old."
  replace_apis
fi

if [ -n "$(docker compose --profile console ps -q console)" ]; then
  echo 'Replacing the console'
  docker compose --profile console up -d --no-deps --wait console ||
    stop "the console did not become healthy. Workers and APIs run on $TAG. To go back, $again"
fi

if [ "$TAG" != "$old" ]; then
  put_in_env PREVIOUS_TAG "$old"
  put_in_env TAG "$TAG"
  if [ -n "${COMMIT-}" ]; then put_in_env COMMIT "$COMMIT"; fi
fi
echo "All processes run on $TAG."
if [ "$TAG" != "$old" ] && [ "${1-}" != --back ]; then echo "To go back, $again"; fi
