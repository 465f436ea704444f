import type { KnownPod, PodDirectory } from "../pods/pod-directory.ts";

/** The pods of several nodes as one directory. */
export class SimulatedDirectory implements PodDirectory {
  readonly #ofNodes: readonly PodDirectory[];

  constructor(ofNodes: readonly PodDirectory[]) {
    this.#ofNodes = ofNodes;
  }

  pods(): readonly KnownPod[] {
    return this.#ofNodes.flatMap((node) => node.pods());
  }

  find(namespace: string, name: string): KnownPod | undefined {
    for (const node of this.#ofNodes) {
      const found = node.find(namespace, name);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}
