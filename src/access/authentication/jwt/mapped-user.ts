import type { JWTPayload } from "jose";
import type { Json } from "../../../cel/index.ts";
import type { UserInfo } from "../../../request/user-info.ts";
import { AuthenticationFailure } from "../authenticator.ts";
import type { JwtIssuer } from "./authentication-configuration.ts";
import { ClaimExpressions, checkUser } from "./claim-expressions.ts";

const credentialIdKey = "authentication.kubernetes.io/credential-id";

/** Maps the claims of a verified token to its user. @throws AuthenticationFailure */
export function userOf(claims: JWTPayload, issuer: JwtIssuer): UserInfo {
  const { username, groups, uid, extra = [], claimRules = [], userRules = [] } = issuer;
  const expressions = new ClaimExpressions(claims as Json);
  const user: UserInfo = {
    name: nameOf(claims, username, expressions),
    groups:
      groups !== undefined && "expression" in groups
        ? during("group claim expression", () => expressions.texts(groups.expression))
        : groups === undefined
          ? []
          : groupsOf(claims[groups.claim], groups),
    uid: uidOf(claims, uid, expressions),
    extra: extraOf(claims, extra, expressions),
  };
  if (claimRules.length > 0) during("claim validation expression", () => expressions.check(claimRules));
  if (userRules.length > 0) during("user info validation rule", () => checkUser(userRules, user));
  return user;
}

function nameOf(claims: JWTPayload, username: JwtIssuer["username"], expressions: ClaimExpressions): string {
  if ("expression" in username) {
    const name = during("username claim expression", () => expressions.text(username.expression, "username"));
    if (name === "") throw refused("oidc: empty username via CEL expression is not allowed");
    return name;
  }
  const name = claims[username.claim];
  if (typeof name !== "string" || name === "") throw refused(`the claim ${username.claim} does not contain a name`);
  if (username.claim === "email" && claims["email_verified"] !== undefined && claims["email_verified"] !== true) {
    throw refused("the email is not verified");
  }
  return username.prefix + name;
}

function uidOf(claims: JWTPayload, uid: JwtIssuer["uid"], expressions: ClaimExpressions): string {
  if (uid === undefined) return "";
  if (typeof uid !== "string") {
    return during("uid claim expression", () => expressions.text(uid.expression, "uid"));
  }
  const value = claims[uid];
  if (typeof value !== "string") throw refused(`the claim ${uid} does not contain a text`);
  return value;
}

/** Audit events use the id of the token to name it. */
function extraOf(
  { jti }: JWTPayload,
  mappings: NonNullable<JwtIssuer["extra"]>,
  expressions: ClaimExpressions,
): UserInfo["extra"] {
  const extra = new Map<string, readonly string[]>();
  if (typeof jti === "string" && jti !== "") extra.set(credentialIdKey, [`JTI=${jti}`]);
  for (const { key, expression } of mappings) {
    const values = during("extra claim expression", () => expressions.texts(expression));
    if (values.length > 0) extra.set(key, values);
  }
  return extra;
}

/** Rejects a token if an expression fails on its claims. */
function during<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw refused(`oidc: error evaluating ${what}: ${(error as Error).message}`);
  }
}

function groupsOf(value: unknown, { claim, prefix }: { claim: string; prefix: string }): string[] {
  if (value === undefined || value === null) return [];
  const list: unknown[] = Array.isArray(value) ? value : [value];
  return list.map((group) => {
    if (typeof group !== "string") throw refused(`the claim ${claim} does not contain a list of texts`);
    return prefix + group;
  });
}

function refused(reason: string): AuthenticationFailure {
  return new AuthenticationFailure(reason, { decisive: false });
}
