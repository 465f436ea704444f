import type { PortConnection } from "../../runtime/runtime.ts";
import type { LinkOptions } from "./link.ts";

export interface ForwardOptions extends LinkOptions {
  /** Connects to a port of the pod. Resolves when either side has closed. */
  readonly forward: (port: number, connection: PortConnection) => Promise<void>;
  /** Returns the text with which a failure is reported to the client. */
  readonly failureText: (port: number, error: Error) => string;
  /** Called with the reason for which a client's session was broken off. */
  readonly onBroken: (reason: string) => void;
}

const portMax = 65_535;

/** Parses a port. Returns the reason for which it is refused as a text. */
export function parsePort(text: string, quoted = text): number | string {
  if (!/^[0-9]+$/.test(text)) {
    return `unable to parse ${JSON.stringify(quoted)} as a port: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;
  }
  const port = Number(text);
  if (port > portMax) {
    return `unable to parse ${JSON.stringify(quoted)} as a port: strconv.ParseUint: parsing ${JSON.stringify(text)}: value out of range`;
  }
  return port === 0 ? `port ${JSON.stringify(quoted)} must be > 0` : port;
}
