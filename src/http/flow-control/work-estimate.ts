import type { RequestInfo, ResourceRequest } from "../../request/request-info.ts";
import { queryValue } from "../../request/request-info.ts";
import { oneSeat, type Seats } from "./seats.ts";

/** Bytes of objects per seat of a list. */
const bytesPerSeat = 100_000;
const listSeatsMax = 100;
const mutatingSeatsMax = 10;
/** Watchers per seat of a write, and the time for which the write keeps the seat. */
const watchersPerSeat = 10;
const eventMs = 5;

/** The size of a collection of objects. */
export interface CollectionSize {
  readonly objects: number;
  readonly averageBytes: number;
}

/** Facts about the stored data, for the estimates. */
export interface WorkFacts {
  /** Undefined for a resource that is not stored. */
  sizeOf(info: ResourceRequest): CollectionSize | undefined;
  /** Returns the number of watches that an event of the object reaches. */
  watchersOf(info: ResourceRequest): number;
}

const writingVerbs = new Set(["create", "update", "patch", "delete"]);

/**
 * Estimates the seats of a request: a list takes one per 100 kB to read; a write keeps seats after its response while its
 * event goes to the watchers. The numbers are upstream's.
 * @param widest the most seats that the priority level gives to one request
 */
export function estimateSeats(info: RequestInfo, facts: WorkFacts, widest: number): Seats {
  if (info.kind !== "resource") return oneSeat;
  if (info.verb === "list" || (info.verb === "watch" && startsWithState(info))) return listSeats(info, facts, widest);
  return writingVerbs.has(info.verb) ? writeSeats(info, facts, widest) : oneSeat;
}

/** Reports whether a watch sends all objects first. */
export function startsWithState({ query }: ResourceRequest): boolean {
  if (query.has("sendInitialEvents")) return queryValue(query, "sendInitialEvents") === "true";
  const version = queryValue(query, "resourceVersion");
  return version === "" || version === "0";
}

function listSeats(info: ResourceRequest, facts: WorkFacts, widest: number): Seats {
  const size = facts.sizeOf(info);
  if (size === undefined || size.objects === 0) return oneSeat;
  const objects = info.name === "" ? objectsRead(info, size.objects) : 1;
  const seats = Math.ceil((objects * size.averageBytes) / bytesPerSeat);
  return { ...oneSeat, initial: Math.max(1, Math.min(seats, widest, listSeatsMax)) };
}

/** A list reads as many objects as it returns, or all of them if it has a selector. */
function objectsRead({ query }: ResourceRequest, stored: number): number {
  const limit = Number(queryValue(query, "limit"));
  const wanted = Number.isSafeInteger(limit) && limit > 0 ? Math.min(limit, stored) : stored;
  const selects = queryValue(query, "labelSelector") !== "" || queryValue(query, "fieldSelector") !== "";
  return selects ? Math.max(wanted, stored / 2) : wanted;
}

function writeSeats(info: ResourceRequest, facts: WorkFacts, widest: number): Seats {
  if (info.resource === "serviceaccounts" && info.subresource === "token") return oneSeat;
  const watchers = facts.watchersOf(info);
  if (watchers < watchersPerSeat) return oneSeat;
  const wanted = Math.ceil(watchers / watchersPerSeat);
  const final = Math.min(wanted, widest, mutatingSeatsMax);
  return { initial: 1, final, lingerMs: (wanted * eventMs) / final };
}
