/**
 * - `damaged`: bytes that had been made durable are not what was written.
 * - `tailLost`: the log ends before a place that had been made durable.
 * - `foreign`: the files belong to another cluster or member.
 * - `inUse`: a running process has them open.
 * - `missing`, `exists`: there is no log where one is expected, or the other way round.
 * - `unsupported`: written in a format that this version does not read.
 * - `poisoned`: a write or sync failed earlier; what is on disk is unknown, so nothing more is promised by this process.
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
  /** Where in the file, in bytes. */
  readonly offset?: number;
  readonly cause?: unknown;
}

/** Why a log cannot be opened or written: says which file, where in it, and what a person can do. */
export class LogError extends Error {
  override readonly name = "LogError";
  readonly code: LogErrorCode;
  /** What is wrong, and what can be done about it: the message without the place. */
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
 * What to do about a log that lost something it had promised: its member may have voted or acknowledged and not know it
 * any more, so it must not take part under the same id (thesis §11.2 discusses the loss of a disk).
 */
export const rejoinAdvice =
  "this member must not vote any more: remove it from the cluster, delete its directory and add it under a new id";
