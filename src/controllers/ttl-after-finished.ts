import { bodyIncludes } from "../api/codec/stored-object.ts";
import { StatusError } from "../api/status.ts";
import type { Job } from "../api/types/batch-v1.ts";
import type { Clock } from "../process/clock.ts";
import { plainDeletion } from "../registry/delete-options.ts";
import type { Registry } from "../registry/registry.ts";
import { controllerManagerContext } from "../registry/server-context.ts";
import type { Store } from "../storage/store.ts";
import { followEntries } from "./follow-entries.ts";
import { namesOf } from "./object-key.ts";
import { type QueueSource, WorkQueue } from "./work-queue.ts";

const workers = 5;
const ttlField = Buffer.from('"ttlSecondsAfterFinished":');

export interface TtlAfterFinishedParts extends QueueSource {
  readonly jobs: Registry;
  readonly store: Store;
  readonly clock: Clock;
  /** Receives the time from when each Job was due until it was deleted. */
  readonly deleted?: ((seconds: number) => void) | undefined;
  readonly onError: (error: unknown) => void;
}

/** Deletes Jobs, with their pods, once the time after their end has passed that they specify. */
export function startTtlAfterFinished(parts: TtlAfterFinishedParts): Disposable {
  const { jobs, store, clock, observeQueue, onError } = parts;
  const running = new DisposableStack();
  const queue = running.use(
    new WorkQueue({
      name: "ttl_jobs_to_delete",
      clock,
      observeQueue,
      onError,
      workers,
      async work(key) {
        const { namespace, name } = namesOf(jobs, key);
        const job = jobs.current(namespace, name) as Job | undefined;
        const dueMs = job === undefined ? undefined : expiryMs(job);
        if (job === undefined || dueMs === undefined) return;
        const waitMs = dueMs - clock.nowMs();
        if (waitMs > 0) queue.addAfter(key, waitMs);
        else if (await remove(jobs, job)) parts.deleted?.(-waitMs / 1_000);
      },
    }),
  );
  running.use(
    followEntries({ store, prefix: jobs.info.keyPrefix, onError }, (entry, type) => {
      // Most Jobs specify no time, and need no decoding.
      if (type !== "DELETED" && bodyIncludes(entry, ttlField)) queue.add(entry.key);
      else queue.cancel(entry.key);
    }),
  );
  return running;
}

/**
 * Returns the time at which a Job will be deleted; undefined if it has not ended, specifies no time, or is being deleted.
 */
export function expiryMs({ metadata, spec, status }: Job): number | undefined {
  const { ttlSecondsAfterFinished } = spec ?? {};
  if (ttlSecondsAfterFinished === undefined || metadata.deletionTimestamp !== undefined) return undefined;
  const end = status?.conditions?.find(
    (condition) => (condition.type === "Complete" || condition.type === "Failed") && condition.status === "True",
  );
  const endMs = Date.parse(end?.lastTransitionTime ?? "");
  return Number.isNaN(endMs) ? undefined : endMs + Number(ttlSecondsAfterFinished) * 1_000;
}

/** Deletes exactly this state of a Job, so that a changed time takes effect. */
async function remove(jobs: Registry, { metadata }: Job): Promise<boolean> {
  const { namespace = "", name = "", uid, resourceVersion } = metadata;
  const options = {
    ...plainDeletion,
    propagationPolicy: "Foreground",
    preconditions: { uid, resourceVersion },
  } as const;
  try {
    await jobs.delete(namespace, name, options, controllerManagerContext);
    return true;
  } catch (error) {
    // A Job that has changed is already queued again.
    if (error instanceof StatusError && (error.code === 404 || error.code === 409)) return false;
    throw error;
  }
}
