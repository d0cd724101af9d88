-- The owners of the databases and the roles that may connect, for psql as a superuser in the database
-- `video`. A dump contains none of this, so run it again for databases that you created anew.

alter database video owner to video_owner;
-- Only PostgreSQL 14 needs these two.
alter schema public owner to video_owner;
revoke create on schema public from public;
revoke all on database video from public;
grant connect on database video to video_api, video_worker, video_operator, video_backup;
revoke all on database temporal, temporal_visibility from public;
