import { describe, expect, test } from "bun:test";
import { Scheme } from "../kinds/scheme.ts";
import { schemaType } from "./schema-type.ts";
import { kindOf, type ValueType } from "./value-type.ts";

const scheme = Scheme.builtIn();

function typeAt(name: string, ...path: readonly string[]): ValueType {
  return path.reduce<ValueType>(
    (type, step) => {
      const below =
        step === "[]" ? type.list?.items : step === "{}" ? type.map?.values : type.map?.fields.get(step)?.type;
      if (below === undefined) throw new Error(`no ${step} in ${path.join(".")}`);
      return below;
    },
    schemaType(scheme.typeSchema(name)),
  );
}

const pod = "core/v1.Pod";
const crd = "apiextensions/v1.CustomResourceDefinition";

describe("built-in types", () => {
  test("a document has its kind", () => expect(typeAt(pod, "kind").scalar).toBe("string"));
  test("scalars with a form of their own take any scalar", () => {
    expect(typeAt(pod, "metadata", "creationTimestamp").scalar).toBe("untyped");
    expect(typeAt(pod, "spec", "containers", "[]", "resources", "limits", "{}").scalar).toBe("untyped");
    expect(typeAt("core/v1.Service", "spec", "ports", "[]", "targetPort").scalar).toBe("untyped");
    expect(typeAt("core/v1.ConfigMap", "binaryData", "{}").scalar).toBe("string");
  });
  test("lists are atomic, sets or have keys", () => {
    expect(typeAt(pod, "spec", "tolerations").list?.atomic).toBe(true);
    expect(typeAt(pod, "metadata", "finalizers").list).toMatchObject({ atomic: false, keys: [] });
    expect(typeAt(pod, "spec", "containers", "[]", "ports").list?.keys).toEqual(["containerPort", "protocol"]);
  });
  test("keys have defaults, and the zero value where that is always written", () => {
    const ports = typeAt(pod, "spec", "containers", "[]", "ports", "[]").map?.fields;
    expect(ports?.get("protocol")?.keyDefault).toBe("TCP");
    expect(ports?.get("containerPort")?.keyDefault).toBe(0);
    expect(ports?.get("hostIP")?.keyDefault).toBeUndefined();
  });
  test("structs can be atomic", () => expect(typeAt("apps/v1.Deployment", "spec", "selector").map?.atomic).toBe(true));
  test("JSON of any shape is owned key by key, an extension as a whole", () => {
    const schema = typeAt(crd, "spec", "versions", "[]", "schema", "openAPIV3Schema");
    expect(schema.map?.fields.get("default")?.type.map?.atomic).toBe(false);
    expect(typeAt("apps/v1.ControllerRevision", "data").map?.atomic).toBe(true);
  });
  test("a type that holds itself", () => {
    const schema = typeAt(crd, "spec", "versions", "[]", "schema", "openAPIV3Schema");
    expect(typeAt(crd, "spec", "versions", "[]", "schema", "openAPIV3Schema", "properties", "{}").map).toBe(schema.map);
  });
});

test("a value follows the rule of its kind, or else the first rule", () => {
  const { list, map } = typeAt("apps/v1.ControllerRevision", "data");
  const anything: ValueType = { scalar: "untyped", list, map };
  expect([1, [], {}, null].map((value) => kindOf(anything, value))).toEqual(["scalar", "list", "map", "map"]);
  expect(kindOf(typeAt(pod, "spec"), "text")).toBe("map");
});
