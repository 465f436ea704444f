import type { Entry } from "../api/entry.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";
import { status, successStatus } from "../api/status.ts";
import { formatTime } from "../api/time.ts";
import { foregroundDeletionFinalizer, orphanFinalizer } from "../api/vendor.ts";
import type { DeleteOptions, Strategy } from "./strategy.ts";
import type { DeleteResult } from "./write-context.ts";

export type DeletionStep =
  /** Removes the object. `marked` is the object with its deletion mark, for answers that show it. */
  | { readonly kind: "remove"; readonly marked?: KubeObject }
  | { readonly kind: "mark"; readonly object: KubeObject }
  | { readonly kind: "unchanged" };

/** Last second that the API's time format can express. */
const lastTimeMs = Date.UTC(9999, 11, 31, 23, 59, 59);

/**
 * Begins the deletion of an object. It is removed at once if nothing holds it. Otherwise it is marked, and stays until
 * its finalizers are gone and its grace period is over. A second delete can only shorten that period.
 */
export function beginDeletion(
  old: KubeObject,
  strategy: Strategy,
  options: DeleteOptions,
  nowMs: number,
): DeletionStep {
  if (old.metadata.deletionTimestamp !== undefined) return continueDeletion(old, strategy, options, nowMs);
  if (strategy.markDeletion !== undefined) {
    const marked = draftOf(old);
    strategy.markDeletion(marked, formatTime(nowMs));
    return { kind: "mark", object: marked };
  }
  const grace = graceWithin(strategy.gracePeriodSeconds(old, options), nowMs);
  const finalizers = finalizersFor(old, options, strategy);
  const goesAtOnce = finalizers.length === 0 && grace === 0 && !holdsItself(old, strategy);
  if (goesAtOnce && strategy.marksRemoved !== true) return { kind: "remove" };

  const object = draftOf(old);
  const { metadata } = object;
  if (metadata.generation !== undefined) metadata.generation += 1;
  metadata.deletionTimestamp = formatTime(nowMs + grace * 1000);
  metadata.deletionGracePeriodSeconds = grace;
  setFinalizers(object, finalizers);
  strategy.prepareForDelete?.(object);
  return goesAtOnce ? { kind: "remove", marked: object } : { kind: "mark", object };
}

/** Deletes an object once more. Its finalizers follow the options only when its grace period is over. */
function continueDeletion(old: KubeObject, strategy: Strategy, options: DeleteOptions, nowMs: number): DeletionStep {
  if (holdsItself(old, strategy)) return { kind: "unchanged" };
  const present = old.metadata.finalizers ?? [];
  const isGracePending = (old.metadata.deletionGracePeriodSeconds ?? 0) > 0;
  const finalizers = isGracePending ? present : finalizersFor(old, options, strategy);
  if (finalizers.length === 0 && (!isGracePending || options.gracePeriodSeconds === 0)) return { kind: "remove" };
  if (isGracePending) return shorterGrace(old, options, nowMs);
  if (finalizers.length === present.length && finalizers.every((name) => present.includes(name))) {
    return { kind: "unchanged" };
  }
  const object = draftOf(old);
  setFinalizers(object, finalizers);
  return { kind: "mark", object };
}

/** Returns a copy for changes of fields of the object and of its metadata. Everything below is shared. */
function draftOf(old: KubeObject): KubeObject {
  return { ...old, metadata: { ...old.metadata } };
}

function setFinalizers({ metadata }: KubeObject, finalizers: readonly string[]): void {
  if (finalizers.length === 0) delete metadata.finalizers;
  else metadata.finalizers = [...finalizers];
}

/**
 * Checks the preconditions of kinds whose upstream storage reads the object first, and compares it on its own.
 * @throws StatusError 409 if the object is not the one that the client means
 */
export function checkReadPreconditions(old: KubeObject, { preconditions }: DeleteOptions, info: ResourceInfo): void {
  const { uid = "", resourceVersion = "", name = "" } = old.metadata;
  const failed = (what: string, asked: string, held: string) =>
    status.conflict(
      { group: info.group, resource: info.resource, name },
      `Precondition failed: ${what} in precondition: ${asked}, ${what} in object meta: ${held}`,
    );
  const asked = preconditions;
  if (asked.uid !== undefined && asked.uid !== uid) throw failed("UID", asked.uid, uid);
  if (asked.resourceVersion !== undefined && asked.resourceVersion !== resourceVersion) {
    throw failed("ResourceVersion", asked.resourceVersion, resourceVersion);
  }
}

/**
 * Checks the preconditions.
 * @throws StatusError 409 if the object is not the one that the client means
 */
export function checkDeletePreconditions(old: KubeObject, { preconditions }: DeleteOptions, info: ResourceInfo): void {
  const { uid = "", resourceVersion = "", name = "" } = old.metadata;
  const ref = { group: info.group, kind: info.kind, name };
  if (preconditions.uid !== undefined && preconditions.uid !== uid) {
    throw status.preconditionFailed(
      ref,
      `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  }
  if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    throw status.preconditionFailed(
      ref,
      `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
  }
}

/** Returns the answer to a delete: the object while it stays; after its removal, a Status or the object. */
export function deletionResult(
  info: ResourceInfo,
  strategy: Strategy,
  outcome: { object: KubeObject; entry: Entry | undefined; removed: boolean; options: DeleteOptions },
): DeleteResult {
  const { object, entry, removed, options } = outcome;
  if (removed && !strategy.returnsDeletedObject) {
    const { name = "", uid = "" } = object.metadata;
    const group = info.group === "" ? {} : { group: info.group };
    const details = { name, ...group, kind: info.resource, uid };
    return { removed, code: 200, answer: { kind: "status", status: successStatus(details) } };
  }
  const code = !removed && options.orphanDependents === false ? 202 : 200;
  return { removed, code, answer: { kind: "object", object, entry } };
}

/** Returns the finalizers for the propagation policy, without the one for dependents that contradicts it. */
function finalizersFor(old: KubeObject, options: DeleteOptions, strategy: Strategy): string[] {
  const present = old.metadata.finalizers ?? [];
  if (strategy.hasNoDependents === true) return present;
  const others = present.filter((name) => name !== orphanFinalizer && name !== foregroundDeletionFinalizer);
  switch (policyFor(present, options, strategy)) {
    case "Orphan":
      return [...others, orphanFinalizer];
    case "Foreground":
      return [...others, foregroundDeletionFinalizer];
    case "Background":
      return others;
  }
}

function policyFor(
  present: readonly string[],
  options: DeleteOptions,
  { orphansByDefault }: Strategy,
): "Orphan" | "Background" | "Foreground" {
  if (options.orphanDependents !== undefined) return options.orphanDependents ? "Orphan" : "Background";
  if (options.propagationPolicy !== undefined) return options.propagationPolicy;
  if (present.includes(orphanFinalizer)) return "Orphan";
  if (present.includes(foregroundDeletionFinalizer)) return "Foreground";
  return orphansByDefault ? "Orphan" : "Background";
}

/** Limits a grace period, any int64 for a pod, to the last time that can be expressed. */
function graceWithin(seconds: number | bigint, nowMs: number): number {
  return Math.min(Math.max(0, Number(seconds)), Math.floor((lastTimeMs - nowMs) / 1000));
}

function holdsItself(old: KubeObject, strategy: Strategy): boolean {
  return strategy.holdsDeletion?.(old) ?? false;
}

/**
 * Moves the end of the grace period by as much as the period shrinks. An end in the past becomes one second from now; 0
 * means now.
 */
function shorterGrace(old: KubeObject, { gracePeriodSeconds }: DeleteOptions, nowMs: number): DeletionStep {
  const current = old.metadata.deletionGracePeriodSeconds ?? 0;
  if (gracePeriodSeconds === undefined || gracePeriodSeconds >= current) return { kind: "unchanged" };
  const object = draftOf(old);
  const grace = gracePeriodSeconds < 0 ? 1 : gracePeriodSeconds;
  const endMs = Date.parse(old.metadata.deletionTimestamp ?? "") - (current - grace) * 1000;
  object.metadata.deletionTimestamp = formatTime(Math.max(endMs, nowMs));
  object.metadata.deletionGracePeriodSeconds = endMs < nowMs && grace > 0 ? 1 : grace;
  return { kind: "mark", object };
}
