/** Passes on which Secrets' tokens are used: authentication finds out, a controller writes it down. */
export class SecretTokenUses {
  #onUse: ((namespace: string, name: string) => void) | undefined;

  note(namespace: string, name: string): void {
    this.#onUse?.(namespace, name);
  }

  /** One listener at a time; it must return at once. */
  follow(onUse: (namespace: string, name: string) => void): Disposable {
    this.#onUse = onUse;
    return { [Symbol.dispose]: () => (this.#onUse = undefined) };
  }
}
