import type { KubeObject } from "../../api/object-meta.ts";
import { Informer, type InformerOptions } from "../../client/informer.ts";
import { requireList } from "./first-list.ts";

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
    await requireList(this.#informer, this.#options.clock, this.#notSynced);
    return this.#informer;
  }

  [Symbol.dispose](): void {
    this.#informer?.[Symbol.dispose]();
  }
}
