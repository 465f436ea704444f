/** The kinds that are there, and those that come and go while the server runs. */
export interface FollowedKinds<Kind> {
  /** Tells of every kind that is there, then of changes, until it is disposed of. */
  follow(added: (kind: Kind) => void, removed: (kind: Kind) => void): Disposable;
}

/** Runs something for every kind, from when the kind comes until it goes. `start` returns what ends it. */
export function followKinds<Kind>(kinds: FollowedKinds<Kind>, start: (kind: Kind) => Disposable): Disposable {
  const running = new Map<Kind, Disposable>();
  const stop = (kind: Kind) => {
    running.get(kind)?.[Symbol.dispose]();
    running.delete(kind);
  };
  const following = kinds.follow((kind) => {
    // One that is told of again has changed: what runs for it begins anew.
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
