import { expect, test } from "bun:test";
import { eventEncoder } from "./encode-event.ts";
import type { AuditEvent } from "./event.ts";
import { LineBuffer } from "./line-buffer.ts";
import { eventText, testEvent } from "./testing.ts";

const body = JSON.stringify({ data: "x".repeat(5_000) });
const large = testEvent({ level: "RequestResponse", requestObject: body, responseObject: body });
const bare = testEvent({ level: "RequestResponse" });

function encoder(eventBytesMax: number, format: "json" | "legacy" = "json") {
  const dropped = { value: 0 };
  const errors: unknown[] = [];
  const truncation = { eventBytesMax, batchBytesMax: eventBytesMax };
  const write = eventEncoder({ format, truncation, dropped, onError: (error) => errors.push(error) });
  /** Returns undefined for a dropped event. */
  const encode = (event: AuditEvent) => {
    const out = new LineBuffer(16);
    out.text("before");
    const isWritten = write(out, event);
    expect(out.toString().startsWith("before")).toBe(true);
    expect(out.length > "before".length).toBe(isWritten);
    return isWritten ? out.toString("before".length) : undefined;
  };
  return { encode, dropped, errors };
}

test("without limits an event has its full size", () => {
  const encode = eventEncoder({ format: "json", truncation: undefined, dropped: { value: 0 }, onError() {} });
  const out = new LineBuffer(16);
  expect(encode(out, large)).toBe(true);
  expect(out.toString()).toBe(eventText(large));
});

test("an event fits up to the last byte of its line", () => {
  const bytes = Buffer.byteLength(eventText(large)) + 1;
  expect(encoder(bytes).encode(large)).toBe(eventText(large));
  expect(JSON.parse(encoder(bytes - 1).encode(large) ?? "").requestObject).toBeUndefined();
});

test("a large event loses its bodies, is marked, and keeps everything else", () => {
  const { encode, dropped } = encoder(2_000);
  const { requestObject, responseObject, ...rest } = JSON.parse(eventText(large));
  expect([requestObject, responseObject]).toEqual([JSON.parse(body), JSON.parse(body)]);
  expect(JSON.parse(encode(large) ?? "")).toEqual({
    ...rest,
    annotations: { ...rest.annotations, "audit.k8s.io/truncated": "true" },
  });
  expect(dropped.value).toBe(0);
  expect(large.annotations.more).toBeUndefined();
});

test("size counts bytes, not characters", () => {
  const event = testEvent({ level: "Request", requestObject: JSON.stringify("é".repeat(500)) });
  const characters = eventText(event).length + 1;
  expect(JSON.parse(encoder(characters).encode(event) ?? "").requestObject).toBeUndefined();
});

test.each(["json", "legacy"] as const)(
  "an event that is still too large is dropped, counted and reported once: %s",
  (format) => {
    const { encode, dropped, errors } = encoder(100, format);
    expect([encode(large), encode(bare)]).toEqual([undefined, undefined]);
    expect([dropped.value, errors.length]).toEqual([2, 1]);
  },
);

test("an event at Metadata has no bodies to leave out", () => {
  const event = testEvent({ annotations: { decision: "allow", reason: "x".repeat(5_000), more: undefined } });
  const { encode, dropped } = encoder(2_000);
  expect(encode(event)).toBeUndefined();
  expect(dropped.value).toBe(1);
});
