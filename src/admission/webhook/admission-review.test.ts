import { expect, test } from "bun:test";
import type { JsonObject } from "../../api/json.ts";
import { readPatch, readReview, reviewVersionOf } from "./admission-review.ts";
import { rejection } from "./webhook-error.ts";

const uid = "u";
const review = (response: JsonObject | undefined, apiVersion = "admission.k8s.io/v1"): JsonObject => ({
  apiVersion,
  kind: "AdmissionReview",
  ...(response === undefined ? {} : { response: { uid, allowed: true, ...response } }),
});
const patch = btoa("[]");

test("the first known version that a webhook accepts is sent", () => {
  expect(reviewVersionOf(["v2", "v1beta1", "v1"])).toBe("v1beta1");
  expect(reviewVersionOf(["v2"])).toBeUndefined();
});

test.each<[response: JsonObject | undefined, isMutating: boolean, text: string]>([
  [undefined, true, "webhook response was absent"],
  [{ uid: "x" }, true, 'expected response.uid="u", got "x"'],
  [{ patch }, true, "webhook returned response.patch but not response.patchType"],
  [{ patchType: "JSONPatch" }, true, "webhook returned response.patchType but not response.patch"],
  [{ patch, patchType: "" }, true, 'webhook returned invalid response.patchType of ""'],
  [{ patch }, false, "validating webhook may not return response.patch"],
  [{ patchType: "JSONPatch" }, false, "validating webhook may not return response.patchType"],
  [
    { allowed: "yes" },
    false,
    "cannot unmarshal string into Go struct field AdmissionReview.response.allowed of type bool",
  ],
  [
    { warnings: "w" },
    false,
    "cannot unmarshal string into Go struct field AdmissionReview.response.warnings of type []string",
  ],
  [{ patch: "%" }, true, "illegal base64 data"],
])("a v1 answer with %j is refused", (response, isMutating, text) => {
  expect(() => readReview(review(response), { version: "v1", uid, isMutating })).toThrow(text);
});

test("a v1 answer needs kind and apiVersion", () => {
  const read = (answer: JsonObject) => () => readReview(answer, { version: "v1", uid, isMutating: true });
  const expected = "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ";
  expect(read({ response: { uid, allowed: true } })).toThrow(`${expected}/, Kind=`);
  expect(read(review({}, "admission.k8s.io/v1beta1"))).toThrow(
    `${expected}admission.k8s.io/v1beta1, Kind=AdmissionReview`,
  );
});

test("v1beta1 answers are taken as they are", () => {
  const read = (isMutating: boolean) =>
    readReview({ response: { uid: "other", allowed: true, patch } }, { version: "v1beta1", uid, isMutating });
  expect(read(true)).toMatchObject({ isAllowed: true, patchType: "JSONPatch" });
  expect(read(false).patch).toBeUndefined();
});

test("a patch is a list of operations", () => {
  expect(readPatch(Buffer.from("[]"))).toEqual([]);
  expect(readPatch(Buffer.from("null"))).toEqual([]);
  expect(() => readPatch(Buffer.from("x"))).toThrow("invalid character 'x' looking for beginning of value");
  expect(() => readPatch(Buffer.from("{}"))).toThrow(
    "json: cannot unmarshal object into Go value of type jsonpatch.Patch",
  );
});

test.each([
  [undefined, 400, 'admission webhook "w" denied the request without explanation'],
  [{ status: "Success", code: 200, message: "odd" }, 400, 'admission webhook "w" denied the request: odd'],
  [{ reason: "Because", code: 402 }, 402, 'admission webhook "w" denied the request: Because'],
] as const)("the rejection of %j", (result, code, message) => {
  const { status } = rejection("w", result as Parameters<typeof rejection>[1]);
  expect(status).toMatchObject({ status: "Failure", code, message });
});
