#!/bin/sh
# Back up a desk, restore the backup into a folder of its own, check it there, and drop old backups.
# AITP_DESK names the command, DATA the desk's data folder, BACKUPS the folder of the backups and
# KEEP_DAYS how long they are kept, and what a killed backup has left. The master key is taken from
# the environment, as the desk does.
set -eu
umask 077
backup="$BACKUPS/$(date -u +%Y-%m-%dT%H%M%SZ).db"
drill="$BACKUPS/drill"
"$AITP_DESK" store backup --data "$DATA" "$backup"
rm -rf "$drill"
trap 'rm -rf "$drill"' EXIT
"$AITP_DESK" store restore --data "$drill" "$backup"
"$AITP_DESK" store check --data "$drill"
find "$BACKUPS" -maxdepth 1 -mtime "+$KEEP_DAYS" \
    \( -name '*.db' -o -name '*.db.????????????????' \) -delete
