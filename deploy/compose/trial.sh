#!/bin/sh
# Writes the .env of a trial with the studio as the generator, with new secrets (docs/operations.md, "Try compose with the studio").
# Run it in the folder of docker-compose.yml. An existing .env is kept, because overwritten secrets cannot be restored.
set -euC
umask 077
tag=$(git describe --always --dirty 2> /dev/null || echo local)
cat > .env <<END
TAG=$tag
STUDIO_TAG=$tag
COMMIT=$(git rev-parse HEAD 2> /dev/null || echo unknown)
POSTGRES_PASSWORD=$(openssl rand -hex 24)
DATABASE_OWNER_PASSWORD=$(openssl rand -hex 24)
DATABASE_API_PASSWORD=$(openssl rand -hex 24)
DATABASE_WORKER_PASSWORD=$(openssl rand -hex 24)
DATABASE_OPERATOR_PASSWORD=$(openssl rand -hex 24)
DATABASE_BACKUP_PASSWORD=$(openssl rand -hex 24)
TEMPORAL_DATABASE_PASSWORD=$(openssl rand -hex 24)
STUDIO_API_KEY=$(openssl rand -hex 24)
DANGEROUSLY_ALLOW_HOSTS=127.0.0.1:8090
DANGEROUSLY_ALLOW_PROVIDER_HOSTS=studio:8090
PUBLIC_URL=http://127.0.0.1:8080
PLAYGROUND=true
END
