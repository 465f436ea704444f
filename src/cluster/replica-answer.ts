import { isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import type { MemberStatus, ReplicaStatus } from "../storage/cluster.ts";
import { ClusterRequestError } from "./cluster-client.ts";
import { parseMemberRecord } from "./join-protocol.ts";

/** What `GET /cluster/status` answers. */
export interface ReplicaAnswer extends ReplicaStatus {
  /** Of the program. */
  readonly version: string;
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

/** @throws ClusterRequestError for what is no such answer */
export function parseReplicaAnswer(value: JsonObject): ReplicaAnswer {
  const { members, leader, failure } = value;
  try {
    for (const name of numbers) if (typeof value[name] !== "number") throw new Error(`${name} is missing`);
    for (const name of texts) if (typeof value[name] !== "string") throw new Error(`${name} is missing`);
    return {
      ...(value as unknown as ReplicaAnswer),
      leader: typeof leader === "number" ? leader : undefined,
      failure: typeof failure === "string" ? failure : undefined,
      members: parseMembers(members),
    };
  } catch (error) {
    throw new ClusterRequestError(`the answer is no status of a replica: ${(error as Error).message}`);
  }
}

/** @throws Error that says what is missing */
export function parseMembers(value: JsonValue | undefined): MemberStatus[] {
  if (!Array.isArray(value)) throw new Error("members are missing");
  return value.map((member) => {
    const { role, matchIndex, isActive } = isJsonObject(member) ? member : {};
    return {
      ...parseMemberRecord(member),
      role: role === "leader" || role === "learner" ? role : "voter",
      matchIndex: typeof matchIndex === "number" ? matchIndex : undefined,
      isActive: typeof isActive === "boolean" ? isActive : undefined,
    };
  });
}
