#!/bin/sh
# A client that signs its requests to an aitp-desk, with openssl and curl.
#
#   $ export AITP_DESK_KEY_ID=… AITP_DESK_SECRET=…
#   $ sh signed_request.sh POST http://127.0.0.1:8080/v1/threads '{}'
#
# docs/build/oauth.md of aitp-desk describes what is signed and how. The secret is never in the
# arguments of a program, where other users of the machine could read it: so HMAC (RFC 2104) is made
# of two digests here. The secret is 64 characters of 0-9 and a-f, one block of SHA-256; tr adds the
# two paddings to it, 0x36 and 0x5c.
set -eu

method=$1
url=$2
body=${3-}

address=${url#*://}
case $address in
*/*) target=/${address#*/} ;;
*) target=/ ;;
esac

hex() { # the digest of what is read, in hexadecimal digits
    openssl dgst -sha256 -r | cut -d ' ' -f 1
}

inner() {
    printf %s "$AITP_DESK_SECRET" | LC_ALL=C tr 0123456789abcdef '\006\007\004\005\002\003\000\001\016\017WTURSP'
}

outer() {
    printf %s "$AITP_DESK_SECRET" | LC_ALL=C tr 0123456789abcdef 'lmnohijkde=>?89:'
}

digest=$(printf %s "$body" | hex)
timestamp=$(date +%s)
nonce=$(openssl rand -hex 16)
text=$(printf '%s\n' AITP-HMAC-SHA256 "$method" "$target" "$timestamp" "$nonce" "$digest")
signature=$({
    outer
    {
        inner
        printf %s "$text"
    } | openssl dgst -sha256 -binary
} | hex)

set -- --silent --show-error --fail-with-body --path-as-is --globoff --request "$method"
if [ -n "$body" ]; then
    set -- "$@" --header 'Content-Type: application/json' --data-binary "$body"
fi
if [ "$method" = HEAD ]; then
    set -- "$@" --head
fi
exec curl "$@" --header "Authorization: AITP-HMAC-SHA256 keyid=\"$AITP_DESK_KEY_ID\",\
 timestamp=\"$timestamp\", nonce=\"$nonce\", body=\"$digest\", signature=\"$signature\"" "$url"
