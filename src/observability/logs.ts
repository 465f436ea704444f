import { type Logger, pino } from "pino";
import { escapeControls, redact, redactText } from "./redact.ts";

/** Fields of a log line; redacted before they are written. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Messages are sentences of ours; what comes from outside goes into the fields. */
export interface Log {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  trace(message: string, fields?: LogFields): void;
  /** One line per finished request from `-v=2` on; failures of ours and slow requests always. */
  requestLog(record: RequestRecord): void;
  /** Whether lines of this verbosity are written; asked before costly fields are made. */
  verbose(level: number): boolean;
  /** The same log with a `part` field on every line. */
  for(part: string): Log;
}

export interface RequestRecord {
  readonly auditId: string;
  readonly method: string;
  readonly verb: string;
  /** As sent, with the query. */
  readonly uri: string;
  readonly user: string;
  readonly userAgent: string;
  readonly remoteAddress: string;
  readonly httpVersion: string;
  readonly code: number;
  readonly durationMs: number;
  readonly bytes?: number;
  /** A watch or another stream lasts as long as the client likes. */
  readonly longRunning?: boolean;
  readonly error?: unknown;
}

export interface LogOptions {
  /** `-v`: 0 warnings and errors, 1 also what the server does, 2 also every request, 4 debugging, 6 everything. */
  readonly verbosity: number;
  /** For people instead of machines; by default when the destination is a terminal. */
  readonly pretty?: boolean;
  /** Standard error by default, so that standard output stays what a command was asked for. */
  readonly destination?: LogDestination;
}

export interface LogDestination {
  write(line: string): void;
}

export const requestVerbosity = 2;
const debugVerbosity = 4;
const traceVerbosity = 6;
/** A request that takes longer than this is worth a line at every verbosity. */
export const slowRequestMs = 5_000;

/** Opens the log; a promise because what makes lines readable for people is loaded only for them. */
export async function openLog({
  verbosity,
  pretty = process.stderr.isTTY === true,
  destination = standardError,
}: LogOptions): Promise<Log> {
  const logger = pino(
    {
      level: levelOf(verbosity),
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    pretty ? await prettyDestination(destination) : destination,
  );
  return new PinoLog(logger, verbosity, pretty ? escapeDeep : (value) => value);
}

/** Writes nothing; for tests and tools. */
export const silentLog: Log = {
  error() {},
  warn() {},
  info() {},
  debug() {},
  trace() {},
  requestLog() {},
  verbose: () => false,
  for: () => silentLog,
};

const standardError: LogDestination = { write: (line) => void process.stderr.write(line) };

class PinoLog implements Log {
  readonly #logger: Logger;
  readonly #verbosity: number;
  readonly #clean: (value: unknown) => unknown;

  constructor(logger: Logger, verbosity: number, clean: (value: unknown) => unknown) {
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

  requestLog(record: RequestRecord): void {
    if (record.code >= 500) return this.#write("error", "request failed", { ...record });
    const isSlow = record.durationMs >= slowRequestMs && record.longRunning !== true;
    if (isSlow) return this.#write("warn", "slow request", { ...record });
    if (this.verbose(requestVerbosity)) this.#write("info", "request", { ...record });
  }

  verbose(level: number): boolean {
    return this.#verbosity >= level;
  }

  for(part: string): Log {
    return new PinoLog(this.#logger.child({ part }), this.#verbosity, this.#clean);
  }

  #write(level: "error" | "warn" | "info" | "debug" | "trace", message: string, fields: LogFields | undefined): void {
    if (!this.#logger.isLevelEnabled(level)) return;
    this.#logger[level](this.#clean(redact(fields ?? {})) as object, this.#clean(redactText(message)) as string);
  }
}

function levelOf(verbosity: number): "warn" | "info" | "debug" | "trace" {
  if (verbosity >= traceVerbosity) return "trace";
  if (verbosity >= debugVerbosity) return "debug";
  return verbosity >= 1 ? "info" : "warn";
}

async function prettyDestination(destination: LogDestination): Promise<LogDestination> {
  const { prettyFactory } = await import("pino-pretty");
  const format = prettyFactory({
    colorize: process.stderr.isTTY === true,
    translateTime: "SYS:HH:MM:ss.l",
    singleLine: true,
  });
  return { write: (line) => destination.write(format(line)) };
}

/** For a terminal, where JSON's own escaping is taken off again before printing. `redact` has bounded the depth. */
function escapeDeep(value: unknown): unknown {
  if (typeof value === "string") return escapeControls(value);
  if (Array.isArray(value)) return value.map(escapeDeep);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [escapeControls(name), escapeDeep(item)]));
}
