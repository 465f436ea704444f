export type AuditMode = "batch" | "blocking" | "blocking-strict";

/** The audit options of the command line. */
export interface AuditOptions {
  readonly policyFile: string;
  /** Log file options; undefined for no file. */
  readonly log: LogOptions | undefined;
  /** Webhook options; undefined for no webhook. */
  readonly webhook: WebhookOptions | undefined;
}

export type LogFormat = "json" | "legacy";

export interface LogOptions {
  /** Path of the file, or `-` for the standard output. */
  readonly file: string;
  readonly format: LogFormat;
  readonly mode: AuditMode;
  /** Limits of events; undefined for none. */
  readonly truncation: TruncationOptions | undefined;
  readonly sizeBytesMax: number;
  /** Age at which files are deleted; 0 for never. */
  readonly ageMsMax: number;
  /** Number of files above which old ones are deleted; 0 for never. */
  readonly backupsMax: number;
}

export interface TruncationOptions {
  /** Size above which an event loses its bodies. An event that is still larger is dropped. */
  readonly eventBytesMax: number;
  /** Size of one write or request; at least `eventBytesMax`. */
  readonly batchBytesMax: number;
}

export interface WebhookOptions {
  /** Path of a kubeconfig. */
  readonly configFile: string;
  readonly mode: AuditMode;
  /** Limits of events; undefined for none. */
  readonly truncation: TruncationOptions | undefined;
  readonly bufferSize: number;
  readonly batchSizeMax: number;
  readonly batchWaitMs: number;
  readonly initialBackoffMs: number;
  readonly throttleQps: number;
  readonly throttleBurst: number;
}
