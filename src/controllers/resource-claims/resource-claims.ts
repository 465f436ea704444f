import { bodyIncludes, decodeEntry } from "../../api/codec/stored-object.ts";
import type { Entry, Key } from "../../api/entry.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { status } from "../../api/status.ts";
import type { Pod, PodResourceClaim } from "../../api/types/core-v1.ts";
import type {
  ResourceClaim,
  ResourceClaimConsumerReference,
  ResourceClaimTemplate,
} from "../../api/types/resource-v1.ts";
import type { Clock } from "../../process/clock.ts";
import { thrownText } from "../../process/thrown-text.ts";
import type { Registry } from "../../registry/registry.ts";
import { removeObject } from "../../registry/remove-object.ts";
import { controllerManagerContext } from "../../registry/server-context.ts";
import type { Strategy } from "../../registry/strategy.ts";
import type { Store } from "../../storage/store.ts";
import type { RecordEvent } from "../events/record-event.ts";
import { followEntries } from "../follow-entries.ts";
import { followObjects } from "../follow-objects.ts";
import { namesOf } from "../object-key.ts";
import { type QueueSource, RetryError, WorkQueue } from "../work-queue.ts";
import { ClaimUsers } from "./claim-users.ts";
import {
  claimFrom,
  claimNamesOf,
  isDone,
  mayReserve,
  namedClaim,
  owningPod,
  podClaimAnnotation,
} from "./pod-claims.ts";

import { type ResourceClaimsObserver, storedTraits, traitsOf } from "./resource-claims-observer.ts";

/** Finalizer that holds a claim while its devices are allocated. */
const finalizer = "resource.kubernetes.io/delete-protection";
/** Bytes of every pod that has claims. */
const marks = ['"resourceClaims":', '"extendedResourceClaimStatus":'].map((text) => Buffer.from(text));
const workers = 10;
/** Maximum number of names to try for a claim before the creation fails. */
const namesTakenMax = 8;
/** Owner of the names of claims in the status of pods. */
const statusContext = { ...controllerManagerContext, manager: "ResourceClaimController" };

export interface ResourceClaimsParts extends QueueSource {
  readonly pods: Registry;
  readonly podStatus: Strategy;
  readonly claims: Registry;
  readonly claimStatus: Strategy;
  readonly templates: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly record: RecordEvent;
  readonly observer?: ResourceClaimsObserver | undefined;
  readonly onError: (error: unknown) => void;
}

/** Makes the claims that pods ask for through templates, and releases devices that no pod uses any more. */
export class ResourceClaims {
  readonly #parts: ResourceClaimsParts;
  readonly #queue: WorkQueue;
  readonly #users = new ClaimUsers();

  constructor(parts: ResourceClaimsParts) {
    const { clock, observeQueue, onError } = parts;
    this.#parts = parts;
    const work = (key: Key) => (key.startsWith(parts.pods.info.keyPrefix) ? this.#syncPod(key) : this.#syncClaim(key));
    this.#queue = new WorkQueue({ name: "resource_claim", clock, observeQueue, onError, workers, work });
  }

  start(): Disposable {
    const { store, pods, claims, templates, observer, onError } = this.#parts;
    const running = new DisposableStack();
    running.use(this.#queue);
    running.use(observer?.observeClaims(() => storedTraits(claims)));
    running.use(
      followObjects(store, claims.info.keyPrefix, (key, type) => {
        if (type !== "DELETED") this.#queue.add(key);
        this.#lookAtUsersOf(key);
      }),
    );
    running.use(
      followObjects(store, templates.info.keyPrefix, (key, type) => {
        if (type === "ADDED") this.#lookAtUsersOf(key);
      }),
    );
    running.use(
      followEntries({ store, prefix: pods.info.keyPrefix, onError }, (entry, type) => {
        this.#lookAtPod(entry, type === "DELETED");
      }),
    );
    return running;
  }

  /** A claim or template that came or went may be what a pod waits for. */
  #lookAtUsersOf(key: Key): void {
    for (const pod of this.#users.of(key)) this.#queue.add(pod);
  }

  #lookAtPod(entry: Entry, isGone: boolean): void {
    if (isGone) this.#users.delete(entry.key);
    if (!hasClaims(entry)) return;
    const { pods, claims } = this.#parts;
    const pod = decodeEntry(entry, pods.info) as Pod;
    if (!isGone) this.#users.set(entry.key, this.#neededBy(pod));
    if (isGone || isDone(pod)) {
      for (const name of claimNamesOf(pod)) this.#queue.add(claims.keyOf(pod.metadata.namespace ?? "", name));
    }
    if (!isGone && pod.metadata.deletionTimestamp === undefined) this.#queue.add(entry.key);
  }

  /** Returns the keys of the claims and templates that a pod names. */
  #neededBy(pod: Pod): Key[] {
    const { claims, templates } = this.#parts;
    const {
      metadata: { namespace = "" },
    } = pod;
    const templateNames = (pod.spec?.resourceClaims ?? []).flatMap((claim) => claim.resourceClaimTemplateName ?? []);
    return [
      ...claimNamesOf(pod).map((name) => claims.keyOf(namespace, name)),
      ...templateNames.map((name) => templates.keyOf(namespace, name)),
    ];
  }

  async #syncPod(key: Key): Promise<void> {
    const { pods, record } = this.#parts;
    const { namespace, name } = namesOf(pods, key);
    const pod = pods.current(namespace, name) as Pod | undefined;
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined || isDone(pod)) return;
    const made = new Map<string, string>();
    for (const claim of pod.spec?.resourceClaims ?? []) {
      try {
        const claimName = await this.#ensureClaim(pod, claim);
        if (claimName !== undefined) made.set(claim.name, claimName);
      } catch (error) {
        const message = `PodResourceClaim ${claim.name}: ${thrownText(error)}`;
        record(pod, { type: "Warning", reason: "FailedResourceClaimCreation", message });
        throw error;
      }
    }
    if (made.size > 0) await this.#recordNames(pod, made);
    // The scheduler reserves the claims of the pods that it places.
    if ((pod.spec?.nodeName ?? "") !== "") await this.#reserve(pod);
  }

  /** Returns the name of a claim that the pod's status does not have yet. */
  async #ensureClaim(pod: Pod, claim: PodResourceClaim): Promise<string | undefined> {
    const { templates } = this.#parts;
    const { namespace = "" } = pod.metadata;
    const named = namedClaim(pod, claim);
    const { resourceClaimTemplateName } = claim;
    if (named.kind === "unneeded" || resourceClaimTemplateName === undefined) return undefined;
    const existing = named.kind === "named" ? this.#claim(namespace, named.name) : undefined;
    if (existing !== undefined && owningPod(existing)?.uid === pod.metadata.uid) return undefined;
    const orphan = this.#claimMadeFor(pod, claim.name);
    if (orphan !== undefined) return orphan;
    const template = templates.current(namespace, resourceClaimTemplateName) as ResourceClaimTemplate | undefined;
    if (template === undefined) {
      const missing = { group: "resource.k8s.io", resource: "resourceclaimtemplate", name: resourceClaimTemplateName };
      const text = JSON.stringify(resourceClaimTemplateName);
      throw new RetryError(`resource claim template ${text}: ${status.notFound(missing).message}`);
    }
    return this.#create(this.#newClaim(template, pod, claim.name));
  }

  async #create(claim: ResourceClaim): Promise<string | undefined> {
    const { claims, observer } = this.#parts;
    const { namespace = "", name } = claim.metadata;
    const { adminAccess } = traitsOf(claim);
    try {
      await claims.create(claim as unknown as KubeObject, namespace, controllerManagerContext);
    } catch (error) {
      observer?.creation("failure", adminAccess);
      throw error;
    }
    observer?.creation("success", adminAccess);
    return name;
  }

  #newClaim(template: ResourceClaimTemplate, pod: Pod, podClaim: string): ResourceClaim {
    const { namespace = "" } = pod.metadata;
    for (let taken = 0; ; taken++) {
      const claim = claimFrom(template, pod, podClaim, taken);
      const isTaken = this.#claim(namespace, claim.metadata.name ?? "") !== undefined;
      if (!isTaken || taken === namesTakenMax) return claim;
    }
  }

  #claim(namespace: string, name: string): ResourceClaim | undefined {
    return this.#parts.claims.current(namespace, name) as ResourceClaim | undefined;
  }

  /** Finds a claim that was made before its name could be written into the pod's status. */
  #claimMadeFor({ metadata }: Pod, podClaim: string): string | undefined {
    const { claims } = this.#parts;
    const { namespace = "", uid } = metadata;
    const owned = claims.cacher
      .entries(claims.keyOf(namespace, ""))
      .filter(({ index }) => index.owners?.some((owner) => owner.uid === uid && owner.controller));
    const found = owned
      .map((entry) => decodeEntry(entry, claims.info))
      .find((claim) => claim.metadata.annotations?.[podClaimAnnotation] === podClaim);
    return found?.metadata.name;
  }

  async #recordNames({ metadata }: Pod, made: ReadonlyMap<string, string>): Promise<void> {
    const { pods, podStatus } = this.#parts;
    const { namespace = "", name = "", uid } = metadata;
    const added = [...made].map(([claim, resourceClaimName]) => ({ name: claim, resourceClaimName }));
    const named = (old: Pod): KubeObject => {
      if (old.metadata.uid !== uid) return old as KubeObject;
      const kept = (old.status?.resourceClaimStatuses ?? []).filter((one) => !made.has(one.name));
      return { ...old, status: { ...old.status, resourceClaimStatuses: [...kept, ...added] } } as unknown as KubeObject;
    };
    const options = { strategy: podStatus, subresource: "status", reapplies: true };
    await pods.update(namespace, name, named, statusContext, options);
  }

  async #reserve(pod: Pod): Promise<void> {
    const { namespace = "", name = "", uid = "" } = pod.metadata;
    for (const podClaim of pod.spec?.resourceClaims ?? []) {
      const named = namedClaim(pod, podClaim);
      const claim = named.kind === "named" ? this.#claim(namespace, named.name) : undefined;
      if (named.kind !== "named" || claim === undefined || !mayReserve(claim, pod)) continue;
      if (named.isGenerated && owningPod(claim)?.uid !== uid) continue;
      const reservedFor = [...(claim.status?.reservedFor ?? []), { resource: "pods", name, uid }];
      await this.#writeStatus(claim, { ...claim.status, reservedFor });
    }
  }

  async #syncClaim(key: Key): Promise<void> {
    const { claims, store } = this.#parts;
    const { namespace, name } = namesOf(claims, key);
    if (this.#claim(namespace, name) === undefined) return;
    // A pod that this replica has not heard of yet may just have been placed with this claim.
    await store.readBarrier();
    const claim = this.#claim(namespace, name);
    if (claim === undefined) return;
    const { reservedFor = [], allocation } = claim.status ?? {};
    const remaining = reservedFor.filter((user) => this.#isInUse(namespace, user));
    const isHeld = claim.metadata.finalizers?.includes(finalizer) ?? false;
    const isFreed = remaining.length === 0 && isHeld;
    const isDeleted = claim.metadata.deletionTimestamp !== undefined;
    if (remaining.length < reservedFor.length || (isFreed && isDeleted)) {
      const { allocation: _freed, ...rest } = claim.status ?? {};
      const { reservedFor: _users, ...kept } = isFreed ? rest : (claim.status ?? {});
      const status = remaining.length === 0 ? kept : { ...kept, reservedFor: remaining };
      const isChanged = remaining.length < reservedFor.length || allocation !== undefined;
      const written = isChanged ? await this.#writeStatus(claim, status) : claim;
      if (isHeld && written.status?.allocation === undefined) return this.#release(written);
      // The event of the write leads back here.
      if (isChanged) return;
    }
    if (remaining.length === 0) await this.#removeUnused(claim);
  }

  /** Reports whether a user is there. Those of unknown kinds always are. */
  #isInUse(namespace: string, { apiGroup = "", resource, name, uid }: ResourceClaimConsumerReference): boolean {
    if (apiGroup !== "" || resource !== "pods") return true;
    const pod = this.#parts.pods.current(namespace, name) as Pod | undefined;
    return pod !== undefined && pod.metadata.uid === uid && !isDone(pod);
  }

  /** Removes a claim whose pod is still there but does not run any more. Otherwise the claim goes with the pod. */
  async #removeUnused(claim: ResourceClaim): Promise<void> {
    const owner = owningPod(claim);
    if (owner === undefined || claim.metadata.deletionTimestamp !== undefined) return;
    const pod = this.#parts.pods.current(claim.metadata.namespace ?? "", owner.name) as Pod | undefined;
    if (pod === undefined || (pod.metadata.uid === owner.uid && !isDone(pod))) return;
    await removeObject(this.#parts.claims, claim as unknown as KubeObject, controllerManagerContext);
  }

  async #writeStatus(claim: ResourceClaim, status: object): Promise<ResourceClaim> {
    const { claims, claimStatus } = this.#parts;
    const { namespace = "", name = "" } = claim.metadata;
    const next = { ...claim, status } as unknown as KubeObject;
    const options = { strategy: claimStatus, subresource: "status" };
    const { object } = await claims.update(namespace, name, () => next, controllerManagerContext, options);
    return object as unknown as ResourceClaim;
  }

  async #release({ metadata }: ResourceClaim): Promise<void> {
    const { namespace = "", name = "", uid } = metadata;
    const without = (old: KubeObject): KubeObject => {
      const claim = old as unknown as ResourceClaim;
      if (old.metadata.uid !== uid || claim.status?.allocation !== undefined) return old;
      const finalizers = (old.metadata.finalizers ?? []).filter((one) => one !== finalizer);
      return { ...old, metadata: { ...old.metadata, finalizers } };
    };
    await this.#parts.claims.update(namespace, name, without, controllerManagerContext, { reapplies: true });
  }
}

function hasClaims(entry: Entry): boolean {
  return marks.some((mark) => bodyIncludes(entry, mark));
}
