-- The roles and Temporal's databases, for psql as a superuser in the database `video`, once. Run
-- database-rights.sql afterwards. docker-compose.yml runs both at the first start of its PostgreSQL. The
-- passwords come from the environment.

\getenv owner_password DATABASE_OWNER_PASSWORD
\getenv api_password DATABASE_API_PASSWORD
\getenv worker_password DATABASE_WORKER_PASSWORD
\getenv operator_password DATABASE_OPERATOR_PASSWORD
\getenv backup_password DATABASE_BACKUP_PASSWORD
\getenv temporal_password TEMPORAL_DATABASE_PASSWORD

-- It migrates.
create role video_owner login password :'owner_password';
create role video_api login password :'api_password';
create role video_worker login password :'worker_password';
-- The admin commands.
create role video_operator login password :'operator_password';
-- The dumps. It reads everything, as a dump must, and writes nothing.
create role video_backup login password :'backup_password';
grant pg_read_all_data to video_backup;
create role temporal login password :'temporal_password';

create database temporal owner temporal;
create database temporal_visibility owner temporal;
