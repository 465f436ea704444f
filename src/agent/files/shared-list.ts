import type { KubeObject } from "../../api/object-meta.ts";
import { Informer, type InformerOptions } from "../../client/informer.ts";
import { atMost } from "../../process/at-most.ts";

/** Time for the first list. */
const syncMsMax = 1_000;

/** A collection that is followed from its first use on. */
export class SharedList<T extends KubeObject> implements Disposable {
  readonly #options: InformerOptions<T>;
  readonly #notSynced: string;
  #informer: Informer<T> | undefined;

  /** `notSynced` is the message while the server has not sent the list. */
  constructor(options: InformerOptions<T>, notSynced: string) {
    this.#options = options;
    this.#notSynced = notSynced;
  }

  /** Returns the collection. @throws Error if it has not been listed yet */
  async objects(): Promise<Informer<T>> {
    this.#informer ??= new Informer(this.#options);
    if (!this.#informer.isSynced) {
      this.#informer.retryNow();
      await atMost(this.#options.clock, syncMsMax, this.#informer.synced);
    }
    if (!this.#informer.isSynced) throw new Error(this.#notSynced);
    return this.#informer;
  }

  [Symbol.dispose](): void {
    this.#informer?.[Symbol.dispose]();
  }
}
