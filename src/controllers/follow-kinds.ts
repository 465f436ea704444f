/** The kinds that exist, and changes to them while the server runs. */
export interface FollowedKinds<Kind> {
  /** Reports every existing kind, and then changes, until it is disposed of. */
  follow(added: (kind: Kind) => void, removed: (kind: Kind) => void): Disposable;
}

/** Runs something for every kind while the kind exists. `start` returns the way to end it. */
export function followKinds<Kind>(kinds: FollowedKinds<Kind>, start: (kind: Kind) => Disposable): Disposable {
  const running = new Map<Kind, Disposable>();
  const stop = (kind: Kind) => {
    running.get(kind)?.[Symbol.dispose]();
    running.delete(kind);
  };
  const following = kinds.follow((kind) => {
    // A kind that is added again has changed, so its work restarts.
    stop(kind);
    running.set(kind, start(kind));
  }, stop);
  return {
    [Symbol.dispose]() {
      following[Symbol.dispose]();
      for (const kind of running.keys()) stop(kind);
    },
  };
}
