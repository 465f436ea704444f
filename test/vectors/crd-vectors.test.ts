import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/api/json.ts";
import { objectOf, objectsOf, textOf } from "../../src/api/json-reading.ts";
import {
  customDefinition,
  customDefinitionName,
  customListDefinition,
} from "../../src/http/openapi/custom-definitions.ts";
import { atOnce } from "../../src/process/sliced.ts";
import { type PublishedDefinition, type PublishedInstance, PublishedKind } from "./crd-real.ts";
import { runCrdVectors } from "./crd-vectors.ts";
import { readCases } from "./replay.ts";

const directory = join(import.meta.dir, "../fixtures/crd");

test.each(runCrdVectors(directory))("$file: every answer is the reference's", ({ differences, equal, total }) => {
  expect(differences.slice(0, 5)).toEqual([]);
  expect(equal).toBe(total);
  expect(total).toBeGreaterThan(250);
});

describe("published definitions", () => {
  const definitions = [...readCases(join(directory, "published-definitions.jsonl.gz"))] as unknown[];
  const instances = [...readCases(join(directory, "published-instances.jsonl.gz"))] as unknown as PublishedInstance[];

  test.each(definitions as PublishedDefinition[])("$project: $definition.metadata.name", (published) => {
    const kind = new PublishedKind(published);
    expect(kind.problems).toEqual([]);
    const { name } = published.definition["metadata"] as JsonObject;
    const own = instances.filter(({ definition }) => definition === name);
    expect(own.filter(({ result }) => result !== undefined).length).toBeGreaterThanOrEqual(10);
    expect(own.filter(({ result }) => result === undefined).length).toBeGreaterThanOrEqual(10);
    expect(own.flatMap((instance) => kind.compare(instance) ?? [])).toEqual([]);
  });

  test("documents describe them as those of the reference", () => {
    const recorded = JSON.parse(gunzipSync(readFileSync(join(directory, "openapi.json.gz"))).toString());
    let compared = 0;
    for (const { definition } of definitions as PublishedDefinition[]) {
      for (const dialect of ["v2", "v3"] as const) {
        const { schema, ...type } = typeOf(definition);
        const documents = new Map([
          [customDefinitionName(type), atOnce(customDefinition(type, () => schema, dialect))],
          [customDefinitionName({ ...type, kind: type.listKind }), customListDefinition(type, dialect)],
        ]);
        for (const [name, document] of documents) {
          const expected = (recorded as JsonObject)[name];
          if (expected === undefined) continue;
          compared++;
          expect(withoutTexts(document)).toEqual(withoutTexts(objectOf(expected)[dialect] as JsonValue));
        }
      }
    }
    expect(compared).toBeGreaterThan(10);
  });
});

function typeOf({ spec }: JsonObject) {
  const { group, names, versions } = objectOf(spec);
  const { kind, listKind, plural } = objectOf(names);
  const [version = {}] = objectsOf(versions);
  return {
    group: textOf(group),
    version: textOf(version["name"]),
    kind: textOf(kind),
    listKind: textOf(listKind),
    plural: textOf(plural),
    schema: objectOf(objectOf(version["schema"])["openAPIV3Schema"]),
    selectableFields: objectsOf(version["selectableFields"]).map(({ jsonPath }) => textOf(jsonPath)),
  };
}

/** Our documents describe the fields of every kind in our own words. */
function withoutTexts(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutTexts);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).filter(([name, text]) => name !== "description" || typeof text !== "string");
  return Object.fromEntries(entries.map(([name, field]) => [name, withoutTexts(field)]));
}
