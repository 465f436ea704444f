import { describe, expect, test } from "bun:test";
import { decode, encode } from "cbor-x/index-no-eval";
import fc from "fast-check";
import type { ReplicaHealth } from "./gossip.ts";
import {
  encodeHeartbeat,
  encodeInvalidation,
  type Heartbeat,
  messageBytesMax,
  parseHeartbeat,
  parseInvalidation,
} from "./message.ts";

const health: ReplicaHealth = {
  revision: 4_711,
  appliedIndex: 815,
  ready: false,
  failing: ["etcd"],
  term: 3,
  leader: 2,
  endpoints: ["https://10.0.0.1:6443"],
  release: "0.1.0",
};
const heartbeat: Heartbeat = { member: 1, incarnation: 1_700_000_000_000, sequence: 7, health };

function bytesOf(value: unknown): Uint8Array {
  return typeof value === "string" ? new TextEncoder().encode(value) : encode(value);
}

/** Returns the encoded heartbeat with other fields. */
function changed(fields: Record<string, unknown>): Uint8Array {
  const wire = decode(encodeHeartbeat(heartbeat)) as Record<string, unknown>;
  return bytesOf({ ...wire, ...fields });
}

describe("heartbeats", () => {
  test.each([
    ["with a leader", heartbeat],
    ["without one", { ...heartbeat, health: { ...health, leader: undefined } }],
    ["with nothing to tell", { ...heartbeat, health: { ...health, failing: [], endpoints: [], release: "" } }],
  ])("%s are decoded as they were encoded", (_, written) => {
    expect(parseHeartbeat(encodeHeartbeat(written))).toEqual(written);
  });

  test("of builds that send JSON are read", () => {
    const json = new TextEncoder().encode(JSON.stringify(decode(encodeHeartbeat(heartbeat))));
    expect(parseHeartbeat(json)).toEqual(heartbeat);
  });

  test("fields of a later version are ignored", () => {
    expect(parseHeartbeat(changed({ weather: "fine" }))).toEqual(heartbeat);
  });

  test.each([
    ["broken JSON", bytesOf("{")],
    ["broken CBOR", Uint8Array.of(0xff, 0xfe)],
    ["a list that claims four billion items", Uint8Array.of(0x9a, 0xff, 0xff, 0xff, 0xff)],
    ["a map that claims four billion members", Uint8Array.of(0xba, 0xff, 0xff, 0xff, 0xff)],
    ["nothing", new Uint8Array()],
    ["a list", bytesOf([1])],
    ["no member", changed({ member: undefined })],
    ["member zero", changed({ member: 0 })],
    ["a member in words", changed({ member: "1" })],
    ["a broken revision", changed({ revision: 1.5 })],
    ["a negative revision", changed({ revision: -1 })],
    ["a revision beyond all integers", changed({ revision: 2 ** 53 })],
    ["a term of null", changed({ term: null })],
    ["readiness in words", changed({ ready: "yes" })],
    ["no list of endpoints", changed({ endpoints: "https://10.0.0.1" })],
    ["an endpoint that moves the cursor", changed({ endpoints: ["\u001b[2J"] })],
    ["a check with a line break", changed({ failing: ["etcd\nready"] })],
    ["a name without end", changed({ failing: ["a".repeat(201)] })],
    ["a hundred endpoints", changed({ endpoints: Array.from({ length: 100 }, () => "https://a") })],
    ["a leader below zero", changed({ leader: -2 })],
    ["more than a message holds", changed({ padding: "a".repeat(messageBytesMax) })],
    ["depth without end", new Uint8Array(messageBytesMax).fill(0x81)],
  ])("%s is not a heartbeat", (_, bytes) => {
    expect(parseHeartbeat(bytes)).toBeUndefined();
  });

  test("long or unprintable text is left out of the encoding, and the rest arrives", () => {
    const crowded: ReplicaHealth = {
      ...health,
      failing: Array.from({ length: 1_000 }, (_, at) => `check-${at}`.padEnd(190, "x")),
      endpoints: ["https://ü", ...Array.from({ length: 100 }, () => "https://".padEnd(199, "x"))],
      release: "\u0007",
    };
    const bytes = encodeHeartbeat({ ...heartbeat, health: crowded });
    expect(bytes.length).toBeLessThanOrEqual(messageBytesMax);
    const read = parseHeartbeat(bytes)?.health;
    expect(read).toMatchObject({ revision: 4_711, release: "" });
    expect(read?.failing[0]).toStartWith("check-0");
    expect(read?.endpoints[0]).toStartWith("https://x");
  });

  test("decoding any input ends and gives a complete heartbeat or nothing", () => {
    const property = fc.property(
      fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.json().map(bytesOf), fc.jsonValue().map(encode)),
      (bytes) => {
        expect(parseHeartbeat(bytes)?.health.revision ?? 0).toBeNumber();
        parseInvalidation(bytes);
      },
    );
    fc.assert(property, { numRuns: 2_000 });
  });
});

describe("invalidations", () => {
  test("are decoded as they were encoded", () => {
    const written = { member: 3, incarnation: 1, sequence: 2, subject: "issuerKeys" } as const;
    expect(parseInvalidation(encodeInvalidation(written))).toEqual(written);
  });

  test.each([["toString"], ["everything"], [null], [undefined], [["issuerKeys"]]])(
    "with the subject %p are rejected",
    (subject) => {
      expect(parseInvalidation(bytesOf({ member: 3, incarnation: 1, sequence: 2, subject }))).toBeUndefined();
    },
  );
});
