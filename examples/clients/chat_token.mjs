// Signs a token that names the visitor who is signed in on your site, for its chat.
//
//   $ node chat_token.mjs SECRET_FILE ISSUER DESK PERSON
//
// The same as chat_token.py, which explains the parameters.

import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";

const SECONDS = 600;

const encode = (part) => Buffer.from(JSON.stringify(part)).toString("base64url");

export function signVisitor(secret, issuer, desk, person) {
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: issuer,
    aud: desk,
    sub: person,
    iat: now,
    exp: now + SECONDS,
    scope: "threads actions",
  };
  const signed = `${encode({ alg: "HS256", typ: "JWT" })}.${encode(claims)}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}

const [secretFile, ...named] = process.argv.slice(2);
if (secretFile) console.log(signVisitor(readFileSync(secretFile, "utf8").trim(), ...named));
