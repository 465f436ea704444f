import { expect, test } from "bun:test";
import { parseControllers } from "./controllers.ts";

const publisher = "root-ca-certificate-publisher-controller";
const accounts = "serviceaccount-controller";

test.each([
  ["*", [publisher, accounts]],
  [`*,-${accounts}`, [publisher]],
  [`-${accounts},*`, [publisher]],
  [accounts, [accounts]],
  [`-${accounts}`, []],
])("--controllers=%s runs %p", (text, names) => {
  expect([...parseControllers(text)]).toEqual(names as never);
});

test.each(["x", "*,-x", "", "-*x"])("--controllers=%s is refused", (text) => {
  expect(() => parseControllers(text)).toThrow(/^--controllers: /);
});
