import type { KubeObject } from "../../api/object-meta.ts";
import type { Service } from "../../api/types/core-v1.ts";
import type { EndpointPod } from "./endpoint-pod.ts";

/** Annotation of endpoints with the time of the change that caused them. */
export const triggerTimeAnnotation = "endpoints.kubernetes.io/last-change-trigger-time";

interface ServiceTimes {
  readonly created: string;
  /** Time of the last change of readiness, by pod. */
  readonly pods: ReadonlyMap<string, string>;
}

/** Finds the time of the change that caused a sync of a service. */
export class TriggerTimes {
  readonly #services = new Map<string, ServiceTimes>();

  /**
   * Returns the earliest time that is new since the last call for the service. The first call returns the service's
   * creation.
   */
  next(key: string, { metadata }: Service, pods: readonly EndpointPod[]): string | undefined {
    const known = this.#services.get(key);
    const created = metadata.creationTimestamp ?? "";
    const times = new Map(
      pods.flatMap(({ name, readySince }) => (readySince === undefined ? [] : [[name, readySince]])),
    );
    this.#services.set(key, { created, pods: times });
    if (known === undefined) return created === "" ? undefined : created;
    const fresh = [...times].filter(([name, time]) => time > (known.pods.get(name) ?? "")).map(([, time]) => time);
    if (created > known.created) fresh.push(created);
    return fresh.toSorted()[0];
  }

  delete(key: string): void {
    this.#services.delete(key);
  }
}

/** Returns the object with the time in its annotation, or without an outdated time. */
export function withTriggerTime<T extends KubeObject>(object: T, since: string | undefined): T {
  const { [triggerTimeAnnotation]: _time, ...kept } = object.metadata.annotations ?? {};
  const annotations = { ...kept, ...(since !== undefined && { [triggerTimeAnnotation]: since }) };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
