/** Reports uses of Secrets' tokens to the controller that records them. */
export class SecretTokenUses {
  #onUse: ((namespace: string, name: string) => void) | undefined;

  note(namespace: string, name: string): void {
    this.#onUse?.(namespace, name);
  }

  /** Sets the only listener, which must return at once. */
  follow(onUse: (namespace: string, name: string) => void): Disposable {
    this.#onUse = onUse;
    return { [Symbol.dispose]: () => (this.#onUse = undefined) };
  }
}
