export type StoreOperation = "create" | "update" | "delete";

/** Measures the writes of one kind to the store. */
export interface StoreObserver {
  /** @param hasFailed the store did not answer; an object that has changed meanwhile is an answer */
  written(operation: StoreOperation, seconds: number, hasFailed: boolean): void;
}
