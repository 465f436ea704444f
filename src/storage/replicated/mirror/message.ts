import type { RaftErrorCode } from "../../../../raft/index.ts";
import type { Key } from "../../../api/entry.ts";
import type { StateRecord } from "../../mvcc/state-record.ts";

/** The beginning of an image. */
export interface ImageHeader {
  readonly record: StateRecord;
  /** Objects that the replica cannot read. */
  readonly corrupt: readonly (readonly [key: Key, why: string])[];
}

/** A read of history, see `Store`. */
export type HistoryRequest =
  | { readonly kind: "scanAt"; readonly at: number; readonly prefix: Key; readonly start: Key; readonly limit: number }
  | { readonly kind: "eventsAfter"; readonly after: number; readonly prefix: Key; readonly limit: number };

/** Maximum number of results in one answer. */
export const historyPageMax = 500;

/** The reason why a request failed. */
export type Refusal =
  | { readonly kind: "raft"; readonly code: RaftErrorCode }
  | { readonly kind: "compacted"; readonly oldest: number }
  | { readonly kind: "corrupt"; readonly key: Key; readonly why: string }
  | { readonly kind: "unavailable"; readonly why: string };
