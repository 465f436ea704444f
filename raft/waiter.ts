/** A caller that waits for an outcome. */
export interface Waiter<T> {
  readonly deadlineMs: number;
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}
