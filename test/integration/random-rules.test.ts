import { describe, expect, test } from "bun:test";
import { encodeDecoded } from "../../src/api/codec/encode-object.ts";
import type { Representation } from "../../src/api/codec/representation.ts";
import { apiVersionOf } from "../../src/api/gvk.ts";
import type { JsonObject } from "../../src/api/json.ts";
import type { KubeObject } from "../../src/api/object-meta.ts";
import { GatedFields } from "../../src/api/schema/gated-fields.ts";
import { toStorage } from "../../src/api/scheme/conversion/convert.ts";
import { structOf } from "../../src/api/scheme/object-form.ts";
import { type ResourceInfo, storedInfo } from "../../src/api/scheme/resource.ts";
import { builtInKindOf } from "../../src/kinds/index.ts";
import { Scheme } from "../../src/kinds/scheme.ts";
import { DeclarativeValidation } from "../../src/registry/declarative/declarative-validation.ts";
import { FieldOwnership } from "../../src/registry/field-ownership.ts";
import { strategyOf } from "../../src/registry/kind.ts";
import { objectProblems } from "../../src/registry/object-problems.ts";
import { Chance, randomObject } from "./random-object.ts";

/** `SEED=<n>` replays a run. */
const seed = Number(Bun.env["SEED"] ?? Date.now() % 2 ** 31);
const pairsPerKind = 6;

const scheme = Scheme.builtIn({ runtimeConfig: new Map([["api/all", true]]) });
const kinds = scheme.resources.filter(({ virtual }) => !virtual);
const declarative = new DeclarativeValidation({ enabled: () => true, takeover: true, onMismatch() {} });
const gated = new GatedFields(() => false);
const representations: readonly Representation[] = [
  { mediaType: "application/json", transform: { kind: "none" }, pretty: true },
  { mediaType: "application/yaml", transform: { kind: "none" }, pretty: false },
  { mediaType: "application/cbor", transform: { kind: "none" }, pretty: false },
  { mediaType: "application/vnd.kubernetes.protobuf", transform: { kind: "none" }, pretty: false },
  {
    mediaType: "application/json",
    transform: { kind: "table", version: "v1", includeObject: "Object" },
    pretty: false,
  },
];

/** Returns a random object in the state that the registry validates. */
function storedObject(served: ResourceInfo, chance: Chance): KubeObject {
  const info = storedInfo(served);
  const object = canonical(served, randomObject(structOf(served), chance));
  served.form.applyDefaults(object as unknown as JsonObject);
  const stored = toStorage(object, served);
  info.form.applyDefaults(stored as unknown as JsonObject);
  return canonical(info, stored as unknown as JsonObject);
}

function canonical(info: ResourceInfo, object: JsonObject): KubeObject {
  const { kind: _kind, apiVersion: _apiVersion, ...fields } = object;
  const { object: typed } = info.form.decode(fields, { kind: info.kind });
  const {
    managedFields: _managedFields,
    generation: _generation,
    ...metadata
  } = (typed["metadata"] ?? {}) as JsonObject;
  return { kind: info.kind, apiVersion: apiVersionOf(info), ...typed, metadata } as unknown as KubeObject;
}

describe(`an object that makes no sense is judged, not stumbled over (SEED=${seed})`, () => {
  test.each(kinds.map((info) => [`${apiVersionOf(info)} ${info.kind}`, info] as const))("%s", async (name, served) => {
    const info = storedInfo(served);
    const strategy = strategyOf(builtInKindOf(info));
    const chance = new Chance(seed ^ Bun.hash.crc32(name));
    for (let count = 0; count < pairsPerKind; count++) {
      const [object, old] = [storedObject(served, chance), storedObject(served, chance)];
      gated.drop(structOf(info), object as unknown as JsonObject, old as unknown as JsonObject);
      strategy.prepareForUpdate(object, old, 0);
      const rules = { strategy, info, version: served, declarative };
      const created = await objectProblems(object, undefined, rules);
      const updated = await objectProblems(object, old, rules);
      for (const problem of [...created, ...updated]) {
        expect(problem).toEqual({
          field: expect.any(String),
          reason: expect.any(String),
          message: expect.any(String),
        });
      }
      const ownership = new FieldOwnership([served], () => undefined);
      ownership.afterUpdate(old, object, { manager: "m", subresource: "", version: served, nowMs: 0 });
      for (const representation of representations) {
        expect(encodeDecoded(object, served, representation, 0).length).toBeGreaterThan(0);
      }
    }
  });
});
