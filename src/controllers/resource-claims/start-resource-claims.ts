import { pod } from "../../kinds/core/pod.ts";
import { resourceClaim } from "../../kinds/resource/resource-claim.ts";
import type { Clock } from "../../process/clock.ts";
import { strategyOf } from "../../registry/kind.ts";
import type { Registries } from "../../registry/registries.ts";
import type { Store } from "../../storage/store.ts";
import { EventRecorder } from "../events/event-recorder.ts";
import { recordingWith } from "../events/record-event.ts";
import type { QueueSource } from "../work-queue.ts";
import { ResourceClaims } from "./resource-claims.ts";
import type { ResourceClaimsObserver } from "./resource-claims-observer.ts";

export interface StartResourceClaimsParts extends QueueSource {
  readonly registries: Registries;
  readonly store: Store;
  readonly clock: Clock;
  readonly resourceClaimsObserver?: ResourceClaimsObserver | undefined;
  readonly onError: (error: unknown) => void;
}

/** Starts what looks after the claims of pods. */
export function startResourceClaims(parts: StartResourceClaimsParts): Disposable {
  const { registries } = parts;
  const running = new DisposableStack();
  const events = registries.builtIn({ group: "", resource: "events" });
  const recorder = running.use(new EventRecorder({ ...parts, events, component: "resource_claim" }));
  const claims = new ResourceClaims({
    ...parts,
    pods: registries.builtIn({ group: "", resource: "pods" }),
    podStatus: strategyOf(pod, "status"),
    claims: registries.builtIn({ group: "resource.k8s.io", resource: "resourceclaims" }),
    claimStatus: strategyOf(resourceClaim, "status"),
    templates: registries.builtIn({ group: "resource.k8s.io", resource: "resourceclaimtemplates" }),
    record: recordingWith(recorder),
    observer: parts.resourceClaimsObserver,
  });
  running.use(claims.start());
  return running;
}
