import { expect, test } from "bun:test";
import type { JWTPayload } from "jose";
import { parseAuthenticationConfiguration } from "./authentication-configuration.ts";
import { userOf } from "./mapped-user.ts";

const issuer = { url: "https://issuer.example", audiences: ["a"] };

function parse(jwt: object) {
  const file = { apiVersion: "apiserver.config.k8s.io/v1", kind: "AuthenticationConfiguration", jwt: [jwt] };
  return parseAuthenticationConfiguration(new TextEncoder().encode(JSON.stringify(file)), []).jwt[0];
}

function mapped(jwt: object, claims: JWTPayload) {
  const parsed = parse({ issuer, ...jwt });
  if (parsed === undefined) throw new Error("no issuer");
  const { name, uid, groups, extra } = userOf(claims, parsed);
  return { name, uid, groups, extra: Object.fromEntries(extra) };
}

const username = { expression: "claims.sub" };

test("claims are mapped by expressions", () => {
  const claimMappings = {
    username: { expression: "'oidc:' + claims.sub" },
    groups: { expression: "claims.roles.split(',')" },
    uid: { expression: "string(claims.n)" },
    extra: [
      { key: "example.org/tenant", valueExpression: "claims.org.app__dot__name" },
      { key: "example.org/none", valueExpression: "claims.?none.orValue('')" },
    ],
  };
  const claims = { sub: "jane", roles: "a,b,", n: 5, jti: "x", org: { "app.name": "t" } };
  expect(mapped({ claimMappings }, claims)).toEqual({
    name: "oidc:jane",
    uid: "5",
    groups: ["a", "b"],
    extra: { "authentication.kubernetes.io/credential-id": ["JTI=x"], "example.org/tenant": ["t"] },
  });
});

test.each<[rules: object, message: string]>([
  [
    { claimValidationRules: [{ expression: "claims.hd == 'b'", message: "wrong domain" }] },
    "oidc: error evaluating claim validation expression: validation expression 'claims.hd == 'b'' failed: wrong domain",
  ],
  [
    { userValidationRules: [{ expression: "!user.username.startsWith('j')", message: "no j" }] },
    "oidc: error evaluating user info validation rule: validation expression '!user.username.startsWith('j')' failed: no j",
  ],
  [
    { claimMappings: { username: { expression: "claims.none" } } },
    "oidc: error evaluating username claim expression: expression 'claims.none' resulted in error: no such key: none",
  ],
  [
    { claimMappings: { username: { expression: "5" } } },
    "oidc: error evaluating username claim expression: username claim expression must return a string",
  ],
  [{ claimMappings: { username: { expression: "''" } } }, "oidc: empty username via CEL expression is not allowed"],
])("a token is refused by %j", (rules, message) => {
  expect(() => mapped({ claimMappings: { username }, ...rules }, { sub: "jane", hd: "a" })).toThrow(message);
});

test.each<[jwt: object, message: string]>([
  [
    { claimMappings: { username: { expression: "claims.sub", prefix: "" } } },
    "may not be specified when expression is set",
  ],
  [
    { claimMappings: { username: { expression: "claims.sub", claim: "sub" } } },
    "claim and expression can't both be set",
  ],
  [{ claimMappings: {} }, "claimMappings.username: Required value: claim or expression is required"],
  [{ claimMappings: { username: { expression: "claims.email" } } }, "claims.email_verified must be used in"],
  [
    { claimMappings: { username }, claimValidationRules: [{ expression: "claims.sub" }] },
    'claimValidationRules[0].expression: Invalid value: "claims.sub": must evaluate to bool',
  ],
  [
    { claimMappings: { username }, claimValidationRules: [{ expression: "true" }, { expression: "true" }] },
    'claimValidationRules[1].expression: Duplicate value: "true"',
  ],
  [
    { claimMappings: { username }, userValidationRules: [{ expression: "user.nothing" }] },
    "userValidationRules[0].expression: Invalid value: \"user.nothing\": compilation failed: ERROR: <input>:1:5: undefined field 'nothing'",
  ],
  [
    { claimMappings: { username, extra: [{ key: "A.k8s.io/b", valueExpression: "''" }] } },
    'extra[0].key: Invalid value: "A.k8s.io/b": must be lowercase',
  ],
  [{ claimMappings: { username, extra: [{ key: "b", valueExpression: "''" }] } }, "must be a domain-prefixed path"],
])("%j is rejected", (jwt, message) => {
  expect(() => parse({ issuer, ...jwt })).toThrow(message);
});
