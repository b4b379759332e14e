-- The account of workers and the server. It may use the role midcourse_app, which sees one tenant's rows and owns nothing.
\getenv password FLEET_PASSWORD
SELECT 'CREATE ROLE fleet LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'fleet') \gexec
ALTER ROLE fleet PASSWORD :'password';
GRANT midcourse_app TO fleet;
