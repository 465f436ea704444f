import type { Entry, Key, ObjectIndex } from "../../src/api/entry.ts";
import type { Command, Expect, Operation, ProposedBody } from "../../src/storage/store.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const plainIndex: ObjectIndex = {
  apiVersion: "v1",
  uid: "uid",
  labels: undefined,
  fields: undefined,
  owners: undefined,
};

function proposedBody(data: string): ProposedBody {
  return {
    prefix: encoder.encode(`{"metadata":{"resourceVersion":"`),
    suffix: encoder.encode(`"},"data":${JSON.stringify(data)}}`),
  };
}

/** Makes one command for each key. */
export function proposal(operation: Operation, expect: Expect = { kind: "any" }): (key: Key) => Command {
  return (key) => ({ key, expect, operation });
}

export function put(key: Key, data: string, options: { expect?: Expect; index?: ObjectIndex } = {}): Command {
  const { expect = { kind: "any" }, index = plainIndex } = options;
  return proposal({ kind: "put", index, body: proposedBody(data) }, expect)(key);
}

export function del(key: Key, data: string, expect: Expect = { kind: "any" }): Command {
  return proposal({ kind: "delete", last: proposedBody(data) }, expect)(key);
}

/** "" if there is no entry. */
export function bodyText(entry: Entry | undefined): string {
  return decoder.decode(entry?.body);
}
