import { describe, expect, test } from "bun:test";
import { Scheme } from "../../kinds/scheme.ts";
import { fieldErrorText } from "../field-error.ts";
import type { JsonObject } from "../json.ts";
import { maxSchemaErrors, validateSchema } from "./validate.ts";

const schema = Scheme.builtIn().typeSchema("core/v1.Pod");
const problems = (spec: JsonObject) => validateSchema(schema, { spec }).map(fieldErrorText);
const container: JsonObject = { name: "c", image: "i" };

describe("validating against the type", () => {
  test("finds nothing wrong with a plain pod", () => {
    expect(problems({ containers: [container], restartPolicy: "Never" })).toEqual([]);
  });
  test("names required texts and lists that are missing or empty", () => {
    expect(problems({ containers: null })).toEqual(["spec.containers: Required value"]);
    expect(problems({ containers: [{ name: "" }] })).toEqual(["spec.containers[0].name: Required value"]);
    expect(problems({ containers: [{ ...container, env: [{ value: "x" }] }] })).toEqual([
      "spec.containers[0].env[0].name: Required value",
    ]);
  });
  test("names values outside a closed set, with the set in order", () => {
    expect(problems({ containers: [container], restartPolicy: "Maybe" })).toEqual([
      'spec.restartPolicy: Unsupported value: "Maybe": supported values: "Always", "Never", "OnFailure"',
    ]);
  });
  test("lets an empty header value be", () => {
    const httpGet = { port: 80, httpHeaders: [{ name: "X", value: "" }] };
    expect(problems({ containers: [{ ...container, livenessProbe: { httpGet } }] })).toEqual([]);
  });
  test("looks neither at metadata nor at status", () => {
    const pod = {
      metadata: { managedFields: [{ operation: "X" }] },
      spec: { containers: [container] },
      status: { phase: "X" },
    };
    expect(validateSchema(schema, pod)).toEqual([]);
  });
  test("stops at a limit", () => {
    expect(problems({ containers: Array.from({ length: maxSchemaErrors * 2 }, () => ({})) })).toHaveLength(
      maxSchemaErrors,
    );
  });
});
