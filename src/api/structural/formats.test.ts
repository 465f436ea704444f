import { expect, test } from "bun:test";
import { isKnownFormat, textFormat } from "./formats.ts";

test.each<[format: string, valid: string[], invalid: string[]]>([
  ["date", ["2024-02-29"], ["2023-02-29", "2024-1-1", "2024-13-01"]],
  ["date-time", ["2024-01-01T00:00:00Z", "2024-01-01t23:59:59.5+02:00"], ["2024-01-01", "2024-01-01T24:00:00Z"]],
  ["duration", ["1h30m", "2 days", "3 weeks 1s"], ["", "soon", "5"]],
  ["email", ["a@b.c", "Jo <jo@example.com>", '"a b"@c', "a@[1.2.3.4]"], ["a", "a@", "a@b c", "<a@b", "a..b@c"]],
  ["hostname", ["a", "example.com", "1.example.com"], ["", "-a", "a_b", "a..b"]],
  ["ipv4", ["1.2.3.4", "::ffff:1.2.3.4"], ["1.2.3", "::1"]],
  ["ipv6", ["::1", "fe80::1"], ["1.2.3.4", "::g"]],
  ["cidr", ["10.0.0.0/8", "fd00::/8"], ["10.0.0.0", "10.0.0.0/33"]],
  ["mac", ["12:34:56:78:9a:bc", "1234.5678.9abc"], ["12:34", "12-34-56:78-9a-bc"]],
  ["uuid", ["123e4567-e89b-12d3-a456-426614174000"], ["123e4567"]],
  ["uuid4", ["123e4567-e89b-42d3-a456-426614174000"], ["123e4567-e89b-12d3-a456-426614174000"]],
  ["isbn", ["978-0321751041", "0321751043"], ["0321751044", "978"]],
  ["creditcard", ["4111 1111 1111 1111"], ["4111 1111 1111 1112", ""]],
  ["ssn", ["123-45-6789"], ["123456789", ""]],
  ["hexcolor", ["#FFF", "a0b1c2"], ["#FFFF", "red"]],
  ["rgbcolor", ["rgb(0, 128,255)"], ["rgb(0,0,256)", "rgb(0,0)"]],
  ["byte", ["YWJj", "YQ=="], ["", "YQ=", "a b="]],
  ["uri", ["http://a/b", "/path"], ["a b", ""]],
  ["bsonobjectid", ["507f1f77bcf86cd799439011"], ["507f"]],
  ["k8s-short-name", ["a-b"], ["A", "a.b", "-a"]],
  ["k8s-long-name", ["a.b-c"], ["a..b", "A.b"]],
])("%s", (format, valid, invalid) => {
  expect(isKnownFormat(format, "string")).toBe(true);
  const check = textFormat(format);
  expect(valid.filter((text) => check?.(text) !== true)).toEqual([]);
  expect(invalid.filter((text) => check?.(text) !== false)).toEqual([]);
});

test("formats mean something for values of their type only", () => {
  expect(isKnownFormat("int32", "integer")).toBe(true);
  expect(isKnownFormat("int32", "string")).toBe(false);
  expect(isKnownFormat("date", "object")).toBe(false);
  expect(isKnownFormat("odd", "string")).toBe(false);
});
