import { describe, expect, test } from "bun:test";
import { StatusError } from "../api/status.ts";
import { contentTypeOf, type NegotiateOptions, negotiate, parseAccept } from "./negotiate.ts";

const options = (changes: Partial<NegotiateOptions> = {}): NegotiateOptions => ({
  endpoint: "object",
  query: new Map(),
  userAgent: undefined,
  cbor: false,
  tables: true,
  ...changes,
});
const table = "as=Table;v=v1;g=meta.k8s.io";
const partial = "as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

describe("negotiate()", () => {
  test.each([
    [undefined, "application/json", "none"],
    ["", "application/json", "none"],
    ["*/*", "application/json", "none"],
    ["application/*", "application/json", "none"],
    ["application/yaml", "application/yaml", "none"],
    ["APPLICATION/YAML", "application/yaml", "none"],
    ["application/vnd.kubernetes.protobuf,application/json", "application/vnd.kubernetes.protobuf", "none"],
    ["application/yaml;q=0.3, application/json;q=0.9", "application/json", "none"],
    ["application/yaml;q=0, application/json", "application/json", "none"],
    ["text/html, application/yaml", "application/yaml", "none"],
    ["*/*, application/yaml", "application/yaml", "none"],
    [`application/json;${table}`, "application/json", "table"],
    [`application/vnd.kubernetes.protobuf;${table},application/json;${table}`, "application/json", "table"],
    [`application/json;as=Chart;v=v1;g=meta.k8s.io,application/yaml`, "application/yaml", "none"],
    ["application/json;as=Table,application/yaml", "application/yaml", "none"],
    ["application/json;stream=other,application/yaml", "application/yaml", "none"],
    ["application/yaml;stream=watch,application/json", "application/json", "none"],
    ["application/json;sv=v1,application/yaml", "application/yaml", "none"],
    ["application/json;q=0", "application/json", "none"],
    ["*/*;q=0.1,application/yaml;q=0", "application/yaml", "none"],
    ["application/*;q=0.5,application/yaml;q=0.1", "application/yaml", "none"],
    ["application/yaml;q=x,application/json;q=0.1", "application/json", "none"],
    ["application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", "application/json", "partialMetadata"],
    ["application/json;q=0,application/yaml;q=0.1", "application/yaml", "none"],
    [`application/vnd.kubernetes.protobuf;${partial}`, "application/vnd.kubernetes.protobuf", "partialMetadata"],
  ] as const)("reads %p as %s with transform %s", (accept, mediaType, kind) => {
    const representation = negotiate(accept, options());
    expect([representation.mediaType, representation.transform.kind]).toEqual([mediaType, kind]);
  });

  test.each([
    ["text/html", options()],
    ["application/cbor", options()],
    ["application/yaml", options({ endpoint: "watch" })],
    [`application/json;${table}`, options({ tables: false })],
    [`application/json;${partial}`, options({ endpoint: "list", listType: () => "*core.PodList" })],
    [`application/json;${partial}`, options({ endpoint: "status" })],
    ["application/vnd.kubernetes.protobuf", options({ protobuf: false })],
  ] as const)("answers %s with 406 where it is not served", (accept, given) => {
    expect(codeOf(() => negotiate(accept, given))).toBe(406);
  });

  test("names the accepted types in the 406", () => {
    expect(() => negotiate("text/html", options())).toThrow(
      "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf",
    );
  });

  test("names the types of streams in the 406 of a watch", () => {
    expect(() => negotiate("application/yaml", options({ endpoint: "watch" }))).toThrow(
      "only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch",
    );
  });

  test("still serves metadata as protobuf for types without a protobuf form", () => {
    const accept = `application/vnd.kubernetes.protobuf;${partial},application/json`;
    expect(negotiate(accept, options({ protobuf: false })).mediaType).toBe("application/vnd.kubernetes.protobuf");
  });

  test("refuses an unknown includeObject only for tables", () => {
    const given = options({ query: new Map([["includeObject", ["All"]]]) });
    expect(codeOf(() => negotiate(`application/json;${table}`, given))).toBe(400);
    expect(negotiate("application/json", given).transform.kind).toBe("none");
  });

  test.each([
    ["1", undefined, true],
    ["true", undefined, true],
    ["false", "curl/8.5", false],
    [undefined, "curl/8.5", true],
    [undefined, "Mozilla/5.0 (X11)", true],
    [undefined, "kubectl/v1.36.0", false],
    ["yes", "curl/8.5", false],
  ] as const)("with pretty=%p and user agent %p indents: %p", (pretty, userAgent, expected) => {
    const query = new Map(pretty === undefined ? [] : [["pretty", [pretty]]]);
    expect(negotiate(undefined, options({ query, userAgent })).pretty).toBe(expected);
    expect(negotiate(undefined, options({ query, userAgent, endpoint: "watch" })).pretty).toBe(false);
  });

  test("looks at a bounded number of clauses", () => {
    expect(parseAccept("application/json,".repeat(1000)).length).toBeLessThanOrEqual(32);
  });
});

test("contentTypeOf() names the stream form of a watch", () => {
  const protobuf = negotiate("application/vnd.kubernetes.protobuf", options({ endpoint: "watch" }));
  expect(contentTypeOf(protobuf, true)).toBe("application/vnd.kubernetes.protobuf;stream=watch");
  expect(contentTypeOf(protobuf, false)).toBe("application/vnd.kubernetes.protobuf");
});

function codeOf(run: () => unknown): number {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError) return error.code;
    throw error;
  }
  return 200;
}
