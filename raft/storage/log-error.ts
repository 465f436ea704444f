/**
 * - `damaged`: durable bytes differ from those that were written.
 * - `tailLost`: the log ends before a durable position.
 * - `foreign`: the files belong to another cluster or member.
 * - `inUse`: a running process has them open.
 * - `missing`, `exists`: a log is absent where one is expected, or the other way round.
 * - `unsupported`: written in a format that this version does not read.
 * - `poisoned`: a write or sync failed earlier. The contents of the disk are unknown, so this process promises
 *   nothing more.
 */
export type LogErrorCode =
  | "damaged"
  | "tailLost"
  | "foreign"
  | "inUse"
  | "missing"
  | "exists"
  | "unsupported"
  | "poisoned";

export interface LogErrorDetails {
  readonly directory: string;
  readonly file?: string;
  /** Offset in the file in bytes. */
  readonly offset?: number;
  readonly cause?: unknown;
}

/** The reason why a log cannot be opened or written, with the file, the offset, and advice for a person. */
export class LogError extends Error {
  override readonly name = "LogError";
  readonly code: LogErrorCode;
  /** The problem and the advice: the message without the location. */
  readonly problem: string;
  readonly advice: string;
  readonly file: string | undefined;
  readonly offset: number | undefined;

  constructor(code: LogErrorCode, problem: string, advice: string, details: LogErrorDetails) {
    const place = details.file === undefined ? details.directory : `${details.directory}/${details.file}`;
    const at = details.offset === undefined ? "" : ` at byte ${details.offset}`;
    super(`${place}${at}: ${problem}; ${advice}`, { cause: details.cause });
    this.code = code;
    this.problem = problem;
    this.advice = advice;
    this.file = details.file;
    this.offset = details.offset;
  }
}

/**
 * Advice for a log that lost promised data. Its member may have voted or acknowledged entries without knowing it any
 * more, so it must not take part under the same id (thesis §11.2 discusses the loss of a disk).
 */
export const rejoinAdvice =
  "this member must not vote any more: remove it from the cluster, delete its directory and add it under a new id";
