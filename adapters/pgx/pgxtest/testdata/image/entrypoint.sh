set -e
if [ ! -s "$PGDATA/PG_VERSION" ]; then
	printf '%s' "$POSTGRES_PASSWORD" > /data/password
	initdb --pgdata="$PGDATA" --username=postgres --pwfile=/data/password --auth=scram-sha-256 --encoding=UTF8 --locale=C --no-sync
	echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
fi
exec postgres -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories='' -c fsync=off -c jit=off
