import { expect, test } from "bun:test";
import { metaSchema } from "../../api/codec/meta-schema.ts";
import { structForm } from "../../api/scheme/object-form.ts";
import type { SubresourceInfo } from "../../api/scheme/resource.ts";
import { connectionOptions } from "./connection-options.ts";

function optionsOf(kind: string, query: string, path = ""): unknown {
  const subresource: SubresourceInfo = {
    name: "x",
    gvk: { group: "", version: "v1", kind },
    verbs: [],
    form: structForm(metaSchema(`core/v1.${kind}`)),
  };
  const values = new URLSearchParams(query);
  const parsed = new Map([...new Set(values.keys())].map((name) => [name, values.getAll(name)]));
  return connectionOptions(subresource, parsed, path);
}

test.each<[kind: string, query: string, path: string, options: object]>([
  [
    "PodExecOptions",
    "stdin=true&stdout=1&stderr=0&tty=false&container=c&command=a&command=b",
    "",
    { stdin: true, stdout: true, container: "c", command: ["a", "b"] },
  ],
  ["PodExecOptions", "", "", { command: null }],
  ["PodPortForwardOptions", "ports=80,81&ports=82", "", { ports: [80, 81, 82] }],
  ["PodProxyOptions", "path=x", "/a/b", { path: "/a/b" }],
  ["NodeProxyOptions", "", "", {}],
])("%s of ?%s", (kind, query, path, options) => {
  expect(optionsOf(kind, query, path)).toEqual({ kind, apiVersion: "v1", ...options });
});

test.each([
  ["70000", "value out of range"],
  ["x", "invalid syntax"],
])("the port %j is refused", (port, why) => {
  expect(() => optionsOf("PodPortForwardOptions", `ports=${port}`)).toThrow(
    `cannot convert to []int32: strconv.ParseUint: parsing "${port}": ${why}`,
  );
});
