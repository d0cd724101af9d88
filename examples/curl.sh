#!/bin/sh
# Creates a video task and waits for its end, with curl and nothing else.
#
#   API_KEY=… sh examples/curl.sh "A paper boat on a rainy street"
#
# BASE_URL is the address of the service; the default is http://127.0.0.1:8080. If CALLBACK_URL is
# set, the service calls this address when the task has finished. With the IDEMPOTENCY_KEY of an
# earlier run, the script continues with its task. The prompt must not contain quotes or backslashes,
# because this script does not escape them.
set -eu

BASE_URL=${BASE_URL:-http://127.0.0.1:8080}
: "${API_KEY:?Set API_KEY: npm start prints one.}"
metadata=${CALLBACK_URL:+\"callback_url\":\"$CALLBACK_URL\"}
order=$(
  cat <<END
{"model":"${MODEL:-studio-2.0}","prompt":"${1:-A paper boat on a rainy street}",
 "resolution":"480p","ratio":"16:9","duration":5,"metadata":{$metadata}}
END
)

# Prints the last value of a text field: after a retry, the output begins with the error. This is
# enough for these answers; use jq for others.
field() {
  sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" | head -n 1
}

# --fail-with-body prints the service's error. --retry does not repeat a request whose answer was
# lost midway, so this is done here.
request() {
  tries=1
  while :; do
    curl --silent --show-error --fail-with-body --retry 5 --retry-connrefused --max-time 90 \
      --header "Authorization: Bearer $API_KEY" "$@" && return
    status=$?
    case $status in
      16 | 18 | 52 | 55 | 56 | 92) [ "$tries" -lt 6 ] || return "$status" ;;
      *) return "$status" ;;
    esac
    tries=$((tries + 1))
    sleep 1
  done
}

not_ours() {
  echo "The answer is not that of the service. Check BASE_URL: $1" >&2
  exit 1
}

# All tries send the same key, so the service creates and charges only one task.
IDEMPOTENCY_KEY=${IDEMPOTENCY_KEY:-$(od -A n -N 16 -t x1 /dev/urandom | tr -d ' \n')}
echo "IDEMPOTENCY_KEY=$IDEMPOTENCY_KEY" >&2
created=$(request "$BASE_URL/v1/videos/generations" \
  --header 'Content-Type: application/json' \
  --header "Idempotency-Key: $IDEMPOTENCY_KEY" \
  --data "$order") || {
  echo "$created" >&2
  exit 1
}
id=$(echo "$created" | field id)
[ "$id" ] || not_ours "$created"
echo "$id: created" >&2

while :; do
  # The service answers when the task has finished, or after a minute.
  task=$(request "$BASE_URL/v1/videos/generations/$id" --header 'Prefer: wait=60') || {
    echo "$task" >&2
    exit 1
  }
  case $(echo "$task" | field status) in
    succeeded)
      echo "$task" | field video_url
      exit 0
      ;;
    failed)
      echo "$task" | sed -n 's/.*"error":\({[^}]*}\).*/\1/p' >&2
      exit 1
      ;;
    '') not_ours "$task" ;;
  esac
  # The service answers at once if it holds too many reads.
  sleep 1
done
