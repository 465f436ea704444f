import { formatGoDuration } from "../../api/go-duration.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { abortable } from "../../process/abortable.ts";
import type { Clock } from "../../process/clock.ts";
import { thrownText } from "../../process/thrown-text.ts";
import { type Runtime, RuntimeError } from "../runtime/runtime.ts";
import { CrashBackoff } from "./crash-backoff.ts";
import { imageReference } from "./image-reference.ts";
import type { PodContainer } from "./pod-containers.ts";
import type { RecordPodEvent } from "./pod-recorder.ts";
import { StartError } from "./start-error.ts";

/** Time for which a failed pull is shown before the status says that the next one is delayed. */
const shownMs = 2_000;

export interface ImagePullerParts {
  readonly runtime: Pick<Runtime, "imageRef" | "pullImage" | "images">;
  readonly clock: Clock;
  readonly record: RecordPodEvent;
  /** Returns the credential for an image that a pod may pull. */
  readonly credentialFor: (pod: Pod, image: string) => Promise<string | undefined>;
}

/** Provides the images of the containers of one node. Pulls one at a time, as upstream does by default. */
export class ImagePuller {
  readonly #parts: ImagePullerParts;
  /** By pod and image, with times by the steady clock. Entries of pods that are gone are forgotten with them. */
  readonly #failed = new Map<string, { readonly backoff: CrashBackoff; atMs: number; message: string }>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: ImagePullerParts) {
    this.#parts = parts;
  }

  /**
   * Returns the digest reference of the image of a container, after a pull if the policy asks for one. The signal ends
   * the pull, or the wait for it.
   * @throws StartError or the reason of the signal
   */
  async ensure(pod: Pod, container: PodContainer, signal: AbortSignal): Promise<string> {
    const { spec } = container;
    const { record } = this.#parts;
    const requested = spec.image ?? "";
    const image = this.#reference(pod, container, requested);
    const policy = spec.imagePullPolicy ?? "IfNotPresent";
    const present = policy === "Always" ? undefined : await this.#present(pod, container, image);
    if (present !== undefined) {
      const message = `Container image ${JSON.stringify(requested)} already present on machine and can be accessed by the pod`;
      record(pod, { type: "Normal", reason: "Pulled", message }, container);
      return present;
    }
    if (policy === "Never") {
      const message = `Container image ${JSON.stringify(requested)} is not present with pull policy of Never`;
      record(pod, { type: "Warning", reason: "ErrImageNeverPull", message }, container);
      throw new StartError("ErrImageNeverPull", message);
    }
    return this.#pull(pod, container, requested, image, signal);
  }

  /** Forgets the failures of a pod that is gone. */
  forget(podUid: string): void {
    for (const key of this.#failed.keys()) if (key.startsWith(`${podUid}_`)) this.#failed.delete(key);
  }

  #reference(pod: Pod, container: PodContainer, requested: string): string {
    try {
      return imageReference(requested);
    } catch (error) {
      const message = `Failed to apply default image tag ${JSON.stringify(requested)}: ${thrownText(error)}`;
      this.#parts.record(pod, { type: "Warning", reason: "InspectFailed", message }, container);
      throw new StartError("InvalidImageName", message);
    }
  }

  async #present(pod: Pod, container: PodContainer, image: string): Promise<string | undefined> {
    try {
      return await this.#parts.runtime.imageRef(image);
    } catch (error) {
      const message = `Failed to inspect image "": ${thrownText(error)}`;
      this.#parts.record(pod, { type: "Warning", reason: "InspectFailed", message }, container);
      throw new StartError("ImageInspectError", message);
    }
  }

  async #pull(
    pod: Pod,
    container: PodContainer,
    requested: string,
    image: string,
    signal: AbortSignal,
  ): Promise<string> {
    const { clock, record, credentialFor } = this.#parts;
    const name = JSON.stringify(requested);
    const key = `${pod.metadata.uid}_${requested}`;
    const failed = this.#failed.get(key);
    const askedMs = clock.steadyMs();
    const dueMs = failed === undefined ? 0 : failed.atMs + failed.backoff.delayMs(requested, askedMs);
    if (failed !== undefined && askedMs < dueMs) {
      record(pod, { type: "Normal", reason: "BackOff", message: `Back-off pulling image ${name}` }, container);
      throw new StartError("ImagePullBackOff", `Back-off pulling image ${name}: ${failed.message}`, dueMs);
    }
    record(pod, { type: "Normal", reason: "Pulling", message: `Pulling image ${name}` }, container);
    try {
      const pulled = this.#inTurn(async () => {
        signal.throwIfAborted();
        return this.#pullNow(image, await credentialFor(pod, image), signal);
      });
      const { ref, durationMs } = await abortable(pulled, signal);
      const [alone, waited] = [durationText(durationMs), durationText(clock.steadyMs() - askedMs)];
      const size = await this.#sizeOf(ref);
      const message = `Successfully pulled image ${name} in ${alone} (${waited} including waiting). Image size: ${size} bytes.`;
      record(pod, { type: "Normal", reason: "Pulled", message }, container);
      this.#failed.delete(key);
      return ref;
    } catch (error) {
      signal.throwIfAborted();
      const message = thrownText(error);
      record(
        pod,
        { type: "Warning", reason: "Failed", message: `Failed to pull image ${name}: ${message}` },
        container,
      );
      const backoff = failed?.backoff ?? new CrashBackoff();
      const failedMs = clock.steadyMs();
      backoff.next(requested, failedMs, failedMs);
      const known = error instanceof RuntimeError && namedReasons.has(error.reason);
      const reason = known ? error.reason : "ErrImagePull";
      this.#failed.set(key, { backoff, atMs: failedMs, message: `${reason}: ${message}` });
      throw new StartError(reason, message, failedMs + shownMs);
    }
  }

  async #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(run);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #pullNow(
    image: string,
    auth: string | undefined,
    signal: AbortSignal,
  ): Promise<{ ref: string; durationMs: number }> {
    const { runtime, clock } = this.#parts;
    const begunMs = clock.steadyMs();
    // A runtime that does not react does not keep the other pulls waiting.
    const ref = await abortable(runtime.pullImage(image, auth, signal), signal);
    return { ref, durationMs: clock.steadyMs() - begunMs };
  }

  async #sizeOf(ref: string): Promise<number | bigint> {
    const images = await this.#parts.runtime.images().catch(() => []);
    return images.find(({ names }) => names?.includes(ref))?.sizeBytes ?? 0;
  }
}

/** Reasons of a failed pull that the runtime itself names. */
const namedReasons: ReadonlySet<string> = new Set(["RegistryUnavailable", "SignatureValidationFailed"]);

/** Formats a duration as Go does, in whole milliseconds: `812ms`, `1.5s`, `2m3.25s`. */
function durationText(ms: number): string {
  return formatGoDuration(BigInt(Math.trunc(ms)) * 1_000_000n);
}
