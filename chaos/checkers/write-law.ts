import type { Operation } from "../history/operation.ts";
import type { Change, Chronicle } from "./chronicle.ts";
import type { Violation } from "./violation.ts";

/**
 * Checks that every acknowledged write is in the history once, at the acknowledged revision, and that rejected writes
 * are not. Revisions follow the order of acknowledgements, and a uid lives once.
 */
export function writeLaw(operations: readonly Operation[], chronicle: Chronicle): Violation[] {
  return [
    ...outcomes(operations, chronicle),
    ...origins(operations, chronicle),
    ...revisionOrder(operations),
    ...identities(chronicle.changes),
  ];
}

function outcomes(operations: readonly Operation[], chronicle: Chronicle): Violation[] {
  const written = writtenValues(chronicle);
  return operations.flatMap(({ key, client, member, request, outcome }): Violation[] => {
    if (!("value" in request)) return [];
    const what = `${request.verb} of ${key}=${request.value} by ${client} at member ${member}`;
    const change = written.get(request.value);
    switch (outcome.kind) {
      case "unknown":
        return [];
      case "ok": {
        const told = outcome.object?.revision;
        if (change === undefined) return [{ law: "acknowledged writes", detail: `${what} at ${told} is lost` }];
        if (change.revision === told && change.key === key) return [];
        return [{ law: "acknowledged writes", detail: `${what} at ${told} is at ${change.revision} in the history` }];
      }
      default:
        if (change === undefined) return [];
        return [{ law: "refused writes", detail: `${what} was ${outcome.kind} and is at ${change.revision}` }];
    }
  });
}

/** Checks that every change was requested and happened once. */
function origins(operations: readonly Operation[], { changes }: Chronicle): Violation[] {
  const sent = new Set(operations.flatMap(({ request }) => ("value" in request ? [request.value] : [])));
  const seen = new Set<string>();
  return changes.flatMap(({ object, revision }): Violation[] => {
    if (object === undefined) return [];
    const { key, value } = object;
    const isRepeated = seen.has(value);
    seen.add(value);
    if (!sent.has(value)) return [{ law: "origin", detail: `${key}=${value} at ${revision} was written by nobody` }];
    return isRepeated ? [{ law: "applied once", detail: `${key}=${value} was written again at ${revision}` }] : [];
  });
}

function revisionOrder(operations: readonly Operation[]): Violation[] {
  const told = operations.flatMap(({ request, outcome, invokedMs, returnedMs, client, key }) =>
    "value" in request && outcome.kind === "ok" && outcome.object !== undefined
      ? [{ revision: outcome.object.revision, invokedMs, returnedMs, name: `${key}=${request.value} by ${client}` }]
      : [],
  );
  const byCall = told.toSorted((left, right) => left.invokedMs - right.invokedMs);
  const byReturn = told.toSorted((left, right) => left.returnedMs - right.returnedMs);
  const violations: Violation[] = [];
  let returned = 0;
  let newest: (typeof told)[number] | undefined;
  for (const one of byCall) {
    for (let next = byReturn[returned]; next !== undefined && next.returnedMs < one.invokedMs; ) {
      if (newest === undefined || next.revision > newest.revision) newest = next;
      next = byReturn[++returned];
    }
    if (newest === undefined || newest.revision < one.revision) continue;
    const detail = `${one.name} got ${one.revision} after ${newest.name} had got ${newest.revision}`;
    violations.push({ law: "revisions go up", detail });
  }
  return violations;
}

function identities(changes: readonly Change[]): Violation[] {
  const keys = new Map<string, string>();
  const gone = new Set<string>();
  const violations: Violation[] = [];
  for (const { revision, object, previous, key } of changes) {
    if (object === undefined) {
      if (previous === undefined) {
        violations.push({ law: "uid", detail: `${key} was deleted at ${revision} and was not there` });
      } else gone.add(previous.uid);
      continue;
    }
    const { uid } = object;
    const known = keys.get(uid) ?? key;
    keys.set(uid, known);
    if (known !== key) violations.push({ law: "uid", detail: `${uid} is ${known} and, at ${revision}, ${key}` });
    if (gone.has(uid)) violations.push({ law: "uid", detail: `${key} with ${uid} is back at ${revision}` });
    if (previous !== undefined && previous.uid !== uid) {
      violations.push({ law: "uid", detail: `${key} changed from ${previous.uid} to ${uid} at ${revision}` });
    }
  }
  return violations;
}

/** Returns the first change that wrote each value. */
function writtenValues({ changes }: Chronicle): Map<string, Change> {
  const found = new Map<string, Change>();
  for (const change of changes) {
    if (change.object !== undefined && !found.has(change.object.value)) found.set(change.object.value, change);
  }
  return found;
}
