import type { ProcessStreams, SessionChoice } from "../../runtime/runtime.ts";
import type { LinkOptions } from "./link.ts";
import { failureStatus, type SessionStatus } from "./session-status.ts";

/** Runs the process of a session with the client's streams, and returns how it ended. */
export type RunProcess = (streams: ProcessStreams, signal: AbortSignal) => Promise<SessionStatus>;

export interface SessionOptions extends LinkOptions {
  readonly choice: SessionChoice;
  readonly run: RunProcess;
  /** Called with the reason for which a client's session was broken off. */
  readonly onBroken: (reason: string) => void;
}

/** Runs a process until it ends. Aborts it when the connection closes or `reading` the client's bytes ends. */
export async function runProcess(
  run: RunProcess,
  closed: AbortSignal,
  reading: Promise<void>,
  streams: ProcessStreams,
): Promise<SessionStatus> {
  const ended = new AbortController();
  const end = () => ended.abort();
  reading.then(end, end);
  try {
    return await run(streams, AbortSignal.any([closed, ended.signal]));
  } catch (error) {
    return failureStatus((error as Error).message);
  }
}
