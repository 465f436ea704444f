import { stat } from "node:fs/promises";
import type {
  Node,
  NodeSelector,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Volume,
} from "../../api/types/core-v1.ts";
import type { Client, ResourceType } from "../../client/client.ts";
import { thrownText } from "../../process/thrown-text.ts";
import { matchesNodeSelector } from "../pods/node-affinity.ts";
import { prepareHostPath } from "./host-path.ts";

const claims: ResourceType<PersistentVolumeClaim> = { group: "", version: "v1", resource: "persistentvolumeclaims" };
const volumes: ResourceType<PersistentVolume> = { group: "", version: "v1", resource: "persistentvolumes" };

export interface ClaimedVolume {
  /** Directory of the host. */
  readonly path: string;
  readonly isReadOnly: boolean;
}

/** Returns the name of the claim that a volume refers to; undefined for volumes of other kinds. */
function claimNameOf({ metadata }: Pod, { name, persistentVolumeClaim, ephemeral }: Volume): string | undefined {
  return persistentVolumeClaim?.claimName ?? (ephemeral === undefined ? undefined : `${metadata.name}-${name}`);
}

/** Reports whether a volume is a claim's. */
export function isClaimed(volume: Volume): boolean {
  return volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined;
}

/**
 * Finds the directory of a persistent volume of this machine that a claim is bound to.
 * @throws Error with upstream's message
 */
export async function claimedVolume(
  client: Pick<Client, "get">,
  pod: Pod,
  volume: Volume,
  node: Node | undefined,
): Promise<ClaimedVolume> {
  const { namespace = "" } = pod.metadata;
  const name = claimNameOf(pod, volume) ?? "";
  let found: PersistentVolume;
  try {
    const claim = await boundClaim(client, namespace, name, volume.ephemeral === undefined ? undefined : pod);
    found = await volumeOf(client, claim);
  } catch (error) {
    throw new Error(`error processing PVC ${namespace}/${name}: ${thrownText(error)}`);
  }
  const { volumeMode = "Filesystem", hostPath, local, nodeAffinity } = found.spec ?? {};
  if (volumeMode !== "Filesystem") {
    throw new Error(`volume ${volume.name} has volumeMode ${volumeMode}, but is specified in volumeMounts`);
  }
  requireNode(nodeAffinity?.required, node);
  const isReadOnly = volume.persistentVolumeClaim?.readOnly === true;
  if (hostPath !== undefined) {
    await prepareHostPath(hostPath);
    return { path: hostPath.path, isReadOnly };
  }
  if (local === undefined) {
    throw new Error("no volume plugin matched: this agent only has persistent volumes of types hostPath and local");
  }
  await requireDirectory(local.path);
  return { path: local.path, isReadOnly };
}

async function requireDirectory(path: string): Promise<void> {
  const facts = await stat(path).catch(() => undefined);
  if (facts === undefined) throw new Error(`path ${JSON.stringify(path)} does not exist`);
  if (facts.isDirectory()) return;
  // Upstream mounts the file system of a block device. The bare device would let the pod overwrite that file system.
  if (facts.isBlockDevice()) throw new Error(`${path} is a block device: this agent only has local directories`);
  throw new Error("only directory and block device are supported");
}

/** @param owner the pod for which the claim was made, if it belongs to one */
async function boundClaim(
  client: Pick<Client, "get">,
  namespace: string,
  name: string,
  owner: Pod | undefined,
): Promise<PersistentVolumeClaim> {
  const claim = await client.get(claims, { namespace, name }).catch((error: unknown) => {
    throw new Error(`failed to fetch PVC from API server: ${thrownText(error)}`);
  });
  const { ownerReferences = [], deletionTimestamp } = claim.metadata;
  const isOwned = ownerReferences.some(({ uid, controller }) => controller === true && uid === owner?.metadata.uid);
  if (owner !== undefined && !isOwned) {
    const place = `${namespace}/${owner.metadata.name}`;
    throw new Error(`PVC ${namespace}/${name} was not created for pod ${place} (pod is not owner)`);
  }
  if (deletionTimestamp !== undefined) throw new Error("PVC is being deleted");
  if (claim.status?.phase !== "Bound") throw new Error("PVC is not bound");
  return claim;
}

async function volumeOf(client: Pick<Client, "get">, claim: PersistentVolumeClaim): Promise<PersistentVolume> {
  const name = claim.spec?.volumeName ?? "";
  if (name === "") throw new Error("PVC has empty pvc.Spec.VolumeName");
  const found = await client.get(volumes, { name }).catch((error: unknown) => {
    throw new Error(`failed to fetch PV ${name} from API server: ${thrownText(error)}`);
  });
  const bound = found.spec?.claimRef;
  if (bound === undefined) {
    const problem = "it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim";
    throw new Error(`found PV object ${name} but ${problem}`);
  }
  if (bound.uid === claim.metadata.uid) return found;
  throw new Error(
    `found PV object ${name} but its pv.Spec.ClaimRef.UID ${bound.uid} does not point to claim.UID ${claim.metadata.uid}`,
  );
}

function requireNode(selector: NodeSelector | undefined, node: Node | undefined): void {
  if (selector === undefined || (node !== undefined && matchesNodeSelector(selector, node))) return;
  throw new Error("no matching NodeSelectorTerms");
}
