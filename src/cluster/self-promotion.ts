import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { KeyPair } from "../access/certificates/authority.ts";
import type { KubeconfigServer } from "../client/kubeconfig.ts";
import type { Clock } from "../process/clock.ts";
import type { Cluster } from "../storage/cluster.ts";
import { ClusterClient, ClusterRequestError } from "./cluster-client.ts";
import { parseReplicaAnswer } from "./replica-answer.ts";

const wishFile = "promote-when-caught-up";
const askIntervalMs = 500;
const progressIntervalMs = 2_000;
const timeoutMs = 5_000;

export interface SelfPromotionParts {
  readonly cluster: Cluster;
  /** Directory of the data. */
  readonly directory: string;
  readonly clock: Clock;
  /** The administrator's credentials on this server, and the authority to trust. */
  readonly identity: { readonly admin: KeyPair; readonly ca: string };
  /** Receives progress messages. */
  readonly onProgress: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** Records that a joined member wants to vote. The record survives restarts until it votes. */
export async function askForPromotion(directory: string): Promise<void> {
  await writeFile(join(directory, wishFile), "", { mode: 0o600 });
}

/** Asks the leader for promotion until this member votes, if it wants to. */
export function startSelfPromotion(parts: SelfPromotionParts): Disposable {
  const { cluster, directory, clock, onProgress } = parts;
  const wish = join(directory, wishFile);
  if (!existsSync(wish)) return { [Symbol.dispose]() {} };
  let running = false;
  let toldMs = Number.NEGATIVE_INFINITY;
  const tell = (message: string, fields: Readonly<Record<string, unknown>>) => {
    if (clock.steadyMs() - toldMs < progressIntervalMs) return;
    toldMs = clock.steadyMs();
    onProgress(message, fields);
  };
  const attempt = async () => {
    const { role, self } = cluster.status();
    if (role === "leader" || role === "voter") {
      timer[Symbol.dispose]();
      await rm(wish, { force: true });
      onProgress("this member is now a voter", { member: self });
      return;
    }
    await askLeader(parts, tell);
  };
  const timer = clock.every(askIntervalMs, () => {
    if (running) return;
    running = true;
    attempt()
      .catch((error: unknown) => tell("waiting to be promoted", { reason: (error as Error).message }))
      .finally(() => {
        running = false;
      });
  });
  return timer;
}

async function askLeader(
  { cluster, identity }: SelfPromotionParts,
  tell: SelfPromotionParts["onProgress"],
): Promise<void> {
  const { self, leader, appliedIndex } = cluster.status();
  const url = cluster.members().find(({ id }) => id === leader)?.clientUrl;
  if (url === undefined) return tell("looking for the leader", { applied: appliedIndex });
  const client = new ClusterClient(adminAt(url, identity));
  const { commitIndex } = parseReplicaAnswer(await client.get("/cluster/status", timeoutMs));
  tell("catching up", { applied: appliedIndex, of: commitIndex });
  try {
    await client.change({ method: "POST", path: `/cluster/members/${self}/promote`, timeoutMs });
  } catch (error) {
    if (error instanceof ClusterRequestError && error.reasons.includes("notCaughtUp")) return;
    throw error;
  }
}

function adminAt(url: string, { admin, ca }: SelfPromotionParts["identity"]): KubeconfigServer {
  const tls = { ca, cert: admin.certificate, key: admin.key, rejectUnauthorized: true };
  return { url, proof: async () => ({ tls, authorization: undefined }), renew: () => false };
}
