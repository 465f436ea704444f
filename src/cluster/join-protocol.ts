import { parseSharedSecrets, type SharedSecrets } from "../access/certificates/shared-secrets.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import { objectOf } from "../api/json-reading.ts";
import type { MemberRecord } from "../storage/cluster.ts";
import { parseClientUrl, parseMemberName, parsePeerAddress } from "./member-address.ts";

/** The record of a future member, from the machine that joins or from an administrator. */
export type NewMember = Omit<MemberRecord, "id">;

/** The data that a new member needs to start. Its own private keys never leave its machine. */
export interface JoinAnswer {
  readonly clusterId: string;
  readonly member: MemberRecord;
  /** All members, including the new one. */
  readonly members: readonly MemberRecord[];
  readonly secrets: SharedSecrets;
}

/** Parses a new member. @throws Error that names the field and the problem */
export function parseNewMember(value: JsonValue | undefined): NewMember {
  if (!isJsonObject(value)) throw new Error("a member is an object with name, peerAddress and clientUrl");
  const name = field(value, "name", parseMemberName);
  const peerAddress = field(value, "peerAddress", (text) => {
    parsePeerAddress(text);
    return text;
  });
  return { name, peerAddress, clientUrl: field(value, "clientUrl", parseClientUrl) };
}

/** Parses a member record. @throws Error that names the field and the problem */
export function parseMemberRecord(value: JsonValue | undefined): MemberRecord {
  const id = isJsonObject(value) ? value["id"] : undefined;
  if (typeof id !== "number" || !Number.isSafeInteger(id) || id < 1) throw new Error("id is not a number from 1");
  return { id, ...parseNewMember(value) };
}

/** Parses an answer. @throws Error that names the missing or wrong part, without any secret */
export function parseJoinAnswer(value: JsonValue | undefined): JoinAnswer {
  const { clusterId, member, members, secrets } = objectOf(value);
  if (typeof clusterId !== "string" || clusterId === "") throw new Error("clusterId is missing");
  if (!Array.isArray(members)) throw new Error("members are missing");
  return {
    clusterId,
    member: parseMemberRecord(member),
    members: members.map(parseMemberRecord),
    secrets: parseSharedSecrets(secrets),
  };
}

function field<T>(value: JsonObject, name: string, parse: (text: string) => T): T {
  const text = value[name];
  if (typeof text !== "string") throw new Error(`${name} is missing`);
  try {
    return parse(text);
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`);
  }
}
