import { IndexCache } from "../../src/storage/mvcc/index-text.ts";
import { encodeCommands, LogEntry } from "../../src/storage/replicated/log-entry.ts";

/** Far from any number that a process counts up to. */
const firstSequence = 1_000_000;

/** Breaks a proposer: repeated proposals look like new ones. */
export function renamedWhenRepeated(): (bytes: Uint8Array) => Uint8Array {
  const seen = new Set<Uint8Array>();
  let sequence = firstSequence;
  return (bytes) => {
    const entry = new LogEntry(bytes);
    if (!seen.has(bytes) || entry.isDecision) {
      seen.add(bytes);
      return bytes;
    }
    return encodeCommands({ ...entry.id, sequence: sequence++ }, entry.commands(new IndexCache()));
  };
}
