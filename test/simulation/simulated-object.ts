import type { FrameEncoder } from "../../src/api/codec/frame-encoder.ts";
import type { Entry } from "../../src/api/entry.ts";
import type { ProposedBody } from "../../src/storage/store.ts";

export const prefixes = ["/registry/things/", "/registry/others/"] as const;
/** Key prefix of objects that are written only through a Registry. */
export const configMaps = "/registry/configmaps/";
export const resources = [...prefixes, configMaps].toSorted();
export const namespaces = ["a", "b"] as const;
export const names = ["1", "2", "3", "4", "5"] as const;

/** All keys that clients write. There are few, so that clients conflict. */
export const keys = prefixes.flatMap((prefix) =>
  namespaces.flatMap((namespace) => names.map((name) => `${prefix}${namespace}/${name}`)),
);

export const colors = ["red", "blue"] as const;
export type Color = (typeof colors)[number];

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The bytes of an object: the operation that wrote it, and its label. */
export function bodyOf(operation: number, color: Color): ProposedBody {
  return {
    prefix: encoder.encode(`{"metadata":{"labels":{"color":"${color}"},"resourceVersion":"`),
    suffix: encoder.encode(`"},"operation":${operation}}`),
  };
}

export interface Told {
  readonly operation: number;
  readonly color: string;
  /** The revision in the object itself. */
  readonly revision: number;
}

export function readBody(body: Uint8Array): Told {
  const { metadata, data, operation } = JSON.parse(decoder.decode(body)) as {
    metadata: { labels: { color: string }; resourceVersion: string };
    data?: { operation: string };
    operation?: number;
  };
  return {
    operation: operation ?? Number(data?.operation),
    color: metadata.labels.color,
    revision: Number(metadata.resourceVersion),
  };
}

/** Encodes one line per event: `ADDED <key> <revision> <operation>`, `BOOKMARK <revision>`, `ERROR <code> <message>`. */
export const lines: FrameEncoder = {
  format: "lines",
  event(type, entry) {
    const { operation, revision } = readBody(entry.body);
    return encoder.encode(`${type} ${entry.key} ${revision} ${operation}\n`);
  },
  bookmark: (revision, end) => encoder.encode(`${end ? "INITIAL" : "BOOKMARK"} ${revision}\n`),
  error: ({ code, message }) => encoder.encode(`ERROR ${code} ${message}\n`),
};

export function linesOf(chunk: Uint8Array): string[] {
  return decoder.decode(chunk).split("\n").slice(0, -1);
}

export function isColor(color: Color): (entry: Entry) => boolean {
  return ({ index }) => index.labels?.["color"] === color;
}
