import type { Authorizer } from "../../access/authorization/authorizer.ts";
import { parseCertificateRequest } from "../../access/certificates/certificate-request.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { formatTime } from "../../api/time.ts";
import type { CertificateSigningRequest } from "../../api/types/certificates-v1.ts";
import type { Clock } from "../../process/clock.ts";
import type { Registry } from "../../registry/registry.ts";
import { controllerManagerContext } from "../../registry/server-context.ts";
import type { Strategy } from "../../registry/strategy.ts";
import type { UserInfo } from "../../request/user-info.ts";
import type { Store } from "../../storage/store.ts";
import { followObjects } from "../follow-objects.ts";
import { type QueueSource, WorkQueue } from "../work-queue.ts";
import { builtInSigners, kubeletClientSigner } from "./signers.ts";
import { conditionOf, signingRequestOf, withCondition } from "./signing-request.ts";

export interface CertificateApproverParts extends QueueSource {
  readonly requests: Registry;
  readonly requestApproval: Strategy;
  readonly store: Store;
  readonly clock: Clock;
  readonly authorizer: Authorizer;
  readonly onError: (error: unknown) => void;
}

/** Approves kubelets' own requests when the requester has permission. */
export function startCertificateApprover(parts: CertificateApproverParts): Disposable {
  const { requests, store, clock, observeQueue, onError } = parts;
  const { keyPrefix } = requests.info;
  const running = new DisposableStack();
  const work = (key: string) => approve(parts, key.slice(keyPrefix.length));
  const queue = running.use(new WorkQueue({ name: "certificate", clock, observeQueue, onError, work }));
  running.use(
    followObjects(store, keyPrefix, (key, type) => {
      if (type !== "DELETED") queue.add(key);
    }),
  );
  return running;
}

/** Permissions that the requester needs, the narrower one first, with the message of the approval. */
const grounds = [
  {
    subresource: "selfnodeclient",
    onlyOwn: true,
    message: "Auto approving self kubelet client certificate after SubjectAccessReview.",
  },
  {
    subresource: "nodeclient",
    onlyOwn: false,
    message: "Auto approving kubelet client certificate after SubjectAccessReview.",
  },
] as const;

async function approve(parts: CertificateApproverParts, name: string): Promise<void> {
  const object = parts.requests.current("", name);
  if (object === undefined || isDecided(object)) return;
  const found = signingRequestOf(object);
  const { signerName, usages = [], request, username = "" } = found.spec;
  const rules = builtInSigners.get(signerName);
  const parsed = parseCertificateRequest(Buffer.from(request ?? "", "base64").toString("latin1"));
  if (signerName !== kubeletClientSigner || rules === undefined || parsed === undefined) return;
  if (rules(parsed, usages) !== undefined) return;
  for (const { subresource, onlyOwn, message } of grounds) {
    if (onlyOwn && parsed.commonName !== username) continue;
    if (!(await mayCreate(parts.authorizer, requesterOf(found), subresource))) continue;
    return record(parts, object, message);
  }
}

function isDecided(object: KubeObject): boolean {
  const request = signingRequestOf(object);
  if ((request.status?.certificate ?? "") !== "") return true;
  return ["Approved", "Denied"].some((type) => conditionOf(request, type) !== undefined);
}

async function mayCreate(authorizer: Authorizer, user: UserInfo, subresource: string): Promise<boolean> {
  const { kind } = await authorizer.authorize(user, {
    kind: "resource",
    verb: "create",
    group: "certificates.k8s.io",
    version: "*",
    resource: "certificatesigningrequests",
    subresource,
    namespace: "",
    name: "",
  });
  return kind === "allow";
}

function requesterOf({ spec }: CertificateSigningRequest): UserInfo {
  const { username = "", uid = "", groups = [], extra = {} } = spec;
  const lists = Object.entries(extra).map(([key, values]) => [key, values ?? []] as const);
  return { name: username, uid, groups, extra: new Map(lists) };
}

async function record(
  { requests, requestApproval, clock }: CertificateApproverParts,
  { metadata: { name = "", uid } }: KubeObject,
  message: string,
): Promise<void> {
  // Another request may have taken the name during the authorization.
  const isOpen = (old: KubeObject) => old.metadata.uid === uid && !isDecided(old);
  const approval = { type: "Approved", reason: "AutoApproved", message, at: formatTime(clock.nowMs()) };
  const approved = (old: KubeObject) => (isOpen(old) ? withCondition(old, approval) : old);
  const options = { strategy: requestApproval, subresource: "approval", reapplies: true };
  await requests.update("", name, approved, controllerManagerContext, options);
}
