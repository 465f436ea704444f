export type AuditMode = "batch" | "blocking" | "blocking-strict";

/** What the command line says about audit. */
export interface AuditOptions {
  readonly policyFile: string;
  /** Undefined: no file is written. */
  readonly log: LogOptions | undefined;
  /** Undefined: nothing is sent. */
  readonly webhook: WebhookOptions | undefined;
}

export type LogFormat = "json" | "legacy";

export interface LogOptions {
  /** `-` is the standard output. */
  readonly file: string;
  readonly format: LogFormat;
  readonly mode: AuditMode;
  /** Undefined: events may be as large as they are. */
  readonly truncation: TruncationOptions | undefined;
  readonly sizeBytesMax: number;
  /** 0: no file is deleted for its age. */
  readonly ageMsMax: number;
  /** 0: no file is deleted for the number of them. */
  readonly backupsMax: number;
}

export interface TruncationOptions {
  /** A larger event loses its bodies; one that is larger then is dropped. */
  readonly eventBytesMax: number;
  /** Of one write or request; not less than `eventBytesMax`. */
  readonly batchBytesMax: number;
}

export interface WebhookOptions {
  /** A kubeconfig. */
  readonly configFile: string;
  readonly mode: AuditMode;
  /** Undefined: events may be as large as they are. */
  readonly truncation: TruncationOptions | undefined;
  readonly bufferSize: number;
  readonly batchSizeMax: number;
  readonly batchWaitMs: number;
  readonly initialBackoffMs: number;
  readonly throttleQps: number;
  readonly throttleBurst: number;
}
