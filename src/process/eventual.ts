/** A value, or a promise of it where something has to be waited for. */
export type Eventual<T> = T | Promise<T>;

/** Continues with the value, at once if it is known, so that the common case makes no promise. */
export function followedBy<T, U>(value: Eventual<T>, next: (value: T) => Eventual<U>): Eventual<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
