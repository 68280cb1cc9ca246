// Writes the types of a desk's /openapi.json.
//
//   $ node generate.mjs http://127.0.0.1:8080/openapi.json src/schema.ts
//
// Kept are the addresses that this client calls and the site's own actions, with what they take and
// give as JSON. The whole document has every protocol in every form, some 30,000 lines of types.

import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const [source, target] = process.argv.slice(2);
if (!source || !target) throw new Error("Usage: node generate.mjs URL_OR_FILE TARGET");

const NOTE = "// Written by `npm run generate` from a desk's /openapi.json. Do not edit.\n\n";

const isCalled = (path, operation) =>
  path.startsWith("/v1/threads") ||
  path.startsWith("/capabilities/{name}") ||
  operation.tags.includes("capabilities");

const jsonOf = ({ content, ...rest }) => {
  const json = content?.["application/json"];
  return json ? { ...rest, content: { "application/json": json } } : rest;
};

function operationOf(operation) {
  const { requestBody, responses, examples, ...rest } = operation;
  const good = Object.entries(responses).filter(([status]) => status.startsWith("2"));
  return {
    ...rest,
    ...(requestBody && { requestBody: jsonOf(requestBody) }),
    responses: Object.fromEntries(good.map(([status, response]) => [status, jsonOf(response)])),
  };
}

/** Adds the names of the schemas that a part of the document refers to, and of theirs. */
function collect(part, schemas, names) {
  for (const [, name] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    if (names.has(name)) continue;
    names.add(name);
    collect(schemas[name], schemas, names);
  }
}

const text = source.startsWith("http")
  ? await (await fetch(source)).text()
  : readFileSync(source, "utf8");
const document = JSON.parse(text);
const paths = {};
for (const [path, item] of Object.entries(document.paths)) {
  for (const [method, operation] of Object.entries(item)) {
    if (!operation.operationId || !isCalled(path, operation)) continue;
    paths[path] = { ...paths[path], [method]: operationOf(operation) };
  }
}
const { schemas } = document.components;
const names = new Set(["Error", "Problem"]);
collect([paths, schemas.Error, schemas.Problem], schemas, names);
const kept = Object.entries(schemas).filter(([name]) => names.has(name));
const types = await openapiTS(
  { openapi: document.openapi, info: document.info, paths, components: { schemas: Object.fromEntries(kept) } },
  { defaultNonNullable: false },
);
writeFileSync(target, NOTE + astToString(types));
