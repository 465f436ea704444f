import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { encodeCbor } from "../api/codec/cbor.ts";
import { wrapUnknown } from "../api/codec/protobuf.ts";
import type { MediaType } from "../api/codec/representation.ts";
import { StatusError } from "../api/status.ts";
import { type DecodeBodyOptions, decodeBody } from "./decode-body.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const protobuf = "application/vnd.kubernetes.protobuf";
const all: readonly MediaType[] = ["application/json", "application/yaml", protobuf, "application/cbor"];
const options: DecodeBodyOptions = { strict: true, accepted: all, cbor: true };

async function statusOf(run: () => unknown): Promise<StatusError> {
  try {
    await run();
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error("accepted");
}

describe("decodeBody", () => {
  const documents: readonly (readonly [contentType: string | undefined, body: Uint8Array, mediaType: string])[] = [
    [undefined, bytes('{"a":1}'), "application/json"],
    ["", bytes('{"a":1}'), "application/json"],
    ["application/json; charset=utf-8", bytes('{"a":1}'), "application/json"],
    ["Application/JSON", bytes('{"a":1}'), "application/json"],
    ["application/yaml", bytes("a: 1"), "application/yaml"],
    ["application/cbor", encodeCbor({ a: 1 }), "application/cbor"],
  ];
  for (const [contentType, body, mediaType] of documents) {
    test(`reads a body of type ${contentType ?? "none"}`, async () => {
      expect(await decodeBody(body, contentType, options)).toEqual({
        kind: "document",
        mediaType: mediaType as "application/json",
        value: { a: 1 },
        duplicates: [],
        duplicateLines: [],
      });
    });
  }

  test("leaves protobuf in its envelope", async () => {
    const body = await decodeBody(wrapUnknown({ apiVersion: "v1", kind: "Pod" }, bytes("raw")), protobuf, options);
    expect(body).toMatchObject({ kind: "protobuf", mediaType: protobuf, envelope: { apiVersion: "v1", kind: "Pod" } });
  });

  test("reports repeated keys of JSON and YAML", async () => {
    expect(await decodeBody(bytes('{"a":1,"a":2}'), undefined, options)).toMatchObject({ duplicates: ["a"] });
    expect(await decodeBody(bytes("a: 1\na: 2"), "application/yaml", options)).toMatchObject({
      duplicateLines: ['line 2: key "a" already set in map'],
    });
    expect(await decodeBody(bytes('{"a":1,"a":2}'), undefined, { ...options, strict: false })).toMatchObject({
      duplicates: [],
    });
  });

  test("refuses unknown types with the list of accepted ones", async () => {
    const error = await statusOf(async () =>
      decodeBody(bytes("a=1"), "application/x-www-form-urlencoded", { ...options, cbor: false }),
    );
    expect(error.code).toBe(415);
    expect(error.message).toBe(
      `the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, ${protobuf}`,
    );
    expect(
      (await statusOf(async () => decodeBody(encodeCbor(1), "application/cbor", { ...options, cbor: false }))).code,
    ).toBe(415);
    expect(
      (await statusOf(async () => decodeBody(bytes("{}"), protobuf, { ...options, accepted: ["application/json"] })))
        .code,
    ).toBe(415);
  });

  const malformed: readonly (readonly [contentType: string, body: Uint8Array, message: string])[] = [
    [
      "application/json",
      bytes("{x"),
      "the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json parse error: invalid character 'x' looking for beginning of object key string ({x)",
    ],
    [
      "application/json",
      bytes(""),
      "the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
    ],
    [
      "application/json",
      bytes(`{${" ".repeat(40)}`),
      `the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json parse error: unexpected end of JSON input ({${" ".repeat(29)} ...)`,
    ],
    [
      "application/yaml",
      bytes("a: *b"),
      "the object provided is unrecognized (must be of type Pod): yaml: unknown anchor 'b' referenced (613a202a62)",
    ],
    [
      "application/cbor",
      new Uint8Array([0xff]),
      "the object provided is unrecognized (must be of type Pod): cbor: unexpected break (ff)",
    ],
    [
      protobuf,
      bytes("{}"),
      "the object provided is unrecognized (must be of type Pod): provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] ({})",
    ],
  ];
  for (const [contentType, body, message] of malformed) {
    test(`refuses malformed ${contentType} of ${body.length} bytes`, async () => {
      const error = await statusOf(async () => decodeBody(body, contentType, { ...options, expectedKind: "Pod" }));
      expect([error.code, error.reason, error.message]).toEqual([400, "BadRequest", message]);
    });
  }

  test("gives a plain problem when no kind is expected", async () => {
    expect((await statusOf(async () => decodeBody(bytes("x"), undefined, options))).message).toBe(
      "couldn't get version/kind; json parse error: invalid character 'x' looking for beginning of value",
    );
  });

  test("answers any bytes with a body or a StatusError", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 100 }),
        fc.constantFrom(...all, "text/plain"),
        fc.boolean(),
        async (body, type, strict) => {
          try {
            await decodeBody(body, type, { ...options, strict });
          } catch (error) {
            expect(error).toBeInstanceOf(StatusError);
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
