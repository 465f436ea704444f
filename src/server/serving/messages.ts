import type { ServerOptions } from "../config/server-options.ts";

/** Everything that a serving process needs to start. */
export interface ServingStart {
  readonly options: Omit<ServerOptions, "clock" | "servingCommand">;
  /** The port that all processes share. */
  readonly port: number;
  /** Counted from 1. The process that replaces another one takes over its number. */
  readonly number: number;
  /** The directory with the sockets of the process that keeps the store. */
  readonly directory: string;
}

/** Messages from the process that keeps the store. A message with an id is answered. */
export type ToServingProcess =
  | { readonly kind: "start"; readonly start: ServingStart }
  | { readonly kind: "metrics"; readonly id: number; readonly reset: boolean }
  /** The certificates in the data directory have changed. */
  | { readonly kind: "rereadCertificates"; readonly id: number }
  /** An issuer of ID tokens may have withdrawn a key. */
  | { readonly kind: "doubtIssuerKeys" }
  /** Fail `/readyz`, and serve everything else. */
  | { readonly kind: "leave" }
  /** End as soon as the running requests have, or after this time. */
  | { readonly kind: "stop"; readonly graceMs: number };

export type FromServingProcess =
  | { readonly kind: "ready" }
  | { readonly kind: "answer"; readonly id: number; readonly text: string }
  | { readonly kind: "issuerKeyWithdrawn" };

/** The sockets below the directory of `ServingStart`. */
export const mirrorSocket = "mirrors";
export const requestSocket = "requests";
