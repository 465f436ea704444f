import { createHmac, randomInt, timingSafeEqual } from "node:crypto";
import { bootstrapTokenNamespace, bootstrapTokenPrefix } from "../access/authentication/bootstrap-token.ts";
import { joinersGroup } from "../access/authorization/join-token-authorizer.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { formatTime } from "../api/time.ts";
import type { MemberNumber } from "../storage/cluster.ts";

/** A bootstrap token that only lets a machine become a member of the cluster. */
export interface JoinToken {
  readonly id: string;
  readonly secret: string;
}

/** The description of a token in its Secret; never the token itself. */
export interface JoinTokenInfo {
  readonly id: string;
  /** Expiration time as RFC 3339. */
  readonly expiration: string;
  readonly description: string;
  /** The member recorded for the bearer. Such a token works once. */
  readonly member: MemberNumber | undefined;
}

const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz";
const idLength = 6;
const secretLength = 16;
const type = "bootstrap.kubernetes.io/token";
const proofPrefix = "quorate join token ";

export const joinTokenNamespace = bootstrapTokenNamespace;
/** The prefix of the user that such a token authenticates as. */
const userPrefix = "system:bootstrap:";

export function newJoinToken(): JoinToken {
  return { id: randomText(idLength), secret: randomText(secretLength) };
}

export function joinTokenText({ id, secret }: JoinToken): string {
  return `${id}.${secret}`;
}

/** Parses a token. @throws Error that never quotes the token */
export function parseJoinToken(text: string): JoinToken {
  const [, id, secret] = /^([a-z0-9]{6})\.([a-z0-9]{16})$/.exec(text) ?? [];
  if (id === undefined || secret === undefined) {
    throw new Error('a token consists of six and sixteen lower-case letters and digits with a "." in between');
  }
  return { id, secret };
}

export function joinTokenName(id: string): string {
  return `${bootstrapTokenPrefix}${id}`;
}

/** Returns the id of the token that authenticated the user, or undefined for any other user. */
export function joinTokenIdOf(userName: string): string | undefined {
  return userName.startsWith(userPrefix) ? userName.slice(userPrefix.length) : undefined;
}

/** Options of a new token. */
export interface JoinTokenOptions {
  readonly expirationMs: number;
  readonly description: string;
  /** Recorded member; see `JoinTokenInfo`. */
  readonly member: MemberNumber | undefined;
}

/**
 * Returns the Secret of a token.
 * @param key the key of `proof`: a Secret that another client wrote is not a token
 */
export function joinTokenSecret(token: JoinToken, info: JoinTokenOptions, key: string): KubeObject {
  const { id, secret } = token;
  const texts = {
    "token-id": id,
    "token-secret": secret,
    expiration: formatTime(info.expirationMs),
    "usage-bootstrap-authentication": "true",
    "auth-extra-groups": joinersGroup,
    description: info.description,
    member: info.member === undefined ? "" : String(info.member),
  };
  const data = { ...texts, proof: proofOf(key, texts) };
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: joinTokenName(id), namespace: joinTokenNamespace },
    type,
    data: Object.fromEntries(
      Object.entries(data).flatMap(([name, text]) =>
        text === "" ? [] : [[name, Buffer.from(text).toString("base64")]],
      ),
    ),
  };
}

/** Reads a Secret. Returns undefined unless it is a join token made by a holder of `key`. */
export function readJoinTokenSecret(secret: KubeObject, key: string): JoinTokenInfo | undefined {
  const data = (secret["data"] ?? {}) as Readonly<Record<string, string>>;
  const text = (name: string) => Buffer.from(data[name] ?? "", "base64").toString("utf8");
  const proof = Buffer.from(text("proof"));
  const right = Buffer.from(proofOf(key, Object.fromEntries(provenFields.map((name) => [name, text(name)]))));
  if (secret["type"] !== type || proof.length !== right.length || !timingSafeEqual(proof, right)) return undefined;
  const member = text("member");
  return {
    id: text("token-id"),
    expiration: text("expiration"),
    description: text("description"),
    member: member === "" ? undefined : Number(member),
  };
}

const provenFields = ["token-id", "token-secret", "expiration", "auth-extra-groups", "member"] as const;

function proofOf(key: string, texts: Readonly<Record<string, string>>): string {
  const mac = createHmac("sha256", key).update(proofPrefix);
  return mac.update(JSON.stringify(provenFields.map((name) => texts[name] ?? ""))).digest("hex");
}

function randomText(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join("");
}
