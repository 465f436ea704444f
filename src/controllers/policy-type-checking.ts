import type { KubeObject } from "../api/object-meta.ts";
import type { ValidatingAdmissionPolicy } from "../api/types/admissionregistration-v1.ts";
import type { Client, ResourceType } from "../client/client.ts";
import { Informer } from "../client/informer.ts";
import { type ServedKinds, typeCheckingOf, typeWarnings } from "../kinds/admissionregistration/type-warnings.ts";
import type { Clock } from "../process/clock.ts";
import { runSliced } from "../process/sliced.ts";
import { unlessGone } from "./unless-gone.ts";
import { type QueueSource, WorkQueue } from "./work-queue.ts";

export const validatingPolicies: ResourceType = {
  group: "admissionregistration.k8s.io",
  version: "v1",
  resource: "validatingadmissionpolicies",
};
const fieldManager = "validatingadmissionpolicy-status";
/** Time from a change of a policy to its check, because policies are often changed again at once. */
export const policySettleMs = 10_000;

export interface PolicyTypeCheckingParts extends QueueSource {
  readonly client: Client;
  readonly clock: Clock;
  readonly served: ServedKinds;
  readonly onError: (error: unknown) => void;
}

/** Checks each policy against the types of the kinds that it names, and writes warnings to its status. */
export function startPolicyTypeChecking({
  client,
  clock,
  served,
  observeQueue,
  onError,
}: PolicyTypeCheckingParts): Disposable {
  const running = new DisposableStack();
  const work = async (name: string) => {
    const policy = policies.get(name);
    if (policy !== undefined) await check(client, served, policy as ValidatingAdmissionPolicy);
  };
  const queue = running.use(
    new WorkQueue({ name: "validatingadmissionpolicy-status", clock, observeQueue, onError, work }),
  );
  const look = ({ metadata: { name = "" } }: KubeObject) => queue.addAfter(name, policySettleMs);
  const policies = running.use(
    new Informer({
      client,
      type: validatingPolicies,
      clock,
      random: Math.random,
      onError,
      added: look,
      updated: look,
      deleted() {},
    }),
  );
  return running;
}

async function check(client: Client, served: ServedKinds, policy: ValidatingAdmissionPolicy): Promise<void> {
  const { name = "", generation = 0 } = policy.metadata;
  if (generation <= Number(policy.status?.observedGeneration ?? 0)) return;
  const warnings = await runSliced(typeWarnings(policy, served));
  const document = {
    apiVersion: `${validatingPolicies.group}/${validatingPolicies.version}`,
    kind: "ValidatingAdmissionPolicy",
    metadata: { name },
    status: { observedGeneration: generation, typeChecking: typeCheckingOf(warnings) },
  };
  const place = { name, subresource: "status" };
  const application = { kind: "apply", document, force: true } as const;
  await unlessGone(client.patch(validatingPolicies, place, application, { fieldManager }));
}
