-- The roles and Temporal's databases, for psql as a superuser in the database `video`, once. Run
-- database-rights.sql afterwards. docker-compose.yml runs both at the first start of its PostgreSQL. The
-- passwords come from the environment.

\getenv owner_password DATABASE_OWNER_PASSWORD
\getenv service_password DATABASE_PASSWORD
\getenv operator_password DATABASE_OPERATOR_PASSWORD
\getenv temporal_password TEMPORAL_DATABASE_PASSWORD

-- It migrates.
create role video_owner login password :'owner_password';
-- API and worker.
create role video_service login password :'service_password';
-- The admin commands.
create role video_operator login password :'operator_password';
create role temporal login password :'temporal_password';

create database temporal owner temporal;
create database temporal_visibility owner temporal;
