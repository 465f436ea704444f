import type { Logger } from "pino";
import { escapeControls, redact, redactText } from "./redact.ts";

/** The fields of a log line, redacted before they are written. */
export type LogFields = Readonly<Record<string, unknown>>;

/** The log. Messages are constant sentences of this program; text from outside goes into the fields. */
export interface Log {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  trace(message: string, fields?: LogFields): void;
  /** Writes one line per finished request from `-v=2` on. Internal errors and slow requests are always logged. */
  requestLog(outcome: RequestOutcome, record: () => RequestRecord): void;
  /** Reports whether lines of this verbosity are written, so that callers can avoid costly fields. */
  verbose(level: number): boolean;
  /** Returns the same log with a `part` field on every line. */
  for(part: string): Log;
}

/** The facts that decide whether a finished request is logged. */
export interface RequestOutcome extends Pick<RequestRecord, "code" | "latencyMs"> {
  /** True for a watch, a session or a log, which last as long as the client wants. */
  readonly longRunning: boolean;
  /** True if the server failed, not the client. */
  readonly failed: boolean;
}

/** One finished request, without query and headers, which could carry secrets. */
export interface RequestRecord {
  readonly auditId: string;
  readonly method: string;
  readonly path: string;
  readonly verb: string;
  /** Such as `deployments.apps/status`; empty for a path. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: string;
  readonly remoteAddress: string;
  readonly userAgent: string;
  readonly httpVersion: string;
  readonly code: number;
  readonly latencyMs: number;
}

export interface LogOptions {
  /** `-v`, 0 by default. */
  readonly verbosity?: number;
  /** Formats lines for people. On by default if the log goes to a terminal. */
  readonly pretty?: boolean;
  /** Standard error by default, because standard output carries the results of commands. */
  readonly destination?: LogDestination;
}

export interface LogDestination {
  write(line: string): void;
}

type Level = "error" | "warn" | "info" | "debug" | "trace";

/** The least verbosity for each level. Requests are logged from 2 on. */
const verbosityOf: Readonly<Record<Level, number>> = { error: 0, warn: 0, info: 1, debug: 4, trace: 6 };
const requestVerbosity = 2;
/** A slower request is logged at every verbosity. */
const slowRequestMs = 5_000;

/** Opens the log. Loads pino and pino-pretty with the first line. */
export function openLog({
  verbosity = 0,
  pretty = process.stderr.isTTY === true,
  destination = standardError,
}: LogOptions = {}): Log {
  let logger: Logger | undefined;
  const open = () => {
    logger ??= openLogger(verbosity, pretty ? prettyDestination(destination) : destination);
    return logger;
  };
  return new PinoLog(open, verbosity, pretty ? escapeDeep : (value) => value);
}

function openLogger(verbosity: number, destination: LogDestination): Logger {
  const { pino } = require("pino") as typeof import("pino");
  return pino(
    {
      level: levelOf(verbosity),
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
}

const standardError: LogDestination = { write: (line) => void process.stderr.write(line) };

class PinoLog implements Log {
  readonly #logger: () => Logger;
  readonly #verbosity: number;
  readonly #clean: (value: unknown) => unknown;

  constructor(logger: () => Logger, verbosity: number, clean: (value: unknown) => unknown) {
    this.#logger = logger;
    this.#verbosity = verbosity;
    this.#clean = clean;
  }

  error(message: string, fields?: LogFields): void {
    this.#write("error", message, fields);
  }
  warn(message: string, fields?: LogFields): void {
    this.#write("warn", message, fields);
  }
  info(message: string, fields?: LogFields): void {
    this.#write("info", message, fields);
  }
  debug(message: string, fields?: LogFields): void {
    this.#write("debug", message, fields);
  }
  trace(message: string, fields?: LogFields): void {
    this.#write("trace", message, fields);
  }

  requestLog({ failed, latencyMs, longRunning }: RequestOutcome, record: () => RequestRecord): void {
    if (failed) return this.error("request failed", { ...record() });
    const isSlow = latencyMs >= slowRequestMs && !longRunning;
    if (isSlow) return this.warn("slow request", { ...record() });
    if (this.verbose(requestVerbosity)) this.info("request", { ...record() });
  }

  verbose(level: number): boolean {
    return this.#verbosity >= level;
  }

  for(part: string): Log {
    let child: Logger | undefined;
    const open = () => {
      child ??= this.#logger().child({ part });
      return child;
    };
    return new PinoLog(open, this.#verbosity, this.#clean);
  }

  #write(level: Level, message: string, fields: LogFields | undefined): void {
    if (!this.verbose(verbosityOf[level])) return;
    this.#logger()[level](this.#clean(redact(fields ?? {})) as object, this.#clean(redactText(message)) as string);
  }
}

function levelOf(verbosity: number): Level {
  const levels = ["trace", "debug", "info"] as const;
  return levels.find((level) => verbosity >= verbosityOf[level]) ?? "warn";
}

function prettyDestination(destination: LogDestination): LogDestination {
  const { prettyFactory } = require("pino-pretty") as typeof import("pino-pretty");
  const format = prettyFactory({
    colorize: process.stderr.isTTY === true,
    translateTime: "SYS:HH:MM:ss.l",
    singleLine: true,
  });
  return { write: (line) => destination.write(format(line)) };
}

/** Escapes text for a terminal, because pino-pretty removes JSON's escapes. `redact` has limited the depth. */
function escapeDeep(value: unknown): unknown {
  if (typeof value === "string") return escapeControls(value);
  if (Array.isArray(value)) return value.map(escapeDeep);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [escapeControls(name), escapeDeep(item)]));
}
