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

/** Names each operation and action, with what it takes and gives, for desk.ts. */
function namesOf(paths, schemas) {
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => {
      const type = `operations["${operation.operationId}"]`;
      const [good] = Object.keys(operation.responses);
      const places = new Set((operation.parameters ?? []).map((one) => one.in));
      const takes = [...places].map((place) => {
        const mark = place === "path" ? "" : "?";
        return `${place}${mark}: NonNullable<${type}["parameters"]["${place}"]>`;
      });
      if (operation.requestBody) takes.push(`body?: Json<${type}["requestBody"]>`);
      const gives = `Json<${type}["responses"][${good}]>`;
      return `    "${method.toUpperCase()} ${path}": { takes: { ${takes.join("; ")} }; gives: ${gives} };\n`;
    }),
  );
  const actions = schemas
    .filter((name) => name.endsWith(".arguments"))
    .map((name) => name.slice(0, -".arguments".length))
    .map((name) => {
      const gives = schemas.includes(`${name}.result`) ? `Schemas["${name}.result"]` : "unknown";
      return `    ${name}: { takes: Omit<Schemas["${name}.arguments"], "_confirm">; gives: ${gives} };\n`;
    });
  return `
type Schemas = components["schemas"];
type Json<Part> = NonNullable<Part> extends { content: { "application/json": infer Body } } ? Body : never;
export type Message = Schemas["Message"];
export type Money = Schemas["Money"];
export type Run = Schemas["Run"];
/** What a desk says of an error, in each of its forms. */
export interface Fault extends Partial<Omit<Schemas["ErrorDetail"], "message" | "recovery">> {
    message?: string | null;
    detail?: string;
    kind?: string;
    recovery?: Schemas["Recovery"] | null;
}
/** What an action takes and gives; any, for one that has no name here. */
export type Action<Name> = Name extends keyof Actions ? Actions[Name] : { takes: object; gives: unknown };
export type Call<Name> = Schemas["CallStatus"] & { result?: Action<Name>["gives"] };
export interface Actions {
${actions.join("")}}
export interface Operations {
${operations.join("")}}
`;
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
  { defaultNonNullable: false, emptyObjectsUnknown: true },
);
writeFileSync(target, NOTE + astToString(types) + namesOf(paths, [...names]));
