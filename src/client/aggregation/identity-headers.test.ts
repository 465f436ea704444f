import { expect, test } from "bun:test";
import { withIdentity } from "./identity-headers.ts";

const jane = {
  name: "jane",
  uid: "7",
  groups: ["a", "b"],
  extra: new Map([["example.com/Scopes", ["x", "y"]]]),
};
const nobody = { name: "n", uid: "", groups: [], extra: new Map<string, string[]>() };

test("withIdentity() names the user with each group and each extra value", () => {
  expect(withIdentity([["accept", "x"]], jane)).toEqual([
    ["accept", "x"],
    ["x-remote-user", "jane"],
    ["x-remote-uid", "7"],
    ["x-remote-group", "a"],
    ["x-remote-group", "b"],
    ["x-remote-extra-example.com%2FScopes", "x"],
    ["x-remote-extra-example.com%2FScopes", "y"],
  ]);
});

test.each([
  "x-remote-user",
  "x-remote-uid",
  "x-remote-group",
  "x-remote-extra-a",
  "x-remote-anything",
  "x_remote_user",
  "x-remote_group",
  "x-my-user",
  "x-my-extra-a",
  "x_my_extra_a",
  "x-tenantid",
  "x-site-user",
  "x_site_user",
])("withIdentity() drops %s of the client", (name) => {
  const headers = withIdentity([[name, "system:masters"]], nobody, {
    names: ["x-my-user", "x_site_user"],
    prefixes: ["x-my-extra-", "x-tenant"],
  });
  expect(headers).toEqual([["x-remote-user", "n"]]);
});

test("withIdentity() writes names as UTF-8, and keys as headers can have them", () => {
  const user = { ...nobody, name: "zoë", extra: new Map([["a%b ü", ["v"]]]) };
  const headers = new Map(withIdentity([], user));
  expect(Buffer.from(headers.get("x-remote-user") ?? "", "latin1").toString()).toBe("zoë");
  expect([...headers.keys()]).toContain("x-remote-extra-a%25b%20%C3%BC");
});

test.each(["a\r\nx-remote-group: system:masters", "a\u0000", "a\u007f"])(
  "withIdentity() refuses the name %j",
  (name) => {
    expect(() => withIdentity([], { ...nobody, name })).toThrow("net/http: invalid header field value");
  },
);
