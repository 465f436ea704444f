import { StatusError } from "../../api/status.ts";
import type { Pod, PodStatus } from "../../api/types/core-v1.ts";
import type { Client, ResourceType } from "../../client/client.ts";
import { Slots } from "../../process/slots.ts";
import { keepApiPod } from "./pod-source.ts";
import { statusPatch } from "./status-patch.ts";

const pods: ResourceType<Pod> = { group: "", version: "v1", resource: "pods" };
const timeoutMs = 30_000;
/** Number of requests at a time, over all nodes of this process. Further ones wait; each pod waits at most once. */
const requestsMax = 32;

/** Writes the statuses of pods, and deletes pods that have ended. */
export class StatusWriter {
  readonly #client: Pick<Client, "patch" | "delete">;
  readonly #requests = new Slots(requestsMax);

  constructor(client: Pick<Client, "patch" | "delete">) {
    this.#client = client;
  }

  /**
   * Writes a status if it differs from the one in the pod, and returns the pod as it is stored then. Returns undefined
   * if the pod is gone or has been replaced by another one of its name.
   */
  async write(pod: Pod, status: PodStatus): Promise<Pod | undefined> {
    const document = statusPatch(pod, status);
    if (document === undefined) return pod;
    const { namespace, name = "" } = pod.metadata;
    const of = { namespace, name, subresource: "status" };
    const stored = await this.#request(() =>
      this.#client.patch(pods, of, { kind: "strategic", document }, { timeoutMs }),
    );
    if (stored !== undefined) keepApiPod(stored);
    return stored;
  }

  /** Removes a pod whose containers have ended. A pod that is gone, or another one of its name, is left alone. */
  async remove({ metadata: { namespace, name = "", uid = "" } }: Pod): Promise<void> {
    const options = { gracePeriodSeconds: 0, preconditions: { uid }, timeoutMs };
    await this.#request(() => this.#client.delete(pods, { namespace, name }, options));
  }

  async #request<T>(send: () => Promise<T>): Promise<T | undefined> {
    try {
      return await this.#requests.run(send);
    } catch (error) {
      if (error instanceof StatusError && (error.code === 404 || error.code === 409)) return undefined;
      throw error;
    }
  }
}
