import { isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import { listOf, objectOf, objectsOf } from "../api/json-reading.ts";
import {
  type MemberNumber,
  type MemberRecord,
  type MemberStatus,
  memberRoles,
  type ReplicaStatus,
} from "../storage/cluster.ts";
import type { EncryptedResources } from "../storage/encryption/resource-transformers.ts";
import { ClusterRequestError } from "./cluster-client.ts";
import { parseMemberRecord } from "./join-protocol.ts";
import { parseMemberName } from "./member-address.ts";

/** The answer of `GET /cluster/status`. */
export interface ReplicaAnswer extends ReplicaStatus {
  /** Version of the program. */
  readonly version: string;
  /** Undefined for a member of an older version. */
  readonly encryption: ReplicaEncryption | undefined;
  /** Gossip about the other members. */
  readonly gossip: readonly HeardMember[];
}

/** How a replica encrypts objects. */
export interface ReplicaEncryption {
  /** The resources with a rule. */
  readonly resources: readonly EncryptedResources[];
  /** Number of objects that it cannot read, for lack of a key or because they are damaged. */
  readonly unreadable: number;
}

export interface HeardMember {
  readonly member: MemberNumber;
  readonly ageMs: number;
  readonly failing: readonly string[];
}

const numbers = [
  "self",
  "term",
  "lastIndex",
  "commitIndex",
  "appliedIndex",
  "flushedIndex",
  "revision",
  "compactedRevision",
  "objects",
  "logBytes",
] as const;
const texts = ["clusterId", "role", "stateHash", "version"] as const;

/** Parses a status. @throws ClusterRequestError for any other answer */
export function parseReplicaAnswer(value: JsonObject): ReplicaAnswer {
  const { members, leader, failure, gossip } = value;
  try {
    for (const name of numbers) if (typeof value[name] !== "number") throw new Error(`${name} is missing`);
    for (const name of texts) if (typeof value[name] !== "string") throw new Error(`${name} is missing`);
    return {
      ...(value as unknown as ReplicaAnswer),
      leader: typeof leader === "number" ? leader : undefined,
      failure: typeof failure === "string" ? failure : undefined,
      members: parseMembers(members),
      encryption: parseEncryption(value["encryption"]),
      gossip: Array.isArray(gossip) ? gossip.flatMap(parseHeard) : [],
    };
  } catch (error) {
    throw new ClusterRequestError(`the answer is not the status of a replica: ${(error as Error).message}`);
  }
}

/** Parses a report on encryption. Passes over one that is not understood. */
function parseEncryption(value: JsonValue | undefined): ReplicaEncryption | undefined {
  if (!isJsonObject(value)) return undefined;
  const { resources, unreadable } = value;
  return {
    resources: objectsOf(resources).map((rule) => ({
      resources: String(rule["resources"]),
      providers: listOf(rule["providers"]).map(String),
    })),
    unreadable: typeof unreadable === "number" ? unreadable : 0,
  };
}

/** Parses a gossip record. Skips an invalid record, because gossip is optional. */
function parseHeard(value: JsonValue): HeardMember[] {
  const { member, ageMs, failing } = objectOf(value);
  if (typeof member !== "number" || typeof ageMs !== "number" || !Array.isArray(failing)) return [];
  return [{ member, ageMs, failing: failing.filter((name) => typeof name === "string") }];
}

/** Parses the members. @throws Error that names the missing part */
export function parseMembers(value: JsonValue | undefined): MemberStatus[] {
  if (!Array.isArray(value)) throw new Error("members are missing");
  return value.map((member) => {
    const { role, matchIndex, isActive } = objectOf(member);
    return {
      ...parseRecord(member),
      role: memberRoles.find((known) => known === role) ?? "none",
      matchIndex: typeof matchIndex === "number" ? matchIndex : undefined,
      isActive: typeof isActive === "boolean" ? isActive : undefined,
    };
  });
}

/** Parses a record. A single replica has no address for others, and may not know its URL. */
function parseRecord(member: JsonValue): MemberRecord {
  const { id, name, peerAddress, clientUrl } = objectOf(member);
  if (peerAddress !== "") return parseMemberRecord(member);
  if (typeof id !== "number") throw new Error("id is missing");
  return {
    id,
    name: parseMemberName(String(name)),
    peerAddress,
    clientUrl: typeof clientUrl === "string" ? clientUrl : "",
  };
}
