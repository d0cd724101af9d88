-- The roles of the databases, for psql as a superuser in the database `video`, once. docker-compose.yml
-- runs it at the first start of its PostgreSQL. The passwords come from the environment.

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

alter database video owner to video_owner;
-- Only PostgreSQL 14 needs these two.
alter schema public owner to video_owner;
revoke create on schema public from public;
revoke all on database video from public;
grant connect on database video to video_service, video_operator;

create database temporal owner temporal;
create database temporal_visibility owner temporal;
revoke all on database temporal, temporal_visibility from public;
