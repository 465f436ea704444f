import { createHash, timingSafeEqual } from "node:crypto";
import { parseTimeMs } from "../../api/schema/time-text.ts";
import type { UserInfo } from "../../request/user-info.ts";

/** Namespace and name prefix of such Secrets. */
export const bootstrapTokenNamespace = "kube-system";
export const bootstrapTokenPrefix = "bootstrap-token-";
const bootstrapTokenType = "bootstrap.kubernetes.io/token";
const tokenPattern = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const groupPattern = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;
const baseGroup = "system:bootstrappers";

/** The parts of a Secret that a bootstrap token needs. Values of `data` are base64. */
export interface BootstrapSecret {
  readonly type?: string;
  readonly metadata: { readonly deletionTimestamp?: string };
  readonly data?: Readonly<Record<string, string>>;
}

/**
 * Returns the user of a bootstrap token, which is the first credential of a new machine.
 * @param secret looks up a Secret of kube-system by name
 */
export function bootstrapTokenUser(
  token: string,
  secret: (name: string) => BootstrapSecret | undefined,
  nowMs: number,
): UserInfo | undefined {
  const match = tokenPattern.exec(token);
  if (match === null) return undefined;
  const [, id = "", secretPart = ""] = match;
  const found = secret(`${bootstrapTokenPrefix}${id}`);
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) return undefined;
  const value = (name: string) => Buffer.from(found.data?.[name] ?? "", "base64").toString("utf8");
  const usable =
    found.type === bootstrapTokenType &&
    value("token-id") === id &&
    sameText(value("token-secret"), secretPart) &&
    !hasExpired(value("expiration"), nowMs) &&
    value("usage-bootstrap-authentication") === "true";
  const groups = groupsOf(value("auth-extra-groups"));
  if (!usable || groups === undefined) return undefined;
  return { name: `system:bootstrap:${id}`, uid: "", groups, extra: new Map() };
}

/** Reports whether the time has passed. An unreadable expiration counts as past. */
export function hasExpired(expiration: string, nowMs: number): boolean {
  if (expiration === "") return false;
  const endMs = parseTimeMs(expiration);
  return endMs === undefined || endMs <= nowMs;
}

/**
 * Returns the groups, or undefined if one of them is not a bootstrappers' group, because the token would have too many
 * rights.
 */
function groupsOf(text: string): string[] | undefined {
  const further = text === "" ? [] : text.split(",");
  if (!further.every((group) => groupPattern.test(group))) return undefined;
  return [baseGroup, ...new Set(further)];
}

/** Compares texts in constant time. */
function sameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
