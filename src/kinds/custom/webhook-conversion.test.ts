import { expect, test } from "bun:test";
import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { type ConversionFailure, webhookConversion } from "./webhook-conversion.ts";

const to = { group: "example.com", version: "v2" };

function widget(version: string, name: string, metadata: object = {}): KubeObject {
  const object = {
    apiVersion: `example.com/${version}`,
    kind: "Widget",
    metadata: { name, uid: `u-${name}`, ...metadata },
  };
  return object as unknown as KubeObject;
}

type Answer = (review: JsonObject & { request: { uid: string; objects: KubeObject[] } }) => unknown;

/** Converts with a webhook that answers so. */
function setUp(answer: Answer, reviewVersions = ["v1"]) {
  const reviews: JsonObject[] = [];
  const signals: (AbortSignal | undefined)[] = [];
  const failures: (ConversionFailure | undefined)[] = [];
  const convert = webhookConversion({
    clientConfig: { url: "https://h" },
    reviewVersions,
    definition: "things.example.com",
    observe: ({ failure }) => failures.push(failure),
    clients: {
      of: () => ({
        async post({ body, signal }) {
          signals.push(signal);
          const review = JSON.parse(body);
          reviews.push(review);
          return { code: 200, contentType: "application/json", body: Buffer.from(JSON.stringify(answer(review))) };
        },
      }),
    },
  });
  return { convert, reviews, failures, signals };
}

const renamed = (object: KubeObject): KubeObject => ({ ...object, apiVersion: "example.com/v2" });
const success =
  (convertedObjects: unknown, more: object = {}): Answer =>
  (review) => ({
    apiVersion: review["apiVersion"],
    kind: "ConversionReview",
    response: { uid: review.request.uid, result: { status: "Success" }, convertedObjects, ...more },
  });
const converting: Answer = (review) => success(review.request.objects.map(renamed))(review);

test("one call converts all objects that differ, and no call is made for none", async () => {
  const { convert, reviews, failures } = setUp(converting, ["v9", "v1beta1", "v1"]);
  const kept = widget("v2", "b");
  const converted = await convert([widget("v1", "a"), kept, widget("v1", "c")], to);
  expect(converted.map(({ apiVersion, metadata }) => [apiVersion, metadata.name])).toEqual([
    ["example.com/v2", "a"],
    ["example.com/v2", "b"],
    ["example.com/v2", "c"],
  ]);
  expect(reviews).toMatchObject([
    {
      apiVersion: "apiextensions.k8s.io/v1beta1",
      kind: "ConversionReview",
      request: {
        desiredAPIVersion: "example.com/v2",
        objects: [{ metadata: { name: "a" } }, { metadata: { name: "c" } }],
      },
      response: { uid: "", convertedObjects: null, result: { metadata: {} } },
    },
  ]);
  expect(convert([kept], to)).toEqual([kept]);
  expect(failures).toEqual([undefined]);
});

test("the webhook changes labels and annotations, and no other metadata", async () => {
  const { convert } = setUp((review) =>
    success(
      review.request.objects.map((object) => ({
        ...renamed(object),
        metadata: { ...object.metadata, labels: { b: "2" }, annotations: null, generation: 9, finalizers: ["x"] },
      })),
    )(review),
  );
  const [only] = await convert([widget("v1", "a", { labels: { a: "1" }, annotations: { c: "d" }, generation: 2 })], to);
  expect(only?.metadata).toEqual({ name: "a", uid: "u-a", generation: 2, labels: { b: "2" } });
});

const prefix = "conversion webhook for example.com/v1, Kind=Widget";
const bad = (change: object) => success([{ ...renamed(widget("v1", "a")), ...change }]);
const badMetadata = (change: object) => bad({ metadata: { name: "a", uid: "u-a", ...change } });

test.each<[answer: Answer, message: string]>([
  [
    () => ({ apiVersion: "v1", kind: "Pod" }),
    'failed: no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
  ],
  [() => ({}), "failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind="],
  [() => ({ apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview" }), "failed: no response provided"],
  [success([], { result: { status: "Failed", message: "not today" } }), "failed: not today"],
  [success([], { result: {} }), "failed: response.result.status was '', not 'Success'"],
  [success([]), "returned 0 objects, expected 1"],
  [
    bad({ apiVersion: "example.com/v3" }),
    "returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v3)",
  ],
  [bad({ kind: "Gadget" }), "returned invalid object at index 0: invalid kind (expected Widget, received Gadget)"],
  [badMetadata({ name: "b" }), "returned invalid object: must have the same name: a != b"],
  [badMetadata({ uid: "" }), "returned invalid object: must have the same UID: u-a != "],
  [
    badMetadata({ labels: { a: 1 } }),
    "returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object",
  ],
  [
    badMetadata({ labels: ["a"] }),
    "returned invalid metadata: invalid metadata.labels of type []interface {} in converted object",
  ],
])("an answer is refused: %#", async (answer, message) => {
  const { convert, failures } = setUp(answer);
  expect(convert([widget("v1", "a")], to)).rejects.toMatchObject({ code: 500, message: `${prefix} ${message}` });
  await Promise.resolve(convert([widget("v1", "a")], to)).catch(() => undefined);
  expect(failures).not.toContain(undefined);
});

test("the uid of a v1 answer has to be that of the question", () => {
  const { convert } = setUp(success([], { uid: "other" }));
  expect(convert([widget("v1", "a")], to)).rejects.toThrow(
    /failed: expected response.uid="[-0-9a-f]{36}", got "other"$/,
  );
});

test("of several objects the bad one is named by its index", () => {
  const { convert } = setUp((review) =>
    success(
      review.request.objects.map((object, at) => (at === 1 ? { ...renamed(object), kind: "X" } : renamed(object))),
    )(review),
  );
  expect(convert([widget("v1", "a"), widget("v1", "b")], to)).rejects.toThrow(
    `${prefix} returned invalid converted object at index 1: invalid kind (expected Widget, received X)`,
  );
});

test("a call ends with the request that it is made for", async () => {
  const { convert, signals } = setUp(converting);
  const { signal } = new AbortController();
  await convert([widget("v1", "a")], to, () => signal);
  expect(signals).toEqual([signal]);
});

test("an error quotes only the beginning of an object", async () => {
  const { convert } = setUp(success([{ spec: "x".repeat(1_000_000) }]));
  const error = await Promise.resolve(convert([widget("v1", "a")], to)).catch((reason: Error) => reason);
  expect((error as Error).message.length).toBeLessThan(1_000);
  expect((error as Error).message).toStartWith(
    `${prefix} returned invalid object at index 0: Object 'Kind' is missing in '{"spec":"xxx`,
  );
});
