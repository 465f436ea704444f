import type { Container, Pod } from "../../api/types/core-v1.ts";
import type { Mount } from "../runtime/runtime.ts";

/** A pod that cannot start yet, with the reason and message of its Event, such as `FailedMount`. */
export class PodFilesError extends Error {
  override readonly name = "PodFilesError";
  readonly reason: string;
  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Keeps the volumes of pods as directories on the host, and works out what containers see of them. */
export interface PodFiles {
  /**
   * Writes the volumes of a pod, or brings them up to date.
   * @throws PodFilesError if an object that a volume needs is absent
   */
  prepare(pod: Pod): Promise<void>;
  /**
   * Returns the mounts of a container of a prepared pod. Without addresses of the pod, it has no hosts file.
   * @throws PodFilesError, as for a subPath that escapes
   */
  mountsOf(pod: Pod, container: Container, ips?: readonly string[]): Promise<readonly Mount[]>;
  /**
   * Returns the variables of a container, in order: services, `envFrom`, `env`.
   * @throws PodFilesError with `CreateContainerConfigError` if a key is absent
   */
  environmentOf(
    pod: Pod,
    container: Container,
    ips: readonly string[],
  ): Promise<readonly (readonly [name: string, value: string])[]>;
  /** Returns the volumes of a pod on the node's disk that go with it, with their directories. */
  localVolumesOf?(pod: Pod): readonly (readonly [name: string, path: string])[];
  /** Removes everything of a pod that has ended. */
  remove(podUid: string): Promise<void>;
}
