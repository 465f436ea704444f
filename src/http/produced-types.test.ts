import { expect, test } from "bun:test";
import { producedTypes, refuseUnproduced } from "./produced-types.ts";

test.each([
  undefined,
  "",
  "*/*",
  "application/json;q=0",
  "text/html, application/yaml",
  "application/vnd.kubernetes.protobuf; foo=bar",
])("the router lets %p pass", (accept) => refuseUnproduced(accept, producedTypes.documents));

test.each(["text/*", "application/*", "application/JSON", "application", ";", "application/cbor"])(
  "the router refuses %p",
  (accept) =>
    expect(() => refuseUnproduced(accept, producedTypes.documents)).toThrow(
      "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf",
    ),
);

test("CBOR passes where it is served", () => refuseUnproduced("application/cbor", producedTypes.collections, true));
