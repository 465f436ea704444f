import { expect, test } from "bun:test";
import { certificateBlocks, pemBlocks } from "./pem.ts";

const block = (type: string, ...lines: string[]) => [`-----BEGIN ${type}-----`, ...lines, `-----END ${type}-----`, ""];
const bytes = [1, 2, 3, 4, 5, 6];
const [first, second] = ["AQID", "BAUG"];

test.each([
  ["as it is", block("CERTIFICATE", first, second).join("\n")],
  ["with the line ends of another system", block("CERTIFICATE", first, second).join("\r\n")],
  ["with blanks before, in and behind its lines", block("CERTIFICATE", ` ${first} `, "\tBA UG").join("\n")],
  ["without a last line end", block("CERTIFICATE", first, second).join("\n").trimEnd()],
  ["with text around it", ["subject=/CN=a", ...block("CERTIFICATE", first, second), "after"].join("\n")],
])("a block is found %s", (_, text) => {
  expect(pemBlocks(text)).toEqual([{ type: "CERTIFICATE", hasHeaders: false, der: Buffer.from(bytes) }]);
});

test.each([
  ["whose end is missing", ["-----BEGIN CERTIFICATE-----", first]],
  ["that ends as another one", ["-----BEGIN CERTIFICATE-----", first, "-----END KEY-----"]],
  ["that is no base64", block("CERTIFICATE", "AQ#D")],
])("a block %s is invalid, and the next one is found", (_, lines) => {
  const text = [...lines, ...block("CERTIFICATE", second)].join("\n");
  expect(pemBlocks(text).map(({ der }) => [...der])).toEqual([[4, 5, 6]]);
});

test("headers are returned and are not data", () => {
  const [found] = pemBlocks(block("CERTIFICATE", "Proc-Type: 4", "", first).join("\n"));
  expect(found).toEqual({ type: "CERTIFICATE", hasHeaders: true, der: Buffer.from([1, 2, 3]) });
});

test("of several blocks only the certificates are returned", () => {
  const text = [...block("CERTIFICATE", first), ...block("PRIVATE KEY", first), ...block("CERTIFICATE", second)];
  expect(certificateBlocks(text.join("\n")).map((der) => [...der])).toEqual([
    [1, 2, 3],
    [4, 5, 6],
  ]);
});
