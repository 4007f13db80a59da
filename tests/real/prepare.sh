#!/bin/bash
# Runs in a container of IBM's developer edition, as user informix, when the server is up: makes what the tests of large
# objects and of change capture need. It may be run again.
set -eu

if [ -z "${INFORMIXDIR:-}" ]; then
    for file in /opt/ibm/scripts/informix_inf.env "$HOME/.bashrc" "$HOME/.bash_profile"; do
        # shellcheck disable=SC1090
        if [ -f "$file" ]; then set +u && . "$file" && set -u; fi
        if [ -n "${INFORMIXDIR:-}" ]; then break; fi
    done
fi
if [ -z "${INFORMIXDIR:-}" ]; then
    echo "INFORMIXDIR is not set in this container: its image is not one of IBM's developer editions." >&2
    exit 1
fi
export PATH="$INFORMIXDIR/bin:$PATH"

chunk() { # path: an empty file that only the server may read
    (umask 007 && : >"$1")
    chmod 660 "$1"
}

chunks=$(dirname "$(onstat -d | awk '$NF ~ /rootdbs/ && $NF ~ /\// { print $NF; exit }')")
if ! onstat -d | grep -qw ia_blobs; then
    chunk "$chunks/ia_blobs"
    onspaces -c -b ia_blobs -g 4 -p "$chunks/ia_blobs" -o 0 -s 51200
fi
if ! onstat -d | grep -qw ia_sbspace; then
    chunk "$chunks/ia_sbspace"
    onspaces -c -S ia_sbspace -p "$chunks/ia_sbspace" -o 0 -s 204800 -Df "LOGGING=ON"
fi
onmode -wm SBSPACENAME=ia_sbspace
if ! echo "SELECT name FROM sysdatabases WHERE name = 'syscdcv1'" | dbaccess sysmaster - 2>/dev/null | grep -qw syscdcv1; then
    dbaccess - "$INFORMIXDIR/etc/syscdcv1.sql"
fi
