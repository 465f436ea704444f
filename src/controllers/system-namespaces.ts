import { StatusError } from "../api/status.ts";
import type { Clock } from "../process/clock.ts";
import type { Registry } from "../registry/registry.ts";
import { serverContext } from "../registry/server-context.ts";

const systemNamespaces = ["kube-system", "kube-public", "kube-node-lease", "default"];
const checkIntervalMs = 60_000;

/** Creates the namespaces that every client relies on, and restores missing ones. */
export class SystemNamespaces {
  readonly #namespaces: Registry;

  constructor(namespaces: Registry) {
    this.#namespaces = namespaces;
  }

  /** Resolves when all of them exist. */
  async ensure(): Promise<void> {
    for (const name of systemNamespaces) {
      if (this.#namespaces.current("", name) === undefined) await this.#create(name);
    }
  }

  /** Checks once a minute. `onError` receives errors. */
  start(clock: Clock, onError: (error: unknown) => void): Disposable {
    return clock.every(checkIntervalMs, () => void this.ensure().catch(onError));
  }

  async #create(name: string): Promise<void> {
    const object = { kind: "Namespace", apiVersion: "v1", metadata: { name } };
    try {
      await this.#namespaces.create(object, "", serverContext);
    } catch (error) {
      // Another replica was faster.
      if (!(error instanceof StatusError && error.reason === "AlreadyExists")) throw error;
    }
  }
}
