import { describe, expect, test } from "bun:test";
import { toText } from "../../api/codec/byte-text.ts";
import { apiVersionOf } from "../../api/gvk.ts";
import { structOf } from "../../api/scheme/object-form.ts";
import { builtInCatalog } from "../../kinds/built-in-catalog.ts";
import { Scheme } from "../../kinds/scheme.ts";
import { type DocumentParts, encodeParts } from "./document-part.ts";
import { openApiV2Parts, openApiV3Parts } from "./documents.ts";
import { JsonPartsWriter } from "./json-parts-writer.ts";
import { openApiName } from "./schema-name.ts";

const scheme = Scheme.builtIn({ runtimeConfig: new Map([["api/all", true]]) });
const source = {
  catalog: builtInCatalog(scheme),
  typeOf: (name: string) => scheme.typeSchema(name),
  version: "v1.36.0",
};
const groupVersions = scheme
  .groups()
  .flatMap(({ group, versions }) => versions.map((version) => ({ group, version })))
  .map((groupVersion) => [apiVersionOf(groupVersion), groupVersion] as const);

describe.each(groupVersions)("the document of %s", (_, groupVersion) => {
  const text = jsonOf(openApiV3Parts(source, groupVersion, source.catalog.resources(groupVersion)));
  const document = JSON.parse(text);

  test("defines everything that it refers to", () => {
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      expect(document.components.schemas).toHaveProperty([name as string]);
    }
  });

  test("has unique operation ids", () => {
    const ids = [...text.matchAll(/"operationId":"([^"]+)"/g)].map(([, id]) => id);
    expect(ids.length).toBeGreaterThan(0);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("describes every kind and its fields", () => {
    for (const { form, kind, group, version, listKind } of source.catalog.resources(groupVersion)) {
      const schema = structOf({ form });
      const definition = document.components.schemas[openApiName(schema.name)];
      expect(definition["x-kubernetes-group-version-kind"]).toContainEqual({ group, version, kind });
      expect({ kind, text: definition.description }).toEqual({ kind, text: expect.any(String) });
      for (const [field, property] of Object.entries<any>(definition.properties)) {
        expect({ kind, field, text: property.description }).toEqual({ kind, field, text: expect.any(String) });
      }
      if (listKind !== "") expect(text).toContain(`"kind":"${listKind}"`);
    }
  });

  test("describes the fields of the spec and the status of every kind", () => {
    for (const { form, kind } of source.catalog.resources(groupVersion)) {
      const schema = structOf({ form });
      for (const part of ["spec", "status"]) {
        const inner = schema.fields.get(part)?.schema;
        if (inner?.kind !== "struct") continue;
        const { description, properties = {} } = document.components.schemas[openApiName(inner.name)];
        expect({ kind, part, text: description }).toEqual({ kind, part, text: expect.any(String) });
        for (const [field, property] of Object.entries<any>(properties)) {
          expect({ kind, part, field, text: property.description }).toEqual({
            kind,
            part,
            field,
            text: expect.any(String),
          });
        }
      }
    }
  });
});

test("the document of all group versions defines everything that it refers to, under unique operation ids", () => {
  const text = jsonOf(openApiV2Parts(source));
  const document = JSON.parse(text);
  const references = new Set([...text.matchAll(/"#\/([^"]+)"/g)].map(([, reference]) => String(reference)));
  for (const section of ["definitions", "parameters"]) {
    const names = [...references]
      .filter((reference) => reference.startsWith(`${section}/`))
      .map((reference) => reference.slice(section.length + 1));
    expect(names.length).toBeGreaterThan(10);
    for (const name of names) expect(Object.hasOwn(document[section], name)).toBe(true);
  }
  const ids = [...text.matchAll(/"operationId":"([^"]+)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

function jsonOf(parts: DocumentParts): string {
  const steps = encodeParts(parts, new JsonPartsWriter());
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return toText(step.value);
}
