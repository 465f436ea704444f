/** A range of etcd's keys. */
export interface KeyRange {
  readonly key: string;
  /** The first key behind the range. */
  readonly rangeEnd: string;
}

/**
 * All keys of etcd. Each revision has an event here, so a watch of this range knows when it has seen everything up to a
 * revision.
 */
export const wholeKeySpace: KeyRange = { key: "\0", rangeEnd: "\0" };

/** Returns the range of the keys that start with a prefix of ASCII characters. */
export function rangeOfPrefix(prefix: string): KeyRange {
  const last = prefix.charCodeAt(prefix.length - 1);
  return { key: prefix, rangeEnd: prefix.slice(0, -1) + String.fromCharCode(last + 1) };
}
